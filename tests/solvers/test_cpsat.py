"""The exact solver: numbers that cannot overflow, verdicts that are challenged, limits that hold."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from ortools.sat.python import cp_model

from solvers.check import check
from solvers.cpsat.exact import SolverFault, solve_exact
from solvers.cpsat.model import ExactModel, build
from solvers.cpsat.rows import OBJECTIVE_LIMIT, ROW_LIMIT, AtMost, Equal, Packed, Rounding, Rows, Term
from solvers.problem import Problem
from solvers.solution import Proof, Solution
from tests.solvers.brute_force import optimum
from tests.solvers.builders import (
    a_budget,
    a_mode,
    a_node,
    a_pool,
    a_previous,
    a_problem,
    a_row,
    a_run,
    a_solution,
    a_taken,
    a_task,
)

GIB = 2**30
COARSE = (79, 45, 26, 50)
ODD = (3, 2, 3, 2)


def bools(rows: Rows, count: int) -> list[cp_model.IntVar]:
    """That many literals."""
    return [rows.model.new_bool_var(f"x{at}") for at in range(count)]


def terms(weights: tuple[int, ...], literals: list[cp_model.IntVar]) -> tuple[Term, ...]:
    """The sum of weights times literals."""
    return tuple(Term(coefficient=weight, variable=each) for weight, each in zip(weights, literals, strict=True))


def best(rows: Rows) -> int:
    """What the solver, one worker with presolve, calls the optimum."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(rows.model) == cp_model.OPTIMAL
    return round(solver.objective_value)


def heaviest(model: Any) -> Any:
    """The largest |coefficient| x bound that any row of a model adds up to."""
    proto = model.proto
    most = [max(abs(bound) for bound in variable.domain) for variable in proto.variables]
    rows = [row.linear for row in proto.constraints if row.has_linear()]
    return max((sum(abs(c) * most[v] for v, c in zip(row.vars, row.coeffs, strict=True)) for row in rows), default=0)


@pytest.mark.parametrize("rounding", Rounding)
def test_an_enforced_capacity_row_in_bytes_keeps_its_optimum(rounding: Rounding) -> None:
    rows = Rows(model=cp_model.CpModel(), rounding=rounding)
    *x, e = bools(rows, 5)
    weights = tuple(coarse * GIB + odd for coarse, odd in zip(COARSE, ODD, strict=True))
    rows.post("capacity/node", AtMost(terms=terms(weights, x), upper=98 * GIB), when=(e,))
    rows.model.add_bool_or(e, ~x[2], ~x[1])
    rows.post("gang/one", AtMost(terms=terms((1, 1), [x[1], x[3]]), upper=1))
    assert rows.maximize(terms((8, 8, 4, 2), x)) == 2
    assert best(rows) * 2 == 16
    assert heaviest(rows.model) < ROW_LIMIT
    assert not rows.exact


@pytest.mark.parametrize("share", range(4))
def test_enforced_rows_in_byte_like_units_agree_with_enumeration(share: int) -> None:
    for seed in range(100 * share, 100 * share + 100):
        draw = random.Random(seed)
        weights = tuple(draw.randint(20, 90) * GIB + draw.randint(0, 9) for _ in range(4))
        upper = draw.randint(60, 200) * GIB + 99
        gains = tuple(draw.choice((2, 4, 8, 16)) for _ in range(4))
        left, right = draw.sample(range(4), 2)
        rows = Rows(model=cp_model.CpModel())
        *x, e = bools(rows, 5)
        rows.post("capacity/node", AtMost(terms=terms(weights, x), upper=upper), when=(e,))
        rows.model.add_bool_or(e, ~x[left], ~x[right])
        scale = rows.maximize(terms(gains, x))
        truth = max(
            sum(gain * held for gain, held in zip(gains, plan, strict=True))
            for plan in product((0, 1), repeat=4)
            if not (plan[left] and plan[right])
            or sum(weight * held for weight, held in zip(weights, plan, strict=True)) <= upper
        )
        assert best(rows) * scale == truth, seed
        assert heaviest(rows.model) < ROW_LIMIT, seed


@pytest.mark.parametrize(
    ("weights", "upper", "holds"),
    [
        pytest.param((2 * GIB, 3 * GIB), 4 * GIB, (2, 3, 4), id="a common divisor changes nothing"),
        pytest.param((2 * GIB, 3 * GIB), 5 * GIB - 1, (2, 3, 4), id="the bound is rounded down with it"),
        pytest.param((3, 100), 4, (3, 5, 4), id="never is said with a small number"),
    ],
)
def test_a_row_is_made_small_without_loss(weights: tuple[int, ...], upper: int, holds: tuple[int, int, int]) -> None:
    rows = Rows(model=cp_model.CpModel())
    rows.post("row", AtMost(terms=terms(weights, bools(rows, 2)), upper=upper))
    row = rows.model.proto.constraints[0].linear
    assert (*row.coeffs, row.domain[1]) == holds
    assert rows.exact


