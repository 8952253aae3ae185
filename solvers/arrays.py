"""A problem as flat int64 tables that compiled code reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.columns import (
    BUDGET_WIDTH,
    FAR,
    FIRST_NODE,
    FREE_AT,
    MODE_WIDTH,
    NODE_WIDTH,
    POOL_WIDTH,
    ROW_WIDTH,
    SPILL,
    TASK_WIDTH,
)
from solvers.mode_rows import Kind, Modes, offsets, stretch
from solvers.problem import Node, Problem, Row, Task

Ints: TypeAlias = NDArray[np.int64]
_NO_LIMIT: Final = FAR


class Arrays(NamedTuple):
    """One row a thing, columns named in `solvers.columns`; all lists of uneven length lie in `flat`, bounded by
    their owner's row.

    In `flat`: parts as numbers each (see COUNT, USE_AT, POSITION, BLOCK), their uses, charges as (row, amount),
    eligible nodes counted over all pools and the bounds of those in one domain, seats of leads, budgets, tasks before
    and after, previous nodes as (node, devices), steps of limits, guarantees and spills, tasks charged to a row, and
    for each node and slot the number of slots until its next closure. `ordered` counts dependencies. `task` ends with a
    row that only bounds seats.
    """

    slots: int
    ordered: int
    task: Ints
    mode: Ints
    node: Ints
    row: Ints
    budget: Ints
    pool: Ints
    flat: Ints


class Kinds(NamedTuple):
    """The distinct price kinds of modes: pool, use of each resource, and `charge[charge_at[k] : charge_at[k + 1]]`
    as (row, amount).
    """

    pool: Ints
    use: Ints
    charge_at: Ints
    charge: Ints


class Tables(NamedTuple):
    """All tables of a problem.

    `free[node.FREE_AT + resource * slots + slot]` is what a node has when nothing planned runs, 0 while it is
    closed; `capacity[pool, resource, slot]` sums it. `limit[row, slot]` (FAR: none), `guarantee[row, slot]` and
    `bonus[row]` repeat what `flat` has, and so do `spill[row]` (-1: none) and `above[row, slot]`.
    """

    arrays: Arrays
    kinds: Kinds
    free: Ints
    capacity: Ints
    limit: Ints
    guarantee: Ints
    bonus: Ints
    spill: Ints
    above: Ints


def tables_of(problem: Problem) -> Tables:
    """Flatten `problem`; nothing is decided here."""
    flat: list[int] = []
    first_node = offsets(len(pool.nodes) for pool in problem.pools)
    free, clear = _nodes(problem)
    modes = Modes(problem, first_node, flat)
    tasks = _tasks(problem, modes, flat)
    limit = _steps((row.limit for row in problem.rows), problem.slots, _NO_LIMIT)
    guarantee = _steps((row.guarantee for row in problem.rows), problem.slots, 0)
    bonus = _line(row.bonus_micros if row.guarantee is not None else 0 for row in problem.rows)
    rows = _rows(problem, flat, bonus.tolist())
    size = len(flat)
    arrays = Arrays(
        slots=problem.slots,
        ordered=sum(len(task.after) for task in problem.tasks),
        task=tasks,
        mode=_table(modes.rows, MODE_WIDTH),
        node=_node_rows(problem, size + 2 * limit.size),
        row=_placed_rows(rows, size, problem.slots),
        budget=_table(((one.start, one.end, max(0, one.micros)) for one in problem.budgets), BUDGET_WIDTH),
        pool=_table(zip(first_node, offsets(_tasks_by_pool(problem)), strict=True), POOL_WIDTH),
        flat=np.concatenate((_line(flat), limit.ravel(), guarantee.ravel(), clear.ravel())),
    )
    capacity = _capacity(problem, arrays, free)
    kinds = _kinds(modes.kinds, capacity.shape[1])
    spill, above = arrays.row[:, SPILL], _steps((_above(row) for row in problem.rows), problem.slots, 0)
    return Tables(arrays, kinds, free, capacity, limit, guarantee, bonus, spill, above)


def _kinds(kinds: Iterable[Kind], width: int) -> Kinds:
    every = tuple(kinds)
    return Kinds(
        pool=_line(kind[0] for kind in every),
        use=_table(((*kind[1], *(0,) * (width - len(kind[1]))) for kind in every), width),
        charge_at=_line(offsets(len(kind[2]) for kind in every)),
        charge=_table((charge for kind in every for charge in kind[2]), 2),
    )


def _rows(problem: Problem, flat: list[int], bonus: Sequence[int]) -> list[tuple[int, ...]]:
    """For each row its bonus, the bounds of the tasks that may charge it, where it spills to and above which steps."""
    return [
        (bonus[position], *stretch(flat, tasks), *_spill(row, flat))
        for position, (row, tasks) in enumerate(zip(problem.rows, _row_tasks(problem), strict=True))
    ]


def _spill(row: Row, flat: list[int]) -> tuple[int, int]:
    return (-1, 0) if row.spill is None else (row.spill.row, stretch(flat, _capped(row.spill.above))[0])


def _above(row: Row) -> Sequence[int] | None:
    return None if row.spill is None else row.spill.above


def _placed_rows(rows: list[tuple[int, ...]], first: int, slots: int) -> Ints:
    """Complete rows by where the steps of limit and guarantee will lie in `flat`."""
    second = first + len(rows) * slots
    placed = ((one[0], first + row * slots, second + row * slots, *one[1:]) for row, one in enumerate(rows))
    return _table(placed, ROW_WIDTH)


def _line(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(tuple(rows), dtype=np.int64).reshape(-1, width)


def _steps(rows: Iterable[Sequence[int] | None], slots: int, default: int) -> Ints:
    return _table(([default] * slots if row is None else _capped(row) for row in rows), slots)


def _capped(steps: Sequence[int]) -> list[int]:
    return [min(step, FAR) for step in steps]


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


def _node_rows(problem: Problem, clear: int) -> Ints:
    """Where each node begins in `free` and (from `clear` on) in `flat`, how many resources it has, and whether it
    ever closes.
    """
    rows: list[tuple[int, int, int, int]] = []
    at = 0
    for pool in problem.pools:
        for node in pool.nodes:
            rows.append((at, len(pool.resources), int(bool(node.closures)), clear + len(rows) * problem.slots))
            at += len(pool.resources) * problem.slots
    return _table(rows, NODE_WIDTH)


def _nodes(problem: Problem) -> tuple[Ints, Ints]:
    """What each node has of each resource in each slot, flat, and by node and slot how long it stays open."""
    slots = problem.slots
    sizes = [len(pool.resources) * slots for pool in problem.pools for _ in pool.nodes]
    free = np.zeros(sum(sizes), dtype=np.int64)
    clear = np.full((len(sizes), slots), FAR, dtype=np.int64)
    every = (node for pool in problem.pools for node in pool.nodes)
    for position, (node, end, size) in enumerate(zip(every, offsets(sizes)[1:], sizes, strict=True)):
        _fill(node, free[end - size : end].reshape(-1, slots), clear[position])
    return free, clear


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


def _capacity(problem: Problem, a: Arrays, free: Ints) -> Ints:
    """Sum what the nodes of a pool have, by resource and slot."""
    widest = max((len(pool.resources) for pool in problem.pools), default=1)
    total = np.zeros((len(problem.pools), widest, problem.slots), dtype=np.int64)
    for position, pool in enumerate(problem.pools):
        for node in a.node[a.pool[position, FIRST_NODE] : a.pool[position + 1, FIRST_NODE]]:
            size = len(pool.resources) * problem.slots
            total[position, : len(pool.resources)] += free[node[FREE_AT] : node[FREE_AT] + size].reshape(
                -1, problem.slots
            )
    return total


def _tasks(problem: Problem, modes: Modes, flat: list[int]) -> Ints:
    rows: list[tuple[int, ...]] = []
    seats = 0
    followers = _followers(problem)
    for position, task in enumerate(problem.tasks):
        row: tuple[int, ...] = (*modes.bounds[position], task.since, task.delay_micros, *_late(task))
        row += (task.earliest, int(task.stays), task.move_micros, *modes.remember(position))
        row += (*stretch(flat, task.after), *stretch(flat, followers[position]), *stretch(flat, task.budgets))
        rows.append((*row, seats))
        seats += max((sum(part.count for part in mode.parts) for mode in task.modes), default=0)
        seats += max((len(mode.lead.seats) for mode in task.modes if mode.lead is not None), default=0)
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
