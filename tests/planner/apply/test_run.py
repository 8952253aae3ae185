"""One apply after the other, killed at every moment, failing at every step, and twice at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.apply import lease, run
from planner.apply.item import Item, Rank, Step
from planner.apply.recording import Recording
from planner.apply.state import State
from planner.diagnostics import Blocked, Busy, PartlyApplied, PlannerError
from planner.plan import Plan
from tests.planner.apply.scenes import (
    Failing,
    Moments,
    Mortal,
    a_request,
    an_item,
    apply_to,
    mortal_files,
    the_first,
    the_second,
)
from tests.planner.plans import a_placement, a_plan

ONE = a_plan([a_placement("vision/a")])
TWO = a_plan([a_placement("vision/b")])
THREE = a_plan([a_placement("vision/c")])


def texts(items: tuple[Item, ...]) -> dict[str, str]:
    """What a back end has once all of `items` are applied."""
    return {item.key: item.text for item in items}


def is_settled(root: Path, plan: Plan, items: tuple[Item, ...]) -> bool:
    """Whether the state folder says that exactly `items` of `plan` are there, and that no run is unfinished."""
    state, known = State(root=root), State(root=root).known()
    applied = state.applied()
    return (
        applied is not None
        and applied.digest == plan.digest == known.plan
        and known.complete
        and dict(known.records) == {item.key: item.record for item in items}
        and not (root / "journal.jsonl").exists()
        and not (root / "apply.lock").exists()
    )


def test_everything_is_made_once_and_then_stays(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    done = apply_to(tmp_path / "state", a_request(the_first(), backend, ONE))
    assert [step.record.key for step in done.steps] == [
        "dc1/queue.yaml", "dc1/a.yaml", "dc1/b.yaml", "dc1/c.yaml", "hpc/d.yaml"
    ]  # fmt: skip
    assert backend.objects() == texts(the_first())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert apply_to(tmp_path / "state", a_request(the_first(), backend, ONE)).steps == ()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_edit_changes_makes_and_removes_what_it_must_and_nothing_else(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "state", a_request(the_first(), backend, ONE))
    apply_to(tmp_path / "state", a_request(the_second(), backend, TWO))
    assert backend.log()[5:] == (
        ("changed", "dc1/queue.yaml"),
        ("removed", "dc1/c.yaml"),
        ("changed", "dc1/b.yaml"),
        ("created", "dc1/e.yaml"),
        ("removed", "hpc/d.yaml"),
    )
    assert backend.objects() == texts(the_second())
    assert is_settled(tmp_path / "state", TWO, the_second())
    previous = State(root=tmp_path / "state").previous_path.read_text()
    assert ONE.digest in previous


def killed_at(root: Path, moment: int) -> Moments:
    """Apply the first plan, then the second in a run that is killed at a moment; 0 lets it live."""
    backend = Recording(root=root / "fleet")
    apply_to(root / "state", a_request(the_first(), backend, ONE))
    moments = Moments(kill_at=moment)
    with mortal_files(moments):
        if moment:
            with pytest.raises(SystemExit):
                apply_to(root / "state", a_request(the_second(), Mortal(backend, moments), TWO))
        else:
            apply_to(root / "state", a_request(the_second(), Mortal(backend, moments), TWO))
    return moments


def test_a_run_has_a_moment_around_every_effect_and_every_file(tmp_path: Path) -> None:
    names = killed_at(tmp_path, 0).names
    assert len([name for name in names if name.startswith(("after put", "after remove"))]) == 5
    assert names[0] == "before write inventory.json"
    assert names[-1] == "after unlink journal.jsonl"
    assert len(names) == MOMENTS


MOMENTS = 32


@pytest.mark.parametrize("moment", range(1, MOMENTS + 1))
def test_killed_at_any_moment_the_same_plan_is_finished_by_the_next_run(moment: int, tmp_path: Path) -> None:
    killed_at(tmp_path, moment)
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "state", a_request(the_second(), backend, TWO))
    assert backend.objects() == texts(the_second())
    assert is_settled(tmp_path / "state", TWO, the_second())
    assert set(Counter(backend.log()).values()) == {1}, "an effect was done twice"


@pytest.mark.parametrize("moment", range(1, MOMENTS + 1))
def test_killed_at_any_moment_another_plan_rolls_forward(moment: int, tmp_path: Path) -> None:
    killed_at(tmp_path, moment)
    backend = Recording(root=tmp_path / "fleet")
    third = (an_item("c", "three"), an_item("f"))
    apply_to(tmp_path / "state", a_request(third, backend, THREE))
    assert backend.objects() == texts(third)
    assert is_settled(tmp_path / "state", THREE, third)


@pytest.mark.parametrize("moment", range(1, MOMENTS + 1, 5))
@pytest.mark.parametrize("second", range(1, MOMENTS + 1, 5))
def test_killed_twice_nothing_is_lost_or_done_twice(moment: int, second: int, tmp_path: Path) -> None:
    killed_at(tmp_path, moment)
    backend, moments = Recording(root=tmp_path / "fleet"), Moments(kill_at=second)
    with mortal_files(moments):
        try:
            apply_to(tmp_path / "state", a_request(the_second(), Mortal(backend, moments), TWO))
        except SystemExit as ended:
            assert ended.code == 137
    apply_to(tmp_path / "state", a_request(the_second(), backend, TWO))
    assert backend.objects() == texts(the_second())
    assert is_settled(tmp_path / "state", TWO, the_second())
    assert set(Counter(backend.log()).values()) == {1}


@pytest.mark.parametrize("key", [item.key for item in the_second() if item.text == "two" or item.key == "dc1/e.yaml"])
def test_a_step_that_fails_stops_the_run_and_says_what_is_done(key: str, tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "state", a_request(the_first(), backend, ONE))
    request = a_request(the_second(), Failing(backend, frozenset({key})), TWO)
    with pytest.raises(PlannerError) as failure:
        apply_to(tmp_path / "state", request)
    told = failure.value.diagnostics[0]
    done = len(backend.log()) - 5
    assert told.summary.startswith(f"put {key} ")
    assert told.summary.endswith("the quota of the cluster is used up")
    assert told.help.startswith(f"{done} steps are done; {5 - done} are not: put {key}")
    assert told.help.endswith("goes on from there: planner apply plan.lock.json")
    assert isinstance(failure.value, PartlyApplied) == (done > 0)
    assert failure.value.exit_code == (7 if done else 1)
    outcome = apply_to(tmp_path / "state", a_request(the_second(), backend, TWO))
    assert (outcome.resumed, len(outcome.steps)) == (done, 5 - done)
    assert is_settled(tmp_path / "state", TWO, the_second())


def test_what_others_own_is_neither_changed_nor_counted_as_ours(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "other", a_request((an_item("a", "theirs"),), backend, ONE))
    with pytest.raises(Blocked) as refusal:
        apply_to(tmp_path / "state", a_request((an_item("a"), an_item("b")), backend, TWO))
    assert "1 objects exist and are not in our inventory: dc1/a.yaml" in refusal.value.diagnostics[0].summary
    assert refusal.value.diagnostics[0].help.endswith("--adopt")
    assert backend.objects() == {"dc1/a.yaml": "theirs"}
    assert not (tmp_path / "state" / "inventory.json").exists()
    apply_to(tmp_path / "state", a_request((an_item("a"), an_item("b")), backend, TWO, adopts=True))
    assert backend.objects() == {"dc1/a.yaml": "one", "dc1/b.yaml": "one"}


def test_objects_of_nobody_here_are_never_removed(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "other", a_request((an_item("theirs"),), backend, ONE))
    apply_to(tmp_path / "state", a_request((an_item("ours"),), backend, TWO))
    apply_to(tmp_path / "state", a_request((), backend, THREE))
    assert backend.objects() == {"dc1/theirs.yaml": "one"}


def test_a_namespace_is_left_and_told_of(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    namespace = an_item("vision", rank=Rank.NAMESPACE)
    apply_to(tmp_path / "state", a_request((namespace, an_item("a")), backend, ONE))
    done = apply_to(tmp_path / "state", a_request((), backend, TWO))
    assert done.left == (namespace.record,)
    assert backend.objects() == {namespace.key: "one"}
    assert list(State(root=tmp_path / "state").known().records) == [namespace.key]


def test_a_cluster_that_is_gone_with_objects_in_it_stops_the_run(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "state", a_request((an_item("d", cluster="old"),), backend, ONE))
    with pytest.raises(PlannerError, match="'old' is in the inventory and no longer in the specs"):
        apply_to(tmp_path / "state", a_request((), backend, TWO))
    assert backend.objects() == {"old/d.yaml": "one"}


@dataclass
class Untrusting:
    """A recording back end that refuses to spell out the calls of one key."""

    inner: Recording
    key: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def describe(self, step: Step) -> tuple[str, ...]:
        """Spell out, or refuse."""
        if step.record.key == self.key:
            raise Blocked("a command that nobody trusted")
        return self.inner.describe(step)


def test_a_call_that_is_refused_stops_the_run_before_the_first(tmp_path: Path) -> None:
    backend = Recording(root=tmp_path / "fleet")
    with pytest.raises(Blocked, match="a command that nobody trusted"):
        apply_to(tmp_path / "state", a_request(the_first(), Untrusting(backend, "hpc/d.yaml"), ONE))
    assert backend.log() == ()
    assert not (tmp_path / "state" / "inventory.json").exists()


def test_a_run_that_lost_its_lock_stops_before_its_next_step(tmp_path: Path) -> None:
    backend, state = Recording(root=tmp_path / "fleet"), State(root=tmp_path / "state")
    clock = iter([0, *[10_000] * 100])
    mine = lease.take(state.lease, "ann", "one", lambda: next(clock), 300)
    lease.take(state.lease, "bo", "two", lambda: 301, 300)
    with pytest.raises(Busy, match="was lost after it had expired: bo has held it"):
        run.apply(a_request(the_first(), backend, ONE), state, state.known(), mine)
    assert backend.log() == ()
