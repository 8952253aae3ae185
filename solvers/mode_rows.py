"""The modes of a problem as rows of numbers, with what hangs on them laid down once for all that share it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd
from typing import TypeAlias

from solvers.columns import FAR, PART_WIDTH, POSITION
from solvers.domains import block_ranks, grouped
from solvers.problem import Lead, Mode, Pool, Problem, Task
from solvers.windows import window

Use: TypeAlias = tuple[int, ...]
Kind: TypeAlias = tuple[int, Use, tuple[tuple[int, int], ...]]
"""What modes with one price per slot share: pool, use of each resource, and charges, over their greatest common
divisor.
"""


def stretch(flat: list[int], values: Iterable[int]) -> tuple[int, int]:
    """Append values to `flat`; give their bounds."""
    first = len(flat)
    flat.extend(values)
    return first, len(flat)


def offsets(lengths: Iterable[int]) -> tuple[int, ...]:
    """Where each of some stretches begins that lie one behind the other, and where the last ends."""
    total = [0]
    for length in lengths:
        total.append(total[-1] + length)
    return tuple(total)


class Modes:
    """Gathers the rows of all modes and of what hangs on them."""

    def __init__(self, problem: Problem, first_node: Sequence[int], flat: list[int]) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.kinds: dict[Kind, int] = {}
        self._flat = flat
        self.bounds: list[tuple[int, int]] = []
        self._problem = problem
        self._first_node = first_node
        self._eligible_at: dict[tuple[object, ...], tuple[int, int, int, int]] = {}
        self._parts_at: dict[tuple[object, ...], tuple[int, int]] = {}
        self._charges_at: dict[tuple[object, ...], tuple[int, int]] = {}
        self._shapes: dict[tuple[object, ...], int] = {}
        for position, task in enumerate(problem.tasks):
            first = len(self.rows)
            for mode in task.modes:
                self._add(position, task, mode)
            self.bounds.append((first, len(self.rows)))

    def _add(self, position: int, task: Task, mode: Mode) -> None:
        lead = mode.lead
        worth = task.worth_micros + task.premium_micros - (0 if lead is None else lead.worth_micros)
        running = mode.cash_micros + mode.power_micros
        parts = self._parts(mode)
        charges = self._charges(mode)
        nodes = self._nodes(mode)
        kind, scale = _kind(self._problem.pools[mode.pool], mode)
        shape = (mode.pool, parts, mode.duration, mode.limit, nodes)
        row: tuple[int, ...] = (position, mode.pool, mode.duration, mode.limit, mode.cash_micros, running)
        row += (worth // mode.duration, worth % mode.duration)
        row += (*parts, sum(part.count for part in mode.parts), mode.devices, *charges, *nodes)
        row += (self.kinds.setdefault(kind, len(self.kinds)), scale, int(worth // mode.duration >= running))
        row += (self._shapes.setdefault(shape, len(self._shapes)), self._most_bonus(task, mode))
        row += (*_window(self._problem, task, mode), mode.cost_micros + _lead_cost(task, lead))
        row += (0, 0, 0) if lead is None else (lead.slots, *self._lead(task.modes[0], lead))
        self.rows.append(row)

    def _most_bonus(self, task: Task, mode: Mode) -> int:
        """The most that a run and its lead could earn by filling guarantees."""
        lead = 0 if mode.lead is None else mode.lead.slots
        slots, rows = min(mode.duration, self._problem.slots), self._problem.rows
        paid = (
            rows[row].bonus_micros * amount * held
            for each, held in ((mode, slots), (task.modes[0], lead))
            for row, amount in charges_of(each)
            if rows[row].guarantee is not None
        )
        return min(FAR, sum(paid))

    def _lead(self, first: Mode, lead: Lead) -> tuple[int, int]:
        """Lay down on which nodes a lead goes on, each with the part that it plays there."""
        begin, end = self._parts(first)
        part_at = {self._flat[at + POSITION]: at for at in range(begin, end, PART_WIDTH)}
        node = self._first_node[first.pool]
        return stretch(self._flat, (number for at, part in lead.seats for number in (node + at, part_at[part])))

    def _parts(self, mode: Mode) -> tuple[int, int]:
        """Lay down the parts block by block, most demanding first, since seats are found in that order, and before
        them their uses.
        """
        key = (len(mode.parts[0].use), mode.parts, mode.within is None)
        if key not in self._parts_at:
            block_of = block_ranks(mode)
            order = sorted(
                range(len(mode.parts)), key=lambda place: (block_of[place], [-use for use in mode.parts[place].use])
            )
            rows: list[int] = []
            for place in order:
                use_at = stretch(self._flat, mode.parts[place].use)[0]
                rows += (mode.parts[place].count, use_at, place, block_of[place])
            self._parts_at[key] = stretch(self._flat, rows)
        return self._parts_at[key]

    def _charges(self, mode: Mode) -> tuple[int, int]:
        charges = charges_of(mode)
        if charges not in self._charges_at:
            self._charges_at[charges] = stretch(self._flat, (number for charge in charges for number in charge))
        return self._charges_at[charges]

    def _nodes(self, mode: Mode) -> tuple[int, int, int, int]:
        """Lay down the eligible nodes, domain by domain where the mode stays within some, and the domains' bounds."""
        key = (mode.pool, mode.nodes, mode.within)
        if key not in self._eligible_at:
            pool = self._problem.pools[mode.pool]
            first, groups = self._first_node[mode.pool], grouped(pool, mode)
            begin, end = stretch(self._flat, (first + node for group in groups for node in group))
            bounds = (begin + bound for pair in pairwise(offsets(map(len, groups))) for bound in pair)
            domains = (-1, -1) if mode.within is None else stretch(self._flat, bounds)
            self._eligible_at[key] = (begin, end, *domains)
        return self._eligible_at[key]

    def remember(self, position: int) -> tuple[int, int, int, int]:
        """List the nodes of a task's previous run; give its mode (over all tasks), start and that list's bounds."""
        task = self._problem.tasks[position]
        previous = task.previous
        if previous is None or not 0 <= previous.mode < len(task.modes):
            return -1, -1, 0, 0
        first = self._first_node[task.modes[previous.mode].pool]
        nodes = sorted(dict(previous.nodes).items())
        bounds = stretch(self._flat, (number for node, devices in nodes for number in (first + node, devices)))
        return self.bounds[position][0] + previous.mode, previous.start, *bounds


