"""What each team has of each quota from slot to slot: guaranteed, used, borrowed and lent, and one line why.

Devices that nobody is guaranteed are borrowed first; the rest comes from those who leave part of their guarantee
unused, in proportion to what they lend of it. Quotas that cover some of the same devices share one account; within a
parent's quota those of its children do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from planner.compile.standing import in_units
from planner.compile.weights import groups
from planner.decode.spans import windows
from planner.plan import QuotaSchedule, QuotaWindow, count_of
from planner.units import shared

if TYPE_CHECKING:
    from planner.compile.problem import Compiled
    from planner.compile.quotas import Cell
    from planner.compile.standing import Holding
    from planner.decode.placed import Placed


@dataclass(frozen=True, slots=True, order=True)
class _Step:
    """One quota in one slot, in units of a device."""

    guaranteed: int
    used: int
    borrowed: int
    lent: int


def schedules(compiled: Compiled, runs: Sequence[Placed]) -> tuple[QuotaSchedule, ...]:
    """Every quota over the horizon, sorted by team and name."""
    steps: dict[int, list[_Step]] = {}
    for members, cells in groups(compiled.known):
        steps |= _account(compiled, runs, members, cells)
    found = (_schedule(compiled, at, steps[at]) for at in sorted(steps))
    return tuple(sorted(found, key=lambda schedule: (schedule.team, schedule.quota)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    """One slot of quotas that cover some of the same devices; `below` lists those inside a quota (None: at the top)."""

    held: Mapping[int, Holding]
    used: Mapping[int, int]
    below: Mapping[int | None, Sequence[int]]

    def direct(self, at: int) -> int:
        """What a quota uses that counts in none of those inside it."""
        return max(0, self.used[at] - sum(self.used[child] for child in self.below.get(at, ())))

    def needed(self, at: int) -> int:
        """What a quota uses, with all that those inside it keep idle."""
        return self.direct(at) + sum(self.claimed(child) for child in self.below.get(at, ()))

    def claimed(self, at: int) -> int:
        """What a quota leaves to nobody else."""
        return max(self.held[at].kept, self.needed(at))

    def borrowed(self, at: int) -> int:
        """What a quota needs above its guarantee."""
        return max(0, self.needed(at) - self.held[at].planned)

    def lendable(self, at: int) -> int:
        """What a quota leaves of its guarantee."""
        return max(0, self.held[at].planned - self.claimed(at))

    def lent(self, within: int | None, wanted: int, spare: int) -> dict[int, int]:
        """Who lends what to cover `wanted` devices, of which `spare` belong to none of the quotas within another one.

        What a parent lends comes first from what its children are not guaranteed, then from them.
        """
        members = self.below.get(within, ())
        parts = [self.lendable(at) for at in members]
        given = shared(min(max(0, wanted - spare), sum(parts)), parts)
        lent = dict(zip(members, given, strict=True))
        for at, amount in zip(members, given, strict=True):
            children = self.below.get(at, ())
            more = self.direct(at) + sum(map(self.borrowed, children)) - self.borrowed(at) + amount
            rest = self.held[at].planned - sum(self.held[child].planned for child in children)
            lent |= self.lent(at, more, max(0, rest))
        return lent


def _account(
    compiled: Compiled, runs: Sequence[Placed], members: Sequence[int], cells: frozenset[Cell]
) -> dict[int, list[_Step]]:
    use, unowned = _use(compiled, runs, members, cells)
    below: dict[int | None, list[int]] = {}
    units = compiled.problem.units
    for at in members:
        below.setdefault(compiled.known.parent(at), []).append(at)
    steps: dict[int, list[_Step]] = {at: [] for at in members}
    for slot in range(compiled.horizon.slots):
        now = _Slot(
            held={at: in_units(compiled.rows.by_quota[at].held[slot], units) for at in members},
            used={at: use[at][slot] for at in members},
            below=below,
        )
        tops = below.get(None, ())
        open_now = sum(compiled.rows.capacity[cell][slot] for cell in cells) * units
        spare = max(0, open_now - sum(now.held[at].guaranteed for at in tops))
        lent = now.lent(None, sum(map(now.borrowed, tops)) + unowned[slot], spare)
        for at in members:
            steps[at].append(_Step(now.held[at].guaranteed, now.used[at], now.borrowed(at), lent[at]))
    return steps


def _use(
    compiled: Compiled, runs: Sequence[Placed], members: Sequence[int], cells: frozenset[Cell]
) -> tuple[dict[int, list[int]], list[int]]:
    """Units in use by slot: of each quota by its team and those below it, and of teams whom no quota covers here."""
    slots = compiled.horizon.slots
    changes: dict[int | None, list[int]] = {at: [0] * (slots + 1) for at in (*members, None)}
    for each in runs:
        site = each.candidate.site
        if site.position is None or (site.at, site.position) not in cells:
            continue
        units = int(each.candidate.amount * compiled.problem.units)
        for at in compiled.known.homes(each.work.job.team, (site.at, site.position)) or (None,):
            changes[at][each.run.start] += units
            changes[at][min(each.run.end, slots)] -= units
    sums = {at: list(accumulate(change))[:-1] for at, change in changes.items()}
    unowned = sums.pop(None)
    return {at: by_slot for at, by_slot in sums.items() if at is not None}, unowned


def _schedule(compiled: Compiled, at: int, steps: Sequence[_Step]) -> QuotaSchedule:
    quota, units = compiled.known.covers[at].quota, compiled.problem.units
    return QuotaSchedule(
        team=quota.team,
        quota=quota.name,
        reason=_reason(steps, units),
        windows=tuple(
            QuotaWindow(
                start=start,
                end=end,
                guaranteed=count_of(Fraction(step.guaranteed, units)),
                used=count_of(Fraction(step.used, units)),
                borrowed=count_of(Fraction(step.borrowed, units)),
                lent=count_of(Fraction(step.lent, units)),
                reclaimable=count_of(Fraction(step.lent, units)),
            )
            for start, end, step in windows(steps, compiled.horizon)
        ),
    )


def _reason(steps: Sequence[_Step], units: int) -> str:
    """One line for the whole horizon, by its extremes."""
    owned = sorted({Fraction(step.guaranteed, units) for step in steps})
    guaranteed = str(owned[0]) if len(owned) == 1 else f"{owned[0]} to {owned[-1]}"
    used, borrowed, lent = (
        Fraction(max(getattr(step, name) for step in steps), units) for name in ("used", "borrowed", "lent")
    )
    parts = [f"{guaranteed} guaranteed", f"uses at most {used}"]
    parts.append(f"borrows up to {borrowed} that others leave unused" if borrowed else "borrows nothing")
    parts.append(f"lends up to {lent} that it leaves unused" if lent else "lends nothing")
    return ", ".join(parts)
