"""What teams keep for themselves: rows that leave to everybody else only what a team is willing to lend.

Over the devices that a quota covers, in each slot: sum over teams of max(use, kept) + unplanned use <= open devices.
As rows: a keeper's use above what it keeps spills into the account of those devices, and all other use there is charged
to the account directly; the account's limit is what is open less all that is kept. What a parent keeps contains what
its children keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner.names import address
from solvers.problem import Row, Spill
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.quotas import Cell, Quotas
    from planner.compile.standing import Holding


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The devices that one or more quotas cover, the row in which their use counts, and the row of each keeper."""

    cells: frozenset[Cell]
    row: int
    keepers: Mapping[int, int]

    def charged(self, homes: Sequence[int]) -> int:
        """The row that counts use of these devices whose quotas, from below, are `homes`."""
        return next((self.keepers[home] for home in homes if home in self.keepers), self.row)


def accounts(
    known: Quotas, held: Sequence[Sequence[Holding]], capacity: Mapping[Cell, Sequence[int]], first: int
) -> tuple[tuple[Account, ...], tuple[Row, ...]]:
    """The accounts, and their rows, of which the first stands at position `first`; none where all is lent."""
    lenders = [at for at, holdings in enumerate(held) if any(each.kept or each.reserved for each in holdings)]
    made: list[Account] = []
    rows: list[Row] = []
    for cells in sorted({known.covers[at].cells for at in lenders}, key=sorted):
        members = [at for at in lenders if known.covers[at].cells <= cells]
        keepers = [at for at in members if any(each.kept for each in held[at])]
        at = first + len(rows)
        places = {keeper: at + 1 + number for number, keeper in enumerate(keepers)}
        rows += _rows(known, held, _Account(members, places, _open(cells, capacity)), at)
        made.append(Account(cells=cells, row=at, keepers=MappingProxyType(places)))
    return tuple(made), tuple(rows)


@dataclass(frozen=True, slots=True)
class _Account:
    members: Sequence[int]
    places: Mapping[int, int]
    open: Sequence[int]


def _open(cells: frozenset[Cell], capacity: Mapping[Cell, Sequence[int]]) -> list[int]:
    return [sum(counts) for counts in zip(*(capacity[cell] for cell in sorted(cells)), strict=True)]


def _rows(known: Quotas, held: Sequence[Sequence[Holding]], account: _Account, row: int) -> Iterator[Row]:
    above = {at: _keeper_above(known, at, account.places) for at in account.places}
    kept = _kept(held, above, len(account.open))
    tops = [at for at, parent in above.items() if parent is None]
    free = [
        max(0, count - sum(held[at][slot].reserved for at in account.members) - sum(kept[at][slot] for at in tops))
        for slot, count in enumerate(account.open)
    ]
    names = " and ".join(address("quota", known.covers[at].quota.name) for at in account.members)
    yield Row(rule=Rule.LENDING, subject=f"what {names} leave to others", limit=tuple(free))
    for at in account.places:
        below = [other for other, parent in above.items() if parent == at]
        more = tuple(mine - sum(kept[other][slot] for other in below) for slot, mine in enumerate(kept[at]))
        parent = above[at]
        yield Row(
            rule=Rule.LENDING,
            subject=f"what {address('quota', known.covers[at].quota.name)} keeps of {names}",
            spill=Spill(row=row if parent is None else account.places[parent], above=more),
        )


def _keeper_above(known: Quotas, at: int, keepers: Mapping[int, int]) -> int | None:
    parent = known.parent(at)
    while parent is not None and parent not in keepers:
        parent = known.parent(parent)
    return parent


def _kept(
    held: Sequence[Sequence[Holding]], above: Mapping[int, int | None], slots: int
) -> dict[int, list[int]]:  # fmt: skip
    """What each keeper and those below it keep together, slot by slot."""
    kept: dict[int, list[int]] = {}
    while len(kept) < len(above):
        for at in above:
            below = [other for other, parent in above.items() if parent == at]
            if at not in kept and all(other in kept for other in below):
                kept[at] = [
                    max(held[at][slot].kept, sum(kept[other][slot] for other in below)) for slot in range(slots)
                ]
    return kept
