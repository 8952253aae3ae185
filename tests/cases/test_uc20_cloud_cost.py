"""UC-20: what two rented nodes cost, in all and per hour, what a cap refuses, and that spot nodes meet it."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from tests.builders import (
    Document,
    a_cluster,
    a_job,
    a_policy,
    a_pool,
    a_team,
    compile_specs,
    planned,
)

ON_DEMAND = {"on_demand": "USD 0.40/h"}


def a_cloud(**fields: Any) -> Document:
    """Two nodes of one device at USD 0.40 an hour each."""
    pool = a_pool("p5", nodes=2, count=1, price=ON_DEMAND, max_nodes={"on_demand": 2}, **fields)
    return a_cluster(pool, name="aws", place={"provider": "aws", "region": "us-east-1"})


def both_markets() -> Document:
    """The same two nodes, and two of the spot market at USD 0.15 an hour each."""
    price = ON_DEMAND | {"spot": "USD 0.15/h"}
    pool = a_pool("p5", nodes=2, count=1, price=price, max_nodes={"on_demand": 2, "spot": 2})
    return a_cluster(pool, name="aws", place={"provider": "aws", "region": "us-east-1"})


def two_nodes(**fields: Any) -> Document:
    """Two devices for three hours, which takes both nodes."""
    return a_job(gpus={"count": 2, "nodes": 2}, duration="3h", **fields)


def test_two_nodes_for_three_hours_cost_two_dollars_forty() -> None:
    plan = planned(a_cloud(), two_nodes())
    placement = plan.placement("job/vision/train")
    assert placement is not None
    assert placement.segments[0].market == "on_demand"
    assert placement.cash_micros == 2_400_000
    assert plan.costs.total.cash_micros == 2_400_000
    assert plan.costs.currency == "USD"
    assert [(each.name, each.cash_micros) for each in plan.costs.pools] == [("aws/p5", 2_400_000)]


@pytest.mark.parametrize(("cap", "fits"), [("USD 0.79", False), ("USD 0.80", True), ("USD 0.70", False)])
def test_the_hourly_cap_counts_all_nodes(cap: str, fits: bool) -> None:
    plan = planned(a_cloud(), a_policy(on_invalid="skip"), two_nodes(max_cost={"per_hour": cap}))
    assert [each.address for each in plan.placements] == (["job/vision/train"] if fits else [])


@pytest.mark.parametrize(("cap", "fits"), [("USD 2.39", False), ("USD 2.40", True)])
def test_the_total_cap_counts_all_nodes_and_hours(cap: str, fits: bool) -> None:
    plan = planned(a_cloud(), a_policy(on_invalid="skip"), two_nodes(max_cost={"total": cap}))
    assert [each.address for each in plan.placements] == (["job/vision/train"] if fits else [])


def test_a_breach_of_the_cap_is_a_refusal_with_its_arithmetic() -> None:
    with pytest.raises(SpecError) as caught:
        compile_specs(a_cloud(), two_nodes(max_cost={"per_hour": "USD 0.70"}))
    (fault,) = caught.value.diagnostics
    assert fault.code == "SPEC420"
    assert "pool/aws/p5: 2 nodes at USD 0.40/h cost USD 0.80/h, max_cost allows USD 0.70/h" in fault.help


def test_no_more_nodes_than_the_ceiling_are_rented_at_once() -> None:
    jobs = [a_job(name, gpus=1, duration="3h") for name in ("a", "b", "c")]
    plan = planned(a_cloud(), *jobs)
    assert sorted(each.start[11:13] for each in plan.placements) == ["00", "00", "03"]


def test_a_rented_node_is_billed_whole_and_for_one_job() -> None:
    pool = a_pool("p5", nodes=4, price={"on_demand": "USD 8/h"}, max_nodes={"on_demand": 4})
    cloud = a_cluster(pool, name="aws", place={"provider": "aws", "region": "us-east-1"})
    plan = planned(cloud, *(a_job(name, gpus=2, duration="1h", priority="P1") for name in ("a", "b")))
    assert [each.cash_micros for each in plan.placements] == [8_000_000, 8_000_000]
    names = [node.name for each in plan.placements for node in each.segments[0].nodes]
    assert len(set(names)) == 2
    assert [len(node.devices) for each in plan.placements for node in each.segments[0].nodes] == [2, 2]


def test_chargeback_of_own_hardware_is_reported_apart_from_cash() -> None:
    plan = planned(a_cluster(a_pool(chargeback="USD 0.20/h")), a_job(gpus=8, duration="3h"))
    assert plan.costs.total.cash_micros == 0
    assert plan.costs.total.chargeback_micros == 4_800_000
    assert [(each.name, each.chargeback_micros) for each in plan.costs.teams] == [("vision", 4_800_000)]


def test_own_hardware_costs_its_power_and_no_cash() -> None:
    plan = planned(a_cluster(a_pool(power="500W")), a_policy(power_price="USD 0.10/kWh"), a_job(gpus=8, duration="3h"))
    assert plan.costs.total.cash_micros == 0
    assert plan.costs.total.power_micros == 1_200_000


def test_own_hardware_is_preferred_to_the_same_devices_in_a_cloud() -> None:
    own = a_cluster(a_pool(nodes=1, count=1), name="dc1")
    plan = planned(own, a_cloud(), a_job(gpus=1, duration="3h"))
    assert plan.placements[0].segments[0].pool == "dc1/h100"


def test_a_budget_of_the_team_is_never_exceeded() -> None:
    team = a_team(budget={"amount": "USD 2.50", "per": "month"})
    jobs = [a_job(name, gpus={"count": 2, "nodes": 2}, duration="3h") for name in ("a", "b")]
    plan = planned(a_cloud(), team, *jobs)
    assert plan.costs.total.cash_micros == 2_400_000
    (unplaced,) = plan.unplaced
    (reason,) = unplaced.reasons
    assert reason.code == "budget"
    assert reason.message == "costs USD 2.40, the budget of team/vision for 2026-12 has USD 0.10 left"


@pytest.mark.parametrize("spot", ["allowed", "prefer", "only"])
def test_spot_nodes_meet_the_hourly_cap_that_nodes_on_demand_break(spot: str) -> None:
    job = two_nodes(market={"spot": spot}, checkpoint={"every": "20m"}, max_cost={"per_hour": "USD 0.70"})
    plan = planned(both_markets(), job)
    (placement,) = plan.placements
    assert placement.segments[0].market == "spot"
    assert [node.name for node in placement.segments[0].nodes] == ["p5-spot-0001", "p5-spot-0002"]
    assert placement.cash_micros == plan.costs.total.cash_micros == 900_000
    assert (placement.power_micros, plan.costs.total.power_micros) == (0, 0)


def test_without_leave_for_spot_the_cap_refuses_both_markets() -> None:
    plan = planned(both_markets(), a_policy(on_invalid="skip"), two_nodes(max_cost={"per_hour": "USD 0.70"}))
    (unplaced,) = plan.unplaced
    assert [(each.code, each.subject) for each in unplaced.reasons] == [
        ("max_cost", "pool/aws/p5"), ("market", "pool/aws/p5 (spot)"),
    ]  # fmt: skip


def test_no_more_spot_nodes_than_their_own_ceiling() -> None:
    jobs = [two_nodes(name=name, market={"spot": "only"}, checkpoint={"every": "20m"}) for name in ("a", "b")]
    plan = planned(both_markets(), *jobs)
    assert sorted(each.start[11:13] for each in plan.placements) == ["00", "03"]
