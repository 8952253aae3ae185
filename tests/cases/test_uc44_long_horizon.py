"""UC-44, on problems: thirty days in slots of five minutes still get a plan with its gap, also when stopped at once."""

from __future__ import annotations

import random

import pytest

from solvers.check import check
from solvers.problem import Problem
from solvers.solution import Proof
from solvers.solve import solve
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_task

SLOTS = 30 * 24 * 12


@pytest.fixture(scope="module")
def month() -> Problem:
    """Two hundred jobs of 1 to 16 devices and 1 to 72 hours on 6 nodes of 8."""
    draw = random.Random(44)
    tasks = []
    for _ in range(200):
        count, devices = draw.choice(((1, 1), (1, 2), (1, 4), (1, 8), (2, 8)))
        duration = 12 * draw.randint(1, 72)
        worth = count * devices * duration * draw.choice((1_000, 2_000, 4_000))
        tasks.append(a_task(a_mode(devices, count=count, duration=duration), worth_micros=worth, delay_micros=devices))
    return a_problem(*tasks, slots=SLOTS, pools=(a_pool(*[a_node(8)] * 6),))


def test_a_budget_of_nothing_gives_a_plan_with_its_gap(month: Problem) -> None:
    solution = solve(month, budget=0)
    assert check(month, solution) == ()
    assert len(solution.assignments) > 100
    assert solution.proof in {Proof.BOUNDED, Proof.OPTIMAL}
    assert solution.gap_ppm is not None
    assert 0 <= solution.gap_ppm < 200_000


def test_a_search_stopped_at_once_gives_a_plan_all_the_same(month: Problem) -> None:
    solution = solve(month, stop=lambda: True)
    assert check(month, solution) == ()
    assert solution.assignments
    assert solution.bound_micros is not None
