"""UC-42: memory in bytes, four jobs, and a solver that would call 8 optimal where 16 is true."""

from __future__ import annotations

import random

from ortools.sat.python import cp_model

from solvers.check import check
from solvers.cpsat.exact import solve_exact
from solvers.cpsat.rows import AtMost, Rows, Term
from solvers.problem import Problem
from solvers.solution import Proof
from tests.solvers.brute_force import optimum
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_task

GIB = 2**30
WEIGHTS = (79 * GIB + 3, 45 * GIB + 2, 26 * GIB + 3, 50 * GIB + 2)
GAINS = (8, 8, 4, 2)


def test_the_instance_of_the_report_is_worth_sixteen() -> None:
    rows = Rows(model=cp_model.CpModel())
    x = [rows.model.new_bool_var(f"x{at}") for at in range(4)]
    enforced = rows.model.new_bool_var("e")
    memory = tuple(Term(coefficient=weight, variable=each) for weight, each in zip(WEIGHTS, x, strict=True))
    rows.post("capacity/memory", AtMost(terms=memory, upper=98 * GIB), when=(enforced,))
    rows.model.add_bool_or(enforced, ~x[2], ~x[1])
    rows.model.add_at_most_one(x[1], x[3])
    scale = rows.maximize(tuple(Term(coefficient=gain, variable=each) for gain, each in zip(GAINS, x, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(rows.model) == cp_model.OPTIMAL
    assert round(solver.objective_value) * scale == 16


def jobs(weights: tuple[int, ...], gains: tuple[int, ...], capacity: int) -> Problem:
    """Jobs of one slot on two nodes with so many bytes of memory, in a horizon of one slot."""
    tasks = (a_task(a_mode(1, each, duration=1), worth_micros=gain) for each, gain in zip(weights, gains, strict=True))
    return a_problem(*tasks, slots=1, pools=(a_pool(a_node(8, capacity), a_node(8, capacity)),))


def test_four_jobs_in_bytes_reach_the_best_plan() -> None:
    problem = jobs(WEIGHTS, GAINS, 98 * GIB)
    plan = solve_exact(problem)
    assert plan is not None
    assert (plan.value_micros, plan.proof) == (20, Proof.OPTIMAL)
    assert optimum(problem).value_micros == 20


def test_four_hundred_fleets_in_bytes_have_no_wrong_optimum() -> None:
    for seed in range(400):
        draw = random.Random(seed)
        weights = tuple(draw.randint(20, 90) * GIB + draw.randint(0, 9) for _ in range(4))
        gains = tuple(draw.choice((2, 4, 8, 16)) for _ in range(4))
        problem = jobs(weights, gains, draw.randint(60, 130) * GIB)
        plan = solve_exact(problem)
        assert plan is not None
        assert check(problem, plan) == ()
        truth = optimum(problem).value_micros
        assert plan.bound_micros is not None
        assert plan.value_micros <= truth <= plan.bound_micros, seed
