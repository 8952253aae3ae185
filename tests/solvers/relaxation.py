"""The linear relaxation of a small problem, written out plainly: what prices are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
from ortools.math_opt.python import mathopt

from solvers.columns import MODE_AT
from solvers.prices import Market, free_prices, quote
from solvers.pricing import Desk, list_columns
from solvers.problem import Mode, Problem, Task

Sum: TypeAlias = mathopt.LinearBase
Column = tuple[int, int, int, int]
"""A task, its mode, a start, and micros of value."""


def columns_of(market: Market) -> list[Column]:
    """Every column of every task, with what it may be worth at most."""
    found = quote(market, free_prices(market))
    desk = Desk(market.groups, market.startable, found.tolls, found.prices.ppm, found.best)
    room = np.zeros((10_000, 4), dtype=np.int64)
    listed = room[: list_columns(market.tables.arrays, desk, 2**60, room)].tolist()
    first = market.tables.arrays.task[:, MODE_AT].tolist()
    by_group = {group: [each for each in listed if each[0] == group] for group in range(len(market.groups))}
    return [
        (task, mode - first[int(market.groups[group, 0])], start, value)
        for task, group in enumerate(market.group_of.tolist())
        for _, mode, start, value in by_group[group]
    ]


def relaxed_value(problem: Problem, columns: list[Column], devices: Mapping[tuple[int, int], int]) -> float:
    """The value in micros of the relaxation, with so many devices (by pool and slot) more or less than there are."""
    model = mathopt.Model()
    nothing: Sum = model.add_variable(lb=0, ub=0)
    runs = [(model.add_variable(lb=0), column) for column in columns]
    use, charged, spent = _sums(problem, runs, nothing)
    for at in range(len(problem.tasks)):
        model.add_linear_constraint(sum((run for run, column in runs if column[0] == at), nothing) <= 1)
    for (pool, resource, slot), amount in use.items():
        more = devices.get((pool, slot), 0) * (resource == 0)
        model.add_linear_constraint(amount <= free_devices(problem, pool, slot, resource) + more)
    for at, amount in spent.items():
        model.add_linear_constraint(amount <= max(0, problem.budgets[at].micros))
    return _solved(model, _worth(model, problem, charged, sum((each[1][3] * each[0] for each in runs), nothing)))


Sums: TypeAlias = tuple[dict[tuple[int, int, int], Sum], dict[tuple[int, int], Sum], dict[int, Sum]]


def _sums(problem: Problem, runs: list[tuple[mathopt.Variable, Column]], nothing: Sum) -> Sums:
    """Use by pool, resource and slot, charges by row and slot, cash by budget."""
    use: dict[tuple[int, int, int], Sum] = defaultdict(lambda: nothing)
    charged: dict[tuple[int, int], Sum] = defaultdict(lambda: nothing)
    spent: dict[int, Sum] = defaultdict(lambda: nothing)
    for run, (task, position, start, _) in runs:
        for mode, span in _stretches(problem.tasks[task], position, start):
            for slot in range(span[0], min(span[1], problem.slots)):
                for resource in range(len(problem.pools[mode.pool].resources)):
                    held = sum(part.count * part.use[resource] for part in mode.parts)
                    use[mode.pool, resource, slot] += held * run
                for charge in mode.charges:
                    charged[charge.row, slot] += charge.amount * run
            for at in problem.tasks[task].budgets:
                budget = problem.budgets[at]
                spent[at] += mode.cash_micros * _shared(span, (budget.start, budget.end)) * run
    return use, charged, spent


def _stretches(task: Task, position: int, start: int) -> Iterator[tuple[Mode, tuple[int, int]]]:
    """In which mode a column runs when: after its lead, if it has one."""
    mode = task.modes[position]
    if mode.lead is not None:
        yield task.modes[0], (0, mode.lead.slots)
    yield mode, (start, start + mode.duration)


def _shared(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _solved(model: mathopt.Model, worth: Sum) -> float:
    model.maximize(worth)
    result = mathopt.solve(model, mathopt.SolverType.GLOP)
    assert result.termination.reason == mathopt.TerminationReason.OPTIMAL
    return float(result.objective_value())


def _worth(model: mathopt.Model, problem: Problem, charged: Mapping[tuple[int, int], Sum], worth: Sum) -> Sum:
    """Add the rows slot by slot, each after those that spill into it; give `worth` with the bonuses."""
    into: dict[tuple[int, int], list[Sum]] = defaultdict(list)
    left = set(range(len(problem.rows)))
    while left:
        last = {spill.row for at in left if (spill := problem.rows[at].spill) is not None}
        for at in sorted(left - last):
            row = problem.rows[at]
            for slot in range(problem.slots):
                amount = sum(into[at, slot], charged[at, slot])
                if row.limit is not None:
                    model.add_linear_constraint(amount <= row.limit[slot])
                if row.guarantee is not None:
                    inside = model.add_variable(lb=0, ub=row.guarantee[slot])
                    model.add_linear_constraint(inside <= amount)
                    worth = worth + row.bonus_micros * inside
                if row.spill is not None:
                    above = model.add_variable(lb=0)
                    model.add_linear_constraint(above >= amount - row.spill.above[slot])
                    into[row.spill.row, slot].append(above)
        left &= last
    return worth


def free_devices(problem: Problem, pool: int, slot: int, resource: int = 0) -> int:
    """What a pool's open nodes have of a resource in a slot beside what is not planned."""
    have = 0
    for node in problem.pools[pool].nodes:
        taken = sum(each.use[resource] for each in node.taken if each.start <= slot < each.end)
        if not any(closure.start <= slot < closure.end for closure in node.closures):
            have += max(0, node.capacity[resource] - taken)
    return have
