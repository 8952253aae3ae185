"""Running work goes on where it is, moves at a checkpoint or gives way, each at what that really costs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, a_quota, compile_specs, hours, planned

CHECKPOINT = {"every": "1h", "restart": "30m"}
SOON = {"deadline": "2026-12-01T02:00:00Z", "deadline_is": "hard"}
SOON_ENOUGH = {"deadline": "2026-12-01T03:00:00Z", "deadline_is": "hard"}


def a_snapshot(*running: Document, **fields: Any) -> Document:
    """What runs when the plan starts."""
    return {
        "apiVersion": "planner/v1",
        "kind": "Snapshot",
        "name": "now",
        "taken_at": "2026-12-01T00:00:00Z",
        "running": list(running),
        **fields,
    }


def a_run(
    job: str = "vision/train", *indices: int, node: str = "h100-0001", hours_ago: int = 4, **fields: Any
) -> Document:
    """A job on devices of a node, begun some hours before the plan starts."""
    devices = [{"index": index} for index in indices]
    return {
        "job": job,
        "pool": "dc1/h100",
        "nodes": [{"name": node, "devices": devices}],
        "started_at": f"2026-11-30T{24 - hours_ago:02d}:00:00Z",
        **fields,
    }


def where(plan: Plan, address: str = "job/vision/train") -> tuple[str, list[int]]:
    """The node and devices of a job's first segment."""
    (node,) = next(each for each in plan.placements if each.address == address).segments[0].nodes
    return node.name, [device.index for device in node.devices]


@pytest.mark.parametrize(
    ("fields", "end"),
    [({}, 6), ({"done": "50%"}, 5), ({"done": "90%"}, 1), ({"done": "100%"}, 1)],
)
def test_a_run_goes_on_for_what_is_left_of_it(fields: Document, end: int) -> None:
    plan = planned(
        a_cluster(a_pool(nodes=2)),
        a_job(gpus=2, duration="10h"),
        a_snapshot(a_run("vision/train", 3, 5, node="h100-0002", **fields)),
    )
    (placement,) = plan.placements
    assert where(plan) == ("h100-0002", [3, 5])
    assert placement.start == "2026-11-30T20:00:00Z"
    assert placement.finish == f"2026-12-01T{end:02d}:00:00Z"
    assert (plan.moves, plan.preemptions, placement.lost_work_seconds) == ((), (), 0)


def test_a_run_that_lasts_longer_than_expected_goes_on_and_pushes_what_follows() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="3h"),
        a_job(name="next", gpus=8, duration="2h", after=["train"]),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert where(plan) == ("h100-0001", list(range(8)))
    assert hours(plan, "job/vision/next") == (1, 3)


def test_work_worth_more_interrupts_a_run_and_the_loss_is_told() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3", checkpoint=CHECKPOINT),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("vision/train", *range(8), done="40%", checkpointed="38%")),
    )
    assert hours(plan, "job/vision/urgent") == (0, 2)
    assert hours(plan, "job/vision/train") == (2, 9)
    (stop,) = plan.preemptions
    assert (stop.victim, stop.by, stop.gpus) == ("job/vision/train", "job/vision/urgent", 8)
    assert stop.lost_work_seconds == 2 * 360 + 1800


def test_work_that_can_wait_an_hour_leaves_a_run_time_for_its_next_checkpoint() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3", checkpoint=CHECKPOINT),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0", window=SOON_ENOUGH),
        a_snapshot(a_run("vision/train", *range(8), done="40%", checkpointed="38%")),
    )
    assert hours(plan, "job/vision/urgent") == (1, 3)
    (stop,) = plan.preemptions
    assert (stop.at, stop.lost_work_seconds) == ("2026-12-01T01:00:00Z", 1800)
    first, second = next(each for each in plan.placements if each.address == "job/vision/train").segments
    assert (first.start, first.end) == ("2026-11-30T20:00:00Z", "2026-12-01T01:00:00Z")
    assert (second.start, second.end) == ("2026-12-01T03:00:00Z", "2026-12-01T09:00:00Z")


