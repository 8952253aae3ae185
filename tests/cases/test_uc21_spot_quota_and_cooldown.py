"""UC-21: a region without spot quota, one that just took machines back, and what is left on demand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, hours, planned

CHECKPOINT = {"every": "20m", "restart": "5m"}


def a_region(name: str, **fields: Any) -> Document:
    """A pool of nodes with four devices in a region of its own."""
    return a_cluster(a_pool("p5", count=4, **fields), name=name, place={"provider": "aws", "region": name})


REGIONS = (
    a_region("r1", price={"spot": "USD 4/h"}, max_nodes={"spot": 0}),
    a_region("r2", price={"spot": "USD 4/h"}, max_nodes={"spot": 8}),
    a_region("r3", price={"on_demand": "USD 12/h"}, max_nodes={"on_demand": 8}),
)
COOLING = {
    "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
    "markets": [{"pool": "r2/p5", "market": "spot", "until": "2026-12-01T05:00:00Z"}],
}  # fmt: skip


def a_spot_job(spot: str, **fields: Any) -> Document:
    """Four devices for two hours, worth more than any market asks."""
    return a_job(gpus=4, priority="P1", market={"spot": spot}, checkpoint=CHECKPOINT, **fields)


def test_prefer_falls_back_to_nodes_on_demand_and_says_what_stood_against_each_spot_market() -> None:
    (placement,) = planned(*REGIONS, COOLING, a_spot_job("prefer")).placements
    assert (placement.segments[0].pool, placement.segments[0].market) == ("r3/p5", "on_demand")
    assert placement.start == "2026-12-01T00:00:00Z"
    assert [(each.code, each.subject, each.message) for each in placement.reasons] == [
        ("market", "pool/r1/p5 (spot)", "no node may be created on the spot market here: max_nodes.spot is 0"),
        (
            "cooling", "pool/r2/p5 (spot)",
            "the spot market gives no machines until 2026-12-01T05:00:00Z, and the job may run elsewhere until then",
        ),
    ]  # fmt: skip


def test_only_waits_until_the_market_is_open_again() -> None:
    plan = planned(*REGIONS, COOLING, a_spot_job("only"))
    (placement,) = plan.placements
    assert (placement.segments[0].pool, placement.segments[0].market) == ("r2/p5", "spot")
    assert hours(plan, placement.address) == (5, 7)


@pytest.mark.parametrize(("deadline", "fits"), [("07:00:00", True), ("06:00:00", False)])
def test_only_has_no_place_when_its_deadline_is_before_that(deadline: str, fits: bool) -> None:
    window = {"deadline": f"2026-12-01T{deadline}Z", "deadline_is": "hard"}
    plan = planned(*REGIONS, COOLING, a_policy(on_invalid="skip"), a_spot_job("only", window=window))
    assert len(plan.placements) == fits
    for unplaced in plan.unplaced:
        reasons = [(each.code, each.subject) for each in unplaced.reasons]
        assert reasons == [
            ("market", "pool/r1/p5 (spot)"), ("market", "pool/r3/p5"), ("cooling", "pool/r2/p5 (spot)"),
        ]  # fmt: skip


def test_a_market_that_is_open_when_the_work_may_start_is_preferred() -> None:
    window = {"not_before": "2026-12-01T05:00:00Z"}
    (placement,) = planned(*REGIONS, COOLING, a_spot_job("prefer", window=window)).placements
    assert (placement.segments[0].pool, placement.reasons) == ("r2/p5", ())


def test_without_anything_on_demand_prefer_waits_as_only_does() -> None:
    plan = planned(*REGIONS[:2], COOLING, a_spot_job("prefer"))
    assert hours(plan, "job/vision/train") == (5, 7)
