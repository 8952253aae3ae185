"""UC-07: gangs on four racks of 18 nodes of which 16 are promised: in one, or in equal slices over the fewest."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, hours, planned

RACKS = a_pool(
    "nvl", nodes="n[01-72]", count=4, nodes_per_nvlink_domain=18, reserve={"nodes": 2, "per": "nvlink_domain"}
)


def gang(nodes: int, *, required: bool = False, **fields: Any) -> Document:
    """A gang of so many nodes of 4 devices."""
    topology = {"within": "nvlink_domain", "required": required}
    return a_job(f"gang-{nodes}", gpus={"count": 4 * nodes, "nodes": nodes}, topology=topology, **fields)


def slices(plan: Plan, address: str, each: int = 18) -> list[int]:
    """How many nodes it has in each rack."""
    placement = plan.placement(address)
    assert placement is not None, plan.unplaced
    racks = Counter((int(node.name[1:]) - 1) // each for node in placement.segments[0].nodes)
    return sorted(racks.values(), reverse=True)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(1, [1]), (16, [16]), (17, [9, 8]), (24, [12, 12]), (32, [16, 16]), (48, [16, 16, 16]), (64, [16] * 4)],
)
def test_a_gang_takes_the_fewest_racks_in_equal_slices(nodes: int, expected: list[int]) -> None:
    plan = planned(a_cluster(RACKS), gang(nodes))
    assert slices(plan, f"job/vision/gang-{nodes}") == expected


def test_all_of_them_share_the_racks_in_time() -> None:
    gangs = [gang(nodes) for nodes in (16, 17, 24, 32, 48)]
    plan = planned(a_cluster(RACKS), *gangs)
    found = {nodes: slices(plan, f"job/vision/gang-{nodes}") for nodes in (16, 17, 24, 32, 48)}
    assert found == {16: [16], 17: [9, 8], 24: [12, 12], 32: [16, 16], 48: [16, 16, 16]}
    assert max(hours(plan, each.address)[1] for each in plan.placements) == 6


def test_one_node_more_than_a_rack_promises_needs_a_fully_healthy_one() -> None:
    (work,) = compile_specs(a_cluster(RACKS), a_policy(on_invalid="skip"), gang(17, required=True)).works
    (refusal,) = work.refusals
    assert refusal.code == "topology"
    assert refusal.message == (
        "needs 17 nodes within one NVLink domain, the largest has 16 beside its reserve: it needs a fully healthy one"
    )
    assert slices(planned(a_cluster(RACKS), gang(16, required=True)), "job/vision/gang-16") == [16]


def test_gangs_bound_to_one_rack_each_have_their_own() -> None:
    jobs = [gang(16, required=True, duration="24h") | {"name": f"g{at}"} for at in range(5)]
    plan = planned(a_cluster(RACKS), *jobs)
    assert [slices(plan, each.address) for each in plan.placements] == [[16]] * 4
    (left,) = plan.unplaced
    assert "needs 16 nodes within one NVLink domain" in left.reasons[0].message


PARTLY = a_pool("x", nodes="n[1-6]", count=4, nvlink_domains={"a": "n[1-2]", "b": "n[3-4]"})
"""Two domains of two nodes, and two nodes of which no domain is known."""


def test_nodes_of_no_known_domain_are_none() -> None:
    topology = {"within": "nvlink_domain", "required": True}
    jobs = [a_job(f"g{at}", gpus={"count": 8, "nodes": 2}, duration="24h", topology=topology) for at in range(3)]
    plan = planned(a_cluster(PARTLY), *jobs)
    assert [slices(plan, each.address, 2) for each in plan.placements] == [[2], [2]]
    assert {node.name for each in plan.placements for node in each.segments[0].nodes} == {"n1", "n2", "n3", "n4"}


@pytest.mark.parametrize("nodes", [5, 6])
def test_what_no_domains_hold_together_lies_anywhere_if_it_may(nodes: int) -> None:
    (placement,) = planned(
        a_cluster(PARTLY),
        a_job(gpus={"count": 4 * nodes, "nodes": nodes}, topology={"within": "nvlink_domain"}),
    ).placements
    assert len(placement.segments[0].nodes) == nodes


def test_a_pool_without_racks_cannot_promise_one() -> None:
    topology = {"within": "rack", "required": True}
    job = a_job(gpus={"count": 16, "nodes": 2}, topology=topology)
    (work,) = compile_specs(a_cluster(a_pool("x", nodes=4)), a_policy(on_invalid="skip"), job).works
    assert [(each.code, each.fix) for each in work.refusals] == [("topology", "state the pool's racks, if it has any")]
    assert planned(a_cluster(a_pool("x", nodes=4, nodes_per_rack=2)), job).status.complete


def test_a_gang_waits_less_than_a_day_for_a_whole_rack() -> None:
    """Each further rack weighs as much as a day: half a day is waited for, two days are not."""
    for length, expected in (("12h", [2]), ("48h", [1, 1])):
        held = [
            a_job(f"held-{at}", gpus=4, duration=length, pin={"nodes": f"n{at}", "start": "2026-12-01T00:00:00Z"},
                  priority="P0")
            for at in (1, 3)
        ]  # fmt: skip
        job = a_job("gang", gpus={"count": 8, "nodes": 2}, duration="4h", topology={"within": "rack"})
        pool = a_pool("x", nodes="n[1-4]", count=4, nodes_per_rack=2)
        plan = planned(a_cluster(pool), a_policy(length="4d"), *held, job)
        assert slices(plan, "job/vision/gang", 2) == expected


def test_the_slices_stay_where_the_previous_plan_had_them() -> None:
    specs = (a_cluster(RACKS), a_policy(move="USD 1"), gang(24))
    first = planned(*specs)
    again = planned(*specs, a_job("other", gpus={"count": 64, "nodes": 16}, duration="20h", priority="P0"),
                    previous=first)  # fmt: skip
    assert again.placement("job/vision/gang-24") is not None
    assert again.placement("job/vision/gang-24").segments == first.placements[0].segments  # type: ignore[union-attr]
