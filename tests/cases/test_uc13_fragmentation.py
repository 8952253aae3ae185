"""UC-13 (ii): singles leave a whole node free for the gang, and the least important work waits."""

from __future__ import annotations

from tests.builders import a_cluster, a_job, a_policy, a_pool, hours, planned


def test_singles_fill_three_nodes_the_gang_takes_the_fourth_and_p3_waits() -> None:
    singles = [a_job(f"p0-{at:02}", gpus=1, priority="P0", duration="24h") for at in range(24)]
    least = [a_job(f"p3-{at}", gpus=1, priority="P3", duration="24h") for at in range(8)]
    gang = a_job("gang", gpus=8, priority="P0", duration="24h")
    plan = planned(a_cluster(a_pool(nodes=4)), a_policy(), gang, *singles, *least)
    assert hours(plan, "job/vision/gang") == (0, 24)
    placement = plan.placement("job/vision/gang")
    assert placement is not None
    whole = placement.segments[0].nodes[0].name
    others = {
        node.name for each in plan.placements if each.address != "job/vision/gang" for node in each.segments[0].nodes
    }
    assert len(others) == 3 and whole not in others
    assert [each.address for each in plan.unplaced] == [f"job/vision/p3-{at}" for at in range(8)]
    assert {reason.code for each in plan.unplaced for reason in each.reasons} == {"capacity"}
    assert plan.status.complete
