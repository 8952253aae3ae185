"""The timeline: full only when full, empty only when empty, and an axis that tells local time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from planner.plan import Plan
from planner.report.loads import Hold, Horizon
from planner.report.page import ASCII, UNICODE, Heading, Medium, Preformatted
from planner.report.timeline import STEPS, Scale, axis, loads, scale_of, timeline
from planner.units import zone_of
from tests.planner.plans import HOUR, START, a_placement, a_plan, a_use


def drawn(plan: Plan, width: int = 80) -> list[str]:
    """The lines of the timeline as text."""
    blocks = timeline(plan, Medium(width=width, glyphs=ASCII))
    assert isinstance(blocks[1], Preformatted)
    return ["".join(span.text for span in line) for line in blocks[1].lines]


@pytest.mark.parametrize("cells", [10, 50, 70, 120])
@pytest.mark.parametrize("hours", [1, 5, 24, 168, 720, 9_000])
def test_a_scale_shows_the_whole_horizon_and_fits(hours: int, cells: int) -> None:
    scale = scale_of(Horizon(start=START, end=START + hours * HOUR), cells)
    assert scale.cells <= cells
    assert scale.cells * scale.step >= hours * HOUR
    assert (scale.cells - 1) * scale.step < hours * HOUR


def test_a_scale_is_the_finest_that_fits() -> None:
    assert scale_of(Horizon(start=START, end=START + 168 * HOUR), 84).step == 2 * HOUR
    assert scale_of(Horizon(start=START, end=START + 168 * HOUR), 83).step == 3 * HOUR
    assert list(STEPS) == sorted(STEPS)


def test_a_hold_counts_in_the_part_of_a_cell_that_it_covers() -> None:
    scale = Scale(start=0, step=10, cells=3)
    held = [Hold(pool="p", start=-5, end=5, devices=Fraction(4)), Hold(pool="p", start=15, end=99, devices=Fraction(2))]
    assert loads(held, scale, 4) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 2))


def test_one_device_of_many_is_not_nothing_and_all_but_one_is_not_everything() -> None:
    plan = a_plan(
        [
            a_placement("t/one", 0, 24, gpus=1),
            a_placement("t/all", 48, 72, gpus=100),
            a_placement("t/most", 96, 120, gpus=99),
        ],
        utilisation=(a_use(devices=100),),
    )
    cells = drawn(plan)[-1].split()[1]
    days = [set(cells[day * 8 : day * 8 + 8]) for day in range(5)]
    assert days == [{"1"}, {"."}, {"9"}, {"."}, {"8"}]


def test_pools_without_load_are_drawn_and_pools_without_devices_are_not() -> None:
    plan = a_plan(utilisation=(a_use("dc1/empty", devices=4, used_hours=0), a_use("dc1/cpu", devices=0)))
    lines = drawn(plan)
    assert [line.split()[0] for line in lines if "/" in line] == ["dc1/empty"]
    assert timeline(a_plan(utilisation=()), Medium()) == ()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 180])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    plan = a_plan([a_placement()], utilisation=(a_use("a-very-long-cluster-name/with-a-pool-name-too"),))
    assert max(map(len, drawn(plan, width))) <= width


def test_the_axis_begins_days_at_local_midnight() -> None:
    scale = Scale(start=START, step=2 * HOUR, cells=84)
    assert axis(scale, zone_of("UTC"))[0].startswith("Tue 12-01   Wed 12-02")
    shanghai = axis(scale, zone_of("Asia/Shanghai"))
    assert shanghai[0].index("Wed 12-02") == 8
    assert shanghai[1][8:10] == "00"


def test_the_axis_follows_the_clock_when_it_is_set_back() -> None:
    scale = Scale(start=START - 38 * 24 * HOUR, step=HOUR, cells=72)  # 2026-10-24T00:00Z
    days = axis(scale, zone_of("Europe/Berlin"))[0]
    assert (days.index("Sun 10-25"), days.index("Mon 10-26")) == (22, 47)


def test_the_note_says_what_a_character_stands_for_and_whose_clocks_are_meant() -> None:
    heading = timeline(a_plan(timezone="Asia/Shanghai"), Medium(width=100, glyphs=UNICODE))[0]
    assert isinstance(heading, Heading)
    assert heading.note == "one character is 3 h; Asia/Shanghai"
