"""What one run is worth on its own, in compiled int64 arithmetic; `solvers.check` has its own."""

from __future__ import annotations

from solvers.arrays import Arrays
from solvers.columns import (
    BUDGET_START,
    BUDGET_STOP,
    CASH,
    COST,
    DELAY,
    DUE,
    DURATION,
    LATE,
    LATE_MOST,
    LATE_SPAN,
    RATE,
    REST,
    RUNNING,
    SINCE,
)
from solvers.compiled import compiled, inlined


@compiled
def own_value(a: Arrays, task: int, mode: int, start: int) -> int:
    """Micros of the run of `mode` from slot `start`: worth done inside the horizon - delay - lateness - cash and
    power - cost.

    Formula: `solvers.problem.Task`, without its moves. `worth * ran // duration` is taken apart so that no product
    leaves int64.
    """
    duration = a.mode[mode, DURATION]
    end = start + duration
    if end <= a.slots:
        ran = duration
        value = a.mode[mode, RATE] * duration + a.mode[mode, REST]
    else:
        ran = a.slots - start
        value = a.mode[mode, RATE] * ran + a.mode[mode, REST] * ran // duration
    value -= a.task[task, DELAY] * (end - a.task[task, SINCE]) + a.mode[mode, RUNNING] * ran + a.mode[mode, COST]
    over = end - a.task[task, DUE]
    if over > 0:
        value -= min(a.task[task, LATE_MOST], a.task[task, LATE] * min(over, a.task[task, LATE_SPAN]))
    return int(value)


@inlined
def cash_inside(a: Arrays, budget: int, mode: int, start: int, end: int) -> int:
    """The cash that a mode costs in the slots of `[start, end)` that a budget covers, in micros."""
    covered = min(end, a.budget[budget, BUDGET_STOP]) - max(start, a.budget[budget, BUDGET_START])
    return int(a.mode[mode, CASH] * max(0, covered))
