"""What each quota holds from slot to slot, once windows, lost nodes, children and unplanned use are taken into account.

The guarantee of a quota contains those of child teams and of the team's own quotas over fewer devices. Each quota's own
part is what they leave of it. Where fewer devices are open than all parts together, those that compete are cut in
proportion to their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.specset.guarantees import affordable
from planner.specset.quota_terms import Slots, Terms, terms_by_slot

if TYPE_CHECKING:
    from planner.compile.horizon import Horizon
    from planner.compile.quotas import Cell, Quotas
    from planner.specset.guarantees import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One quota in one slot, in devices.

    `guaranteed` is of the quota without the team's own quotas over fewer devices, `planned` is it without what is left
    for unplanned use, and `own` is that without child teams. `limit` is for planned work. `kept` is the part of
    `planned` that others may not borrow even while it is idle. `reserved` is left free for the team's unplanned use.
    """

    guaranteed: int
    planned: int
    own: int
    reserved: int
    limit: int | None
    kept: int
    weight: int


def in_units(held: Holding, units: int) -> Holding:
    """The same, counted in units of a device."""
    return Holding(
        guaranteed=held.guaranteed * units,
        planned=held.planned * units,
        own=held.own * units,
        reserved=held.reserved * units,
        limit=None if held.limit is None else held.limit * units,
        kept=held.kept * units,
        weight=held.weight,
    )


def holdings(known: Quotas, capacity: Mapping[Cell, Sequence[int]], horizon: Horizon, zone: str) -> tuple[
    tuple[Holding, ...], ...
]:  # fmt: skip
    """The holdings of every quota, slot by slot; `capacity` is how many devices of each kind are open in each slot."""
    slots = Slots(zone=zone, begin=horizon.start, seconds=horizon.slot_seconds, count=horizon.slots)
    terms = [terms_by_slot(cover.quota, slots) for cover in known.covers]
    told: dict[tuple[tuple[Terms, ...], tuple[int, ...]], tuple[Holding, ...]] = {}
    by_slot: list[tuple[Holding, ...]] = []
    for slot in range(horizon.slots):
        key = tuple(each[slot] for each in terms), tuple(capacity[cell][slot] for cell in known.cells)
        if key not in told:
            told[key] = tuple(_holdings(known.claims, *key))
        by_slot.append(told[key])
    return tuple(zip(*by_slot, strict=True)) if known.covers else ()


def _holdings(claims: Sequence[Claim], terms: Sequence[Terms], capacity: Sequence[int]) -> list[Holding]:
    named = {claim.name: each for claim, each in zip(claims, terms, strict=True)}
    parts = affordable(claims, {name: each.guaranteed for name, each in named.items()}, capacity)
    reserved = {name: min(each.unplanned, parts[name]) for name, each in named.items()}
    made: list[Holding] = []
    for claim, each in zip(claims, terms, strict=True):
        inside = [other for other in claims if other.inside(claim)]
        narrower = [other for other in inside if other.line[0] == claim.line[0]]
        own = [claim, *(one for one in inside if one not in narrower and not any(map(one.inside, narrower)))]
        guaranteed = sum(parts[one.name] for one in own)
        planned = guaranteed - sum(reserved[one.name] for one in own)
        outside_git = sum(reserved[one.name] for one in (claim, *inside))
        made.append(
            Holding(
                guaranteed=guaranteed,
                planned=planned,
                own=parts[claim.name] - reserved[claim.name],
                reserved=reserved[claim.name],
                limit=None if each.limit is None else max(0, each.limit - outside_git),
                kept=0 if each.lend is None else max(0, planned - each.lend),
                weight=each.weight,
            )
        )
    return made
