"""Numbers as people read them: every figure with its unit, rounded only for show and always by integers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.units import MILLION, ceil_div

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

HOUR: Final = 3_600
DAY: Final = 86_400
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def epoch(text: str) -> int:
    """Seconds since 1970 of a plan's time, `2026-12-01T09:00:00Z`."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(seconds=1)


def local(moment: int, zone: ZoneInfo) -> datetime:
    """A moment as clocks in `zone` show it."""
    return datetime.fromtimestamp(moment, zone)


def moment_text(moment: int, zone: ZoneInfo) -> str:
    """`Tue 12-01 09:00`: a moment inside a horizon whose year stands elsewhere."""
    return f"{local(moment, zone):%a %m-%d %H:%M}"


def dated_text(moment: int, zone: ZoneInfo) -> str:
    """`Tue 2026-12-01 09:00`."""
    return f"{local(moment, zone):%a %Y-%m-%d %H:%M}"


def duration_text(seconds: int) -> str:
    """`1 d 6 h`, `45 min`, `90 s`: at most the two largest units, rounded up to the smaller one."""
    for size, name, smaller, smaller_name in ((DAY, "d", HOUR, "h"), (HOUR, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            whole, rest = divmod(ceil_div(seconds, smaller) * smaller, size)
            return f"{whole} {name}" + (f" {rest // smaller} {smaller_name}" if rest else "")
    return f"{seconds} s"


def hours_text(seconds: int) -> str:
    """A difference in hours with its sign: `+2 h`, `-0.5 h`, `+36 h`; hundredths of an hour at the finest."""
    return f"{'-' if seconds < 0 else '+'}{decimal(Fraction(abs(seconds), HOUR), 2)} h"


def decimal(value: Fraction | int, places: int) -> str:
    """A number with thousands separated and at most `places` decimals, half rounded up, without trailing zeros."""
    scale: int = 10**places
    scaled = (abs(Fraction(value)) * scale * 2 + 1) // 2
    whole, rest = divmod(scaled, scale)
    digits = str(rest).zfill(places).rstrip("0") if places else ""
    return ("-" if value < 0 and scaled else "") + f"{whole:,}" + (f".{digits}" if digits else "")


def count_text(value: int | Fraction) -> str:
    """A number of devices: whole, or with up to three decimals."""
    return decimal(value, 3)


def device_hours_text(device_seconds: int | Fraction) -> str:
    """`1,234 GPU-h`; tenths below 100."""
    hours = Fraction(device_seconds) / HOUR
    return f"{decimal(hours, 1 if abs(hours) < 100 else 0)} GPU-h"


def money_text(micros: int, currency: str) -> str:
    """`USD 1,234.50`; an amount too small for two decimals keeps those it needs."""
    sign, amount = "-" if micros < 0 else "", abs(micros)
    cents = (amount * 200 + MILLION) // (2 * MILLION)
    if amount and not cents:
        return f"{currency} {sign}{decimal(Fraction(amount, MILLION), 6)}"
    return f"{currency} {sign}{cents // 100:,}.{cents % 100:02}"


def money_change_text(micros: int, currency: str) -> str:
    """A difference of money with its sign: `+USD 12.00`."""
    return ("-" if micros < 0 else "+") + money_text(abs(micros), currency)


def percent_text(part: int | Fraction, whole: int | Fraction) -> str:
    """`87 %` of a whole; `-` where the whole is nothing, and never 100 % or 0 % unless it is exactly that."""
    if not whole:
        return "-"
    share = Fraction(part) / Fraction(whole) * 100
    rounded = int(share + Fraction(1, 2))
    if rounded >= 100 > share:
        return "99 %"
    return "1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def ppm_text(ppm: int) -> str:
    """A gap in percent, never made smaller than it is: `0.4 %`, `12 %`, `0.0003 %`."""
    places = next((places for places, least in ((0, 100_000), (1, 1_000), (2, 100)) if ppm >= least), 4)
    step = 10 ** (4 - places)
    return f"{decimal(Fraction(ceil_div(ppm, step) * step, 10_000), places)} %"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 job`, `2,000 jobs`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def ranges_text(numbers: Iterable[int]) -> str:
    """Sorted different numbers with runs drawn together: `0-3,7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def short_digest(digest: str) -> str:
    """The first twelve hexadecimal digits of a digest."""
    return digest.rpartition(":")[2][:12]
