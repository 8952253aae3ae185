"""Who is guaranteed: in each row and slot the guaranteed units go to work by the order that the PRIORITY rule fixes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from solvers.problem import Mode, Problem
from solvers.solution import Assignment, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What one run asks of a row's guarantee in slots `[start, end)`, and its place in the queue for it."""

    rank: tuple[bool, int, int, int]
    place: tuple[int, int]
    start: int
    end: int
    amount: int


def split(problem: Problem, assignments: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """Fill `Run.guaranteed`: the least of its units inside its home row's guarantee, over its slots in the horizon.

    In each slot a row's guarantee goes to all runs that charge the row, at home there or not: first to work that may
    not be interrupted, then by priority, start and task.
    """
    claims: dict[int, list[_Claim]] = {}
    for place, assignment in enumerate(assignments):
        for number, run in enumerate(assignment.runs):
            mode = _mode(problem, assignment, run)
            for row in sorted({charge.row for charge in mode.charges}):
                claims.setdefault(row, []).append(_claim(problem, assignment, run, row, (place, number)))
    shares = {
        (row, place): units
        for row, queue in claims.items()
        for place, units in _serve(list(problem.rows[row].guarantee or (0,) * problem.slots), queue).items()
    }
    return tuple(
        replace(one, runs=tuple(_shared(problem, one, run, shares, (place, at)) for at, run in enumerate(one.runs)))
        for place, one in enumerate(assignments)
    )


def _shared(
    problem: Problem,
    assignment: Assignment,
    run: Run,
    shares: dict[tuple[int, tuple[int, int]], int],
    place: tuple[int, int],
) -> Run:
    home = _mode(problem, assignment, run).home
    return replace(run, guaranteed=0 if home is None else shares.get((home, place), 0))


def _mode(problem: Problem, assignment: Assignment, run: Run) -> Mode:
    return problem.tasks[assignment.task].modes[run.mode]


def _claim(problem: Problem, assignment: Assignment, run: Run, row: int, place: tuple[int, int]) -> _Claim:
    task = problem.tasks[assignment.task]
    amount = sum(charge.amount for charge in _mode(problem, assignment, run).charges if charge.row == row)
    rank = (task.interruptible, task.priority, run.start, assignment.task)
    return _Claim(rank=rank, place=place, start=run.start, end=min(run.end, problem.slots), amount=amount)


def _rank(claim: _Claim) -> tuple[bool, int, int, int]:
    return claim.rank


def _serve(left: list[int], queue: list[_Claim]) -> dict[tuple[int, int], int]:
    """Hand out `left[slot]` to the queue by rank; each keeps the least it gets in any of its slots."""
    shares: dict[tuple[int, int], int] = {}
    for claim in sorted(queue, key=_rank):
        granted = [min(claim.amount, left[slot]) for slot in range(claim.start, claim.end)]
        for slot, amount in zip(range(claim.start, claim.end), granted, strict=True):
            left[slot] -= amount
        shares[claim.place] = min(granted, default=0)
    return shares
