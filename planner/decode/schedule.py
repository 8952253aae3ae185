"""What each team has of each quota from slot to slot: guaranteed, used, borrowed and lent, and one line why.

Devices that nobody is guaranteed are borrowed first; the rest comes from those who leave part of their guarantee
unused, in proportion to it. Quotas that cover some of the same devices share one account.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from planner.decode.spans import windows
from planner.plan import QuotaSchedule, QuotaWindow

if TYPE_CHECKING:
    from planner.compile.problem import Compiled
    from planner.compile.quotas import Cell
    from planner.decode.placed import Placed


@dataclass(frozen=True, slots=True, order=True)
class _Step:
    """One quota in one slot, in devices."""

    guaranteed: int
    used: int
    borrowed: int
    lent: int


def schedules(compiled: Compiled, runs: Sequence[Placed]) -> tuple[QuotaSchedule, ...]:
    """Every quota over the horizon, sorted by team and name."""
    steps: dict[int, list[_Step]] = {}
    for members, cells in _accounts(compiled):
        steps |= _account(compiled, runs, members, cells)
    found = (_schedule(compiled, at, steps[at]) for at in sorted(steps))
    return tuple(sorted(found, key=lambda schedule: (schedule.team, schedule.quota)))


def _accounts(compiled: Compiled) -> Iterator[tuple[list[int], frozenset[Cell]]]:
    """Groups of quotas that are connected by devices they both cover, with all those devices."""
    left = list(range(len(compiled.known.covers)))
    while left:
        members = [left.pop(0)]
        cells = set(compiled.known.covers[members[0]].cells)
        grown = True
        while grown:
            joined = [at for at in left if compiled.known.covers[at].cells & cells]
            left = [at for at in left if at not in joined]
            members += joined
            cells = cells.union(*(compiled.known.covers[at].cells for at in joined))
            grown = bool(joined)
        yield sorted(members), frozenset(cells)


def _account(
    compiled: Compiled, runs: Sequence[Placed], members: Sequence[int], cells: frozenset[Cell]
) -> dict[int, list[_Step]]:
    slots = compiled.horizon.slots
    use, unowned = _use(compiled, runs, members, cells)
    capacity = _capacity(compiled, cells)
    steps: dict[int, list[_Step]] = {at: [] for at in members}
    for slot in range(slots):
        guaranteed = [compiled.rows.by_quota[at].guaranteed[slot] for at in members]
        used = [use[at][slot] for at in members]
        borrowed = [max(0, have - own) for have, own in zip(used, guaranteed, strict=True)]
        unused = [max(0, own - have) for have, own in zip(used, guaranteed, strict=True)]
        spare = max(0, capacity[slot] - sum(guaranteed))
        lent = shared(min(max(0, sum(borrowed) + unowned[slot] - spare), sum(unused)), unused)
        for at, *step in zip(members, guaranteed, used, borrowed, lent, strict=True):
            steps[at].append(_Step(*step))
    return steps


def shared(amount: int, parts: Sequence[int]) -> list[int]:
    """`amount` divided in proportion to `parts` (at most their sum) in whole numbers, the largest remainders first."""
    total = sum(parts)
    if not amount:
        return [0] * len(parts)
    given = [amount * part // total for part in parts]
    order = sorted(range(len(parts)), key=lambda at: (-(amount * parts[at] % total), at))
    for at in order[: amount - sum(given)]:
        given[at] += 1
    return given


def _use(
    compiled: Compiled, runs: Sequence[Placed], members: Sequence[int], cells: frozenset[Cell]
) -> tuple[dict[int, list[int]], list[int]]:
    """Devices in use by slot: of each quota that decides for them, and of teams without one here."""
    slots = compiled.horizon.slots
    changes: dict[int | None, list[int]] = {at: [0] * (slots + 1) for at in (*members, None)}
    for each in runs:
        site = each.candidate.site
        if site.position is None or (site.at, site.position) not in cells:
            continue
        change = changes[compiled.known.home(each.work.job.team, (site.at, site.position))]
        change[each.run.start] += each.candidate.devices
        change[min(each.run.end, slots)] -= each.candidate.devices
    sums = {at: list(accumulate(change))[:-1] for at, change in changes.items()}
    unowned = sums.pop(None)
    return {at: by_slot for at, by_slot in sums.items() if at is not None}, unowned


def _capacity(compiled: Compiled, cells: frozenset[Cell]) -> list[int]:
    """Devices of the cells that are not closed and that nobody else uses, by slot."""
    slots = compiled.horizon.slots
    change = [0] * (slots + 1)
    for at, position in sorted(cells):
        group = compiled.fleet[at].groups[position]
        count = group.count
        for node in compiled.problem.pools[at].nodes:
            change[0] += count
            for closure in node.closures:
                change[min(closure.start, slots)] -= count
                change[min(closure.end, slots)] += count
            for taken in node.taken:
                change[min(taken.start, slots)] -= taken.use[group.resource]
                change[min(taken.end, slots)] += taken.use[group.resource]
    return list(accumulate(change))[:-1]


def _schedule(compiled: Compiled, at: int, steps: Sequence[_Step]) -> QuotaSchedule:
    quota = compiled.known.covers[at].quota
    return QuotaSchedule(
        team=quota.team,
        quota=quota.name,
        reason=_reason(steps),
        windows=tuple(
            QuotaWindow(
                start=start,
                end=end,
                guaranteed=step.guaranteed,
                used=step.used,
                borrowed=step.borrowed,
                lent=step.lent,
                reclaimable=step.lent,
            )
            for start, end, step in windows(steps, compiled.horizon)
        ),
    )


def _reason(steps: Sequence[_Step]) -> str:
    """One line for the whole horizon, by its extremes."""
    owned = sorted({step.guaranteed for step in steps})
    guaranteed = str(owned[0]) if len(owned) == 1 else f"{owned[0]} to {owned[-1]}"
    used, borrowed, lent = (max(getattr(step, name) for step in steps) for name in ("used", "borrowed", "lent"))
    parts = [f"{guaranteed} guaranteed", f"uses at most {used}"]
    parts.append(f"borrows up to {borrowed} that others leave unused" if borrowed else "borrows nothing")
    parts.append(f"lends up to {lent} that it leaves unused" if lent else "lends nothing")
    return ", ".join(parts)
