"""Figures as people read them."""

from __future__ import annotations

from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from planner.report import figures


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3_599, "59 min 59 s"), (3_600, "1 h"),
        (3_601, "1 h 1 min"), (5_400, "1 h 30 min"), (86_340, "23 h 59 min"), (86_341, "24 h"), (86_400, "1 d"),
        (86_401, "1 d 1 h"), (108_000, "1 d 6 h"), (1_209_600, "14 d"),
    ],
)  # fmt: skip
def test_a_duration_has_its_two_largest_units_and_is_never_shortened(seconds: int, text: str) -> None:
    assert figures.duration_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3_600, "+1 h"), (-3_600, "-1 h"), (1_800, "+0.5 h"), (-900, "-0.25 h"), (60, "+0.02 h"), (360_000, "+100 h")],
)
def test_a_difference_is_in_hours_with_its_sign(seconds: int, text: str) -> None:
    assert figures.hours_text(seconds) == text


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "USD 0.00"), (2_400_000, "USD 2.40"), (1_234_567_890, "USD 1,234.57"), (5_000, "USD 0.01"),
        (4_999, "USD 0.004999"), (1, "USD 0.000001"), (-2_400_000, "USD -2.40"), (999_995_000, "USD 1,000.00"),
    ],
)  # fmt: skip
def test_money_names_its_currency_and_never_rounds_something_to_nothing(micros: int, text: str) -> None:
    assert figures.money_text(micros, "USD") == text


@pytest.mark.parametrize(("micros", "text"), [(1_000_000, "+EUR 1.00"), (-1_000_000, "-EUR 1.00"), (0, "+EUR 0.00")])
def test_a_change_of_money_has_its_sign_in_front(micros: int, text: str) -> None:
    assert figures.money_change_text(micros, "EUR") == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 100, "0 %"), (1, 1_000, "1 %"), (499, 1_000, "50 %"), (494, 1_000, "49 %"), (999, 1_000, "99 %"),
        (1_000, 1_000, "100 %"), (0, 0, "-"), (1_500, 1_000, "150 %"),
    ],
)  # fmt: skip
def test_only_all_is_a_hundred_percent_and_only_nothing_is_zero(part: int, whole: int, text: str) -> None:
    assert figures.percent_text(part, whole) == text


@pytest.mark.parametrize(
    ("ppm", "text"),
    [
        (0, "0 %"), (1, "0.0001 %"),
        (99, "0.0099 %"), (100, "0.01 %"), (101, "0.02 %"), (999, "0.1 %"), (1_000, "0.1 %"),
        (4_000, "0.4 %"), (4_001, "0.5 %"),
        (99_001, "10 %"), (100_000, "10 %"), (100_001, "11 %"), (1_000_000, "100 %"),
    ],
)  # fmt: skip
def test_a_gap_is_never_told_smaller_than_it_is(ppm: int, text: str) -> None:
    assert figures.ppm_text(ppm) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 GPU-h"), (5_400, "1.5 GPU-h"), (359_999, "100 GPU-h"), (360_000, "100 GPU-h"), (4_446_000, "1,235 GPU-h")],
)
def test_device_hours_have_tenths_only_while_they_are_few(seconds: int, text: str) -> None:
    assert figures.device_hours_text(seconds) == text


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(25, 2), 3, "12.5"), (Fraction(1, 8), 3, "0.125"), (Fraction(1, 3), 2, "0.33"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(-1, 2), 1, "-0.5"), (Fraction(-1, 1_000), 1, "0"), (1_234_567, 0, "1,234,567"),
    ],
)  # fmt: skip
def test_a_decimal_is_rounded_by_halves_and_has_no_trailing_zeros(value: Fraction, places: int, text: str) -> None:
    assert figures.decimal(value, places) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), ""), ((3,), "3"), ((0, 1), "0-1"), ((2, 0, 1, 2), "0-2"), ((0, 2, 3, 9), "0,2-3,9")],
)
def test_runs_of_numbers_are_drawn_together(numbers: tuple[int, ...], text: str) -> None:
    assert figures.ranges_text(numbers) == text


@pytest.mark.parametrize(
    ("text", "zone", "shown"),
    [
        ("2026-12-01T00:00:00Z", "UTC", "Tue 12-01 00:00"),
        ("2026-12-01T00:00:00Z", "Asia/Shanghai", "Tue 12-01 08:00"),
        ("2026-10-25T00:30:00Z", "Europe/Berlin", "Sun 10-25 02:30"),
        ("2026-10-25T01:30:00Z", "Europe/Berlin", "Sun 10-25 02:30"),
    ],
)
def test_moments_are_shown_as_the_clocks_of_the_zone_show_them(text: str, zone: str, shown: str) -> None:
    assert figures.moment_text(figures.epoch(text), ZoneInfo(zone)) == shown


def test_counts_agree_with_their_nouns() -> None:
    assert [figures.plural(count, "job") for count in (0, 1, 2_000)] == ["0 jobs", "1 job", "2,000 jobs"]
    assert figures.plural(2, "job stays", "jobs stay") == "2 jobs stay"
