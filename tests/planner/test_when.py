"""Recurring windows, on plain days and on those on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.clock import format_time, parse_time, zone_of
from planner.when import When, occurrences, parse, timetable, value_by_slot

BERLIN = "Europe/Berlin"
HOUR = 3_600


def local_text(epoch_seconds: int, zone: str) -> str:
    """A moment as clocks in a zone show it: `2026-12-01 09:00 +08:00`."""
    moment = datetime.fromtimestamp(epoch_seconds, UTC).astimezone(zone_of(zone))
    offset = moment.strftime("%z")
    return f"{moment:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def shown(window: str, zone: str, start: str, end: str) -> list[tuple[str, str]]:
    found = occurrences(parse(window), zone, parse_time(start, zone), parse_time(end, zone))
    return [(local_text(begin, zone), local_text(finish, zone)) for begin, finish in found]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("daily 09:00-21:00", When((0, 1, 2, 3, 4, 5, 6), 540, 1260)),
        ("weekdays 20:00-08:00", When((0, 1, 2, 3, 4), 1200, 1920)),
        ("sat,sun", When((5, 6))),
        ("sun,sat", When((5, 6))),
        ("mon-fri 09:00-17:00", When((0, 1, 2, 3, 4), 540, 1020)),
        ("fri-mon", When((0, 4, 5, 6))),
        ("daily 00:00-24:00", When((0, 1, 2, 3, 4, 5, 6))),
        ("otherwise", When(())),
    ],
)
def test_a_window_is_read(text: str, window: When) -> None:
    assert parse(text) == window
    assert parse(str(window)) == window


@pytest.mark.parametrize(
    "text",
    [
        "nights",
        "daily 9:00-21:00",
        "daily 09:00",
        "daily 09:00-25:00",
        "daily 24:00-06:00",
        "daily 09:60-10:00",
        "daily 09:00-09:00",
        "",
        "sat, sun",
        "otherwise 09:00-10:00",
        "Daily",
        "daily  09:00-10:00",
    ],
)
def test_what_is_not_a_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        parse(text)


def test_a_window_belongs_to_the_day_it_begins() -> None:
    assert shown("weekdays 20:00-08:00", "UTC", "2026-12-04", "2026-12-08") == [
        ("2026-12-04 00:00 +00:00", "2026-12-04 08:00 +00:00"),
        ("2026-12-04 20:00 +00:00", "2026-12-05 08:00 +00:00"),
        ("2026-12-07 20:00 +00:00", "2026-12-08 00:00 +00:00"),
    ]


def test_whole_days_that_touch_are_one_interval() -> None:
    assert shown("sat,sun", "UTC", "2026-12-01", "2026-12-08") == [
        ("2026-12-05 00:00 +00:00", "2026-12-07 00:00 +00:00")
    ]


def test_on_the_day_the_clock_is_set_forward_a_night_is_an_hour_shorter() -> None:
    (begin, end), *_ = occurrences(
        parse("sat 20:00-08:00"), BERLIN, parse_time("2026-03-28", BERLIN), parse_time("2026-03-30", BERLIN)
    )
    assert end - begin == 11 * HOUR


def test_on_the_day_the_clock_is_set_back_a_night_is_an_hour_longer() -> None:
    (begin, end), *_ = occurrences(
        parse("sat 20:00-08:00"), BERLIN, parse_time("2026-10-24", BERLIN), parse_time("2026-10-26", BERLIN)
    )
    assert end - begin == 13 * HOUR


def test_a_window_that_begins_in_the_skipped_hour_begins_at_the_jump() -> None:
    assert shown("daily 02:30-04:00", BERLIN, "2026-03-29", "2026-03-30") == [
        ("2026-03-29 03:00 +02:00", "2026-03-29 04:00 +02:00")
    ]


def test_a_window_within_the_skipped_hour_does_not_happen_that_day() -> None:
    assert shown("daily 02:10-02:50", BERLIN, "2026-03-29", "2026-03-30") == []


def test_a_window_that_begins_in_the_doubled_hour_begins_the_first_time() -> None:
    assert shown("daily 02:30-04:00", BERLIN, "2026-10-25", "2026-10-26") == [
        ("2026-10-25 02:30 +02:00", "2026-10-25 04:00 +01:00")
    ]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-12-01"])
def test_windows_that_touch_by_the_clock_leave_no_gap_on_any_day(day: str) -> None:
    start = parse_time(day, BERLIN)
    windows = [parse("daily 00:00-02:30"), parse("daily 02:30-24:00")]
    table = timetable(windows, BERLIN, start, start + 20 * HOUR)
    assert None not in [index for _, _, index in table]
    assert sum(end - begin for begin, end, _ in table) == 20 * HOUR


def test_the_first_window_that_matches_wins_and_otherwise_takes_the_rest() -> None:
    start = parse_time("2026-12-05", "UTC")
    table = timetable([parse("sat"), parse("daily 09:00-21:00"), parse("otherwise")], "UTC", start, start + 48 * HOUR)
    assert [(format_time(begin)[5:16], index) for begin, _, index in table] == [
        ("12-05T00:00", 0),
        ("12-06T00:00", 2),
        ("12-06T09:00", 1),
        ("12-06T21:00", 2),
    ]


def test_a_slot_partly_inside_takes_the_stricter_value() -> None:
    start = parse_time("2026-12-01", "UTC")
    windows = [(parse("daily 09:30-21:00"), 48)]
    hours = value_by_slot(windows, 8, "UTC", start, slot_seconds=HOUR, slots=24, stricter=min)
    assert hours[8:11] == (8, 8, 48)
    assert hours[20:22] == (48, 8)
    loads = value_by_slot(windows, 8, "UTC", start, slot_seconds=HOUR, slots=24, stricter=max)
    assert loads[8:11] == (8, 48, 48)


def test_without_windows_the_default_holds_in_every_slot() -> None:
    assert value_by_slot([], None, "UTC", 0, slot_seconds=HOUR, slots=3, stricter=lambda one, _: one) == (
        None,
        None,
        None,
    )


def test_an_empty_horizon_has_no_occurrences() -> None:
    assert occurrences(parse("daily"), "UTC", 100, 100) == ()
    assert timetable([parse("daily")], "UTC", 100, 100) == ()


@given(st.integers(0, 366 * 24), st.integers(1, 400))
def test_a_timetable_covers_its_horizon_without_gap_or_overlap(offset: int, hours: int) -> None:
    start = parse_time("2026-01-01", "UTC") + offset * HOUR
    windows = [parse("weekdays 20:00-08:00"), parse("sun"), parse("daily 02:15-02:45")]
    table = timetable(windows, BERLIN, start, start + hours * HOUR)
    assert [begin for begin, _, _ in table] == [start, *(end for _, end, _ in table[:-1])]
    assert table[-1][1] == start + hours * HOUR
    assert all(begin < end for begin, end, _ in table)