def test_a_row_that_always_holds_is_not_posted() -> None:
    rows = Rows(model=cp_model.CpModel())
    rows.post("row", AtMost(terms=terms((GIB, GIB), bools(rows, 2)), upper=2 * GIB))
    assert len(rows.model.proto.constraints) == 0


@pytest.mark.parametrize(("rounding", "both"), [(Rounding.RELAX, True), (Rounding.RESTRICT, False)])
def test_a_row_that_loses_meaning_loses_it_in_the_direction_asked(rounding: Rounding, both: bool) -> None:
    rows = Rows(model=cp_model.CpModel(), rounding=rounding)
    x = bools(rows, 2)
    rows.post("row", AtMost(terms=terms((2**40 + 1, 2**40), x), upper=2**41))
    rows.maximize(terms((1, 1), x))
    assert not rows.exact
    assert (best(rows) == 2) is both


@pytest.mark.parametrize(("rounding", "both"), [(Rounding.RELAX, True), (Rounding.RESTRICT, False)])
def test_a_packing_that_loses_meaning_loses_it_in_the_direction_asked(rounding: Rounding, both: bool) -> None:
    rows = Rows(model=cp_model.CpModel(), rounding=rounding)
    x = bools(rows, 2)
    spans = tuple(rows.model.new_optional_fixed_size_interval_var(0, 2, each, each.name) for each in x)
    demands = (2**40 + 1, 2**40)
    rows.post("row", Packed(intervals=spans, demands=demands, capacity=2**41 + 2**39, taken=((1, 3, 2**39),)))
    rows.maximize(terms((1, 1), x))
    assert not rows.exact
    assert (best(rows) == 2) is both


def test_an_equality_too_large_is_refused() -> None:
    rows = Rows(model=cp_model.CpModel())
    with pytest.raises(OverflowError, match="sums adds up to 2147483648, expected less than 2147483648"):
        rows.post("sums", Equal(terms=terms((GIB, GIB), bools(rows, 2))))


def test_an_objective_too_large_is_scaled_and_never_understates() -> None:
    rows = Rows(model=cp_model.CpModel())
    gains = (2**60 + 1, 2**59 + 3)
    scale = rows.maximize(terms(gains, bools(rows, 2)))
    objective = rows.model.proto.objective
    assert sum(abs(coefficient) for coefficient in objective.coeffs) < OBJECTIVE_LIMIT
    assert best(rows) * scale >= sum(gains)
    assert not rows.exact


