"""Weights: of what is spare, teams get shares in proportion to their weights, after priority.

A quota's borrowed devices earn a small bonus that falls step by step with borrowed divided by weight, so that a team is
served while it has less for its weight than others. All steps of one device together stay below the least difference
between two priorities' rates, so that no weight overturns a priority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.names import address
from planner.units import ceil_fraction
from solvers.problem import Row
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.quotas import Cell, Quotas
    from planner.compile.standing import Holding

LEVELS: Final = tuple(Fraction(quarters, 4) for quarters in (1, 2, 3, 4, 5, 6, 8, 16))
"""Where the bonus falls, in parts of what each unit of weight gets when all want more than there is."""


def groups(known: Quotas) -> Iterator[tuple[tuple[int, ...], frozenset[Cell]]]:
    """Quotas that are connected by devices they both cover, with all those devices."""
    left = list(range(len(known.covers)))
    while left:
        members = [left.pop(0)]
        cells = set(known.covers[members[0]].cells)
        while joined := [at for at in left if known.covers[at].cells & cells]:
            left = [at for at in left if at not in joined]
            members += joined
            cells = cells.union(*(known.covers[at].cells for at in joined))
        yield tuple(sorted(members)), frozenset(cells)


def weighted(
    known: Quotas, held: Sequence[Sequence[Holding]], capacity: Mapping[Cell, Sequence[int]], most_micros: int
) -> Iterator[tuple[int, Row]]:
    """The steps of each quota, as (quota, row that its devices are charged to): none where all weights are equal.

    `most_micros` is what a device-slot of the slowest model may earn by its weight at most.
    """
    for members, cells in groups(known):
        if len({each.weight for at in members for each in held[at]}) > 1:
            yield from _steps(known, held, members, [capacity[cell] for cell in sorted(cells)], most_micros)


def _steps(
    known: Quotas, held: Sequence[Sequence[Holding]], members: Sequence[int], capacity: Sequence[Sequence[int]],
    most_micros: int,
) -> Iterator[tuple[int, Row]]:  # fmt: skip
    slots = len(held[members[0]])
    tops = [at for at in members if known.parent(at) is None]
    levels: list[tuple[int, ...]] = []
    for slot in range(slots):
        spare = max(0, sum(counts[slot] for counts in capacity) - sum(held[at][slot].guaranteed for at in tops))
        each = Fraction(spare, sum(held[at][slot].weight for at in members))
        levels.append(tuple(ceil_fraction(part * each) for part in LEVELS))
    depth = max(_depth(known, at) for at in members)
    bonus = most_micros // (len(LEVELS) * depth)
    for at in members if bonus else ():
        subject = f"{address('quota', known.covers[at].quota.name)} weight"
        for number in range(len(LEVELS)):
            steps = tuple(each.planned + each.weight * levels[slot][number] for slot, each in enumerate(held[at]))
            yield at, Row(rule=Rule.QUOTA, subject=f"{subject}, step {number + 1}", guarantee=steps, bonus_micros=bonus)


def _depth(known: Quotas, at: int) -> int:
    """In how many quotas, one above the other, a device may count."""
    parent = known.parent(at)
    return 1 if parent is None else 1 + _depth(known, parent)
