"""What is due, and what keeps it from beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.apply import lease
from planner.apply.due import Due, Interruption, Left, due
from planner.apply.recording import Recording
from planner.apply.release import paused, release, set_paused
from planner.apply.state import State
from planner.plan import Preemption
from planner.specset import SpecSet
from tests import builders
from tests.planner.apply.scenes import a_request, an_item, apply_to
from tests.planner.apply.test_staleness import seen
from tests.planner.plans import HOUR, START, a_placement, a_plan, a_segment, at

PLAN = a_plan([a_placement("vision/a", 2, 20, node=3), a_placement("vision/b", 5, 9, node=3)])


def specs(*after: str) -> SpecSet:
    """Specs in which `a` waits for other work."""
    jobs = [builders.a_job(name) for name in ("prep", "b")]
    return builders.loaded(builders.a_cluster(), builders.a_job("a", after=list(after)), *jobs)


def found(hour: float = 2, given: SpecSet | None = None, held: tuple[str, ...] = (), **snapshot: Any) -> Due:
    """What is due so many hours after the start."""
    return due(PLAN, given or specs(), seen(**snapshot), at=START + round(hour * HOUR), paused=held)


def released(answer: Due) -> list[str]:
    """The addresses that begin."""
    return [item.address for item in answer.releases]


@pytest.mark.parametrize(
    ("hour", "expected"),
    [(2 - 1 / 3_600, []), (2, ["a"]), (5 - 1 / 3_600, ["a"]), (5, ["a", "b"]), (9, ["a"]), (20, [])],
)
def test_work_is_due_from_its_start_until_its_end(hour: float, expected: list[str]) -> None:
    assert released(found(hour)) == [f"job/vision/{name}" for name in expected]


def test_interrupted_work_is_due_again_when_its_pause_is_over() -> None:
    parts = (a_segment(0, 4, node=3), a_segment(6, 9, node=2))
    plan = a_plan([a_placement("vision/a", 0, 9, segments=parts)])
    for hour, expected in ((3, ["a"]), (4, []), (6 - 1 / 3_600, []), (6, ["a"]), (9, [])):
        answer = due(plan, specs(), seen(), at=START + round(hour * HOUR))
        assert released(answer) == [f"job/vision/{name}" for name in expected]
    elsewhere: Any = {"down": [{"pool": "dc1/h100", "nodes": ["h100-002"]}]}
    assert released(due(plan, specs(), seen(**elsewhere), at=START + 6 * HOUR)) == []


def running(job: str, *devices: int, node: str = "h100-003", pool: str = "dc1/h100") -> dict[str, Any]:
    """Work that a snapshot has running."""
    nodes = [{"name": node, "devices": [{"index": index} for index in devices]}]
    return {"job": job, "pool": pool, "nodes": nodes, "started_at": at(0)}


def test_work_that_runs_or_has_ended_is_not_due() -> None:
    ended = {"job": "vision/a", "spec": "sha256:1", "state": "failed", "at": at(1)}
    assert found(running=[running("vision/a", 0)]) == Due()
    assert found(finished=[ended]) == Due()
    assert released(found(finished=[{**ended, "spec": "sha256:0"}])) == ["job/vision/a"]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"held": ("team/vision",)}, "team/vision is paused"),
        ({"held": ("pool/dc1/h100",)}, "pool/dc1/h100 is paused"),
        ({"running": [running("vision/late", 7)]}, "job/vision/late still runs on a device that it is to have"),
        ({"running": [running("vision/late")]}, "job/vision/late still runs on a device that it is to have"),
        ({"down": [{"pool": "dc1/h100", "nodes": ["h100-003"]}]}, "the snapshot has that node down"),
        ({"given": specs("prep")}, "job/vision/prep, which it waits for, has not succeeded"),
        ({"given": specs("prep"), "running": [running("vision/prep", node="h100-009")]},
         "job/vision/prep, which it waits for, still runs"),
    ],
)  # fmt: skip
def test_what_reality_has_overtaken_is_left_with_the_reason(facts: dict[str, Any], why: str) -> None:
    assert found(**facts) == Due(left=(Left(address="job/vision/a", why=why),))


@pytest.mark.parametrize(
    "facts",
    [
        {"held": ("team/nlp", "pool/dc1/mi300x")},
        {"running": [running("vision/other", 7, node="h100-004")]},
        {"running": [running("vision/other", 7, pool="dc2/h100")]},
        {"given": specs("prep"),
         "finished": [{"job": "vision/prep", "spec": "sha256:7", "state": "succeeded", "at": at(1)}]},
    ],
)  # fmt: skip
def test_what_does_not_concern_it_keeps_no_work_back(facts: dict[str, Any]) -> None:
    assert released(found(**facts)) == ["job/vision/a"]


VICTIM = Preemption(victim="job/vision/a", by="job/vision/b", at=at(5), gpus=8, lost_work_seconds=0)
INTERRUPTED = a_plan(
    [
        a_placement("vision/a", 2, 12, segments=(a_segment(2, 5, node=3), a_segment(9, 12, node=3))),
        a_placement("vision/b", 5, 9, node=3),
    ],
    preemptions=(VICTIM,),
)
GIVES_WAY = Interruption(address="job/vision/a", cluster="dc1", beneficiary="job/vision/b")


def test_work_gives_way_when_that_is_due_and_whom_it_gives_way_to_begins_at_once() -> None:
    runs: Any = {"running": [{**running("vision/a", *range(8)), "started_at": at(2)}]}
    assert due(INTERRUPTED, specs(), seen(**runs), at=START + 5 * HOUR - 1) == Due()
    now = due(INTERRUPTED, specs(), seen(**runs), at=START + 5 * HOUR)
    assert now.interruptions == (GIVES_WAY,)
    assert released(now) == ["job/vision/b"]


def test_work_that_has_given_way_is_not_interrupted_again_but_goes_on_after_its_pause() -> None:
    assert due(INTERRUPTED, specs(), seen(), at=START + 6 * HOUR).interruptions == ()
    assert released(due(INTERRUPTED, specs(), seen(), at=START + 9 * HOUR)) == ["job/vision/a"]
    again: Any = {"running": [{**running("vision/a", *range(8)), "started_at": at(9)}]}
    assert due(INTERRUPTED, specs(), seen(**again), at=START + 10 * HOUR) == Due()


def test_nobody_gives_way_to_work_that_has_ended() -> None:
    ended = {"job": "vision/b", "spec": "sha256:1", "state": "succeeded", "at": at(4)}
    runs = [{**running("vision/a", *range(8)), "started_at": at(2)}]
    answer = due(INTERRUPTED, specs(), seen(running=runs, finished=[ended]), at=START + 5 * HOUR)
    why = "was to be interrupted at 2026-12-01T05:00:00Z for job/vision/b, which has ended"
    assert answer == Due(left=(Left(address="job/vision/a", why=why),))


def test_an_interruption_is_carried_out_before_what_it_is_for_begins(tmp_path: Path) -> None:
    backend, state = Recording(root=tmp_path / "fleet"), tmp_path / "state"
    apply_to(state, a_request((an_item("a"), an_item("b")), backend, INTERRUPTED))
    runs: Any = {"running": [{**running("vision/a", *range(8)), "started_at": at(2)}]}
    every: Any = ((5, runs), (5, runs), (9, {}))
    for hour, snapshot in every:
        with lease.held(state / "apply.lock", "tester", "a test", lambda: START) as held:
            found_now = due(INTERRUPTED, specs(), seen(**snapshot), at=START + hour * HOUR)
            assert release(found_now, State(root=state).known().records, {"dc1": backend}, held) == ()
    assert backend.log()[2:] == (
        ("interrupted", "dc1/a.yaml job/vision/a"),
        ("released", "dc1/b.yaml job/vision/b"),
        ("released", "dc1/a.yaml job/vision/a"),
    )


def test_each_piece_of_work_begins_once_and_one_that_cannot_stops_no_other(tmp_path: Path) -> None:
    backend, state = Recording(root=tmp_path / "fleet"), tmp_path / "state"
    apply_to(state, a_request((an_item("b"),), backend, PLAN))
    records = State(root=state).known().records
    for _ in range(2):
        with lease.held(state / "apply.lock", "tester", "a test", lambda: START) as held:
            left = release(found(5), records, {"dc1": backend}, held)
        assert left == (Left(address="job/vision/a", why="it is not in the inventory; apply the plan first"),)
    assert backend.log() == (("created", "dc1/b.yaml"), ("released", "dc1/b.yaml job/vision/b"))


def test_what_is_paused_is_kept_and_cannot_be_edited(tmp_path: Path) -> None:
    path = tmp_path / "paused.json"
    assert paused(path) == ()
    set_paused(path, ["team/b", "team/a", "team/b"])
    assert paused(path) == ("team/a", "team/b")
    path.write_text(path.read_text().replace("team/a", "team/c"))
    with pytest.raises(Exception, match="was changed after it was written"):
        paused(path)


@pytest.mark.parametrize(
    ("hour", "begins"), [(2, True), (3 - 1 / 3_600, True), (3, False), (9, False)],
)  # fmt: skip
def test_late_work_does_not_begin_where_others_are_to_have_its_devices_before_it_ends(
    hour: float, begins: bool
) -> None:
    plan = a_plan([a_placement("vision/a", 2, 20, node=3), a_placement("vision/b", 20, 24, node=3)])
    answer = due(plan, specs(), seen(), at=START + round(hour * HOUR))
    assert released(answer) == ["job/vision/a"] * begins
    why = f"it is late, and job/vision/b is to have its devices from {at(20)}"
    assert [item.why for item in answer.left] == [why] * (not begins)


@pytest.mark.parametrize("fields", [{"node": 4}, {"start": 26}, {"start": 19.5}])
def test_late_work_begins_where_nobody_needs_its_devices_meanwhile(fields: dict[str, Any]) -> None:
    other = a_placement(**{"name": "vision/b", "start": 20, "end": 30, "node": 3, **fields})
    plan = a_plan([a_placement("vision/a", 2, 20, node=3), other])
    assert released(due(plan, specs(), seen(), at=START + 8 * HOUR)) == ["job/vision/a"]


@pytest.mark.parametrize(("hour", "is_told"), [(20 - 1 / 3_600, False), (20, True)])
def test_work_that_runs_past_its_end_is_told_and_left(hour: float, is_told: bool) -> None:
    answer = found(hour, running=[running("vision/a", 0)])
    assert [item.why for item in answer.left] == [f"still runs although it was to end at {at(20)}"] * is_told
