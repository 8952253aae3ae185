"""Device use read back from a plan: who holds how many devices of which pool, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from planner.report.figures import epoch

if TYPE_CHECKING:
    from planner.plan import Placement, Plan, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """`devices` of one pool held in `[start, end)`, in epoch seconds."""

    pool: str
    start: int
    end: int
    devices: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """The time that a plan speaks of, in epoch seconds `[start, end)`."""

    start: int
    end: int

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.end - self.start


def horizon(plan: Plan) -> Horizon:
    """The horizon of `plan`."""
    start = epoch(plan.inputs.start)
    return Horizon(start=start, end=start + plan.inputs.slots * plan.inputs.slot_seconds)


def holds(plan: Plan) -> Iterator[Hold]:
    """Every use of devices in `plan`, by jobs and services alike, in their order."""
    for placement in plan.placements:
        yield from map(_hold, placement.segments)
    for service in plan.services:
        for step in service.steps:
            yield from map(_hold, step.segments)


def device_seconds(placement: Placement) -> Fraction:
    """Device-seconds that a placement holds in all, also past the horizon's end."""
    return sum(((hold.end - hold.start) * hold.devices for hold in map(_hold, placement.segments)), Fraction(0))


def devices(segment: Segment) -> Fraction:
    """Devices that a segment holds at each moment; a stated share of a device counts as that part."""
    every = [device.share for node in segment.nodes for device in node.devices]
    whole = every.count(None)
    return Fraction(whole) if whole == len(every) else sum(map(_part, every), Fraction(0))


def _hold(segment: Segment) -> Hold:
    return Hold(pool=segment.pool, start=epoch(segment.start), end=epoch(segment.end), devices=devices(segment))


def _part(share: str | None) -> Fraction:
    return Fraction(share) if share else Fraction(1)


def average(spans: Iterable[tuple[int, int, int | Fraction]], whole: Horizon) -> Fraction:
    """The mean over `whole` of `(start, end, value)` spans, which count as nothing where there is none."""
    total = Fraction(0)
    for start, end, value in spans:
        total += max(0, min(end, whole.end) - max(start, whole.start)) * Fraction(value)
    return total / whole.seconds if whole.seconds else Fraction(0)
