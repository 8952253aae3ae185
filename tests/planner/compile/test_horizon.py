"""Slots: how wide, where they begin, and that rounding never takes anything away."""

from __future__ import annotations

import pytest

from planner.compile.horizon import MOST_CELLS, MOST_COLUMNS, Extent, Horizon, TooFine, aligned, choose, length_text
from planner.units import parse_time

HOUR = 3_600
DAY = 86_400
SMALL = Extent(modes=10, nodes=10)


@pytest.mark.parametrize(
    ("length", "width"),
    [
        (HOUR, 60),
        (6 * HOUR, 120),
        (7 * DAY, 1_800),
        (8 * DAY, 3_600),
        (14 * DAY, 3_600),
        (30 * DAY, 10_800),
        (336 * DAY, DAY),
    ],
)
def test_the_finest_width_with_at_most_336_slots_is_chosen(length: int, width: int) -> None:
    assert choose(length, None, SMALL)[0] == width


def test_a_horizon_of_337_days_is_too_long_for_any_width() -> None:
    with pytest.raises(TooFine) as caught:
        choose(337 * DAY, None, SMALL)
    assert caught.value.width is None
    assert caught.value.numbers == "337 slots, at most 336 are planned"


@pytest.mark.parametrize(
    ("extent", "width"),
    [
        (Extent(modes=MOST_COLUMNS // 336, nodes=1), 1_800),
        (Extent(modes=MOST_COLUMNS // 336 + 1, nodes=1), 3_600),
        (Extent(modes=1, nodes=MOST_CELLS // 336), 1_800),
        (Extent(modes=1, nodes=MOST_CELLS // 336 + 1), 3_600),
    ],
)
def test_many_modes_or_nodes_make_slots_wider(extent: Extent, width: int) -> None:
    assert choose(7 * DAY, None, extent)[0] == width


def test_a_width_that_is_asked_for_is_held_up_to_2016_slots() -> None:
    assert choose(7 * DAY, 300, SMALL) == (300, "set by horizon.slot")
    with pytest.raises(TooFine) as caught:
        choose(7 * DAY + 1, 300, SMALL)
    assert (caught.value.numbers, caught.value.width) == ("2,017 slots, at most 2,016 are planned", 3_600)


@pytest.mark.parametrize(
    ("moment", "width", "zone", "expected"),
    [
        ("2026-12-01T08:12:00Z", HOUR, "UTC", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:00Z", HOUR, "UTC", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:01Z", HOUR, "UTC", "2026-12-01T10:00:00Z"),
        ("2026-12-01T00:00:00+05:30", HOUR, "Asia/Kolkata", "2026-12-01T00:00:00+05:30"),
        ("2026-12-01T00:00:00+08:00", DAY, "Asia/Shanghai", "2026-12-01T00:00:00+08:00"),
        ("2026-12-01T08:00:00Z", 3 * HOUR, "UTC", "2026-12-01T09:00:00Z"),
    ],
)
def test_a_start_is_rounded_up_to_a_slot_of_the_local_day(moment: str, width: int, zone: str, expected: str) -> None:
    assert aligned(parse_time(moment, "UTC"), width, zone) == parse_time(expected, "UTC")


def test_moments_round_down_up_and_lengths_up() -> None:
    horizon = Horizon(start=1_000 * HOUR, slot_seconds=HOUR, slots=24)
    assert [horizon.floor(1_000 * HOUR + each) for each in (-1, 0, HOUR - 1, HOUR)] == [-1, 0, 0, 1]
    assert [horizon.ceil(1_000 * HOUR + each) for each in (-1, 0, 1, HOUR)] == [0, 0, 1, 1]
    assert [horizon.length(each) for each in (0, 1, HOUR, HOUR + 1)] == [1, 1, 1, 2]
    assert horizon.end == horizon.moment(24) == 1_024 * HOUR


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (1_800, "30 min"), (HOUR, "1 h"), (30 * HOUR, "1 d 6 h"), (61, "1 min 1 s")]
)
def test_lengths_read_as_people_say_them(seconds: int, text: str) -> None:
    assert length_text(seconds) == text
