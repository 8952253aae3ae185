"""The horizon in slots: how wide a slot is, and what a moment or a length is in slots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from typing import Final

from planner import units
from planner.units import ceil_div

MINUTE: Final = 60
HOUR: Final = 3_600
DAY: Final = 86_400
WIDTHS: Final = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 28_800, 43_200, 86_400)
"""The slot widths that are chosen from, in seconds: each divides a day."""
CHOSEN_SLOTS: Final = 336
"""A chosen width gives at most so many slots: a week in half hours, which people still read as a timetable."""
MOST_SLOTS: Final = 2_016
"""A width that is written down may give so many: a week in steps of five minutes, twelve weeks in hours."""
MOST_COLUMNS: Final = 16_000_000
"""Tasks x modes x starts. The solver passes over all of them hundreds of times; beyond this a pass takes over 0.1 s."""
MOST_CELLS: Final = 6_000_000
"""Nodes x slots. The solver keeps the use of every resource in each; beyond this they take over a gigabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The slots `[0, slots)` from `start` (seconds since 1970 UTC); `reason` says why a slot is as wide as it is."""

    start: int
    slot_seconds: int
    slots: int
    reason: str = ""

    @property
    def end(self) -> int:
        """The first moment after the horizon."""
        return self.moment(self.slots)

    def moment(self, slot: int) -> int:
        """When a slot begins; slots before and after the horizon have their moments too."""
        return self.start + slot * self.slot_seconds

    def floor(self, moment: int) -> int:
        """The slot that holds a moment: the last one that begins at or before it."""
        return (moment - self.start) // self.slot_seconds

    def ceil(self, moment: int) -> int:
        """The first slot that begins at or after a moment."""
        return ceil_div(moment - self.start, self.slot_seconds)

    def length(self, seconds: int) -> int:
        """How many slots hold so many seconds, at least one."""
        return max(1, ceil_div(seconds, self.slot_seconds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """What a problem grows with besides slots: legal modes summed over tasks, and nodes summed over pools."""

    modes: int
    nodes: int

    def fault(self, slots: int, most_slots: int) -> str:
        """Which bound so many slots break, with the numbers; empty when none."""
        if slots > most_slots:
            return f"{slots:,} slots, at most {most_slots:,} are planned"
        if self.modes * slots > MOST_COLUMNS:
            columns = self.modes * slots
            return f"{self.modes:,} ways to run x {slots:,} starts = {columns:,}, at most {MOST_COLUMNS:,} are planned"
        if self.nodes * slots > MOST_CELLS:
            return (
                f"{self.nodes:,} nodes x {slots:,} slots = {self.nodes * slots:,}, at most {MOST_CELLS:,} are planned"
            )
        return ""


class TooFine(Exception):
    """The horizon cannot be planned in slots so fine; in slots of `width` seconds it can (None: in none)."""

    def __init__(self, numbers: str, width: int | None) -> None:
        super().__init__(numbers)
        self.numbers = numbers
        self.width = width


def choose(length_seconds: int, wanted_seconds: int | None, extent: Extent) -> tuple[int, str]:
    """The slot width in seconds, and why.

    A width that is wanted is held, or refused with `TooFine`; it is never widened. Otherwise it is the finest of
    `WIDTHS` that keeps slots, columns and cells within their bounds.
    """
    finest, numbers = _finest(length_seconds, extent)
    if wanted_seconds is None:
        if finest is None:
            raise TooFine(numbers, None)
        return finest, f"the finest width that keeps {length_text(length_seconds)} within {numbers}"
    if fault := extent.fault(ceil_div(length_seconds, wanted_seconds), MOST_SLOTS):
        raise TooFine(fault, finest)
    return wanted_seconds, "set by horizon.slot"


def _finest(length_seconds: int, extent: Extent) -> tuple[int | None, str]:
    """The finest width that fits, with the bound that stops a finer one; or None and what even the widest breaks."""
    numbers = f"{CHOSEN_SLOTS:,} slots"
    for width in WIDTHS:
        slots = ceil_div(length_seconds, width)
        fault = extent.fault(slots, CHOSEN_SLOTS)
        if not fault:
            return width, numbers
        if slots <= CHOSEN_SLOTS:
            numbers = (
                f"{MOST_COLUMNS:,} columns" if extent.modes * slots > MOST_COLUMNS else f"{MOST_CELLS:,} node-slots"
            )
    return None, extent.fault(ceil_div(length_seconds, WIDTHS[-1]), CHOSEN_SLOTS)


def aligned(moment: int, slot_seconds: int, zone: str) -> int:
    """`moment` rounded up to a slot, counted from midnight in `zone`: slots begin at round clock times there."""
    local = datetime.fromtimestamp(moment, units.zone_of(zone))
    midnight = units.first_reading(datetime.combine(local.date(), time()), zone)
    return midnight + units.round_up(moment - midnight, slot_seconds)


def length_text(seconds: int) -> str:
    """A length of time as people say it: `30 min`, `2 h`, `1 d 6 h`."""
    parts = (
        (seconds // DAY, "d"),
        (seconds % DAY // HOUR, "h"),
        (seconds % HOUR // MINUTE, "min"),
        (seconds % MINUTE, "s"),
    )
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