def charges_of(mode: Mode) -> tuple[tuple[int, int], ...]:
    """What a mode counts in each row, once a row."""
    amounts: dict[int, int] = {}
    for charge in mode.charges:
        amounts[charge.row] = amounts.get(charge.row, 0) + charge.amount
    return tuple(sorted((row, amount) for row, amount in amounts.items() if amount))


def _kind(pool: Pool, mode: Mode) -> tuple[Kind, int]:
    use = tuple(sum(part.count * part.use[place] for part in mode.parts) for place in range(len(pool.resources)))
    charges = charges_of(mode)
    scale = gcd(*use, *(amount for _, amount in charges)) or 1
    return (mode.pool, tuple(one // scale for one in use), tuple((row, one // scale) for row, one in charges)), scale


def _lead_cost(task: Task, lead: Lead | None) -> int:
    """What a lead costs beyond what it is worth, which does not depend on when the mode begins."""
    first = task.modes[0]
    return 0 if lead is None else (first.cash_micros + first.power_micros) * lead.slots - lead.worth_micros


def _is_open(pool: Pool, lead: Lead) -> bool:
    """Whether the nodes of a lead exist and are open until it ends."""
    closures = (shut for node, _ in lead.seats for shut in pool.nodes[node].closures)
    shut_out = pool.ceiling is not None and len(pool.nodes) > pool.ceiling
    return not shut_out and all(max(0, shut.start) >= min(shut.end, lead.slots) for shut in closures)


def _window(problem: Problem, task: Task, mode: Mode) -> tuple[int, int]:
    """The first and the last slot that a mode may start in; none where its lead has no open nodes."""
    if mode.lead is not None and not _is_open(problem.pools[task.modes[0].pool], mode.lead):
        return 0, -1
    return window(problem, task, mode)
