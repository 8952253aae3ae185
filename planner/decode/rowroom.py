"""What the rows of a problem have left in a finished plan, with all that spills from one into another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.decode.placed import Placed
    from solvers.problem import Problem


class RowRoom:
    """Use of every row, slot by slot, and what more of it would do; sets of slots are bits of a number."""

    def __init__(self, problem: Problem, runs: Iterable[Placed]) -> None:
        self._rows = problem.rows
        self.width = problem.slots
        self._use = [[0] * problem.slots for _ in problem.rows]
        for each in runs:
            for charge in each.mode.charges:
                for slot in range(each.run.start, min(each.run.end, problem.slots)):
                    self._add(charge.row, slot, charge.amount)

    def _add(self, row: int, slot: int, amount: int) -> None:
        for at, more in self._changes(row, slot, amount):
            self._use[at][slot] += more

    def _changes(self, row: int, slot: int, amount: int) -> list[tuple[int, int]]:
        """By how much each row grows, from the charged one to the last that it leads into."""
        changes = [(row, amount)]
        while (spill := self._rows[row].spill) is not None:
            used, above = self._use[row][slot], spill.above[slot]
            amount = max(0, used + amount - above) - max(0, used - above)
            row = spill.row
            changes.append((row, amount))
        return changes

    def _full(self, row: int, slot: int, amount: int) -> int | None:
        """The first row whose limit so much more of a row would pass."""
        for at, more in self._changes(row, slot, amount):
            limit = self._rows[at].limit
            if limit is not None and self._use[at][slot] + more > limit[slot]:
                return at
        return None

    def slots_with_room(self, row: int, amount: int) -> int:
        """The slots in which a row, and all that it leads into, has room for so much more."""
        return sum(1 << slot for slot in range(self.width) if self._full(row, slot, amount) is None)

    def lacking(self, row: int, amount: int, begins: int, length: int) -> int:
        """By how much limits would have to rise for so much more of a row, in the best of the starts `begins`."""
        short = [self._short(row, slot, amount) for slot in range(self.width)]
        return min(max(short[start : start + length]) for start in range(self.width) if begins >> start & 1)

    def _short(self, row: int, slot: int, amount: int) -> int:
        """By how much at most a limit would be passed in a slot."""
        passed = (
            self._use[at][slot] + more - limit[slot]
            for at, more in self._changes(row, slot, amount)
            if (limit := self._rows[at].limit) is not None
        )
        return max(0, *passed, 0)

    def tightest(self, row: int, amount: int) -> int:
        """The row that lacks room first, in the first slot that has none for so much more of a row."""
        found = (self._full(row, slot, amount) for slot in range(self.width))
        return next((at for at in found if at is not None), row)

    def most(self, row: int) -> int:
        """How much more of a row there is room for at most in one slot."""
        return max(self._left(row, slot) for slot in range(self.width))

    def _left(self, row: int, slot: int) -> int:
        """Each row leaves what its own limit does, and above what it has left to spill what the next one does."""
        limit, used = self._rows[row].limit, self._use[row][slot]
        own = None if limit is None else limit[slot] - used
        spill = self._rows[row].spill
        if spill is None:
            return max(0, own or 0)
        onward = max(0, spill.above[slot] - used) + self._left(spill.row, slot)
        return onward if own is None else max(0, min(own, onward))
