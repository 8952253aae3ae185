"""What a solution is worth, added up in plain Python by the formula of `solvers.problem.Task`, for the checker."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from solvers.placed import Case, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solvers.problem import Lead, Mode, Problem, Task
    from solvers.solution import Run, Seat, Solution


def value(problem: Problem, solution: Solution) -> int:
    """Add up what `solution` is worth in micros: each run by the formula of `Task`, and the bonuses of the rows."""
    return case_value(read(problem, solution))


def case_value(case: Case) -> int:
    """The same of what has been read already; runs that mean nothing are worth nothing."""
    total = sum(
        run_value(case.problem, each.task, each.run) if each.lead is None else lead_value(each.task, each.lead)
        for each in case.placed
    )
    for row, use in zip(case.problem.rows, case.row_use(), strict=True):
        if row.guarantee is not None:
            total += row.bonus_micros * sum(map(min, use, row.guarantee))
    return total


def run_value(problem: Problem, task: Task, run: Run) -> int:
    """What one run of `task` is worth in micros on its own, without bonuses."""
    mode = task.modes[run.mode]
    end = run.start + mode.duration
    inside = min(end, problem.slots) - run.start
    late = 0 if task.due is None else min(task.worth_micros, task.late_micros * max(0, end - task.due))
    done = 0 if mode.lead is None else mode.lead.worth_micros
    return (
        (task.worth_micros + task.premium_micros - done) * inside // mode.duration
        - task.delay_micros * (end - task.since)
        - late
        - (mode.cash_micros + mode.power_micros) * inside
        - mode.cost_micros
        - task.move_micros * moved_devices(task, run)
    )


def lead_value(task: Task, lead: Lead) -> int:
    """What the run that leads to another is worth in micros on its own, without bonuses."""
    first = task.modes[0]
    return lead.worth_micros - (first.cash_micros + first.power_micros) * lead.slots


def moved_devices(task: Task, run: Run) -> int:
    """Devices of `run` that the previous run did not have on that node from that slot on; 0 without a previous run."""
    if task.previous is None:
        return 0
    mode = task.modes[run.mode]
    before = task.modes[task.previous.mode]
    if run.start != task.previous.start or mode.pool != before.pool:
        return mode.devices
    had = Counter[int]()
    for node, devices in task.previous.nodes:
        had[node] += devices
    return mode.devices - sum(min(devices, had[node]) for node, devices in _devices(mode, run.seats).items())


def _devices(mode: Mode, seats: Iterable[Seat]) -> Counter[int]:
    held = Counter[int]()
    for seat in seats:
        if 0 <= seat.part < len(mode.parts):
            held[seat.node] += mode.parts[seat.part].use[0]
    return held
