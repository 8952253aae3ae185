"""The driver: prices, a first plan, ruin and recreate, exact search where it is cheap, and a checked answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from solvers.canonical import lined_up, ordered, restored
from solvers.compiled import is_cold
from solvers.problem import Problem
from solvers.search import Search
from solvers.solution import Proof, Solution
from solvers.split import split


class Effort(StrEnum):
    """How long to look: about 5 seconds, one minute, ten minutes on two cores, counted in work and never in time."""

    QUICK = "quick"
    NORMAL = "normal"
    DEEP = "deep"


UNITS: Final = {Effort.QUICK: 2_000, Effort.NORMAL: 20_000, Effort.DEEP: 200_000}
"""Millions of elementary steps of the search by effort."""

UNITS_PER_SECOND: Final = 250
"""How many units take as long as one of CP-SAT's deterministic seconds, about."""

EXACT_TASKS: Final = 60
EXACT_COLUMNS: Final = 20_000
EXACT_SEATS: Final = 2_500
"""The largest problem that is given to the exact solver, in tasks, in columns (mode and start), and in seats (part of a
mode and node that it may sit on).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a search stands: what it does, the best value, what no plan can be worth more than, and the gap."""

    phase: str
    value_micros: int | None
    bound_micros: int | None
    gap_ppm: int | None


def solve(
    problem: Problem,
    *,
    effort: Effort = Effort.QUICK,
    budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Solution:
    """Find a plan of high value, and a proven bound on the value of any plan.

    `budget` counts millions of elementary steps and replaces what `effort` stands for; 0 builds a first plan and a
    first bound only. `stop` is asked from time to time; once it says True the best plan so far is returned. The
    answer depends on the problem and the budget alone. Raises `solvers.check.CheckError` when the answer breaks a
    rule, which is a fault of the solver.
    """
    order = ordered(problem)
    units = UNITS[effort] if budget is None else max(0, budget)
    reporter = _Reporter(progress, stop)
    if is_cold():
        reporter.ask("compile", None, None)
    search = Search(order.problem)
    search.price(units, reporter.ask)
    search.construct(units, reporter.ask)
    exact = _exact(order.problem, search, units, reporter) if units else None
    if units and exact is None and not search.closed:
        search.improve(units, reporter.ask)
    if units:
        search.settle(reporter.ask)
    best = search.solution() if exact is None else replace(exact, prices=search.prices())
    found = restored(order, replace(best, assignments=lined_up(order.problem, best.assignments)))
    solution = _labelled(replace(found, assignments=split(problem, found.assignments)))
    _check(problem, solution)
    return solution


def _exact(problem: Problem, search: Search, units: int, reporter: _Reporter) -> Solution | None:
    """Solve a small problem exactly from the first plan; None where it is large or the proof takes too long."""
    if len(problem.tasks) > EXACT_TASKS or search.columns > EXACT_COLUMNS or search.seats > EXACT_SEATS:
        return None
    first = search.solution()
    if reporter.ask("exact", first.value_micros, first.bound_micros):
        return None
    from solvers.cpsat.exact import solve_exact

    found = solve_exact(problem, hint=first, deterministic_time=units / UNITS_PER_SECOND, stop=reporter.stopped)
    if found is None or found.bound_micros is None:
        return None
    search.learn_bound(found.bound_micros)
    if found.value_micros < found.bound_micros:
        search.adopt(found)
        return None
    return found


class _Reporter:
    """Passes progress on and remembers that it was told to stop."""

    def __init__(self, progress: Callable[[Progress], None] | None, stop: Callable[[], bool] | None) -> None:
        self._progress = progress
        self._stop = stop
        self._stopped = False

    def ask(self, phase: str, value: int | None, bound: int | None) -> bool:
        """Report, and say whether to stop."""
        if self._progress is not None:
            gap = None if bound is None or value is None else -(-(10**6) * (bound - value) // max(1, abs(bound)))
            self._progress(Progress(phase=phase, value_micros=value, bound_micros=bound, gap_ppm=gap))
        return self.stopped()

    def stopped(self) -> bool:
        """Ask whether to stop; once told to, for good."""
        self._stopped = self._stopped or (self._stop is not None and self._stop())
        return self._stopped


def _labelled(solution: Solution) -> Solution:
    closed = solution.bound_micros == solution.value_micros
    return replace(solution, proof=Proof.OPTIMAL if closed else Proof.BOUNDED)


def _check(problem: Problem, solution: Solution) -> None:
    from solvers.check import raise_if_wrong

    raise_if_wrong(problem, solution)
