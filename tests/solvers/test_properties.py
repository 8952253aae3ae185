"""What holds for any problem: solvers are held against every plan of small ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, seed, settings

from solvers.check import check
from solvers.cpsat.exact import solve_exact
from solvers.problem import Node, Problem
from solvers.solution import Proof
from solvers.solve import solve
from tests.solvers.brute_force import optimum
from tests.solvers.reorder import reversed_problem
from tests.solvers.strategies import problems

SHARES = 8
EACH = 250
"""Problems a share: 2,000 in all, split so that several workers can take part."""

in_shares = pytest.mark.parametrize("share", range(SHARES))


@in_shares
def test_the_exact_answer_is_the_best_of_all_plans(share: int) -> None:
    @seed(share)
    @settings(max_examples=EACH)
    @given(problems())
    def holds(problem: Problem) -> None:
        best = optimum(problem)
        exact = solve_exact(problem)
        assert exact is not None
        assert check(problem, exact) == ()
        assert (exact.value_micros, exact.bound_micros) == (best.value_micros, best.value_micros)
        assert exact.proof is Proof.OPTIMAL

    holds()


@in_shares
def test_a_small_problem_is_solved_to_the_best_and_its_first_bound_is_never_below_it(share: int) -> None:
    @seed(100 + share)
    @settings(max_examples=EACH)
    @given(problems())
    def holds(problem: Problem) -> None:
        best = optimum(problem)
        first, found = solve(problem, budget=0), solve(problem)
        assert check(problem, first) == ()
        assert first.value_micros <= best.value_micros
        assert first.bound_micros is not None
        assert first.bound_micros >= best.value_micros
        assert check(problem, found) == ()
        assert (found.value_micros, found.bound_micros) == (best.value_micros, best.value_micros)

    holds()


@settings(max_examples=100)
@given(problems())
def test_order_never_changes_the_best_value(problem: Problem) -> None:
    exact = solve_exact(problem)
    turned = solve_exact(reversed_problem(problem))
    assert exact is not None
    assert turned is not None
    assert turned.value_micros == exact.value_micros


@settings(max_examples=100)
@given(problems())
def test_more_capacity_never_worsens_the_best(problem: Problem) -> None:
    pools = tuple(replace(pool, nodes=tuple(_larger(node) for node in pool.nodes)) for pool in problem.pools)
    assert optimum(replace(problem, pools=pools)).value_micros >= optimum(problem).value_micros
    exact = solve_exact(replace(problem, pools=pools), hint=solve_exact(problem))
    assert exact is not None
    assert exact.value_micros >= optimum(problem).value_micros


def _larger(node: Node) -> Node:
    return replace(node, capacity=tuple(capacity + 1 for capacity in node.capacity))


@settings(max_examples=100)
@given(problems())
def test_a_plan_is_a_hint_to_itself(problem: Problem) -> None:
    exact = solve_exact(problem)
    again = solve_exact(problem, hint=exact)
    assert exact is not None
    assert again is not None
    assert (again.value_micros, again.bound_micros) == (exact.value_micros, exact.bound_micros)
