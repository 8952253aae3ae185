"""Recurring windows: `daily 09:00-21:00`, `weekdays 20:00-08:00`, `sat,sun`, `otherwise`.

A window belongs to the day it begins: `fri 20:00-08:00` ends on Saturday morning. Times are what clocks in a named zone
show; where a clock skips a reading, the reading is reached when the clock jumps, and where it shows one twice, the
first counts. Windows that touch in clock time therefore touch in real time on every day of the year.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final, Self, TypeVar

from planner import clock, units

T = TypeVar("T")

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMED_DAYS: Final = {"daily": range(7), "weekdays": range(5)}
_DAY_MINUTES: Final = 24 * 60
_RANGE: Final = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})")


@dataclass(frozen=True, slots=True, order=True)
class When:
    """A recurring window: on each of `days` (0 is Monday) from `start_minute` to `end_minute` of the day.

    `end_minute` is above 1440 when the window ends on the next day. No days at all means `otherwise`.
    """

    days: tuple[int, ...]
    start_minute: int = 0
    end_minute: int = _DAY_MINUTES

    @property
    def is_otherwise(self) -> bool:
        """Whether this is what holds when no earlier window does."""
        return not self.days

    @classmethod
    def otherwise(cls) -> Self:
        """The window that holds when no earlier one does."""
        return cls(())

    def __str__(self) -> str:
        if self.is_otherwise:
            return "otherwise"
        named = [word for word, days in _NAMED_DAYS.items() if tuple(days) == self.days]
        days = named[0] if named else ",".join(DAYS[day] for day in self.days)
        if (self.start_minute, self.end_minute) == (0, _DAY_MINUTES):
            return days
        end = self.end_minute - _DAY_MINUTES if self.end_minute > _DAY_MINUTES else self.end_minute
        return f"{days} {_clock(self.start_minute)}-{_clock(end)}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def parse(text: str) -> When:
    """Read a recurring window; raise `ValueError` with a sentence when it is none."""
    if text == "otherwise":
        return When.otherwise()
    days_text, _, range_text = text.partition(" ")
    days = _days(days_text)
    if not days:
        raise ValueError(
            f"'{text}' is not a recurring window; write for example "
            "daily 09:00-21:00, weekdays 20:00-08:00, sat,sun or otherwise."
        )
    return When(days, *_minutes(range_text, text)) if range_text else When(days)


def _days(text: str) -> tuple[int, ...]:
    if text in _NAMED_DAYS:
        return tuple(_NAMED_DAYS[text])
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            return ()
        begin, end = DAYS.index(first), DAYS.index(last or first)
        found |= {day % 7 for day in range(begin, end + 1 if end >= begin else end + 8)}
    return tuple(sorted(found))


def _minutes(text: str, whole: str) -> tuple[int, int]:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' in '{whole}' is not a time of day; write HH:MM-HH:MM, for example 09:00-21:00.")
    start_hour, start_minute, end_hour, end_minute = map(int, match.groups())
    start, end = start_hour * 60 + start_minute, end_hour * 60 + end_minute
    if start_minute > 59 or end_minute > 59 or start >= _DAY_MINUTES or end > _DAY_MINUTES:
        raise ValueError(f"'{text}' in '{whole}' is not a time of day; a day goes from 00:00 to 24:00.")
    if start == end:
        raise ValueError(f"'{whole}' begins and ends at the same time; leave the times out to mean whole days.")
    return start, end if end > start else end + _DAY_MINUTES


def occurrences(window: When, zone: str, start_epoch: int, end_epoch: int) -> tuple[tuple[int, int], ...]:
    """The intervals `[from, to)` of a window between two moments (seconds since 1970 UTC), cut, sorted and merged.

    `otherwise` alone has no occurrences: it depends on the windows before it (`timetable`).
    """
    if window.is_otherwise or end_epoch <= start_epoch:
        return ()
    info = clock.zone_of(zone)
    day = datetime.fromtimestamp(start_epoch, info).date() - timedelta(days=2)
    last = datetime.fromtimestamp(end_epoch, info).date()
    found: list[tuple[int, int]] = []
    while day <= last:
        if day.weekday() in window.days:
            begin = max(_moment(day, window.start_minute, zone), start_epoch)
            end = min(_moment(day, window.end_minute, zone), end_epoch)
            if begin < end:
                found.append((begin, end))
        day += timedelta(days=1)
    return _merged(found)


def _moment(day: date, minute: int, zone: str) -> int:
    local = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minute)
    return clock.first_reading(local, zone)


def _merged(intervals: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return tuple(merged)


def timetable(
    windows: Sequence[When], zone: str, start_epoch: int, end_epoch: int
) -> tuple[tuple[int, int, int | None], ...]:
    """Cut `[start_epoch, end_epoch)` into `(from, to, index)`: which window holds, the first match winning.

    The index is None where none holds. Neighbours differ in their index.
    """
    if end_epoch <= start_epoch:
        return ()
    spans = [
        ((start_epoch, end_epoch),) if window.is_otherwise else occurrences(window, zone, start_epoch, end_epoch)
        for window in windows
    ]
    cuts = sorted(
        {start_epoch, end_epoch} | {edge for intervals in spans for interval in intervals for edge in interval}
    )
    pointers = [0] * len(spans)
    table: list[tuple[int, int, int | None]] = []
    for begin, end in pairwise(cuts):
        index = _holding(spans, pointers, begin)
        if table and table[-1][2] == index:
            table[-1] = table[-1][0], end, index
        else:
            table.append((begin, end, index))
    return tuple(table)


def _holding(spans: Sequence[Sequence[tuple[int, int]]], pointers: list[int], moment: int) -> int | None:
    """The first window that holds at `moment`; pointers only move on, since moments come in order."""
    for index, intervals in enumerate(spans):
        while pointers[index] < len(intervals) and intervals[pointers[index]][1] <= moment:
            pointers[index] += 1
        if pointers[index] < len(intervals) and intervals[pointers[index]][0] <= moment:
            return index
    return None


def value_by_slot(
    windows: Sequence[tuple[When, T]],
    default: T,
    zone: str,
    start_epoch: int,
    *,
    slot_seconds: int,
    slots: int,
    stricter: Callable[[T, T], T],
) -> tuple[T, ...]:
    """The value that holds in each slot of a horizon.

    A slot that several values touch takes `stricter` of them (a guarantee's is `min`, a load's is `max`). Where no
    window holds, `default` does.
    """
    table = timetable([window for window, _ in windows], zone, start_epoch, start_epoch + slots * slot_seconds)
    values: dict[int, T] = {}
    for begin, end, index in table:
        value = default if index is None else windows[index][1]
        for slot in range((begin - start_epoch) // slot_seconds, units.ceil_div(end - start_epoch, slot_seconds)):
            values[slot] = stricter(values[slot], value) if slot in values else value
    return tuple(values[slot] for slot in range(slots))
