"""Quantities with their units: exact integers inside, one spelling outside.

Every class parses the spellings of the specification language and prints one canonical spelling that parses back to
an equal value. A refusal is a `ValueError` whose text is a whole sentence, fit to be shown to the person who wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self

from planner.clock import first_reading, format_time, parse_time, zone_of

__all__ = [
    "MILLION",
    "DataPrice",
    "Duration",
    "Memory",
    "Money",
    "Part",
    "PartPerHour",
    "Power",
    "PowerPrice",
    "Price",
    "Rate",
    "as_fraction",
    "ceil_div",
    "ceil_fraction",
    "decimal_text",
    "first_reading",
    "format_time",
    "parse_share",
    "parse_time",
    "round_up",
    "shared",
    "zone_of",
]

MILLION: Final = 1_000_000
_LARGEST: Final = 2**53

_NUMBER: Final = r"[0-9]{1,15}(?:\.[0-9]{1,12})?"
_MEMORY: Final = re.compile(rf"({_NUMBER})([A-Za-z]*)")
_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_DECIMAL: Final = {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_MEMORY_UNITS: Final[Mapping[str, int]] = {
    **_BINARY,
    **{unit + "B": size for unit, size in _BINARY.items()},
    **_DECIMAL,
}
_DURATION_UNITS: Final[Mapping[str, int]] = {
    "w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1,
}  # fmt: skip
_DURATION: Final = re.compile(
    r"(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?(?:([0-9]{1,12})ms)?"
)
_ISO_DURATION: Final = re.compile(
    r"P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?=[0-9])(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?)?"
)
_DAY_CLOCK: Final = re.compile(r"([0-9]{1,6})-([0-9]{2}):([0-9]{2}):([0-9]{2})")
_MONEY: Final = re.compile(rf"([A-Z]{{3}}) ({_NUMBER})(/[A-Za-z]+)?")
_RATE: Final = re.compile(rf"({_NUMBER})([kMGT]?)b/s")
_POWER: Final = re.compile(rf"({_NUMBER})(k?W|MW)")
_PART: Final = re.compile(rf"({_NUMBER})%(/h)?")
_SHARE: Final = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


def ceil_div(dividend: int, divisor: int) -> int:
    """Quotient of two integers, rounded up; `divisor` is positive."""
    return -(-dividend // divisor)


def round_up(value: int, step: int) -> int:
    """The least multiple of `step` that is not below `value`."""
    return ceil_div(value, step) * step


def ceil_fraction(value: Fraction) -> int:
    """The least integer that is not below `value`."""
    return ceil_div(value.numerator, value.denominator)


def shared(amount: int, parts: Sequence[int]) -> list[int]:
    """`amount` divided in proportion to `parts` (at most their sum) in whole numbers, the largest remainders first."""
    total = sum(parts)
    if not amount:
        return [0] * len(parts)
    given = [amount * part // total for part in parts]
    order = sorted(range(len(parts)), key=lambda at: (-(amount * parts[at] % total), at))
    for at in order[: amount - sum(given)]:
        given[at] += 1
    return given


def decimal_text(value: Fraction) -> str:
    """A fraction whose denominator divides a power of ten, as a decimal without trailing zeros."""
    whole, rest = divmod(value, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


def _exact(text: str, factor: int, what: str, finest: str) -> int:
    value = Fraction(text) * factor
    if value.denominator != 1:
        raise ValueError(f"{what} has more decimals than can be kept; the finest step is {finest}.")
    return _bounded(int(value), what)


def _bounded(value: int, what: str) -> int:
    if value > _LARGEST:
        raise ValueError(f"{what} is larger than anything this planner can count.")
    return value


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in whole milliseconds."""

    milliseconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `400ms`, `90s`, `1d12h`, `2w`, `PT36H` or `1-12:00:00`."""
        for pattern, scales in (
            (_DURATION, tuple(_DURATION_UNITS.values())),
            (_ISO_DURATION, tuple(_DURATION_UNITS.values())[:5]),
            (_DAY_CLOCK, (86_400_000, 3_600_000, 60_000, 1_000)),
        ):
            match = pattern.fullmatch(text)
            if match and any(group is not None for group in match.groups()):
                parts = zip(match.groups(), scales, strict=True)
                return cls(
                    _bounded(sum(int(group) * scale for group, scale in parts if group), f"The duration '{text}'")
                )
        raise ValueError(_duration_refusal(text))

    @classmethod
    def of_seconds(cls, seconds: int) -> Self:
        """A duration of whole seconds."""
        return cls(seconds * 1_000)

    @property
    def seconds(self) -> int:
        """Whole seconds, rounded up."""
        return ceil_div(self.milliseconds, 1_000)

    def __str__(self) -> str:
        rest, parts = self.milliseconds, []
        for unit, scale in tuple(_DURATION_UNITS.items())[1:]:
            count, rest = divmod(rest, scale)
            parts += [f"{count}{unit}"] if count else []
        return "".join(parts) or "0s"


def _duration_refusal(text: str) -> str:
    if re.fullmatch(_NUMBER, text):
        return f"'{text}' has no unit; write for example {text}h, {text}m or {text}s."
    if re.fullmatch(r"[0-9]+(:[0-9]+)+", text):
        return f"'{text}' could mean hours or minutes; write for example 2h30m, 2m30s or 0-02:30:00."
    if re.fullmatch(r"[0-9]+\.[0-9]+(ms|[wdhms])", text):
        return f"'{text}' is a decimal; write whole numbers of smaller units, for example 1h30m instead of 1.5h."
    return f"'{text}' is not a duration; write for example 90s, 20m, 36h, 1d12h, 2w, PT36H or 1-12:00:00."


@dataclass(frozen=True, slots=True, order=True)
class Memory:
    """An amount of memory or data in whole MiB, rounded up when it is read."""

    mib: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `80Gi`, `512Mi`, `80GB` (decimal), `2Ti` or `1.2Gi`."""
        match = _MEMORY.fullmatch(text)
        size = _MEMORY_UNITS.get(match[2]) if match else None
        if match is None or size is None:
            raise ValueError(_memory_refusal(text, match))
        return cls(_bounded(ceil_fraction(Fraction(match[1]) * size / 2**20), f"The size '{text}'"))

    def __str__(self) -> str:
        for unit, size in (("Ti", 2**20), ("Gi", 2**10)):
            if self.mib and self.mib % size == 0:
                return f"{self.mib // size}{unit}"
        return f"{self.mib}Mi"


