"""One order for every problem: by name, so that what is decided never depends on the order in which things were
listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from solvers.problem import Charge, Lead, Mode, Node, Pool, Previous, Problem, Row, Task
from solvers.solution import Assignment, PoolPrice, Run, Seat, Solution

_Named = TypeVar("_Named")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """A problem in canonical order, with the given position of each of its tasks, pools and nodes (by canonical
    pool).
    """

    problem: Problem
    tasks: tuple[int, ...]
    pools: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]


def ordered(problem: Problem) -> Ordered:
    """Sort tasks, pools, nodes, rows and budgets by name, numbers inside names by size; modes and parts keep their
    order.
    """
    tasks = _order(problem.tasks, lambda task: task.name)
    pools = _order(problem.pools, lambda pool: pool.name)
    rows = _order(problem.rows, lambda row: f"{row.rule}/{row.subject}")
    budgets = _order(problem.budgets, lambda budget: budget.subject)
    nodes = tuple(_order(problem.pools[pool].nodes, lambda node: node.name) for pool in pools)
    move = _Moves(
        tasks=_inverse(tasks),
        pools=_inverse(pools),
        rows=_inverse(rows),
        budgets=_inverse(budgets),
        nodes=tuple(_inverse(nodes[position]) for position in _inverse(pools)),
    )
    return Ordered(
        problem=replace(
            problem,
            pools=tuple(_pool(problem.pools[pool], nodes[place]) for place, pool in enumerate(pools)),
            tasks=tuple(_task(problem.tasks[task], move) for task in tasks),
            rows=tuple(_row(problem.rows[row], move) for row in rows),
            budgets=tuple(problem.budgets[budget] for budget in budgets),
        ),
        tasks=tasks,
        pools=pools,
        nodes=nodes,
    )


def restored(order: Ordered, solution: Solution) -> Solution:
    """Give a solution of the canonical problem the positions of the problem as it was given."""
    assignments = (
        Assignment(task=order.tasks[one.task], runs=tuple(_run(order, one.task, run) for run in one.runs))
        for one in solution.assignments
    )
    prices = (replace(price, pool=order.pools[price.pool]) for price in solution.prices)
    return replace(
        solution,
        assignments=tuple(sorted(assignments, key=_task_of)),
        prices=tuple(sorted(prices, key=_pool_of)),
    )


def lined_up(problem: Problem, assignments: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Let tasks that differ in nothing but their name run in the order of the problem: the first one starts first.

    Only tasks without a previous run change places, and only where whatever comes after one comes after all of them.
    """
    runs = {assignment.task: assignment.runs for assignment in assignments}
    for alike in _alike(problem):
        held = sorted((runs.pop(task) for task in alike if task in runs), key=_begin)
        runs |= dict(zip(alike, held, strict=False))
    return tuple(Assignment(task=task, runs=runs[task]) for task in sorted(runs))


def _alike(problem: Problem) -> Iterator[tuple[int, ...]]:
    groups: dict[Task, list[int]] = {}
    for position, task in enumerate(problem.tasks):
        if task.previous is None:
            groups.setdefault(replace(task, name=""), []).append(position)
    several = [tuple(group) for group in groups.values() if len(group) > 1]
    group_of = {task: number for number, group in enumerate(several) for task in group}
    torn: set[int] = set()
    for task in problem.tasks:
        named = Counter(group_of[other] for other in task.after if other in group_of)
        torn |= {number for number, count in named.items() if count < len(several[number])}
    return (group for number, group in enumerate(several) if number not in torn)


def _begin(runs: tuple[Run, ...]) -> tuple[tuple[int, int, tuple[tuple[int, int], ...]], ...]:
    return tuple((run.start, run.mode, tuple((seat.node, seat.part) for seat in run.seats)) for run in runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """Canonical position by given position; nodes by given pool."""

    tasks: tuple[int, ...]
    pools: tuple[int, ...]
    rows: tuple[int, ...]
    budgets: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]


def _order(things: Sequence[_Named], name: Callable[[_Named], str]) -> tuple[int, ...]:
    return tuple(sorted(range(len(things)), key=lambda position: (_natural(name(things[position])), position)))


def _natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """Sort `n2` before `n10`; the text of a number breaks ties between `01` and `1`."""
    pieces = _DIGITS.split(name)
    return tuple(("", int(piece), piece) if place % 2 else (piece, 0, "") for place, piece in enumerate(pieces))


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    places = [0] * len(order)
    for place, position in enumerate(order):
        places[position] = place
    return tuple(places)


def _pool(pool: Pool, order: tuple[int, ...]) -> Pool:
    nodes: tuple[Node, ...] = tuple(pool.nodes[node] for node in order)
    return replace(pool, nodes=nodes)


def _task(task: Task, move: _Moves) -> Task:
    return replace(
        task,
        modes=tuple(_mode(task.modes[0], mode, move) for mode in task.modes),
        after=tuple(sorted(move.tasks[other] for other in task.after)),
        budgets=tuple(sorted(move.budgets[budget] for budget in task.budgets)),
        previous=None if task.previous is None else _previous(task, task.previous, move),
    )


def _row(row: Row, move: _Moves) -> Row:
    return row if row.spill is None else replace(row, spill=replace(row.spill, row=move.rows[row.spill.row]))


def _previous(task: Task, previous: Previous, move: _Moves) -> Previous:
    if not 0 <= previous.mode < len(task.modes):
        return previous
    place = move.nodes[task.modes[previous.mode].pool]
    kept = ((place[node], devices) for node, devices in previous.nodes if 0 <= node < len(place))
    return replace(previous, nodes=tuple(sorted(kept)))


def _mode(first: Mode, mode: Mode, move: _Moves) -> Mode:
    place = move.nodes[mode.pool]
    return replace(
        mode,
        lead=None if mode.lead is None else _lead(first, mode.lead, move),
        pool=move.pools[mode.pool],
        charges=tuple(Charge(row=move.rows[charge.row], amount=charge.amount) for charge in mode.charges),
        home=None if mode.home is None else move.rows[mode.home],
        nodes=None if mode.nodes is None else tuple(sorted(place[node] for node in mode.nodes)),
    )


def _lead(first: Mode, lead: Lead, move: _Moves) -> Lead:
    place = move.nodes[first.pool]
    return replace(lead, seats=tuple(sorted((place[node], part) for node, part in lead.seats)))


def _run(order: Ordered, task: int, run: Run) -> Run:
    pool = order.problem.tasks[task].modes[run.mode].pool
    seats = (Seat(node=order.nodes[pool][seat.node], part=seat.part) for seat in run.seats)
    return replace(run, seats=tuple(sorted(seats, key=_place_of)))


def _task_of(assignment: Assignment) -> int:
    return assignment.task


def _pool_of(price: PoolPrice) -> int:
    return price.pool


def _place_of(seat: Seat) -> tuple[int, int]:
    return seat.part, seat.node
