"""Quantities: every spelling, every refusal, and the way back to text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.units import (
    Duration,
    Memory,
    Money,
    Part,
    PartPerHour,
    Power,
    PowerPrice,
    Price,
    Rate,
    as_fraction,
    ceil_div,
    ceil_fraction,
    parse_share,
    round_up,
)

SECOND = 1_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("400ms", 400),
        ("90s", 90 * SECOND),
        ("20m", 20 * 60 * SECOND),
        ("36h", 36 * HOUR),
        ("1d12h", 36 * HOUR),
        ("2w", 14 * DAY),
        ("2h30m", 2 * HOUR + 30 * 60 * SECOND),
        ("PT36H", 36 * HOUR),
        ("P1DT12H", 36 * HOUR),
        ("P2W", 14 * DAY),
        ("PT1H30M15S", HOUR + 30 * 60 * SECOND + 15 * SECOND),
        ("1-12:00:00", 36 * HOUR),
        ("0-00:00:01", SECOND),
        ("0s", 0),
    ],
)
def test_a_duration_is_read_exactly(text: str, milliseconds: int) -> None:
    assert Duration.parse(text) == Duration(milliseconds)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("18", "no unit"),
        ("2:30", "hours or minutes"),
        ("2:00:00", "hours or minutes"),
        ("1.5h", "decimal"),
        ("", "not a duration"),
        ("P", "not a duration"),
        ("PT", "not a duration"),
        ("h", "not a duration"),
        ("-1h", "not a duration"),
        ("1h1d", "not a duration"),
        ("1h 30m", "not a duration"),
        ("1H", "not a duration"),
        ("1e3s", "not a duration"),
        ("999999999w", "larger than anything"),
    ],
)
def test_what_is_not_a_duration_is_refused_with_the_reason(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Duration.parse(text)


def test_seconds_of_a_duration_are_rounded_up() -> None:
    assert [Duration(value).seconds for value in (0, 1, 999, 1_000, 1_001)] == [0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("80Gi", 81_920),
        ("512Mi", 512),
        ("2Ti", 2 * 2**20),
        ("1Pi", 2**30),
        ("1.2Gi", 1_229),
        ("80GB", 76_294),
        ("64GB", 61_036),
        ("64Gi", 65_536),
        ("80GiB", 81_920),
        ("1Ki", 1),
        ("1024Ki", 1),
        ("1025Ki", 2),
        ("0Mi", 0),
    ],
)
def test_memory_is_read_as_whole_mib_rounded_up(text: str, mib: int) -> None:
    assert Memory.parse(text) == Memory(mib)


@pytest.mark.parametrize(
    "text", ["80", "80g", "80m", "16G", "500m", "80 Gi", "80gi", "-1Gi", "1e3Mi", "Gi", "80Gib", "٨Gi"]
)
def test_memory_without_a_clear_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Memory.parse(text)


def test_the_refusal_of_a_bare_size_names_both_readings() -> None:
    with pytest.raises(ValueError, match=r"80Gi .* or 80GB"):
        Memory.parse("80")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("USD 2.10", Money("USD", 2_100_000)),
        ("EUR 0.000001", Money("EUR", 1)),
        ("CNY 40000", Money("CNY", 40_000_000_000)),
    ],
)
def test_money_is_read_in_micros(text: str, value: Money) -> None:
    assert Money.parse(text) == value


@pytest.mark.parametrize(
    "text",
    ["$2", "2.10", "USD2.10", "usd 2", "USD 2,10", "USD 1e3", "USD -1", "USD 2.10/h", "USD 0.0000001", "USD 2.10 "],
)
def test_what_is_not_money_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Money.parse(text)


def test_a_price_needs_its_hour_and_money_must_not_have_one() -> None:
    assert Price.parse("USD 98.32/h") == Price("USD", 98_320_000)
    assert PowerPrice.parse("USD 0.12/kWh") == PowerPrice("USD", 120_000)
    for parse, text in ((Price.parse, "USD 98.32"), (Price.parse, "USD 1/kWh"), (PowerPrice.parse, "USD 0.12/h")):
        with pytest.raises(ValueError, match="write it as USD"):
            parse(text)


def test_power_rates_and_parts_are_read_exactly() -> None:
    assert Power.parse("700W") == Power(700_000)
    assert Power.parse("1.4kW") == Power(1_400_000)
    assert Rate.parse("400Gb/s") == Rate(400 * 10**9)
    assert Rate.parse("25Gb/s") == Rate(25 * 10**9)
    assert Part.parse("20%") == Part(200_000)
    assert Part.parse("0.5%") == Part(5_000)
    assert PartPerHour.parse("5%/h") == PartPerHour(50_000)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Power, "700"),
        (Power, "700w"),
        (Rate, "400GB/s"),
        (Rate, "400Gb"),
        (Part, "0.2"),
        (Part, "20"),
        (Part, "20%/h"),
        (PartPerHour, "5%"),
    ],
)
def test_power_rates_and_parts_without_their_unit_are_refused(kind: type[Power | Rate | Part], text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        kind.parse(text)


def test_a_share_is_an_exact_fraction_of_one_device() -> None:
    assert parse_share("1/8") == Fraction(1, 8)
    assert parse_share("2/8") == Fraction(1, 4)
    assert parse_share("8/8") == 1
    assert sum([parse_share("1/10")] * 10) == 1


@pytest.mark.parametrize("text", ["0/8", "9/8", "1/0", "0.125", "1", "-1/8", "1 / 8"])
def test_what_is_not_a_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="share"):
        parse_share(text)


def test_a_decimal_share_is_told_as_the_fraction_it_is() -> None:
    assert as_fraction("0.125") == "1/8"
    assert as_fraction("0.5") == "1/2"


@given(st.integers(0, 10**12))
def test_a_duration_is_read_back_from_its_text(milliseconds: int) -> None:
    assert Duration.parse(str(Duration(milliseconds))) == Duration(milliseconds)


@given(st.integers(0, 10**9))
def test_other_quantities_are_read_back_from_their_text(value: int) -> None:
    assert Memory.parse(str(Memory(value))) == Memory(value)
    assert Money.parse(str(Money("USD", value))) == Money("USD", value)
    assert Price.parse(str(Price("USD", value))) == Price("USD", value)
    assert PowerPrice.parse(str(PowerPrice("USD", value))) == PowerPrice("USD", value)
    assert Power.parse(str(Power(value))) == Power(value)
    assert Rate.parse(str(Rate(value * 1_000))) == Rate(value * 1_000)
    assert Part.parse(str(Part(value))) == Part(value)
    assert PartPerHour.parse(str(PartPerHour(value))) == PartPerHour(value)


def test_amounts_are_written_as_people_write_them() -> None:
    assert str(Money("USD", 2_100_000)) == "USD 2.10"
    assert str(Money("USD", 40_000_000)) == "USD 40"
    assert str(Price("USD", 98_320_000)) == "USD 98.32/h"
    assert str(Duration(36 * HOUR)) == "1d12h"
    assert str(Memory(81_920)) == "80Gi"
    assert str(Memory(1_229)) == "1229Mi"
    assert str(Memory(0)) == "0Mi"
    assert str(Rate(400 * 10**9)) == "400Gb/s"


def test_rounding_goes_up_and_never_past_a_whole_step() -> None:
    assert [ceil_div(value, 4) for value in (0, 1, 4, 5, -1)] == [0, 1, 1, 2, 0]
    assert [round_up(value, 4) for value in (0, 1, 4, 5)] == [0, 4, 4, 8]
    assert [ceil_fraction(Fraction(value, 3)) for value in (0, 1, 3, 4)] == [0, 1, 1, 2]