def _memory_refusal(text: str, match: re.Match[str] | None) -> str:
    if match is None:
        return f"'{text}' is not a size; write for example 80Gi, 512Mi, 2Ti or 80GB."
    number, unit = match.groups()
    if not unit:
        return f"'{text}' has no unit; write {number}Gi (1024^3 bytes) or {number}GB (10^9 bytes)."
    if unit == "m":
        choices = f"write {number}Mi (1024^2 bytes) or {number}MB (10^6 bytes)"
        return f"'{text}' means thousandths of a byte to Kubernetes; {choices}."
    if len(unit) == 1 and unit.upper() in "KMGTP":
        big = unit.upper()
        choices = f"write {number}{big}i (powers of 1024) or {number}{big}B (powers of 1000)"
        return f"'{text}' could be binary or decimal; {choices}."
    return f"'{unit}' is not a unit of memory; write for example 80Gi, 512Mi, 2Ti or 80GB."


@dataclass(frozen=True, slots=True, order=True)
class Money:
    """An amount of one currency in millionths of its unit."""

    currency: str
    micros: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `USD 2.10`."""
        return cls(*_money(text, "", "USD 2.10"))

    def __str__(self) -> str:
        return f"{self.currency} {_money_text(self.micros)}"


@dataclass(frozen=True, slots=True, order=True)
class Price:
    """Money per hour."""

    currency: str
    micros_per_hour: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `USD 2.10/h`."""
        return cls(*_money(text, "/h", "USD 2.10/h"))

    def __str__(self) -> str:
        return f"{self.currency} {_money_text(self.micros_per_hour)}/h"


@dataclass(frozen=True, slots=True, order=True)
class PowerPrice:
    """Money per kilowatt-hour."""

    currency: str
    micros_per_kwh: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `USD 0.12/kWh`."""
        return cls(*_money(text, "/kWh", "USD 0.12/kWh"))

    def __str__(self) -> str:
        return f"{self.currency} {_money_text(self.micros_per_kwh)}/kWh"


@dataclass(frozen=True, slots=True, order=True)
class DataPrice:
    """Money per terabyte, of 10^12 bytes."""

    currency: str
    micros_per_tb: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `USD 90/TB`."""
        return cls(*_money(text, "/TB", "USD 90/TB"))

    def __str__(self) -> str:
        return f"{self.currency} {_money_text(self.micros_per_tb)}/TB"

    def of(self, size: Memory) -> int:
        """What so much data costs, in micros, rounded up."""
        return ceil_div(self.micros_per_tb * size.mib * 2**20, 10**12)