def test_work_whose_node_closes_goes_on_until_its_last_checkpoint_and_then_elsewhere() -> None:
    shut = [{"from": "2026-12-01T03:30:00Z", "to": "2026-12-02T00:00:00Z", "nodes": "h100-0001"}]
    plan = planned(
        a_cluster(a_pool(nodes=2, unavailable=shut)),
        a_job(gpus=8, duration="10h", checkpoint=CHECKPOINT),
        a_job(name="other", gpus=8, duration="7h", preemptible=False),
        a_quota(guaranteed=8),
        a_snapshot(
            a_run("vision/train", *range(8), done="40%", checkpointed="38%"),
            a_run("vision/other", *range(8), node="h100-0002"),
        ),
    )
    first, second = next(each for each in plan.placements if each.address == "job/vision/train").segments
    assert (first.nodes[0].name, first.end) == ("h100-0001", "2026-12-01T03:00:00Z")
    assert (second.nodes[0].name, second.start) == ("h100-0002", "2026-12-01T03:00:00Z")
    assert second.end == "2026-12-01T07:00:00Z"
    (move,) = plan.moves
    assert (move.at, move.lost_work_seconds) == ("2026-12-01T03:00:00Z", 1800)


def test_work_without_checkpoints_begins_again_from_nothing() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3"),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("vision/train", *range(8), done="40%")),
    )
    assert hours(plan, "job/vision/train") == (2, 12)
    assert plan.preemptions[0].lost_work_seconds == 4 * 3600


@pytest.mark.parametrize(
    "fields",
    [
        {"preemptible": False},
        {"min_run": "5h"},
        {"labels": {"planner/protected": "true"}},
    ],
    ids=["not preemptible", "least run time not reached", "protected"],
)
def test_what_may_not_be_interrupted_goes_on(fields: Document) -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3", **fields),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0"),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert hours(plan, "job/vision/urgent") == (6, 8)
    assert plan.preemptions == ()


def test_the_least_run_time_once_reached_protects_no_more() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3", min_run="4h"),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert hours(plan, "job/vision/urgent") == (0, 2)


def test_the_policy_can_forbid_to_interrupt() -> None:
    rule = {"id": "keep", "what": "preempt", "where": {"priority": ["P3"]}}
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_job(gpus=8, duration="10h", priority="P3"),
        a_policy(deny=[rule]),
        a_job(name="urgent", gpus=8, duration="2h", priority="P0"),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert hours(plan, "job/vision/urgent") == (6, 8)


def test_a_guarantee_that_ends_before_the_run_protects_it_no_more() -> None:
    window = [{"when": "daily 05:00-24:00", "guaranteed": 0}]
    running = a_snapshot(a_run("vision/train", *range(8)))
    for duration, stays in (("9h", True), ("10h", False)):
        job = a_job(duration=duration, priority="P3")
        fleet = (a_cluster(a_pool(nodes=1)), a_quota(guaranteed=8, windows=window), job, running)
        assert compile_specs(*fleet).problem.tasks[0].stays is stays


@pytest.mark.parametrize(("guaranteed", "gives_way"), [(8, False), (7, False), (1, False), (0, True)])
def test_no_team_is_pushed_below_its_guarantee_for_another(guaranteed: int, gives_way: bool) -> None:
    soon = {"deadline": "2026-12-01T03:00:00Z", "deadline_is": "hard"}
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_quota(guaranteed=guaranteed),
        a_job(gpus=8, duration="10h", priority="P3"),
        a_job(name="urgent", team="nlp", gpus=8, duration="2h", priority="P0", window=soon),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert [each.victim for each in plan.preemptions] == (["job/vision/train"] if gives_way else [])
    assert (plan.placement("job/nlp/urgent") is not None) is gives_way


def test_checkpointed_work_moves_to_make_room_for_a_gang_and_the_move_is_told() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=2)),
        a_job(gpus=1, duration="20h", priority="P2", checkpoint=CHECKPOINT),
        a_job(name="other", gpus=1, duration="20h", priority="P2"),
        a_job(name="gang", gpus=8, duration="10h", priority="P1"),
        a_snapshot(
            a_run("vision/train", 0, checkpointed="20%", done="20%"),
            a_run("vision/other", 0, node="h100-0002", done="20%"),
        ),
    )
    assert hours(plan, "job/vision/gang")[0] == 0
    (move,) = plan.moves
    assert (move.address, move.source, move.target) == (
        "job/vision/train",
        ("dc1/h100/h100-0001",),
        ("dc1/h100/h100-0002",),
    )
    assert (move.beneficiary, move.lost_work_seconds) == ("job/vision/gang", 1800)
    assert plan.preemptions == ()