def in_bytes(seed: int, charge: int = 1) -> Problem:
    """Two nodes with memory in bytes, money in large odd micros, `charge` quota units to what others call one."""
    draw = random.Random(seed)
    unit = draw.choice((GIB, GIB + 1, 10**9 + 7))
    taken = (a_taken(0, 2, 0, draw.randint(1, 20) * unit),)
    nodes = tuple(a_node(4, draw.randint(60, 120) * unit + draw.randint(0, 9), taken=taken) for _ in range(2))
    tasks = tuple(
        a_task(
            a_mode(
                draw.randint(1, 3),
                draw.randint(20, 90) * unit + draw.randint(0, 9),
                count=draw.choice((1, 1, 2)),
                duration=draw.randint(1, 3),
                charges=((0, draw.randint(1, 4) * charge),),
                cash_micros=draw.randint(0, 3) * (10**9 + 21),
            ),
            worth_micros=draw.randint(1, 9) * (10**13 + 37) + draw.randint(0, 99),
            delay_micros=draw.randint(0, 3) * (10**9 + 33),
            budgets=(0,),
        )
        for _ in range(4)
    )
    rows = (a_row(limit=(7 * charge,) * 4, guarantee=(4 * charge + charge // 3,) * 4, bonus=3),)
    budget = a_budget(draw.randint(2, 12) * 10**9)
    return a_problem(*tasks, slots=4, pools=(a_pool(*nodes),), rows=rows, budgets=(budget,))


@pytest.mark.parametrize("charge", [1, 10**9 + 9], ids=["small quota units", "large quota units"])
def test_problems_in_bytes_and_micros_have_right_plans_and_bounds(charge: int) -> None:
    best_found = 0
    for seed in range(40):
        problem = in_bytes(seed, charge)
        truth = optimum(problem)
        plan = solved(problem)
        assert check(problem, plan) == (), seed
        assert plan.bound_micros is not None
        assert plan.value_micros <= truth.value_micros <= plan.bound_micros, seed
        best_found += plan.value_micros == truth.value_micros
    # What scaling loses matters only where a few bytes do.
    assert best_found >= 36


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("seed", range(5))
def test_no_row_of_a_model_in_bytes_reaches_the_limit(seed: int, rounding: Rounding) -> None:
    exact = build(in_bytes(seed, 10**9 + 9), rounding)
    assert heaviest(exact.model) < ROW_LIMIT
    assert sum(abs(coefficient) for coefficient in exact.model.proto.objective.coeffs) < OBJECTIVE_LIMIT


def test_constraints_are_named_by_rule_and_subject() -> None:
    problem = a_problem(a_task(deadline=4), a_task(after=(0,)), rows=(a_row((1,) * 8, subject="vision"),))
    charged = replace(
        problem,
        tasks=tuple(
            replace(t, modes=(replace(t.modes[0], charges=a_mode(charges=((0, 8),)).charges),)) for t in problem.tasks
        ),
    )
    names = {row.name for row in build(charged, Rounding.RELAX).model.proto.constraints}
    assert {"window/t0", "dependency/t1 after t0", "quota/quota/vision", "capacity/pool/devices"} <= names


def test_moves_that_pay_are_made_and_others_are_not() -> None:
    at_two = a_previous(2, (1, 8))
    pools = (a_pool(a_node(8), a_node(8)),)
    stays = a_problem(a_task(a_mode(8), delay_micros=3, move_micros=1, previous=at_two), pools=pools)
    moves = a_problem(a_task(a_mode(8), delay_micros=5, move_micros=1, previous=at_two), pools=pools)
    assert [run.start for one in solved(stays).assignments for run in one.runs] == [2]
    assert [seat.node for one in solved(stays).assignments for run in one.runs for seat in run.seats] == [1]
    assert [run.start for one in solved(moves).assignments for run in one.runs] == [0]


def solved(problem: Problem) -> Solution:
    """The exact answer, which must exist."""
    plan = solve_exact(problem)
    assert plan is not None
    return plan


def test_ten_runs_give_one_answer() -> None:
    pools = (a_pool(*[a_node(8)] * 4),)
    problem = a_problem(*[a_task(a_mode(1)) for _ in range(20)], pools=pools)
    assert len({repr(solve_exact(problem)) for _ in range(10)}) == 1


def test_no_time_gives_no_answer_and_no_bound() -> None:
    assert solve_exact(a_problem(), deterministic_time=0.0) is None


def test_a_search_that_is_stopped_returns_what_it_has() -> None:
    asked = []

    def stop() -> bool:
        asked.append(True)
        return True

    problem = a_problem(*[a_task(a_mode(1 + at % 5)) for at in range(12)])
    hint = a_solution(problem, {0: a_run(0)})
    plan = solve_exact(problem, hint=hint, stop=stop)
    assert asked
    assert plan is not None
    assert check(problem, plan) == ()
    assert plan.value_micros >= hint.value_micros


def test_a_hint_is_never_lost() -> None:
    problem = a_problem(*[a_task(a_mode(8), worth_micros=100 + at) for at in range(8)])
    best_plan = optimum(problem)
    plan = solve_exact(problem, hint=best_plan, deterministic_time=0.001)
    assert plan is None or plan.value_micros == best_plan.value_micros


def test_an_answer_that_denies_the_empty_plan_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = build

    def impossible(problem: Problem, rounding: Rounding) -> ExactModel:
        exact = honest(problem, rounding)
        exact.model.add_bool_or([])
        return exact

    monkeypatch.setattr("solvers.cpsat.exact.build", impossible)
    with pytest.raises(SolverFault, match="a plan worth 0 micros is known, the solver says infeasible"):
        solve_exact(a_problem())


def test_a_bound_below_a_known_plan_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = build

    def lazy(problem: Problem, rounding: Rounding) -> ExactModel:
        exact = honest(problem, rounding)
        for choice in exact.variables.choices:
            exact.model.add(choice.present == 0)
        return exact

    problem = a_problem()
    hint = solve_exact(problem)
    monkeypatch.setattr("solvers.cpsat.exact.build", lazy)
    with pytest.raises(SolverFault, match="a plan worth 1000 micros is known"):
        solve_exact(problem, hint=hint)


def test_a_model_that_is_none_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = build

    def broken(problem: Problem, rounding: Rounding) -> ExactModel:
        exact = honest(problem, rounding)
        exact.model.proto.variables[0].domain.extend((5, 4))
        return exact

    monkeypatch.setattr("solvers.cpsat.exact.build", broken)
    with pytest.raises(SolverFault, match="not a model"):
        solve_exact(a_problem())


def test_a_proof_that_is_open_is_called_bounded() -> None:
    draw = random.Random(7)
    pools = (a_pool(*[a_node(8)] * 3),)
    tasks = tuple(
        a_task(a_mode(draw.randint(1, 7), duration=draw.randint(1, 9)), worth_micros=draw.randint(10**6, 10**7))
        for _ in range(40)
    )
    problem = a_problem(*tasks, slots=24, pools=pools)
    plan = solve_exact(problem, hint=a_solution(problem, {}), deterministic_time=0.2)
    assert plan is not None
    assert plan.proof is Proof.BOUNDED
    assert plan.bound_micros is not None
    assert plan.bound_micros > plan.value_micros
    assert check(problem, plan) == ()
