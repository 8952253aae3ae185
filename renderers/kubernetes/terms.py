"""What quotas say at each moment of the plan: guarantee, limit, lending and weight, and what work uses of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from planner.specset.quota_terms import Slots, terms_by_slot
from planner.units import ceil_fraction, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from planner.plan import Plan
    from planner.spec.team import Quota
    from planner.specset.quota_terms import Terms

UsageKey = tuple[str, str, str]
"""A quota, a pool as `cluster/pool`, and a model."""


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


def calendar_of(quota: Quota, plan: Plan, below: Iterable[str] = ()) -> Calendar:
    """A quota slot by slot: its guarantee as the plan says, without those of the quotas `below` it, which have queues
    of their own; the rest by its windows.
    """
    slots = Slots(
        zone=plan.inputs.timezone,
        begin=begin_of(plan),
        seconds=plan.inputs.slot_seconds,
        count=plan.inputs.slots,
    )
    rows = terms_by_slot(quota, slots)
    if (guaranteed := _guaranteed(quota.name, slots, plan)) is not None:
        inside = [each for name in below if (each := _guaranteed(name, slots, plan)) is not None]
        rows = tuple(
            replace(row, guaranteed=max(0, amount - sum(each[slot] for each in inside)))
            for slot, (row, amount) in enumerate(zip(rows, guaranteed, strict=True))
        )
    kept = [slot for slot in range(slots.count) if slot == 0 or rows[slot] != rows[slot - 1]]
    return Calendar(
        cuts=tuple(slots.begin + slot * slots.seconds for slot in kept), terms=tuple(rows[slot] for slot in kept)
    )


def _guaranteed(quota: str, slots: Slots, plan: Plan) -> tuple[int, ...] | None:
    """The guarantee that the plan gives a quota slot by slot, None where it says none."""
    schedule = next((item for item in plan.quota if item.quota == quota and item.windows), None)
    if schedule is None:
        return None
    cuts = [(parse_time(window.start, "UTC") - slots.begin) // slots.seconds for window in schedule.windows]
    values = [int(Fraction(window.guaranteed)) for window in schedule.windows]
    return tuple(values[max(0, bisect_right(cuts, slot) - 1)] for slot in range(slots.count))


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
