"""A day of services whose load comes and goes, with training underneath."""

from __future__ import annotations

import pytest

from benchmarks.services_day import (
    DAY,
    HOURS,
    NODES,
    SERVICES,
    SIZES,
    START,
    Demand,
    demands,
    replicas,
    shared,
    specs,
    training_device_hours,
    unserved,
)
from planner import pipeline
from planner.plan import Plan, Segment

ASKED = (
    Demand(name="day", milliqps=(9_000,) * 8 + (54_000,) * 12 + (9_000,) * 4),
    Demand(name="flat", milliqps=(18_000,) * HOURS),
)


def _planned(*, flat: bool = False, nodes: int = 1) -> Plan:
    return pipeline.plan(specs(ASKED, nodes=nodes, jobs=40, flat=flat), start=START, budget=20).plan


def _less(part: Segment, devices: int) -> Segment:
    """The segment with that many devices fewer on its first node."""
    first, *others = part.nodes
    fewer = first.model_copy(update={"devices": first.devices[devices:]})
    return part.model_copy(update={"nodes": (fewer, *others)})


def _robbed(plan: Plan, name: str) -> Plan:
    """The plan with one device less for a service, in its first step."""
    services = []
    for service in plan.services:
        first, *others = service.steps
        if service.address.endswith(name):
            part, *parts = first.segments
            first = first.model_copy(update={"segments": (_less(part, 1), *parts)})
        services.append(service.model_copy(update={"steps": (first, *others)}))
    return plan.model_copy(update={"services": tuple(services)})


@pytest.mark.parametrize(("milliqps", "needed"), [(0, 1), (1, 1), (9_000, 1), (9_001, 2), (90_000, 10)])
def test_a_tenth_of_what_replicas_serve_stays_spare(milliqps: int, needed: int) -> None:
    assert replicas(milliqps) == needed


def test_services_are_as_large_as_the_trace_says() -> None:
    sizes = sorted(each.peak for each in demands())
    assert len(sizes) == SERVICES
    for percent, size in SIZES[1:-1]:
        assert abs(sizes[SERVICES * percent // 100] - size) <= max(2, size // 5)
    assert sizes[-1] > 300
    assert sum(sizes) < 8 * NODES


def test_a_day_has_nine_hours_of_work_and_a_night_that_falls_to_a_trough() -> None:
    assert sum(share > 80 for share in DAY) == 8
    assert 0.4 < sum(DAY) / 100 / HOURS < 0.5
    for each in demands():
        rate, least = max(each.milliqps), min(each.milliqps)
        assert 0.04 * rate < least < 0.55 * rate
    total = [sum(each.milliqps[hour] for each in demands()) for hour in range(HOURS)]
    assert total.index(max(total)) in range(9, 18)
    assert total.index(min(total)) in range(6)


def test_the_same_seed_draws_the_same_day_and_another_another() -> None:
    assert demands(seed=3) == demands(seed=3)
    assert demands(seed=3) != demands(seed=4)
    assert specs(ASKED, jobs=5, seed=3).digest == specs(ASKED, jobs=5, seed=3).digest
    assert specs(ASKED, jobs=5, seed=3).digest != specs(ASKED, jobs=5, seed=4).digest


def test_what_services_leave_at_night_trains_and_every_hour_is_served() -> None:
    """On one node of 8 the services hold 3 devices by night and 8 by day; static peaks leave nothing."""
    plan, static = _planned(), _planned(flat=True)
    assert (unserved(plan, ASKED), unserved(static, ASKED)) == (0, 0)
    assert (shared(plan), shared(static)) == (0, 0)
    assert training_device_hours(static) == 0
    assert 0 < training_device_hours(plan) <= 5 * 12


def test_the_recount_misses_a_device_that_is_not_there() -> None:
    plan = _planned()
    assert unserved(_robbed(plan, "day"), ASKED) == 8
    assert unserved(_robbed(plan, "flat"), ASKED) > 0


def test_the_recount_finds_devices_that_two_hold() -> None:
    plan = _planned(nodes=2)
    assert shared(plan) == 0
    twice = plan.model_copy(update={"placements": (*plan.placements, plan.placements[0])})
    extra = training_device_hours(twice) - training_device_hours(plan)
    assert extra > 0
    assert shared(twice) == extra


def test_more_is_asked_than_there_is() -> None:
    """With 9 devices asked of 8 by day, some hours are not served, and the recount says how many."""
    asked = (*ASKED, Demand(name="one", milliqps=(9_000,) * HOURS))
    plan = pipeline.plan(specs(asked, nodes=1, jobs=0), start=START, budget=20).plan
    assert unserved(plan, asked) == 12
