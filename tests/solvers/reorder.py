"""The same problem with everything listed the other way round."""

from __future__ import annotations

from dataclasses import replace

from solvers.problem import Charge, Mode, Problem, Row, Task


def reversed_problem(problem: Problem) -> Problem:
    """Reverse tasks, pools, nodes, rows and budgets, with every reference to them."""
    return replace(
        problem,
        pools=tuple(replace(pool, nodes=pool.nodes[::-1]) for pool in reversed(problem.pools)),
        tasks=tuple(_task(problem, task) for task in reversed(problem.tasks)),
        rows=tuple(_row(problem, row) for row in reversed(problem.rows)),
        budgets=problem.budgets[::-1],
    )


def _row(problem: Problem, row: Row) -> Row:
    if row.spill is None:
        return row
    return replace(row, spill=replace(row.spill, row=len(problem.rows) - 1 - row.spill.row))


def _task(problem: Problem, task: Task) -> Task:
    previous = task.previous
    if previous is not None:
        last = len(problem.pools[task.modes[previous.mode].pool].nodes) - 1
        previous = replace(previous, nodes=tuple((last - node, devices) for node, devices in previous.nodes))
    return replace(
        task,
        modes=tuple(_mode(problem, task.modes[0], mode) for mode in task.modes),
        after=tuple(len(problem.tasks) - 1 - other for other in task.after),
        budgets=tuple(len(problem.budgets) - 1 - budget for budget in task.budgets),
        previous=previous,
    )


def _mode(problem: Problem, first: Mode, mode: Mode) -> Mode:
    last = len(problem.pools[mode.pool].nodes) - 1
    begun = len(problem.pools[first.pool].nodes) - 1
    lead = mode.lead
    rows = len(problem.rows) - 1
    return replace(
        mode,
        lead=lead and replace(lead, seats=tuple((begun - node, part) for node, part in lead.seats)),
        pool=len(problem.pools) - 1 - mode.pool,
        charges=tuple(Charge(row=rows - charge.row, amount=charge.amount) for charge in mode.charges),
        home=None if mode.home is None else rows - mode.home,
        nodes=None if mode.nodes is None else tuple(sorted(last - node for node in mode.nodes)),
    )