def _money(text: str, per: str, example: str) -> tuple[str, int]:
    match = _MONEY.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not {_money_kind(per)}; write the currency, a space and the amount: {example}.")
    if (match[3] or "") != per:
        raise ValueError(f"'{text}' is not {_money_kind(per)}; write it as {match[1]} {match[2]}{per}.")
    return match[1], _exact(match[2], MILLION, f"The amount '{text}'", f"{match[1]} 0.000001")


def _money_kind(per: str) -> str:
    return {
        "": "an amount of money",
        "/h": "a price per hour",
        "/kWh": "a price of electricity",
        "/TB": "a price of data",
    }[per]


def _money_text(micros: int) -> str:
    text = decimal_text(Fraction(micros, MILLION))
    whole, _, digits = text.partition(".")
    return f"{whole}.{digits.ljust(2, '0')}" if digits else whole


@dataclass(frozen=True, slots=True, order=True)
class Power:
    """Electrical power in milliwatts."""

    milliwatts: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `700W` or `1.4kW`."""
        match = _POWER.fullmatch(text)
        if match is None:
            raise ValueError(f"'{text}' is not a power; write for example 700W or 1.4kW.")
        factor = {"W": 1_000, "kW": 1_000_000, "MW": 1_000_000_000}[match[2]]
        return cls(_exact(match[1], factor, f"The power '{text}'", "0.001W"))

    def __str__(self) -> str:
        return f"{decimal_text(Fraction(self.milliwatts, 1_000))}W"


@dataclass(frozen=True, slots=True, order=True)
class Rate:
    """A data rate in bits per second."""

    bits_per_second: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `400Gb/s`: bits, with decimal prefixes."""
        match = _RATE.fullmatch(text)
        if match is None:
            raise ValueError(f"'{text}' is not a data rate; write bits per second, for example 400Gb/s or 25Gb/s.")
        factor = 1_000 ** " kMGT".index(match[2] or " ")
        return cls(_exact(match[1], factor, f"The rate '{text}'", "1b/s"))

    def __str__(self) -> str:
        for prefix, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
            if self.bits_per_second and self.bits_per_second % size == 0:
                return f"{self.bits_per_second // size}{prefix}b/s"
        return f"{self.bits_per_second}b/s"


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A part of a whole in parts per million."""

    ppm: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `20%` or `0.5%`."""
        return cls(_part(text, "", "20%"))

    def __str__(self) -> str:
        return f"{decimal_text(Fraction(self.ppm, 10_000))}%"


@dataclass(frozen=True, slots=True, order=True)
class PartPerHour:
    """A part of a whole per hour, in parts per million."""

    ppm: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `5%/h`."""
        return cls(_part(text, "/h", "5%/h"))

    def __str__(self) -> str:
        return f"{decimal_text(Fraction(self.ppm, 10_000))}%/h"


def _part(text: str, per: str, example: str) -> int:
    match = _PART.fullmatch(text)
    if match is None or (match[2] or "") != per:
        raise ValueError(
            f"'{text}' is not a {'rate per hour' if per else 'part'}; write a percentage, for example {example}."
        )
    return _exact(match[1], 10_000, f"The part '{text}'", "0.0001%")


def parse_share(text: str) -> Fraction:
    """Read a share of one device, `1/8`, as an exact fraction in (0, 1]."""
    match = _SHARE.fullmatch(text)
    if match is None:
        if re.fullmatch(r"[0-9]*\.[0-9]+", text):
            raise ValueError(f"'{text}' is a decimal; write the share as a fraction, for example {as_fraction(text)}.")
        raise ValueError(f"'{text}' is not a share of a device; write a fraction, for example 1/8.")
    numerator, denominator = int(match[1]), int(match[2])
    if not 0 < numerator <= denominator:
        raise ValueError(f"'{text}' is not a share of one device; it must be above 0 and at most 1.")
    return Fraction(numerator, denominator)


def as_fraction(text: str) -> str:
    """The fraction that a decimal such as `0.125` stands for, as an example of how to write it."""
    value = Fraction(text)
    return str(value) if 0 < value < 1 and value.denominator <= 1_000 else "1/8"
