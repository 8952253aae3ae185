"""When a mode may start, whatever else runs."""

from __future__ import annotations

from collections.abc import Sequence

from solvers.problem import Mode, Problem, Task


def window(problem: Problem, task: Task, mode: Mode) -> tuple[int, int]:
    """The first and the last slot that a mode may start in, as far as task, mode and limits of its rows say."""
    latest = [bound for bound in (task.latest, mode.latest) if bound is not None]
    by_deadline = [] if task.deadline is None else [task.deadline - mode.duration]
    first = max(task.earliest, mode.earliest)
    last = min(problem.slots - 1, *latest, *by_deadline, problem.slots - 1)
    for charge in mode.charges:
        first, last = _under_limit(problem.rows[charge.row].limit, charge.amount, mode.duration, first, last)
    return first, last


def _under_limit(
    limit: Sequence[int] | None, amount: int, duration: int, first: int, last: int
) -> tuple[int, int]:  # fmt: skip
    """Cut off starts at both ends that a limit forbids even when nothing else runs: prices alone would run a part."""
    if limit is None or amount <= min(limit):
        return first, last
    while first <= last and amount > min(limit[first : first + duration]):
        first += 1
    while first <= last and amount > min(limit[last : last + duration]):
        last -= 1
    return first, last
