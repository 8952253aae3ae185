"""A problem as flat int64 tables that compiled code reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.columns import BUDGET_WIDTH, FAR, MODE_WIDTH, NODE_WIDTH, PART_WIDTH, TASK_WIDTH
from solvers.problem import Mode, Node, Pool, Problem, Task

Ints: TypeAlias = NDArray[np.int64]
Use: TypeAlias = tuple[int, ...]
Kind: TypeAlias = tuple[int, Use, tuple[tuple[int, int], ...]]
"""What modes with one price per slot share: pool, use of each resource, and charges, over their greatest common
divisor.
"""

_NO_LIMIT: Final = FAR


class Arrays(NamedTuple):
    """One row a thing, columns named in `solvers.columns`; ragged lists are flat, with their bounds in the owner's
    row.

    `eligible` holds node positions counted over all pools, `pool` the first node of each pool. `free` is what every
    node has of every resource in every slot when nothing planned runs: `free[node.FREE_AT + resource * slots +
    slot]`, 0 while it is closed. `clear` is the number of slots from one until the node's next closure. `kind_*`
    describe the distinct price kinds of modes.
    """

    slots: int
    task: Ints
    mode: Ints
    part: Ints
    use: Ints
    charge: Ints
    eligible: Ints
    pool: Ints
    node: Ints
    free: Ints
    clear: Ints
    limit: Ints
    guarantee: Ints
    bonus: Ints
    budget: Ints
    budgets: Ints
    after: Ints
    following: Ints
    was_node: Ints
    was_devices: Ints
    kind_pool: Ints
    kind_use: Ints
    kind_charge_at: Ints
    kind_charge: Ints
    capacity: Ints
    row_task_at: Ints
    row_task: Ints
    pool_task_at: Ints


def arrays_of(problem: Problem) -> Arrays:
    """Flatten `problem`; nothing is decided here.

    `capacity[pool, resource, slot]` sums the open nodes. Parts of a mode are listed most demanding first, since
    seats are found in that order.
    """
    first_node = _starts(len(pool.nodes) for pool in problem.pools)
    nodes, free, clear = _nodes(problem)
    modes = _Modes(problem, first_node)
    followers = _followers(problem)
    row_tasks = _row_tasks(problem)
    kinds = tuple(modes.kinds)
    widest = max((len(pool.resources) for pool in problem.pools), default=1)
    return Arrays(
        slots=problem.slots,
        task=_tasks(problem, modes),
        mode=_table(modes.rows, MODE_WIDTH),
        part=_table(modes.parts, PART_WIDTH),
        use=_line(modes.uses),
        charge=_table(modes.charges, 2),
        eligible=_line(modes.eligible),
        pool=_line(first_node),
        node=_table(nodes, NODE_WIDTH),
        free=free,
        clear=clear,
        limit=_steps((row.limit for row in problem.rows), problem.slots, _NO_LIMIT),
        guarantee=_steps((row.guarantee for row in problem.rows), problem.slots, 0),
        bonus=_line(row.bonus_micros if row.guarantee is not None else 0 for row in problem.rows),
        budget=_table(((one.start, one.end, one.micros) for one in problem.budgets), BUDGET_WIDTH),
        budgets=_line(budget for task in problem.tasks for budget in task.budgets),
        after=_line(other for task in problem.tasks for other in task.after),
        following=_line(other for others in followers for other in others),
        was_node=_line(modes.was_nodes),
        was_devices=_line(modes.was_devices),
        kind_pool=_line(kind[0] for kind in kinds),
        kind_use=_table(((*kind[1], *(0,) * (widest - len(kind[1]))) for kind in kinds), widest),
        kind_charge_at=_line(_starts(len(kind[2]) for kind in kinds)),
        kind_charge=_table((charge for kind in kinds for charge in kind[2]), 2),
        capacity=_capacity(problem, first_node, nodes, free, widest),
        row_task_at=_line(_starts(len(tasks) for tasks in row_tasks)),
        row_task=_line(task for tasks in row_tasks for task in tasks),
        pool_task_at=_line(_starts(_tasks_by_pool(problem))),
    )


def _line(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(tuple(rows), dtype=np.int64).reshape(-1, width)


def _starts(lengths: Iterable[int]) -> tuple[int, ...]:
    total = [0]
    for length in lengths:
        total.append(total[-1] + length)
    return tuple(total)


def _steps(rows: Iterable[Sequence[int] | None], slots: int, default: int) -> Ints:
    return _table(([default] * slots if row is None else [min(step, FAR) for step in row] for row in rows), slots)


def _followers(problem: Problem) -> tuple[tuple[int, ...], ...]:
    followers: list[list[int]] = [[] for _ in problem.tasks]
    for position, task in enumerate(problem.tasks):
        for other in task.after:
            followers[other].append(position)
    return tuple(map(tuple, followers))


def _row_tasks(problem: Problem) -> tuple[tuple[int, ...], ...]:
    charged: list[set[int]] = [set() for _ in problem.rows]
    for position, task in enumerate(problem.tasks):
        for mode in task.modes:
            for charge in mode.charges:
                charged[charge.row].add(position)
    return tuple(tuple(sorted(tasks)) for tasks in charged)


def _tasks_by_pool(problem: Problem) -> list[int]:
    """How many tasks could run in each pool, at least one, so that no list is empty."""
    counts = [1] * len(problem.pools)
    for task in problem.tasks:
        for pool in {mode.pool for mode in task.modes}:
            counts[pool] += 1
    return counts


def _nodes(problem: Problem) -> tuple[list[tuple[int, int, int]], Ints, Ints]:
    rows: list[tuple[int, int, int]] = []
    at = 0
    for pool in problem.pools:
        for node in pool.nodes:
            rows.append((at, len(pool.resources), int(bool(node.closures))))
            at += len(pool.resources) * problem.slots
    free = np.zeros(at, dtype=np.int64)
    clear = np.full((len(rows), problem.slots), FAR, dtype=np.int64)
    every = (node for pool in problem.pools for node in pool.nodes)
    for position, node in enumerate(every):
        at, resources, _ = rows[position]
        _fill(node, free[at : at + resources * problem.slots].reshape(resources, problem.slots), clear[position])
    return rows, free, clear


def _fill(node: Node, free: Ints, clear: Ints) -> None:
    """Write what `node` has in each slot (`free[resource, slot]`) and how long it stays open (`clear[slot]`)."""
    slots = len(clear)
    free[:] = np.array([min(amount, FAR) for amount in node.capacity], dtype=np.int64)[:, None]
    for taken in node.taken:
        start, end = max(0, taken.start), min(slots, taken.end)
        if start < end:
            free[:, start:end] -= np.array(taken.use, dtype=np.int64)[:, None]
    np.maximum(free, 0, out=free)
    slot = np.arange(slots, dtype=np.int64)
    for closure in node.closures:
        start, end = max(0, closure.start), min(slots, closure.end)
        if closure.end > max(0, closure.start):
            np.minimum(clear[:end], np.maximum(closure.start - slot[:end], 0), out=clear[:end])
            free[:, start:end] = 0


def _capacity(problem: Problem, first: Sequence[int], nodes: Sequence[Sequence[int]], free: Ints, widest: int) -> Ints:
    total = np.zeros((len(problem.pools), widest, problem.slots), dtype=np.int64)
    for position, pool in enumerate(problem.pools):
        for at, resources, _ in nodes[first[position] : first[position + 1]]:
            total[position, : len(pool.resources)] += free[at : at + resources * problem.slots].reshape(resources, -1)
    return total


class _Modes:
    """Gathers the rows of all modes and of what hangs on them."""

    def __init__(self, problem: Problem, first_node: Sequence[int]) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.parts: list[tuple[int, int, int]] = []
        self.uses: list[int] = []
        self.charges: list[tuple[int, int]] = []
        self.eligible: list[int] = []
        self.kinds: dict[Kind, int] = {}
        self.was_nodes: list[int] = []
        self.was_devices: list[int] = []
        self.bounds: list[tuple[int, int]] = []
        self._problem = problem
        self._first_node = first_node
        self._eligible_at: dict[tuple[int, tuple[int, ...] | None], tuple[int, int]] = {}
        self._parts_at: dict[tuple[object, ...], tuple[int, int]] = {}
        self._charges_at: dict[tuple[object, ...], tuple[int, int]] = {}
        self._shapes: dict[tuple[object, ...], int] = {}
        for position, task in enumerate(problem.tasks):
            first = len(self.rows)
            for mode in task.modes:
                self._add(position, task, mode)
            self.bounds.append((first, len(self.rows)))

    def _add(self, position: int, task: Task, mode: Mode) -> None:
        worth = task.worth_micros + task.premium_micros
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
        row += (self._shapes.setdefault(shape, len(self._shapes)), self._most_bonus(mode))
        self.rows.append(row)

    def _most_bonus(self, mode: Mode) -> int:
        """The most that a run could earn by filling guarantees."""
        slots = min(mode.duration, self._problem.slots)
        rows = self._problem.rows
        paid = (rows[row].bonus_micros * amount for row, amount in _charges(mode) if rows[row].guarantee is not None)
        return min(FAR, sum(paid) * slots)

    def _parts(self, mode: Mode) -> tuple[int, int]:
        key = (len(mode.parts[0].use), mode.parts)
        if key not in self._parts_at:
            first = len(self.parts)
            for place in sorted(range(len(mode.parts)), key=lambda place: [-use for use in mode.parts[place].use]):
                self.parts.append((mode.parts[place].count, len(self.uses), place))
                self.uses.extend(mode.parts[place].use)
            self._parts_at[key] = (first, len(self.parts))
        return self._parts_at[key]

    def _charges(self, mode: Mode) -> tuple[int, int]:
        charges = _charges(mode)
        if charges not in self._charges_at:
            first = len(self.charges)
            self.charges.extend(charges)
            self._charges_at[charges] = (first, len(self.charges))
        return self._charges_at[charges]

    def _nodes(self, mode: Mode) -> tuple[int, int]:
        key = (mode.pool, mode.nodes)
        if key not in self._eligible_at:
            first = len(self.eligible)
            count = len(self._problem.pools[mode.pool].nodes)
            nodes = range(count) if mode.nodes is None else sorted(set(mode.nodes))
            self.eligible.extend(self._first_node[mode.pool] + node for node in nodes)
            self._eligible_at[key] = (first, len(self.eligible))
        return self._eligible_at[key]

    def remember(self, position: int) -> tuple[int, int, int, int]:
        """List the nodes of a task's previous run; give its mode (over all tasks), start and that list's bounds."""
        task = self._problem.tasks[position]
        previous, at = task.previous, len(self.was_nodes)
        if previous is None or not 0 <= previous.mode < len(task.modes):
            return -1, -1, at, at
        first = self._first_node[task.modes[previous.mode].pool]
        for node, devices in sorted(dict(previous.nodes).items()):
            self.was_nodes.append(first + node)
            self.was_devices.append(devices)
        return self.bounds[position][0] + previous.mode, previous.start, at, len(self.was_nodes)


def _charges(mode: Mode) -> tuple[tuple[int, int], ...]:
    """What a mode counts in each row, once a row."""
    amounts: dict[int, int] = {}
    for charge in mode.charges:
        amounts[charge.row] = amounts.get(charge.row, 0) + charge.amount
    return tuple(sorted((row, amount) for row, amount in amounts.items() if amount))


def _kind(pool: Pool, mode: Mode) -> tuple[Kind, int]:
    use = tuple(sum(part.count * part.use[place] for part in mode.parts) for place in range(len(pool.resources)))
    charges = _charges(mode)
    scale = gcd(*use, *(amount for _, amount in charges)) or 1
    return (mode.pool, tuple(one // scale for one in use), tuple((row, one // scale) for row, one in charges)), scale


def _tasks(problem: Problem, modes: _Modes) -> Ints:
    rows: list[tuple[int, ...]] = []
    after = following = budgets = seats = 0
    followers = _followers(problem)
    for position, task in enumerate(problem.tasks):
        row: tuple[int, ...] = (
            *modes.bounds[position],
            task.since,
            task.delay_micros,
            *_late(task),
            *_window(problem, task),
        )
        row += (task.move_micros, *modes.remember(position))
        row += (after, after + len(task.after), following, following + len(followers[position]))
        rows.append((*row, budgets, budgets + len(task.budgets), seats))
        after += len(task.after)
        following += len(followers[position])
        budgets += len(task.budgets)
        seats += max((sum(part.count for part in mode.parts) for mode in task.modes), default=0)
    rows.append((*(0,) * (TASK_WIDTH - 1), seats))
    return _table(rows, TASK_WIDTH)


def _late(task: Task) -> tuple[int, int, int, int]:
    """Due slot, late micros a slot, the most slots that add to it, and the most it adds up to, so that no product
    overflows.
    """
    if task.due is None or not task.late_micros or not task.worth_micros:
        return FAR, 0, 0, 0
    late = min(task.late_micros, task.worth_micros)
    return task.due, late, -(-task.worth_micros // late), task.worth_micros


def _window(problem: Problem, task: Task) -> tuple[int, int, int]:
    latest = problem.slots - 1 if task.latest is None else min(task.latest, problem.slots - 1)
    return task.earliest, latest, FAR if task.deadline is None else task.deadline
