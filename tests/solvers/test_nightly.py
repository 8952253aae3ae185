"""Ten thousand fresh problems with all rules a night: no plan breaks a rule, and no bound is below a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from solvers.check import check
from solvers.problem import Problem
from solvers.solve import solve
from tests.solvers.brute_force import optimum
from tests.solvers.strategies import problems

SHARES = 20
EACH = 250
"""Problems a share and test, so that several workers can take part: 10,000 in all."""

in_shares = pytest.mark.parametrize("share", range(SHARES))
BUDGETS = (0, 1, 20)
"""Too little for any proof, too little for the exact one of most crowded problems, and enough to improve a while."""


def crowded(problem: Problem) -> Problem:
    """Five times the work, of which only the first copy runs already or comes after other work."""
    copies = (
        replace(task, name=f"{task.name} {copy}", stays=task.stays and not copy, after=() if copy else task.after)
        for copy in range(5)
        for task in problem.tasks
    )
    return replace(problem, tasks=tuple(copies))


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
@in_shares
def test_of_small_problems_every_bound_is_at_least_the_best_plan(share: int) -> None:
    @settings(max_examples=EACH)
    @given(problems())
    def holds(problem: Problem) -> None:
        best = optimum(problem).value_micros
        for budget in BUDGETS:
            plan = solve(problem, budget=budget)
            assert check(problem, plan) == (), share
            assert plan.bound_micros is not None
            assert plan.value_micros <= best <= plan.bound_micros

    holds()


@pytest.mark.nightly
@pytest.mark.timeout(1_800)
@in_shares
def test_of_crowded_problems_every_bound_is_at_least_every_plan(share: int) -> None:
    @settings(max_examples=EACH)
    @given(problems().map(crowded))
    def holds(problem: Problem) -> None:
        plans = [solve(problem, budget=budget) for budget in BUDGETS]
        assert [check(problem, plan) for plan in plans] == [(), (), ()], share
        bounds = [plan.bound_micros for plan in plans if plan.bound_micros is not None]
        assert len(bounds) == len(plans)
        assert max(plan.value_micros for plan in plans) <= min(bounds)

    holds()
