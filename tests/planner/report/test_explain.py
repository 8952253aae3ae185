"""Why one job is where it is: times, quota, who is before it, what that is worth, and why another has no place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.plan import Plan, PriceSchedule, PriceWindow, QuotaUse, ServicePlan, ServiceStep
from planner.report.explain import Asked, before_it, explain_json, explain_page, price_at
from planner.report.page import Medium
from planner.report.text import as_text
from planner.specset import SpecSet
from tests import builders
from tests.planner.plans import START, a_placement, a_plan, at, unplaced

QUOTA = (QuotaUse(quota="vision-h100", guaranteed=6, borrowed=2),)
PRICES = (
    PriceSchedule(
        pool="dc1/h100",
        windows=(
            PriceWindow(start=at(0), end=at(9), micros_per_gpu_hour=2_500_000),
            PriceWindow(start=at(9), end=at(20), micros_per_gpu_hour=0),
        ),
    ),
)
SERVICE = ServicePlan(
    address="service/nlp/chat", spec="sha256:1", team="nlp", priority="P1",
    steps=tuple(
        ServiceStep(
            start=at(hour), end=at(hour + 1), replicas=replicas, replicas_needed=3, load_milliqps=30_000,
            capacity_milliqps=replicas * 10_000,
        )
        for hour, replicas in ((0, 3), (1, 2))
    ),
)  # fmt: skip
PLAN = a_plan(
    [
        a_placement("vision/first", 0, 4),
        a_placement("vision/beside", 0, 4, node=2),
        a_placement("vision/a", 4, 10, quota=QUOTA, submitted=at(1), late_seconds=1_800, value_micros=9_000_000),
    ],
    prices=PRICES, unplaced=[unplaced("vision/b")], services=(SERVICE,),
)  # fmt: skip


def told(name: str, plan: Plan = PLAN, specset: SpecSet | None = None) -> str:
    """The explanation as text."""
    medium = Medium(width=120)
    return as_text(explain_page(Asked(plan=plan, address=name, specset=specset)), medium)


@pytest.mark.parametrize(
    "row",
    [
        "Tue 12-01 04:00 to Tue 12-01 10:00 on dc1/h100, h100-001: 8 x h100-sxm5-80gb as variant default",
        "quota    vision-h100: 6 guaranteed, 2 borrowed",
        "waits    3 h, priority P2",
        "follows  vision/first (P2) on its devices",
        "tight    one more GPU-hour of dc1/h100 is worth USD 2.50 to others when it begins",
        "value    USD 9.00, cloud bill USD 0.00",
        "finishes 30 min after its deadline",
    ],
)
def test_a_job_that_runs_is_explained(row: str) -> None:
    assert row in [each.strip() for each in told("job/vision/a").splitlines()]


def test_a_job_without_a_place_is_explained_by_its_reasons() -> None:
    text = told("job/vision/b")
    assert "it has no place" in text
    assert "Why nowhere" in text
    assert "dc1/h100: needs 64 GPUs; the pool has 32 [too-few-devices]" in text


def test_a_service_is_explained_step_by_step() -> None:
    text = told("service/nlp/chat")
    assert "Tue 12-01 00:00 3 replicas, bears 100 % of 30 requests/s, enough" in text
    assert "Tue 12-01 01:00 2 replicas, bears 67 % of 30 requests/s, 1 too few" in text


@pytest.mark.parametrize(
    ("after", "row"),
    [("first", "after    vision/first, which ends Tue 12-01 04:00"),
     ("b", "after    vision/b, which has no run in this plan")],
)  # fmt: skip
def test_what_it_waits_for_is_told_where_the_specs_are_known(after: str, row: str) -> None:
    jobs = [builders.a_job(name) for name in ("first", "b")]
    specs = builders.loaded(builders.a_cluster(), builders.a_job("a", after=[after]), *jobs)
    assert row in told("job/vision/a", specset=specs)
    assert "after" not in told("job/vision/a").replace("after its deadline", "")


def test_only_work_on_the_same_devices_until_its_start_is_before_it() -> None:
    found = {item.address: [other.address for other in before_it(PLAN, item)] for item in PLAN.placements}
    assert found == {"job/vision/a": ["job/vision/first"], "job/vision/beside": [], "job/vision/first": []}


@pytest.mark.parametrize(
    ("pool", "hour", "price"),
    [("dc1/h100", 0, 2_500_000), ("dc1/h100", 9 - 1 / 3_600, 2_500_000), ("dc1/h100", 9, 0), ("dc1/h100", 20, None),
     ("dc2/h100", 0, None)],
)  # fmt: skip
def test_the_price_is_that_of_its_moment(pool: str, hour: float, price: int | None) -> None:
    assert price_at(PLAN, pool, START + round(hour * 3_600)) == price


def test_programs_get_what_the_plan_has_and_who_is_before_it() -> None:
    found: dict[str, Any] = json.loads(explain_json(Asked(plan=PLAN, address="job/vision/a")))
    assert (found["before"], found["price_micros_per_gpu_hour"]) == (["job/vision/first"], 2_500_000)
    assert found["item"]["address"] == found["address"] == "job/vision/a"
    assert "before" not in json.loads(explain_json(Asked(plan=PLAN, address="job/vision/b")))
