"""A plan of days, moved to now and squeezed, so that a lab can live through it."""

from __future__ import annotations

from planner.plan import Placement, Plan, Segment, sealed
from planner.units import ceil_div, format_time, parse_time


def seconds_of(text: str) -> int:
    """A time of a plan in seconds since 1970."""
    return parse_time(text, "UTC")


def scaled(plan: Plan, *, begin: int, slot_seconds: int) -> Plan:
    """`plan` as if it began at `begin` with slots of `slot_seconds`; everything else stays."""
    inputs = plan.inputs.model_copy(update={"start": format_time(begin), "slot_seconds": slot_seconds})
    clock = _Clock(plan, begin=begin, slot_seconds=slot_seconds)
    placements = tuple(clock.placement(item) for item in plan.placements)
    return sealed(plan.model_copy(update={"inputs": inputs, "placements": placements}))


class _Clock:
    """From the plan's time to the lab's."""

    def __init__(self, plan: Plan, *, begin: int, slot_seconds: int) -> None:
        self._start = seconds_of(plan.inputs.start)
        self._begin = begin
        self._slot_seconds = slot_seconds
        self._planned_seconds = plan.inputs.slot_seconds

    def placement(self, item: Placement) -> Placement:
        limit_seconds = ceil_div(item.limit_seconds * self._slot_seconds, self._planned_seconds)
        segments = tuple(self._segment(segment) for segment in item.segments)
        return item.model_copy(
            update={"segments": segments, "finish": self._time(item.finish), "limit_seconds": limit_seconds}
        )

    def _segment(self, item: Segment) -> Segment:
        return item.model_copy(update={"start": self._time(item.start), "end": self._time(item.end)})

    def _time(self, text: str) -> str:
        slots = (seconds_of(text) - self._start) * self._slot_seconds
        return format_time(self._begin + slots // self._planned_seconds)
