"""Data elsewhere costs what its place asks for letting it go: once, as cash of the run."""

from __future__ import annotations

import pytest

from planner.diagnostics import SpecError
from planner.plan import Plan
from planner.units import DataPrice, Memory
from tests.builders import Document, a_cloud, a_cluster, a_job, a_policy, a_pool, a_team, compile_specs, planned


def a_fleet(egress: str | None = "USD 90/TB") -> list[Document]:
    """Own racks with one node, and a cloud at us-east-1 with one that costs USD 8 an hour."""
    pool = a_pool("h100", max_nodes={"on_demand": 1}, price={"on_demand": "USD 8/h"})
    more = {} if egress is None else {"egress": egress}
    return [a_cluster(), a_cloud(pool, **more)]


def where(plan: Plan) -> tuple[str, int]:
    """The pool of the one job, and its cash in micros."""
    (placement,) = plan.placements
    return placement.segments[0].pool, placement.cash_micros


@pytest.mark.parametrize(
    ("price", "size", "micros"),
    [("USD 90/TB", "2TB", 180_000_000), ("USD 0.09/TB", "1GB", 91), ("USD 90/TB", "1Mi", 95), ("USD 0/TB", "2TB", 0)],
)
def test_a_price_of_data_is_per_terabyte_and_rounded_up(price: str, size: str, micros: int) -> None:
    assert abs(DataPrice.parse(price).of(Memory.parse(size)) - micros) <= micros // 1_000 + 1


def test_work_runs_at_its_data_when_moving_it_costs_more_than_the_cloud() -> None:
    job = a_job(gpus=8, duration="2h", data="us-east-1", egress="2TB", priority="P1")
    assert where(planned(*a_fleet(), job)) == ("aws/h100", 16_000_000)


def test_work_leaves_its_data_when_moving_it_costs_less_and_pays_once() -> None:
    job = a_job(gpus=8, duration="2h", data="us-east-1", egress="100GB", priority="P1")
    pool, cash = where(planned(*a_fleet(), job))
    assert pool == "dc1/h100"
    assert 9_000_000 <= cash <= 9_000_100


def test_a_place_that_states_no_price_lets_data_go_for_nothing() -> None:
    job = a_job(gpus=8, duration="2h", data="us-east-1", egress="2TB", priority="P1")
    assert where(planned(*a_fleet(None), job)) == ("dc1/h100", 0)
    assert where(planned(*a_fleet(), a_job(gpus=8, data="dc1", egress="2TB", priority="P1"))) == ("dc1/h100", 0)


@pytest.mark.parametrize(("total", "fits"), [("USD 9.01", True), ("USD 8.99", False)])
def test_a_limit_on_cash_counts_it(total: str, fits: bool) -> None:
    job = a_job(gpus=8, data="us-east-1", egress="100GB", max_cost={"total": total}, place={"clusters": ["dc1"]})
    if fits:
        assert compile_specs(*a_fleet(), job).works[0].candidates
    else:
        with pytest.raises(SpecError, match="can ever run") as caught:
            compile_specs(*a_fleet(), job)
        assert "USD 9.000054 for its data" in caught.value.diagnostics[0].help


@pytest.mark.parametrize(("budget", "runs"), [("USD 10", 1), ("USD 8", 0)])
def test_a_budget_counts_it(budget: str, runs: int) -> None:
    team = a_team(budget={"amount": budget, "per": "month"})
    job = a_job(gpus=8, data="us-east-1", egress="100GB", place={"clusters": ["dc1"]})
    assert len(planned(a_policy(), *a_fleet(), team, job).placements) == runs
