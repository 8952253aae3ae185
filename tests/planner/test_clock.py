"""Moments and clocks, on the days on which clocks change too."""

from __future__ import annotations

from datetime import datetime

import pytest

from planner.clock import first_reading, format_time, parse_time, zone_of


@pytest.mark.parametrize(
    ("text", "zone", "shown"),
    [
        ("2026-12-01T09:00:00+08:00", "UTC", "2026-12-01T01:00:00Z"),
        ("2026-12-01T09:00:00Z", "Asia/Shanghai", "2026-12-01T09:00:00Z"),
        ("2026-12-01T09:00:00", "Asia/Shanghai", "2026-12-01T01:00:00Z"),
        ("2026-12-01T09:00", "UTC", "2026-12-01T09:00:00Z"),
        ("2026-12-01", "UTC", "2026-12-01T00:00:00Z"),
        ("2026-12-01", "Asia/Shanghai", "2026-11-30T16:00:00Z"),
        ("2026-07-01T00:00:00", "Europe/Berlin", "2026-06-30T22:00:00Z"),
        ("1969-12-31T23:59:59Z", "UTC", "1969-12-31T23:59:59Z"),
    ],
)
def test_a_time_without_offset_is_local(text: str, zone: str, shown: str) -> None:
    assert format_time(parse_time(text, zone)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "10:30",
        "09:30",
        "2026-12-01T9:00",
        "2026-02-30",
        "2026-12-01T25:00:00",
        "tomorrow",
        "2026-12-01T09:00:00+8",
        "20261201",
    ],
)
def test_what_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_time(text, "UTC")


def test_a_local_time_that_the_clock_skips_needs_an_offset() -> None:
    with pytest.raises(ValueError, match="does not exist in Europe/Berlin"):
        parse_time("2026-03-29T02:30:00", "Europe/Berlin")
    assert format_time(parse_time("2026-03-29T02:30:00+01:00", "Europe/Berlin")) == "2026-03-29T01:30:00Z"
    assert format_time(parse_time("2026-03-29T03:00:00", "Europe/Berlin")) == "2026-03-29T01:00:00Z"


def test_a_local_time_that_the_clock_shows_twice_needs_an_offset() -> None:
    with pytest.raises(ValueError, match="happens twice in Europe/Berlin"):
        parse_time("2026-10-25T02:30:00", "Europe/Berlin")
    assert format_time(parse_time("2026-10-25T02:30:00+02:00", "Europe/Berlin")) == "2026-10-25T00:30:00Z"
    assert format_time(parse_time("2026-10-25T03:00:00", "Europe/Berlin")) == "2026-10-25T02:00:00Z"


def test_a_date_whose_midnight_is_skipped_begins_when_the_clock_jumps() -> None:
    assert format_time(parse_time("2018-11-04", "America/Sao_Paulo")) == "2018-11-04T03:00:00Z"


def test_a_skipped_reading_is_reached_at_the_jump_and_a_double_one_the_first_time() -> None:
    assert format_time(first_reading(datetime(2026, 3, 29, 2, 30), "Europe/Berlin")) == "2026-03-29T01:00:00Z"
    assert format_time(first_reading(datetime(2026, 10, 25, 2, 30), "Europe/Berlin")) == "2026-10-25T00:30:00Z"


@pytest.mark.parametrize("name", ["Shanghai", "../../etc/passwd", "/etc/localtime", "Europe/../UTC", "", "GMT+99"])
def test_only_names_of_zones_are_zones(name: str) -> None:
    with pytest.raises(ValueError, match="is not a time zone"):
        zone_of(name)
