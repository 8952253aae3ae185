"""What quotas say at each moment of the plan: guarantee, limit, lending and weight, and what work uses of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from planner import when
from planner.units import ceil_fraction, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from planner.plan import Plan
    from planner.spec.team import Quota, QuotaWindow

UsageKey = tuple[str, str, str]
"""A quota, a pool as `cluster/pool`, and a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a quota says at one time, in devices; None: no limit, or all that is unused is lent."""

    guaranteed: int
    limit: int | None
    lend: int | None
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """The terms of one quota over the plan: `terms[i]` from `cuts[i]` (seconds since 1970 UTC) on."""

    cuts: tuple[int, ...]
    terms: tuple[Terms, ...]

    def at(self, moment: int) -> Terms:
        """What holds at a moment; before the plan begins what holds at its beginning."""
        return self.terms[max(0, bisect_right(self.cuts, moment) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Devices that work has within one quota's guarantee: `amounts[i]` from `cuts[i]` on, rounded up."""

    cuts: tuple[int, ...] = ()
    amounts: tuple[int, ...] = ()

    def at(self, moment: int) -> int:
        """What is used at a moment."""
        index = bisect_right(self.cuts, moment) - 1
        return self.amounts[index] if index >= 0 else 0


def begin_of(plan: Plan) -> int:
    """When the plan begins, in seconds since 1970 UTC."""
    return parse_time(plan.inputs.start, "UTC")


def calendar_of(quota: Quota, plan: Plan) -> Calendar:
    """A quota slot by slot: its guarantee as the plan says, the rest by its windows, the stricter where two meet."""
    begin, step, slots = begin_of(plan), plan.inputs.slot_seconds, plan.inputs.slots
    rows = tuple(
        Terms(guaranteed=guaranteed, limit=limit, lend=lend, weight=weight or 1)
        for guaranteed, limit, lend, weight in zip(
            _guarantees(quota, plan),
            _by_slot(quota, plan, quota.limit, lambda window: window.limit),
            _by_slot(quota, plan, quota.lend, lambda window: window.lend),
            _by_slot(quota, plan, quota.weight, lambda window: window.weight),
            strict=True,
        )
    )
    kept = [slot for slot in range(slots) if slot == 0 or rows[slot] != rows[slot - 1]]
    return Calendar(cuts=tuple(begin + slot * step for slot in kept), terms=tuple(rows[slot] for slot in kept))


def _guarantees(quota: Quota, plan: Plan) -> tuple[int, ...]:
    schedule = next((item for item in plan.quota if item.quota == quota.name and item.windows), None)
    if schedule is None:
        found = _by_slot(quota, plan, quota.guaranteed, lambda window: window.guaranteed)
        return tuple(amount or 0 for amount in found)
    begin, step = begin_of(plan), plan.inputs.slot_seconds
    cuts = [(parse_time(window.start, "UTC") - begin) // step for window in schedule.windows]
    values = [int(Fraction(window.guaranteed)) for window in schedule.windows]
    return tuple(values[max(0, bisect_right(cuts, slot) - 1)] for slot in range(plan.inputs.slots))


def _by_slot(
    quota: Quota, plan: Plan, base: int | None, field: Callable[[QuotaWindow], int | None]
) -> tuple[int | None, ...]:
    """A figure in each slot; None is no figure at all, and any figure is stricter."""
    if not quota.windows:
        return (base,) * plan.inputs.slots
    windows = [(window.when, base if field(window) is None else field(window)) for window in quota.windows]
    return when.value_by_slot(
        windows,
        base,
        plan.inputs.timezone,
        begin_of(plan),
        slot_seconds=plan.inputs.slot_seconds,
        slots=plan.inputs.slots,
        stricter=_stricter,
    )


def _stricter(one: int | None, other: int | None) -> int | None:
    return min((item for item in (one, other) if item is not None), default=None)


def usage_of(plan: Plan) -> Mapping[UsageKey, Usage]:
    """What work uses within each guarantee, by quota, pool and model."""
    events: dict[UsageKey, dict[int, Fraction]] = {}
    for placement in plan.placements:
        for segment in placement.segments:
            for use in segment.quota:
                steps = events.setdefault((use.quota, segment.pool, segment.model or ""), {})
                amount = Fraction(use.guaranteed)
                for moment, change in ((segment.start, amount), (segment.end, -amount)):
                    at = parse_time(moment, "UTC")
                    steps[at] = steps.get(at, Fraction()) + change
    return {key: _usage(steps.items()) for key, steps in sorted(events.items())}


def _usage(steps: Iterable[tuple[int, Fraction]]) -> Usage:
    ordered = sorted(steps)
    totals = accumulate(change for _, change in ordered)
    return Usage(cuts=tuple(at for at, _ in ordered), amounts=tuple(ceil_fraction(total) for total in totals))
