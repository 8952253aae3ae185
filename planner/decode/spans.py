"""Values by slot as windows of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.horizon import Horizon

T = TypeVar("T")


def windows(by_slot: Sequence[T], horizon: Horizon) -> Iterator[tuple[str, str, T]]:
    """`(start, end, value)` in the plan's spelling of time; equal neighbours are one window."""
    slot = 0
    for value, run in groupby(by_slot):
        end = slot + sum(1 for _ in run)
        yield format_time(horizon.moment(slot)), format_time(horizon.moment(end)), value
        slot = end
