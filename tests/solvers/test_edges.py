"""Numbers where 32-bit integers and floats end: a difference of one still decides."""

from __future__ import annotations

import pytest

from solvers.check import check
from solvers.problem import LARGEST, Problem, ProblemError
from solvers.solution import Proof
from solvers.solve import solve
from tests.solvers.brute_force import optimum
from tests.solvers.builders import a_budget, a_mode, a_node, a_pool, a_problem, a_row, a_task

EDGES = [edge + off for edge in (2**31, 2**53) for off in (-1, 0, 1)]


def best(problem: Problem) -> int:
    """The value of the plan found: it obeys all rules, is the best, and is called so only where that is proven.

    At these edges a proof may lack a micro or a byte, since the exact solver's rows are rounded outwards.
    """
    plan = solve(problem, budget=20)
    assert check(problem, plan) == ()
    assert plan.bound_micros is not None
    assert plan.value_micros == optimum(problem).value_micros <= plan.bound_micros
    assert (plan.proof is Proof.OPTIMAL) == (plan.bound_micros == plan.value_micros)
    return plan.value_micros


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("more", "value"), [(0, 2_000), (1, 1_000)])
def test_two_runs_share_a_node_that_holds_both_to_the_last_byte(edge: int, more: int, value: int) -> None:
    tasks = (a_task(a_mode(1, each, duration=1)) for each in (edge // 2, edge - edge // 2 + more))
    assert best(a_problem(*tasks, slots=1, pools=(a_pool(a_node(8, edge)),))) == value


@pytest.mark.parametrize("edge", EDGES)
def test_of_two_runs_the_one_that_is_worth_a_micro_more_takes_the_node(edge: int) -> None:
    tasks = (a_task(a_mode(duration=1), worth_micros=edge + more) for more in (0, 1))
    assert best(a_problem(*tasks, slots=1)) == edge + 1


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("less", "value"), [(0, 1), (1, 0)])
def test_a_budget_pays_for_a_run_to_the_last_micro(edge: int, less: int, value: int) -> None:
    task = a_task(a_mode(duration=1, cash_micros=edge), worth_micros=edge + 1, budgets=(0,))
    assert best(a_problem(task, slots=1, budgets=(a_budget(edge - less),))) == value


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("less", "value"), [(0, 1_000), (1, 0)])
def test_a_row_holds_a_charge_to_the_last_unit(edge: int, less: int, value: int) -> None:
    task = a_task(a_mode(1, duration=1, charges=((0, edge),)))
    assert best(a_problem(task, slots=1, rows=(a_row(limit=(edge - less,)),))) == value


@pytest.mark.parametrize("exponent", [59, 62])
def test_numbers_whose_sums_no_integer_holds_are_refused(exponent: int) -> None:
    worth = 2**exponent
    if 2 * worth + 1_000 < LARGEST:
        assert best(a_problem(a_task(a_mode(duration=1), worth_micros=worth), slots=1)) == worth
    else:
        with pytest.raises(ProblemError, match="more than int64 arithmetic holds safely"):
            a_problem(a_task(a_mode(duration=1), worth_micros=worth), slots=1)
