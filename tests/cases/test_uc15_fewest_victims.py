"""UC-15: gangs give way whole, as few as are needed, and none for work that could not start anyway."""

from __future__ import annotations

from typing import Any

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
