"""The load of each pool over the horizon, drawn in one line a pool under an axis of local days and hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.report.figures import DAY, HOUR, duration_text, local, percent_text
from planner.report.loads import Hold, Horizon, holds, horizon
from planner.report.page import Block, Heading, Medium, Preformatted, line, quiet
from planner.units import ceil_div, zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from planner.plan import Plan

STEPS: Final = tuple(minutes * 60 for minutes in (1, 2, 5, 10, 15, 30)) + tuple(
    hours * HOUR for hours in (1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 168, 336, 720)
)
"""How much time one character may stand for, in seconds."""
_LONGEST_NAME: Final = 28
_CELLS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """`cells` characters of `step` seconds each, from `start`."""

    start: int
    step: int
    cells: int


def timeline(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Load by pool", or nothing for a fleet without devices."""
    pools = [use for use in plan.utilisation if use.by == "pool" and use.devices]
    whole = horizon(plan)
    if not pools or not whole.seconds:
        return ()
    label = min(_LONGEST_NAME, max(len(use.name) for use in pools))
    scale = scale_of(whole, max(10, min(_CELLS, medium.width - label - 11)))
    zone = zone_of(plan.inputs.timezone)
    lines = [line(quiet(" " * (label + 4) + text)) for text in axis(scale, zone)]
    by_pool: dict[str, list[Hold]] = {}
    for hold in holds(plan):
        by_pool.setdefault(hold.pool, []).append(hold)
    for use in pools:
        drawn = "".join(_glyphs(loads(by_pool.get(use.name, ()), scale, use.devices), medium.glyphs.levels))
        name = _clipped(use.name, label, medium)
        lines.append(
            line(
                f"  {name:<{label}}  ",
                drawn,
                quiet(f"  {percent_text(use.used_device_seconds, use.capacity_device_seconds):>5}"),
            )
        )
    note = f"one character is {duration_text(scale.step)}; {plan.inputs.timezone}"
    return Heading(title="Load by pool", note=note), Preformatted(lines=tuple(lines))


def _clipped(name: str, label: int, medium: Medium) -> str:
    mark = medium.glyphs.ellipsis
    return name if len(name) <= label else name[: label - len(mark)] + mark


def scale_of(whole: Horizon, cells: int) -> Scale:
    """The finest scale that shows all of a horizon in at most `cells` characters."""
    step = next((step for step in STEPS if whole.seconds <= step * cells), ceil_div(whole.seconds, cells))
    return Scale(start=whole.start, step=step, cells=ceil_div(whole.seconds, step))


def loads(used: Iterable[Hold], scale: Scale, devices: int) -> tuple[Fraction, ...]:
    """The part of `devices` that is held in each cell, on average over the cell."""
    seconds = [Fraction(0)] * scale.cells
    for hold in used:
        first = max(0, (hold.start - scale.start) // scale.step)
        last = min(scale.cells, ceil_div(hold.end - scale.start, scale.step))
        for cell in range(first, last):
            begin = scale.start + cell * scale.step
            seconds[cell] += (min(hold.end, begin + scale.step) - max(hold.start, begin)) * hold.devices
    return tuple(value / (scale.step * devices) for value in seconds)


def _glyphs(parts: Iterable[Fraction], levels: str) -> Iterator[str]:
    """One sign a part: the first only for nothing, the last only for everything."""
    top = len(levels) - 1
    for part in parts:
        yield levels[top if part >= 1 else min(top - 1, ceil_div(part.numerator * (top - 1), part.denominator))]


def axis(scale: Scale, zone: ZoneInfo) -> tuple[str, ...]:
    """A row of days, and a row of hours where they have room."""
    days = _row(_days(scale, zone), scale)
    ticks = next((hours for hours in (1, 2, 3, 4, 6, 12) if hours * HOUR >= 4 * scale.step), 0)
    return (days, _row(_hours(scale, zone, ticks), scale)) if ticks else (days,)


def _row(marks: Iterable[tuple[int, str]], scale: Scale) -> str:
    text = ""
    for moment, label in marks:
        cell = (moment - scale.start) // scale.step
        if 0 <= cell <= scale.cells - len(label) and (cell > len(text) or (not text and cell >= 0)):
            text = text.ljust(cell) + label
    return text


def _days(scale: Scale, zone: ZoneInfo) -> Iterator[tuple[int, str]]:
    """The days that begin in the scale, spelled as long as leaves a gap; the first day too, where it has room."""
    cells = DAY // scale.step
    form = "%a %m-%d" if cells >= 10 else "%a %d" if cells >= 7 else "%m-%d"
    begins = [(moment, f"{local(moment, zone):{form}}") for moment in _local_times(scale, zone, (0,))]
    first = f"{local(scale.start, zone):{form}}"
    if not begins or begins[0][0] - scale.start > len(first) * scale.step:
        yield scale.start, first
    yield from begins


def _hours(scale: Scale, zone: ZoneInfo, every: int) -> Iterator[tuple[int, str]]:
    yield from ((moment, f"{local(moment, zone):%H}") for moment in _local_times(scale, zone, range(0, 24, every)))


def _local_times(scale: Scale, zone: ZoneInfo, hours: Iterable[int]) -> Iterator[int]:
    """Moments of the scale at which clocks of the zone show one of `hours`, in order."""
    first = local(scale.start, zone).date()
    for number in range(ceil_div(scale.cells * scale.step, DAY) + 2):
        date = first + timedelta(days=number)
        for hour in hours:
            moment = int(datetime(date.year, date.month, date.day, hour, tzinfo=zone).timestamp())
            if moment >= scale.start:
                yield moment