def test_what_may_not_move_does_not() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=2)),
        a_job(
            gpus=1, duration="20h", priority="P2", checkpoint=CHECKPOINT, movable=False, preemptible=True, min_run="20h"
        ),
        a_job(name="other", gpus=1, duration="20h", priority="P2", min_run="20h"),
        a_job(name="gang", gpus=8, duration="10h", priority="P1"),
        a_snapshot(
            a_run("vision/train", 0, checkpointed="20%", done="20%"),
            a_run("vision/other", 0, node="h100-0002", done="20%"),
        ),
    )
    assert hours(plan, "job/vision/gang")[0] == 16
    assert plan.moves == ()


def test_a_run_whose_node_is_down_begins_again_elsewhere_from_what_is_saved() -> None:
    down = {"down": [{"pool": "dc1/h100", "nodes": "h100-0001", "until": "unknown"}]}
    plan = planned(
        a_cluster(a_pool(nodes=2)),
        a_job(gpus=8, duration="10h", checkpoint={"every": "1h", "restart": "1h"}),
        a_snapshot(a_run("vision/train", *range(8), done="40%", checkpointed="40%"), **down),
    )
    assert where(plan)[0] == "h100-0002"
    assert hours(plan, "job/vision/train") == (0, 7)


def test_a_run_without_a_spec_keeps_its_devices_from_plans() -> None:
    plan = planned(a_cluster(a_pool(nodes=1)), a_job(gpus=6, duration="2h"), a_snapshot(a_run("vision/gone", 1, 2)))
    assert where(plan) == ("h100-0001", [0, 3, 4, 5, 6, 7])


def test_a_run_on_devices_that_its_spec_does_not_ask_for_is_planned_anew() -> None:
    compiled = compile_specs(
        a_cluster(a_pool(nodes=1)), a_job(gpus=4, duration="2h"), a_snapshot(a_run("vision/train", 0))
    )
    (work,) = compiled.works
    assert work.seen is not None
    assert work.standing is None


def test_more_devices_in_use_than_a_node_has_are_an_error() -> None:
    with pytest.raises(SpecError, match="9 devices of dc1/h100/h100-0001 are said to be in use, of 8"):
        planned(
            a_cluster(a_pool(nodes=1)),
            a_job(gpus=8, duration="2h"),
            a_job(name="other", gpus=1, duration="2h"),
            a_snapshot(a_run("vision/train", *range(8)), a_run("vision/other", 0)),
        )


def test_a_run_beyond_the_limit_of_its_quota_that_may_not_stop_goes_on() -> None:
    plan = planned(
        a_cluster(a_pool(nodes=1)),
        a_quota(guaranteed=0, limit=4),
        a_job(gpus=4, duration="10h", min_run="9h"),
        a_job(name="second", gpus=2, duration="10h", min_run="9h"),
        a_snapshot(a_run("vision/train", 0, 1, 2, 3), a_run("vision/second", 4, 5)),
    )
    assert {each.start for each in plan.placements} == {"2026-11-30T20:00:00Z"}


def test_a_run_goes_on_until_maintenance_that_its_limit_would_reach() -> None:
    closed = [{"from": "2026-12-01T07:00:00Z", "to": "2026-12-01T09:00:00Z", "reason": "firmware"}]
    plan = planned(
        a_cluster(a_pool(nodes=1, unavailable=closed)),
        a_job(gpus=8, duration="10h"),
        a_snapshot(a_run("vision/train", *range(8))),
    )
    assert plan.placements[0].finish == "2026-12-01T06:00:00Z"


@pytest.mark.parametrize(("taken_at", "fails"), [("2026-12-01T00:00:00Z", False), ("2026-12-01T00:00:01Z", True)])
def test_a_plan_does_not_start_before_its_snapshot_of_what_runs(taken_at: str, fails: bool) -> None:
    documents = (a_cluster(), a_job(duration="9h"), a_snapshot(a_run("vision/train", *range(8)), taken_at=taken_at))
    if fails:
        with pytest.raises(SpecError, match="the snapshot of what runs is of 2026-12-01T00:00:01Z, the plan starts at"):
            compile_specs(*documents)
    else:
        assert compile_specs(*documents).works[0].standing is not None


def test_what_runs_on_shares_of_unknown_devices_is_refused() -> None:
    pool = a_pool(nodes=1, sharing={"by": "time_slicing", "units": 4})
    with pytest.raises(SpecError, match="shared or partitioned devices that are not named"):
        compile_specs(a_cluster(pool), a_job(gpus="1/4", duration="9h"), a_snapshot(a_run("vision/train")))
