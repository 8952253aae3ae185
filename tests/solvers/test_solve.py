"""The driver: one answer for one problem and budget, valid whenever it is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings

from solvers.check import CheckError, check
from solvers.jsonform import to_json
from solvers.problem import Problem
from solvers.solution import Proof, Solution
from solvers.solve import Progress, solve
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_previous, a_problem, a_row, a_task
from tests.solvers.reorder import reversed_problem
from tests.solvers.strategies import problems


def _busy(count: int = 90) -> Problem:
    """More tasks than the exact solver is given, on nodes, in two pools, under a limit."""
    tasks = tuple(
        a_task(
            a_mode(1 + number % 8, duration=1 + number % 5, charges=((0, 1 + number % 8),)),
            a_mode(parts=(a_part(4, count=1 + number % 2),), pool=1, duration=2 + number % 3),
            worth_micros=1_000 + 37 * (number * number % 101),
            delay_micros=3 + number % 4,
            earliest=number % 6,
        )
        for number in range(count)
    )
    pools = (a_pool(*(a_node() for _ in range(3)), name="a"), a_pool(*(a_node(4) for _ in range(4)), name="b"))
    return a_problem(*tasks, slots=16, pools=pools, rows=(a_row((16,) * 16),))


def _by_name(problem: Problem, solution: Solution) -> dict[str, tuple[int, int, tuple[str, ...]]]:
    placed = {}
    for one in solution.assignments:
        task, run = problem.tasks[one.task], one.runs[0]
        pool = problem.pools[task.modes[run.mode].pool]
        placed[task.name] = (run.mode, run.start, tuple(sorted(pool.nodes[seat.node].name for seat in run.seats)))
    return placed


@pytest.mark.parametrize("budget", [0, 1, 20])
def test_a_large_problem_gets_a_valid_plan_under_a_bound(budget: int) -> None:
    problem = _busy()
    found = solve(problem, budget=budget)
    assert check(problem, found) == ()
    assert found.proof is Proof.BOUNDED
    assert found.bound_micros is not None
    assert found.bound_micros > found.value_micros > 0


def test_more_budget_is_never_worse_than_the_first_plan() -> None:
    problem = _busy()
    assert solve(problem, budget=20).value_micros >= solve(problem, budget=0).value_micros


def test_the_same_problem_gets_the_same_bytes() -> None:
    problem = _busy()
    first, second = (to_json(solve(problem, budget=5)) for _ in range(2))
    assert first == second


def test_the_order_in_which_things_are_listed_changes_nothing() -> None:
    problem = _busy()
    turned = reversed_problem(problem)
    straight, back = solve(problem, budget=5), solve(turned, budget=5)
    assert _by_name(problem, straight) == _by_name(turned, back)
    assert (straight.value_micros, straight.bound_micros) == (back.value_micros, back.bound_micros)


@pytest.mark.parametrize("calls", [1, 2, 5, 12, 30])
def test_an_interrupted_search_keeps_a_valid_plan(calls: int) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= calls

    problem = _busy()
    found = solve(problem, budget=50, stop=stop)
    assert check(problem, found) == ()
    assert found.value_micros > 0


def test_progress_only_ever_gets_better() -> None:
    seen: list[Progress] = []
    found = solve(_busy(), budget=10, progress=seen.append)
    values = [one.value_micros for one in seen if one.value_micros is not None]
    bounds = [one.bound_micros for one in seen if one.bound_micros is not None]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    assert [phase for phase in ("prices", "construct", "improve") if phase in {one.phase for one in seen}] == [
        "prices",
        "construct",
        "improve",
    ]
    assert values[-1] <= found.value_micros
    assert seen[-1].gap_ppm == -(-(10**6) * (bounds[-1] - values[-1]) // bounds[-1])


def test_a_small_problem_is_solved_to_the_end() -> None:
    problem = a_problem(*(a_task(a_mode(5), worth_micros=1_000 + number) for number in range(9)))
    found = solve(problem)
    assert found.proof is Proof.OPTIMAL
    assert found.value_micros == 1_008 + 1_007 + 1_006 + 1_005


def test_nothing_to_do_is_a_plan() -> None:
    found = solve(replace(a_problem(), tasks=()))
    assert (found.assignments, found.value_micros, found.bound_micros) == ((), 0, 0)
    nowhere = replace(a_problem(), pools=(), tasks=(replace(a_task(), modes=()),))
    assert solve(nowhere).proof is Proof.OPTIMAL


def test_prices_are_by_device_and_never_negative() -> None:
    problem = replace(_busy(), units=2)
    prices = solve(problem, budget=3).prices
    assert [one.pool for one in prices] == [0, 1]
    assert all(len(one.micros) == problem.slots and min(one.micros) >= 0 for one in prices)
    assert max(max(one.micros) for one in prices) > 0
    first = solve(problem, budget=0).prices
    assert all(micros % 2 == 0 for one in first for micros in one.micros)


def test_a_task_stays_where_it_was_when_that_costs_nothing() -> None:
    """Seventy tasks of one node each stay on the nodes they had, though the canonical plan has them elsewhere."""
    pool = a_pool(*(a_node() for _ in range(70)))
    tasks = tuple(a_task(a_mode(8, duration=8), previous=a_previous(0, (69 - number, 8))) for number in range(70))
    problem = a_problem(*tasks, pools=(pool,))
    found = solve(problem, budget=3)
    assert [one.runs[0].seats[0].node for one in found.assignments] == list(range(69, -1, -1))


def test_a_task_more_moves_none_that_need_not_move() -> None:
    pool = a_pool(*(a_node() for _ in range(40)))
    tasks = tuple(a_task(a_mode(4, duration=8), worth_micros=1_000, move_micros=1) for _ in range(70))
    first = solve(a_problem(*tasks, pools=(pool,)), budget=3)
    kept = tuple(
        replace(task, previous=a_previous(one.runs[0].start, *((seat.node, 4) for seat in one.runs[0].seats)))
        for task, one in zip(tasks, first.assignments, strict=True)
    )
    again = solve(a_problem(*kept, a_task(a_mode(4, duration=8)), pools=(pool,)), budget=3)
    assert [one.runs[0].seats for one in again.assignments[:70]] == [one.runs[0].seats for one in first.assignments]
    assert len(again.assignments) == 71


def test_a_wrong_answer_is_a_fault_and_never_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.solve.split", lambda _, assignments: assignments[1:])
    with pytest.raises(CheckError):
        solve(_busy(), budget=0)


def test_the_face_of_the_package_loads_no_solver() -> None:
    code = "import sys, solvers; solvers.Problem; print(sorted({'numba', 'numpy', 'ortools'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.interpreted
@settings(max_examples=25)
@given(problems())
def test_first_plans_are_right_when_interpreted(problem: Problem) -> None:
    assert check(problem, solve(problem, budget=0)) == ()


def test_compiled_and_interpreted_code_give_the_same_bytes() -> None:
    problem = _busy(20)
    code = (
        "import sys\n"
        "from solvers.jsonform import problem_from_json, to_json\n"
        "import solvers.solve as driver\n"
        "driver.EXACT_TASKS = 0\n"
        "print(to_json(driver.solve(problem_from_json(sys.stdin.read()), budget=0)))"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code],
            input=to_json(problem),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
        ).stdout
        for flag in ("0", "1")
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) > 1_000
