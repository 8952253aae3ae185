"""UC-15: of an elastic job as many replicas give way as are needed, gangs give way whole and as few as are needed, and
none for work that could not start anyway.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, hours, planned

SOON = {"deadline": "2026-12-01T02:00:00Z", "deadline_is": "hard"}


def a_run(name: str, *indices: int) -> Document:
    """A job on devices of the only node, since four hours."""
    return {
        "job": f"vision/{name}", "pool": "dc1/h100", "started_at": "2026-11-30T20:00:00Z",
        "nodes": [{"name": "h100-0001", "devices": [{"index": index} for index in indices]}],
    }  # fmt: skip


def a_snapshot(*running: Document) -> Document:
    return {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
        "running": list(running),
    }  # fmt: skip


def a_gang(name: str, **fields: Any) -> Document:
    """Two devices that only run together."""
    return a_job(name, gpus=2, duration="24h", priority="P3", **fields)


def a_crowd(needed: int, **fields: Any) -> Plan:
    """Work that has all 11 devices of the only node and is half done, when urgent work needs some of them."""
    return planned(
        a_cluster(a_pool(nodes=1, count=11)), a_policy(length="7d"),
        a_job("many", duration="24h", priority="P3", checkpoint={"every": "1h", "restart": "5m"}, **fields),
        a_job("urgent", gpus=needed, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("many", *range(11)) | {"done": "50%", "checkpointed": "50%"}),
    )  # fmt: skip


@pytest.mark.parametrize(("needed", "left", "end"), [(1, 10, 14), (2, 9, 15)])
def test_an_elastic_job_gives_as_many_replicas_as_are_needed_and_goes_on_with_the_others(
    needed: int, left: int, end: int
) -> None:
    plan = a_crowd(needed, gpus=1, replicas={"min": 1, "max": 11})
    assert hours(plan, "job/vision/urgent") == (0, 2)
    assert hours(plan, "job/vision/many") == (0, end)
    assert plan.preemptions == ()
    (move,) = plan.moves
    assert (move.address, move.beneficiary, move.lost_work_seconds) == ("job/vision/many", "job/vision/urgent", 300)
    many = plan.placement("job/vision/many")
    assert many is not None
    assert many.gpus == left


def test_a_gang_that_cannot_shrink_gives_way_whole_for_one_device() -> None:
    plan = a_crowd(1, gpus=11)
    assert hours(plan, "job/vision/urgent") == (0, 2)
    (stop,) = plan.preemptions
    assert (stop.victim, stop.gpus) == ("job/vision/many", 11)


def test_one_of_two_gangs_gives_way_whole_and_the_other_is_not_touched() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1, count=4)), a_policy(length="2d"), a_gang("j1"), a_gang("j3"),
        a_job("j4", gpus=2, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("j1", 0, 1), a_run("j3", 2, 3)),
    )  # fmt: skip
    assert hours(plan, "job/vision/j4") == (0, 2)
    (stop,) = plan.preemptions
    assert (stop.by, stop.gpus) == ("job/vision/j4", 2)
    other = "job/vision/j3" if stop.victim == "job/vision/j1" else "job/vision/j1"
    assert hours(plan, other) == (-4, 20)


def test_the_gang_that_loses_less_gives_way() -> None:
    saved = {"done": "20%", "checkpointed": "20%"}
    for loser in ("j1", "j3"):
        checkpoint = {"checkpoint": {"every": "1h", "restart": "5m"}}
        gangs = [a_gang(name, movable=False, **(checkpoint if name == loser else {})) for name in ("j1", "j3")]
        runs = [a_run("j1", 0, 1), a_run("j3", 2, 3)]
        told = [run | saved if run["job"] == f"vision/{loser}" else run for run in runs]
        plan = planned(
            a_cluster(a_pool(nodes=1, count=4)), a_policy(length="2d"), *gangs, a_snapshot(*told),
            a_job("j4", gpus=2, duration="2h", priority="P0", window=SOON),
        )  # fmt: skip
        assert [stop.victim for stop in plan.preemptions] == [f"job/vision/{loser}"]


def test_nobody_gives_way_to_work_that_still_could_not_start() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1, count=4)), a_policy(length="2d"), a_gang("j1"), a_gang("j3", preemptible=False),
        a_job("j4", gpus=4, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("j1", 0, 1), a_run("j3", 2, 3)),
    )  # fmt: skip
    assert plan.preemptions == ()
    assert [each.address for each in plan.unplaced] == ["job/vision/j4"]
