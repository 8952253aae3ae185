"""The checker's sums and claims; its rules are in test_rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solvers.check import CheckError, Claim, Violation, check, moved_devices, raise_if_wrong, run_value, value
from solvers.problem import Problem, Task
from solvers.rules import Rule
from solvers.solution import Assignment, Proof, Run, Solution
from tests.solvers.builders import (
    a_mode,
    a_node,
    a_part,
    a_pool,
    a_previous,
    a_problem,
    a_row,
    a_run,
    a_solution,
    a_task,
    seats,
)

PLAIN = a_problem()
FOUR = (a_pool(*[a_node(8)] * 4), a_pool(*[a_node(8)] * 4, name="other"))
MOVING = a_task(
    a_mode(8, count=2), a_mode(4, count=3), a_mode(8, pool=1), move_micros=1, previous=a_previous(3, (0, 8), (1, 4))
)


def solution_of(problem: Problem, proof: Proof = Proof.HEURISTIC, bound: int | None = None) -> Solution:
    """The one task from slot 0, worth 1,000 micros."""
    return replace(a_solution(problem, {0: a_run(0)}), proof=proof, bound_micros=bound)


def faults(problem: Problem, solution: Solution) -> list[tuple[Rule | Claim, str]]:
    """Rule and subject of each violation."""
    return [(violation.rule, violation.subject) for violation in check(problem, solution)]


@pytest.mark.parametrize(
    ("task", "start", "micros"),
    [
        pytest.param(a_task(), 0, 1_000, id="the worth"),
        pytest.param(a_task(premium_micros=500), 6, 1_500, id="worth and premium, ending with the horizon"),
        pytest.param(a_task(premium_micros=501), 7, 750, id="half of both when half is inside, rounded down"),
        pytest.param(a_task(delay_micros=7), 3, 1_000 - 7 * 5, id="delay until it ends"),
        pytest.param(a_task(delay_micros=7, since=-4), 3, 1_000 - 7 * 9, id="delay since before the horizon"),
        pytest.param(a_task(delay_micros=7), 7, 500 - 7 * 9, id="delay past the horizon too"),
        pytest.param(a_task(due=5, late_micros=100), 3, 1_000, id="done when due"),
        pytest.param(a_task(due=4, late_micros=100), 3, 900, id="one slot late"),
        pytest.param(a_task(due=-5, late_micros=100), 3, 0, id="as late as it is worth"),
        pytest.param(a_task(due=-6, late_micros=100, premium_micros=9), 3, 9, id="later, and the premium stays"),
        pytest.param(a_task(a_mode(cash_micros=30, power_micros=2)), 0, 936, id="cash and power a slot"),
        pytest.param(a_task(a_mode(cash_micros=30, power_micros=2)), 7, 468, id="cash and power inside the horizon"),
        pytest.param(a_task(a_mode(duration=3)), 6, 666, id="two thirds inside, rounded down"),
        pytest.param(a_task(move_micros=10), 0, 1_000, id="no move without a previous run"),
        pytest.param(a_task(move_micros=10, previous=a_previous(0, (0, 8))), 0, 1_000, id="stays"),
        pytest.param(a_task(move_micros=10, previous=a_previous(1, (0, 8))), 0, 920, id="eight devices moved in time"),
    ],
)
def test_a_run_is_worth(task: Task, start: int, micros: int) -> None:
    problem = a_problem(task)
    duration = task.modes[0].duration
    run = a_run(start, end=start + duration)
    assert run_value(problem, problem.tasks[0], run) == micros
    assert value(problem, a_solution(problem, {0: run})) == micros


@pytest.mark.parametrize(
    ("run", "devices"),
    [
        pytest.param(a_run(3, 0, 1), 4, id="the same nodes, four devices more on one"),
        pytest.param(a_run(3, 1, 0), 4, id="in any order"),
        pytest.param(a_run(3, 0, 2), 8, id="one node stays"),
        pytest.param(a_run(3, 2, 3), 16, id="no node stays"),
        pytest.param(a_run(4, 0, 1), 16, id="another start moves all"),
        pytest.param(a_run(3, 0, 1, 2, mode=1), 4, id="another mode of the pool keeps what it had there"),
        pytest.param(a_run(3, 0, mode=2), 8, id="another pool moves all"),
    ],
)
def test_devices_that_move_are_counted(run: Run, devices: int) -> None:
    assert moved_devices(MOVING, run) == devices


def test_parts_of_a_gang_move_by_what_they_use() -> None:
    task = a_task(a_mode(parts=(a_part(8), a_part(2))), move_micros=1, previous=a_previous(0, (0, 8), (1, 2)))
    assert moved_devices(task, a_run(0, seats=seats((0, 0), (1, 1)))) == 0
    assert moved_devices(task, a_run(0, seats=seats((1, 0), (0, 1)))) == 6


@pytest.mark.parametrize(
    ("guarantee", "bonus"),
    [
        pytest.param((12,) * 8, 12 + 12, id="all of it inside"),
        pytest.param((5,) * 8, 5 + 5, id="up to the guarantee, all runs together"),
        pytest.param((0, 5, 0, 0, 0, 0, 0, 0), 5, id="slot by slot"),
        pytest.param((0,) * 8, 0, id="none"),
    ],
)
def test_guaranteed_use_earns_the_bonus(guarantee: tuple[int, ...], bonus: int) -> None:
    tasks = (a_task(a_mode(1, charges=((0, amount),)), worth_micros=0) for amount in (4, 8))
    problem = a_problem(*tasks, rows=(a_row(guarantee=guarantee, bonus=1),))
    assert value(problem, a_solution(problem, {0: a_run(0), 1: a_run(0)})) == bonus


@pytest.mark.parametrize(
    ("proof", "bound", "broken"),
    [
        (Proof.HEURISTIC, None, []),
        (Proof.BOUNDED, 1_000, []),
        (Proof.BOUNDED, 1_001, []),
        (Proof.BOUNDED, 999, [(Claim.BOUND, "solution")]),
        (Proof.BOUNDED, None, [(Claim.BOUND, "solution")]),
        (Proof.OPTIMAL, 1_000, []),
        (Proof.OPTIMAL, 1_001, [(Claim.BOUND, "solution")]),
        (Proof.OPTIMAL, None, [(Claim.BOUND, "solution")]),
        (Proof.NONE, None, [(Claim.FORM, "proof")]),
        (Proof.INFEASIBLE, None, [(Claim.FORM, "proof")]),
    ],
)
def test_a_proof_agrees_with_its_bound(proof: Proof, bound: int | None, broken: list[tuple[Rule | Claim, str]]) -> None:
    assert faults(PLAIN, solution_of(PLAIN, proof, bound)) == broken


@pytest.mark.parametrize("off", [-1, 1])
def test_a_value_off_by_one_is_found(off: int) -> None:
    plan = solution_of(PLAIN)
    assert faults(PLAIN, replace(plan, value_micros=plan.value_micros + off)) == [(Claim.VALUE, "solution")]


def test_assignments_are_in_task_order_each_task_once() -> None:
    problem = a_problem(a_task(), a_task(), pools=(a_pool(a_node(16)),))
    plan = a_solution(problem, {0: a_run(0), 1: a_run(0)})
    backwards = replace(plan, assignments=plan.assignments[::-1])
    assert faults(problem, plan) == []
    assert faults(problem, backwards) == [(Claim.FORM, "assignments")]


@pytest.mark.parametrize("task", [-1, 1])
def test_a_task_that_does_not_exist_is_found(task: int) -> None:
    plan = Solution(
        assignments=(Assignment(task=task, runs=(a_run(0),)),),
        value_micros=0,
        bound_micros=None,
        proof=Proof.HEURISTIC,
    )
    assert faults(PLAIN, plan) == [(Claim.FORM, str(task))]


def test_all_faults_are_listed_not_only_the_first() -> None:
    problem = a_problem(a_task(deadline=1), a_task(earliest=4))
    plan = a_solution(problem, {0: a_run(0), 1: a_run(1)})
    assert faults(problem, plan) == [(Rule.CAPACITY, "pool/n0"), (Rule.WINDOW, "t0"), (Rule.WINDOW, "t1")]


def test_the_empty_plan_of_no_tasks_is_right() -> None:
    problem = Problem(slots=1, pools=(), tasks=())
    assert check(problem, Solution(assignments=(), value_micros=0, bound_micros=0, proof=Proof.OPTIMAL)) == ()


def test_a_wrong_plan_is_raised_with_its_instance() -> None:
    plan = replace(solution_of(PLAIN), value_micros=1)
    with pytest.raises(CheckError) as caught:
        raise_if_wrong(PLAIN, plan)
    assert (caught.value.problem, caught.value.solution) == (PLAIN, plan)
    expected = Violation(rule=Claim.VALUE, subject="solution", detail="claims 1 micros, is worth 1000")
    assert caught.value.violations == (expected,)
    assert str(caught.value) == "wrong plan: value/solution: claims 1 micros, is worth 1000"


def test_a_right_plan_raises_nothing() -> None:
    raise_if_wrong(PLAIN, solution_of(PLAIN))
