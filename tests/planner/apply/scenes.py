"""Objects, plans and state folders for the tests of apply, and ways to kill a run at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from planner import lockfile
from planner.apply import journal, lease, run
from planner.apply.backend import Backend, BackendError
from planner.apply.item import Item, Rank, Record, Step, digest_of
from planner.apply.recording import Recording
from planner.apply.run import Outcome, Request
from planner.apply.state import State
from planner.plan import Plan
from planner.spec.backend import BackendType
from tests.planner.plans import a_placement, a_plan

NOW = 1_796_083_200


def an_item(name: str, text: str = "one", *, cluster: str = "dc1", rank: Rank = Rank.WORKLOAD, **fields: Any) -> Item:
    """An object of a cluster; its key ends in `name`."""
    values: dict[str, Any] = {
        "key": f"{cluster}/{name}.yaml", "cluster": cluster, "backend": BackendType.KUBERNETES, "rank": rank,
        "refs": (f"ref/{name}",), "addresses": (f"job/vision/{name}",), "digest": digest_of(text),
    }  # fmt: skip
    return Item(record=Record(**(values | fields)), text=text)


def the_first() -> tuple[Item, ...]:
    """A queue and three jobs in one cluster, one job in another."""
    return (
        an_item("queue", rank=Rank.QUEUE),
        an_item("a"),
        an_item("b"),
        an_item("c"),
        an_item("d", cluster="hpc"),
    )


def the_second() -> tuple[Item, ...]:
    """After an edit: `a` stays, `b` is another, `c` and `d` are gone, `e` is new."""
    return (an_item("queue", "two", rank=Rank.QUEUE), an_item("a"), an_item("b", "two"), an_item("e"))


def a_request(items: tuple[Item, ...], backend: Backend, plan: Plan | None = None, **fields: Any) -> Request:
    """Apply `items` through one back end for all clusters."""
    names = sorted({"dc1", "hpc", *(item.record.cluster for item in items)})
    values: dict[str, Any] = {
        "plan": plan or a_plan([a_placement("vision/a")]), "items": items, "clusters": tuple(names),
        "backends": dict.fromkeys(names, backend), "again": "planner apply plan.lock.json",
    }  # fmt: skip
    return Request(**(values | fields))


def apply_to(root: Path, request: Request) -> Outcome:
    """One whole run on the state folder `root`."""
    state = State(root=root)
    with lease.held(state.lease, "tester", "a test", lambda: NOW) as held:
        return run.apply(request, state, state.known(), held)


@dataclass
class Moments:
    """Counts the moments of a run, and kills it at one of them: 0 for never."""

    kill_at: int = 0
    seen: int = 0
    names: list[str] = field(default_factory=list)

    def pass_by(self, name: str) -> None:
        """Live through a moment, or not."""
        self.seen += 1
        self.names.append(name)
        if self.seen == self.kill_at:
            raise SystemExit(137)


@dataclass
class Mortal:
    """A recording back end with a moment before and after every effect."""

    inner: Recording
    moments: Moments

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def perform(self, step: Step) -> None:
        """Do the step, if the run lives."""
        self.moments.pass_by(f"before {step.sentence}")
        self.inner.perform(step)
        self.moments.pass_by(f"after {step.sentence}")


@dataclass
class Failing:
    """A recording back end that refuses the objects of some keys."""

    inner: Recording
    keys: frozenset[str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def perform(self, step: Step) -> None:
        """Do the step, unless it is refused."""
        if step.record.key in self.keys:
            raise BackendError("the quota of the cluster is used up")
        self.inner.perform(step)


@contextmanager
def mortal_files(moments: Moments) -> Iterator[None]:
    """Every change of a file of the state has a moment before and after it, a line of the journal one in its midst."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockfile, "write", _around(moments, "write", lockfile.write))
        patch.setattr(Path, "unlink", _around(moments, "unlink", Path.unlink))
        patch.setattr(journal.Writer, "add", _torn(moments, journal.Writer.add))
        yield


def _around(moments: Moments, verb: str, function: Callable[..., None]) -> Callable[..., None]:
    def call(path: Path, *rest: Any, **named: Any) -> None:
        counts = Path(path).name in {"inventory.json", "journal.jsonl", "applied.lock.json", "previous.lock.json"}
        if counts:
            moments.pass_by(f"before {verb} {Path(path).name}")
        function(path, *rest, **named)
        if counts:
            moments.pass_by(f"after {verb} {Path(path).name}")

    return call


def _torn(moments: Moments, function: Callable[..., None]) -> Callable[..., None]:
    def call(writer: Any, done: Any) -> None:
        before = writer.path.read_bytes()
        function(writer, done)
        whole = writer.path.read_bytes()
        writer.path.write_bytes(whole[: len(before) + 20])
        moments.pass_by("in the midst of a line of the journal")
        writer.path.write_bytes(whole)
        moments.pass_by("after a line of the journal")

    return call
