"""Markets: the expected loss to the micro, who may use spot machines, and how far a preference goes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.compile.candidate import Candidate
from planner.compile.fleet import Market
from tests.builders import Document, a_cloud, a_cluster, a_job, a_policy, a_pool, compile_specs, planned

CHECKPOINT = {"every": "20m", "restart": "5m"}


def a_spot_pool(on_demand: str = "USD 10/h", spot: str = "USD 4/h", **fields: Any) -> Document:
    """Two nodes of each market."""
    price = {"on_demand": on_demand, "spot": spot}
    return a_pool("p5", nodes=2, price=price, **({"max_nodes": {"on_demand": 2, "spot": 2}} | fields))


def modes(*documents: Document) -> dict[Market, Candidate]:
    """The candidates of the one job by market."""
    (work,) = compile_specs(*documents).works
    return {each.site.pool.market: each for each in work.candidates}


@pytest.mark.parametrize(
    ("fields", "lost_seconds", "extra_micros_per_slot"),
    [
        # 1 node x 5 %/h x 2.5 h x (10 min + 5 min) = 112.5 s; x (4 + 8 x 4 an hour) / 2 slots = USD 0.5625
        ({}, 113, 562_500),
        # 2 nodes lose twice as often, and twice as much money each time
        ({"gpus": 16}, 225, 2_250_000),
        # the exposure is that of the limit
        ({"duration": {"expected": "2h", "limit": "4h"}}, 180, 900_000),
        ({"checkpoint": {"every": "40m"}}, 150, 750_000),
    ],
)
def test_the_expected_loss_follows_the_formula(fields: Document, lost_seconds: int, extra_micros_per_slot: int) -> None:
    own: Document = {"checkpoint": CHECKPOINT} | fields
    job = a_job(market={"spot": "allowed"}, **own)
    spot = modes(a_cloud(a_spot_pool()), job)[Market.SPOT]
    assert (spot.lost_seconds, spot.extra_micros_per_slot) == (lost_seconds, extra_micros_per_slot)


def test_without_interruptions_nothing_is_lost() -> None:
    job = a_job(market={"spot": "allowed"}, checkpoint=CHECKPOINT)
    spot = modes(a_cloud(a_spot_pool()), a_policy(spot_interruption="0%/h"), job)[Market.SPOT]
    assert (spot.lost_seconds, spot.extra_micros_per_slot) == (0, 0)


def test_the_loss_is_in_the_value_and_in_no_cost() -> None:
    job = a_job(market={"spot": "only"}, checkpoint=CHECKPOINT, priority="P1")
    risky, safe = (planned(a_cloud(a_spot_pool()), a_policy(spot_interruption=rate), job) for rate in ("5%/h", "0%/h"))
    assert risky.costs == safe.costs
    assert risky.placements[0].lost_work_seconds == 113
    # 12 an hour and device: twice (4 + 8 x 12) instead of (4 + 8 x 4) an hour above
    assert safe.status.value_micros - risky.status.value_micros == 2 * 1_562_500


@pytest.mark.parametrize(
    ("on_demand", "spot", "chosen"),
    [("USD 10/h", "USD 4/h", "spot"), ("USD 4.10/h", "USD 4/h", "on_demand")],
)
def test_allowed_takes_what_is_cheaper_with_its_expected_loss(on_demand: str, spot: str, chosen: str) -> None:
    job = a_job(market={"spot": "allowed"}, checkpoint=CHECKPOINT)
    (placement,) = planned(a_cloud(a_spot_pool(on_demand, spot)), job).placements
    assert placement.segments[0].market == chosen


def test_a_preference_is_a_hundredth_of_the_worth() -> None:
    fleet = a_cloud(a_spot_pool())
    prefer = modes(fleet, a_job(market={"spot": "prefer"}, checkpoint=CHECKPOINT))
    allowed = modes(fleet, a_job(market={"spot": "allowed"}, checkpoint=CHECKPOINT))
    assert prefer[Market.SPOT] == allowed[Market.SPOT]
    assert allowed[Market.ON_DEMAND].extra_micros_per_slot == 0
    assert prefer[Market.ON_DEMAND].extra_micros_per_slot == 64_000_000 // 100 // 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "the job does not use the spot market"),
        ({"market": {"spot": "allowed"}}, "spot machines are taken back, and the job saves no checkpoints"),
        (
            {"market": {"spot": "allowed"}, "checkpoint": CHECKPOINT, "preemptible": False},
            "spot machines are taken back, and the job may never be interrupted",
        ),
    ],
)
def test_spot_machines_are_for_work_that_allows_them_and_saves_what_it_did(fields: Document, reason: str) -> None:
    (work,) = compile_specs(a_cloud(a_spot_pool()), a_job(**fields)).works
    assert [(each.subject, each.message) for each in work.refusals] == [("pool/aws/p5 (spot)", reason)]
    assert {each.site.pool.market for each in work.candidates} == {Market.ON_DEMAND}


def test_only_keeps_off_own_hardware_and_nodes_on_demand() -> None:
    job = a_job(market={"spot": "only"}, checkpoint=CHECKPOINT)
    (work,) = compile_specs(a_cluster(), a_cloud(a_spot_pool()), job).works
    assert {each.site.pool.market for each in work.candidates} == {Market.SPOT}
    assert [each.subject for each in work.refusals] == ["pool/aws/p5", "pool/dc1/h100"]


@pytest.mark.parametrize(
    ("pool", "markets"),
    [
        (a_pool(), [("own", 1)]),
        (a_spot_pool(), [("on_demand", 2), ("spot", 2)]),
        (a_spot_pool(max_nodes={"on_demand": 2}), [("on_demand", 2), ("spot", 0)]),
        (a_pool("p5", price={"spot": "USD 4/h"}, max_nodes={"spot": 3}), [("spot", 3)]),
        (a_pool("p5", price={"on_demand": "USD 4/h"}, max_nodes={"on_demand": 0}), [("on_demand", 0)]),
        (a_pool("p5", nodes=5, price={"spot": "USD 4/h"}), [("spot", 5)]),
        (a_pool("p5", nodes=5, price={"on_demand": "USD 9/h", "spot": "USD 4/h"}), [("on_demand", 5), ("spot", 0)]),
    ],
)
def test_a_pool_is_offered_in_each_of_its_markets(pool: Document, markets: list[tuple[str, int]]) -> None:
    fleet = (a_cluster(a_pool("spare")), a_cloud(pool) if "price" in pool else a_cluster(pool, name="dc2"))
    made = compile_specs(*fleet, a_job()).fleet
    found = [(each.market.value, len(each.nodes)) for each in made if each.pool.name != "spare"]
    assert found == markets


def test_a_market_on_demand_cools_down_too() -> None:
    shot = {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
        "markets": [{"pool": "aws/p5", "market": "on_demand", "until": "2026-12-01T02:30:00Z"}],
    }  # fmt: skip
    plan = planned(a_cloud(a_spot_pool()), shot, a_job(priority="P1"))
    assert plan.placements[0].start == "2026-12-01T03:00:00Z"
