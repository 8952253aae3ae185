"""Solves a small problem exactly, and trusts the solver's verdicts only as far as they can be checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from solvers.check import check, raise_if_wrong, value
from solvers.cpsat.model import ExactModel, add_hint, assignments, build
from solvers.cpsat.rows import Rounding
from solvers.problem import Problem
from solvers.solution import Assignment, Proof, Solution
from solvers.split import split

Stop = Callable[[], bool]


class SolverFault(Exception):
    """CP-SAT said what cannot be: our model is no model, the empty plan breaks a rule, a known plan beats the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """A plan if one was found, and a bound on the value of any plan of the model if there is one."""

    plan: tuple[Assignment, ...] | None
    bound: int | None


def solve_exact(
    problem: Problem,
    *,
    hint: Solution | None = None,
    deterministic_time: float = 10.0,
    stop: Stop | None = None,
) -> Solution | None:
    """Find a best plan and prove it, or the best found within the limit with its bound; None without plan or bound.

    `deterministic_time` is CP-SAT's own measure of work, the same on every machine; `stop` is asked whenever the search
    has news. `hint` is a valid solution to start from and to fall back on. Raises `SolverFault` when the solver
    contradicts itself even without presolve, `CheckError` when a plan of an exact model breaks a rule.
    """
    relaxed = build(problem, Rounding.RELAX)
    floor = _floor(problem, hint)
    verdict = _challenged(relaxed, hint, deterministic_time, stop, floor)
    if verdict.bound is None:
        return None
    known = [] if hint is None else [_valued(problem, hint.assignments)]
    found = known + _sound(problem, verdict.plan, certain=relaxed.exact)
    best = max(found, key=_worth, default=None)
    if not relaxed.exact and (best is None or best.value_micros < verdict.bound):
        strict = build(problem, Rounding.RESTRICT)
        found += _sound(problem, _challenged(strict, best, deterministic_time, stop, None).plan, certain=True)
        best = max(found, key=_worth, default=None)
    return None if best is None else _claimed(best, verdict.bound)


def _challenged(
    exact: ExactModel, hint: Solution | None, limit: float, stop: Stop | None, floor: int | None
) -> _Verdict:
    """Ask again without presolve, where the known faults are, when the answer denies a plan that is known to exist."""
    if hint is not None:
        add_hint(exact, hint)
    verdict = None
    for presolve in (True, False):
        verdict = _run(exact, limit, presolve, stop)
        if verdict is not None and (floor is None or verdict.bound is None or verdict.bound >= floor):
            return verdict
    raise SolverFault(f"a plan worth {floor} micros is known, the solver says {verdict or 'infeasible'}")


def _run(exact: ExactModel, limit: float, presolve: bool, stop: Stop | None) -> _Verdict | None:
    """Solve once; None when the solver calls the model infeasible."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = limit
    # The sums over start literals are strong in the relaxation; searching without it is a hundred times slower.
    solver.parameters.linearization_level = 2
    solver.parameters.cp_model_presolve = presolve
    # Interrupts are the caller's affair: it is asked through `stop`.
    solver.parameters.catch_sigint_signal = False
    if stop is not None:
        solver.best_bound_callback = lambda _bound: solver.stop_search() if stop() else None
    status = solver.solve(exact.model, None if stop is None else _Watch(stop))
    match status:
        case cp_model.OPTIMAL | cp_model.FEASIBLE:
            plan = assignments(exact.variables, lambda literal: bool(solver.boolean_value(literal)))
            return _Verdict(plan=plan, bound=exact.scale * round(solver.best_objective_bound))
        case cp_model.UNKNOWN:
            # Its bound may be none at all: 0 when the limit strikes before the search begins.
            return _Verdict(plan=None, bound=None)
        case cp_model.INFEASIBLE:
            return None
        case _:
            raise SolverFault(f"not a model: {exact.model.validate()}")


class _Watch(cp_model.CpSolverSolutionCallback):
    """Stops the search at a solution when the caller says so."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop

    def on_solution_callback(self) -> None:
        """Ask the caller."""
        if self._stop():
            self.stop_search()


def _floor(problem: Problem, hint: Solution | None) -> int | None:
    """What a plan is known to be worth: that of the hint, and the empty one unless work that runs may not stop."""
    known = [] if any(task.stays for task in problem.tasks) else [0]
    return max([*known, *([] if hint is None else [hint.value_micros])], default=None)


def _worth(solution: Solution) -> int:
    return solution.value_micros


def _valued(problem: Problem, plan: tuple[Assignment, ...]) -> Solution:
    draft = Solution(assignments=split(problem, plan), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC)
    return replace(draft, value_micros=value(problem, draft))


def _sound(problem: Problem, plan: tuple[Assignment, ...] | None, *, certain: bool) -> list[Solution]:
    """The plan if it obeys the rules; one that must, and does not, is a fault worth raising with its instance."""
    if plan is None:
        return []
    solution = _valued(problem, plan)
    if certain:
        raise_if_wrong(problem, solution)
    return [] if check(problem, solution) else [solution]


def _claimed(solution: Solution, bound: int) -> Solution:
    proof = Proof.OPTIMAL if bound == solution.value_micros else Proof.BOUNDED
    return replace(solution, bound_micros=bound, proof=proof)
