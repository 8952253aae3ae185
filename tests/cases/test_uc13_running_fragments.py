"""UC-13 (i): nothing is evicted for a gang that still could not start; a single evicts one, and one only."""

from __future__ import annotations

from typing import Any

from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, hours, planned

SOON = {"deadline": "2026-12-01T02:00:00Z", "deadline_is": "hard"}
NODES = 4


def a_run(name: str, node: int, index: int) -> Document:
    return {
        "job": f"vision/{name}",
        "pool": "dc1/h100",
        "started_at": "2026-11-30T20:00:00Z",
        "nodes": [{"name": f"h100-{node + 1:04}", "devices": [{"index": index}]}],
    }


def test_eight_scattered_singles_do_not_give_way_to_a_gang_that_could_not_start_and_one_gives_way_to_a_single() -> None:
    firm: dict[str, Any] = {"movable": False, "priority": "P0", "gpus": 1, "duration": "48h"}
    loose: dict[str, Any] = {"movable": False, "priority": "P3", "gpus": 1, "duration": "48h"}
    places = [(node, index) for node in range(NODES) for index in range(8)]
    important = [f"p0-{node}-{index}" for node, index in places if index < 6]
    least = [f"p3-{node}-{index}" for node, index in places if index >= 6]
    running = {
        "apiVersion": "planner/v1",
        "kind": "Snapshot",
        "name": "now",
        "taken_at": "2026-12-01T00:00:00Z",
        "running": [a_run(f"p{0 if index < 6 else 3}-{node}-{index}", node, index) for node, index in places],
    }
    plan = planned(
        a_cluster(a_pool(nodes=NODES)),
        a_policy(),
        running,
        *(a_job(name, min_run="48h", **firm) for name in important),
        *(a_job(name, **loose) for name in least),
        a_job("gang", gpus=8, priority="P0", duration="2h", window=SOON),
        a_job("single", gpus=1, priority="P0", duration="2h", window=SOON),
    )
    assert hours(plan, "job/vision/single") == (0, 2)
    assert [stop.by for stop in plan.preemptions] == ["job/vision/single"]
    assert plan.preemptions[0].victim.startswith("job/vision/p3-")
    (gang,) = [each for each in plan.unplaced if each.address == "job/vision/gang"]
    assert [reason.code for reason in gang.reasons] == ["capacity"]
    assert {each.address for each in plan.placements} >= {f"job/vision/{name}" for name in important}
