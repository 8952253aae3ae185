"""A repository that is edited at random: each commit is planned, reviewed and applied, killed or applied twice at once.

After every apply that ends well the fleet is exactly what the plan says: nothing is lost, nothing is there twice.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from planner import lockfile, pipeline
from planner.apply import lease
from planner.apply.item import Item, Step
from planner.apply.recording import Recording
from planner.apply.state import State
from planner.cli import main
from planner.commands.reaching import items_of
from planner.exits import Exit
from planner.report.comment import MARK, comment
from tests.planner.apply.scenes import Moments, mortal_files
from tests.planner.commands.conftest import FLEET, PLAN, process
from tests.planner.repositories import commit, isolate, repository

AT: Final = "2026-12-01T00:00:00Z"
TREE: Final = (
    FLEET.replace("currency: USD\n", "currency: USD\nsafety: {max_moved: 100%, max_stopped: 100%}\n", 1)
    + """\
---
apiVersion: planner/v1
kind: Cluster
name: hpc
backend: slurm
pools:
  - {name: a100, nodes: "a[01-02]", gpus: {model: a100-sxm4-80gb, count: 8}, cpus: 64, memory: 1Ti}
"""
)
MODELS: Final = ("h100-sxm5-80gb", "a100-sxm4-80gb")
START: Final = "from planner.cli import main; sys.exit(main())"
MOST: Final = 8
"""So many jobs are in the repository at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One job of the repository."""

    name: str
    model: str
    gpus: int = 8
    hours: int = 4
    image: int = 1
    formerly: str = ""

    @property
    def text(self) -> str:
        """Its spec."""
        was = f"formerly: [job/vision/{self.formerly}]\n" if self.formerly else ""
        return (
            f"apiVersion: planner/v1\nkind: Job\nname: {self.name}\nteam: vision\n"
            f"image: registry.example/train:{self.image}\ncommand: [train]\n"
            f"gpus: {self.gpus}\nduration: {{{self.model}: {self.hours}h}}\n{was}"
        )


@dataclass(slots=True)
class Editor:
    """Somebody who edits jobs at random, always in the same way for one seed."""

    dice: random.Random
    works: dict[str, Work] = field(default_factory=dict)
    count: int = 0

    def edit(self) -> dict[str, str]:
        """One edit; gives every file of the tree of specs."""
        verbs = ("add", "add", "remove", "resize", "lengthen", "rebuild", "rename", "move")
        verb = self.dice.choice(verbs) if self.works else "add"
        if verb == "add" and len(self.works) < MOST:
            self.count += 1
            self._put(Work(name=f"job{self.count}", model=self.dice.choice(MODELS)))
            return self._files()
        work = self.works.pop(self.dice.choice(sorted(self.works)))
        match verb:
            case "resize":
                self._put(replace(work, gpus=self.dice.choice((1, 2, 4, 8))))
            case "lengthen":
                self._put(replace(work, hours=self.dice.randint(1, 12)))
            case "rebuild":
                self._put(replace(work, image=work.image + 1))
            case "rename":
                self.count += 1
                self._put(replace(work, name=f"job{self.count}", formerly=work.name))
            case "move":
                self._put(replace(work, model=self.dice.choice(MODELS)))
        return self._files()

    def _put(self, work: Work) -> None:
        self.works[work.name] = work

    def _files(self) -> dict[str, str]:
        return {"specs__fleet": TREE} | {f"specs__{name}": work.text for name, work in self.works.items()}


@dataclass(slots=True)
class Soak:
    """A repository with a fleet that is a folder; `clock` is what lock files of runs go by."""

    here: Path
    dice: random.Random
    clock: SimpleNamespace
    told: Counter[str] = field(default_factory=Counter)

    @property
    def state(self) -> State:
        return State(root=self.here / "state")

    @property
    def fleet(self) -> Recording:
        return Recording(root=self.here / "fleet")

    def plan(self) -> str:
        """Plan the commit from what is applied, review it, and give the digest that the review names."""
        lock = self.here / "plan.lock.json"
        lock.unlink(missing_ok=True)
        applied = self.state.applied_path
        follows = ("--lock", str(applied)) if applied.exists() else ()
        assert main([*PLAN, "--at", AT, *follows]) == Exit.OK
        return lockfile.read(lock).digest

    def arguments(self, digest: str) -> list[str]:
        """The command that applies the plan of this digest."""
        return ["apply", "--digest", digest, "--record", "fleet", "--at", AT, "--allow-empty"]

    def apply(self, digest: str) -> Exit:
        """Apply to the end."""
        return Exit(main(self.arguments(digest)))

    def killed(self, digest: str) -> bool:
        """Apply in a run that is killed at a random moment, or ends before it; says which."""
        moments = Moments(kill_at=self.dice.randint(1, 40))
        with mortal(moments):
            main(self.arguments(digest))
        died = moments.seen >= moments.kill_at
        self.told["killed" if died else "outlived the killer"] += 1
        return died

    def wait_for_the_lock(self, digest: str) -> None:
        """Find the lock of a killed run held, and wait until it expires; one that was killed at its end has none."""
        if self.state.lease.exists():
            assert self.apply(digest) == Exit.BUSY
            self.clock.now += lease.TTL_SECONDS

    def apply_twice_at_once(self, digest: str) -> None:
        """Two runs of the same plan at the same time: one does it, the other is refused or finds nothing to do."""
        program = f"import sys, time; time.time = lambda: {self.clock.now}.0; {START}"
        runs = [process(self.here, self.arguments(digest), program) for _ in range(2)]
        codes = sorted((run.communicate()[1], run.returncode)[1] for run in runs)
        assert codes in ([Exit.OK, Exit.OK], [Exit.OK, Exit.BUSY])
        self.told["at once"] += 1


@contextmanager
def mortal(moments: Moments) -> Iterator[None]:
    """Moments around every effect and every file, and a lock that stays behind when the run is killed at one."""

    def perform(fleet: Recording, step: Step) -> None:
        moments.pass_by(f"before {step.sentence}")
        did(fleet, step)
        moments.pass_by(f"after {step.sentence}")

    def release(held: lease.Held) -> None:
        if moments.kill_at and moments.seen >= moments.kill_at:
            held._ended.set()  # noqa: SLF001 - the heartbeat dies with the run
        else:
            let_go(held)

    did, let_go = Recording.perform, lease.Held.release
    with pytest.MonkeyPatch.context() as patch, mortal_files(moments):
        patch.setattr(Recording, "perform", perform)
        patch.setattr(lease.Held, "release", release)
        yield


def wanted(here: Path) -> tuple[Item, ...]:
    """Every object of the plan."""
    specset = pipeline.load(here / "specs").specset
    assert specset is not None
    return items_of(lockfile.read(here / "plan.lock.json"), specset)


def hold_together(soak: Soak, digest: str) -> None:
    """The fleet is what the plan says, the state says so too, and no effect in the log is out of turn."""
    items = wanted(soak.here)
    known, applied = soak.state.known(), soak.state.applied()
    assert soak.fleet.objects() == {item.key: item.text for item in items} | left(soak)
    assert (known.complete, known.plan) == (True, digest)
    assert applied is not None
    assert applied.digest == digest
    objects = Counter(address for item in items if item.record.is_workload for address in item.record.addresses)
    work = {address: count for address, count in objects.items() if address.startswith("job/")}
    assert work == {placement.address: 1 for placement in applied.placements}
    there: set[str] = set()
    for effect, key in soak.fleet.log():
        assert (key in there) is (effect != "created"), f"{effect} {key}"
        (there.discard if effect == "removed" else there.add)(key)
    assert there == set(soak.fleet.objects())


def left(soak: Soak) -> dict[str, str]:
    """Namespaces that no plan wants any longer: they are left."""
    keys = {item.key for item in wanted(soak.here)}
    texts = soak.fleet.objects()
    return {key: texts[key] for key in soak.state.known().records if key not in keys and "namespace" in key}


def soaked(here: Path, commits: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> Soak:
    """So many commits, each planned, reviewed and applied under a random fate."""
    dice = random.Random(seed)
    clock = SimpleNamespace(now=int(time.time()))
    clock.time = lambda: clock.now
    monkeypatch.setattr("planner.commands.apply.time", clock)
    soak, editor = Soak(here=here, dice=dice, clock=clock), Editor(dice=dice)
    for number in range(commits):
        for path in (here / "specs").glob("*.yaml"):
            path.unlink()
        commit(here, hour=number, **editor.edit())
        digest = soak.plan()
        assert reviewed(here) == digest
        match dice.choice(("killed", "killed", "killed often", "left", "at once", "well")):
            case "at once":
                soak.apply_twice_at_once(digest)
            case "killed" | "left" as fate:
                died = soak.killed(digest)
                soak.wait_for_the_lock(digest)
                if died and fate == "left" and number + 1 < commits:
                    soak.told["left to the next plan"] += 1
                    continue
            case "killed often":
                while soak.killed(digest):
                    soak.wait_for_the_lock(digest)
        assert soak.apply(digest) == Exit.OK
        hold_together(soak, digest)
        soak.told["settled"] += 1
    return soak


def reviewed(here: Path) -> str:
    """The digest in the comment that people see of the plan."""
    first = comment(lockfile.read(here / "plan.lock.json")).splitlines()[0]
    return str(json.loads(first.removeprefix(MARK).removesuffix(" -->"))["digest"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, made the current folder."""
    isolate(monkeypatch)
    monkeypatch.chdir(repository(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_fifteen_commits_lose_and_double_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = soaked(here, 15, 2, monkeypatch).told
    assert min(told[fate] for fate in ("killed", "left to the next plan", "at once", "settled")) > 0


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("seed", [7, 11])
def test_a_hundred_commits_lose_and_double_nothing(here: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told = soaked(here, 100, seed, monkeypatch).told
    assert min(told[fate] for fate in ("killed", "left to the next plan", "at once", "settled")) > 5
