"""The load of a service in each slot: from recurring steps, or from a CSV file beside the spec."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner import units, when

if TYPE_CHECKING:
    from planner.compile.horizon import Horizon
    from planner.spec.service import Load

Demand = tuple[int, int]
"""Thousandths of a request a second, and requests at once."""
_NOTHING: Final = (0, 0)
_RATE: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,3})?")


class BadLoad(ValueError):
    """A load file that cannot be read; the text says where and why."""


def of_steps(steps: tuple[Load, ...], horizon: Horizon, zone: str) -> tuple[Demand, ...]:
    """The demand of each slot; a slot that two steps touch takes the greater, one that none holds has none."""
    windows = [(step.when, (step.milliqps or 0, step.concurrent or 0)) for step in steps]
    return when.value_by_slot(
        windows, _NOTHING, zone, horizon.start, slot_seconds=horizon.slot_seconds, slots=horizon.slots, stricter=greater
    )


def of_file(data: bytes, horizon: Horizon, zone: str) -> tuple[Demand, ...]:
    """The demand of each slot from lines `time,qps`: each rate holds until the next line's time, the last for ever.

    A slot takes the greatest rate that holds in it. Before the first line there is no load. Raises `BadLoad`.
    """
    lines = tuple(_lines(data, zone))
    ends = [*(moment for moment, _ in lines[1:]), max([horizon.end, *(moment for moment, _ in lines)])]
    by_slot = [0] * horizon.slots
    for (moment, milliqps), end in zip(lines, ends, strict=True):
        for slot in range(max(0, horizon.floor(moment)), min(horizon.slots, horizon.ceil(end))):
            by_slot[slot] = max(by_slot[slot], milliqps)
    return tuple((milliqps, 0) for milliqps in by_slot)


def greater(one: Demand, other: Demand) -> Demand:
    """What serves both."""
    return max(one[0], other[0]), max(one[1], other[1])


def _lines(data: bytes, zone: str) -> Iterator[tuple[int, int]]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadLoad("it is not UTF-8 text") from None
    rows = [(number, row) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1) if row]
    if not rows or [cell.strip() for cell in rows[0][1]] != ["time", "qps"]:
        raise BadLoad("its first line is not 'time,qps'")
    if not rows[1:]:
        raise BadLoad("it has no line after the first")
    before: int | None = None
    for number, row in rows[1:]:
        moment, milliqps = _line(number, row, zone)
        if before is not None and moment <= before:
            raise BadLoad(f"line {number}: its time is not after that of the line before")
        before = moment
        yield moment, milliqps


def _line(number: int, row: list[str], zone: str) -> tuple[int, int]:
    if len(row) != 2 or not _RATE.fullmatch(row[1].strip()):
        raise BadLoad(f"line {number}: a time and a number with at most three decimals are needed")
    try:
        return units.parse_time(row[0].strip(), zone), int(Fraction(row[1].strip()) * 1_000)
    except ValueError as error:
        raise BadLoad(f"line {number}: {error}") from None
