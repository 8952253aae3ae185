"""The sums of a plan: work by priority, quotas, and where it is tight."""

from __future__ import annotations

import json
from fractions import Fraction

from planner.plan import PriceSchedule, PriceWindow
from planner.report.page import Medium
from planner.report.summary import Share, Tightness, shares, summary_json, summary_page, tightness
from planner.report.text import as_text
from tests.planner.plans import HOUR, a_placement, a_plan, a_quota, at, unplaced

PRICES = tuple(
    PriceSchedule(pool=pool, windows=(PriceWindow(start=at(0), end=at(84), micros_per_gpu_hour=price),))
    for pool, price in (("dc1/free", 0), ("dc1/h100", 2_000_000), ("dc1/mi300x", 3_000_000))
)
PLAN = a_plan(
    [a_placement("t/a", 0, 2, priority="P0"), a_placement("t/b", 0, 3, gpus=4, late_seconds=60)],
    prices=PRICES, unplaced=[unplaced("t/c")], quota=(a_quota(),),
)  # fmt: skip


def test_work_is_summed_by_priority() -> None:
    assert shares(PLAN) == (
        Share(priority="P0", jobs=1, late=0, device_seconds=Fraction(16 * HOUR)),
        Share(priority="P2", jobs=1, late=1, device_seconds=Fraction(12 * HOUR)),
    )
    assert shares(a_plan()) == ()


def test_pools_with_a_price_are_told_the_dearest_first_with_its_mean_over_the_horizon() -> None:
    assert tightness(PLAN) == (
        Tightness(pool="dc1/mi300x", mean_micros=1_500_000, peak_micros=3_000_000),
        Tightness(pool="dc1/h100", mean_micros=1_000_000, peak_micros=2_000_000),
    )


def test_the_page_has_every_sum() -> None:
    text = as_text(summary_page(PLAN, Medium(width=120)), Medium(width=120))
    for title in ("Work  1 job does not run", "Cost", "Utilisation", "Teams", "Tight"):
        assert f"\n{title}" in text
    assert "vision/" not in text


def test_programs_get_the_same_with_units_in_the_names() -> None:
    found = json.loads(summary_json(PLAN))
    assert (found["format_version"], found["horizon_seconds"], found["unplaced"]) == ("1.0", 168 * HOUR, 1)
    assert found["work"][0] == {"priority": "P0", "jobs": 1, "late": 0, "device_seconds": 16 * HOUR}
    assert found["tight"][0]["peak_micros"] == 3_000_000
    assert {"team", "quota", "used_device_seconds", "lent_device_seconds"} <= found["quotas"][0].keys()
