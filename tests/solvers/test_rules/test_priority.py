"""Priority: who holds a row's guarantee, in which order, and the least share over a run's slots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solvers.check import check
from solvers.problem import Mode, Problem
from solvers.rules import Rule
from solvers.solution import Run, Solution
from solvers.split import split
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_row, a_run, a_solution, a_task

WIDE = (a_pool(a_node(64)),)


def homed(amount: int, row: int = 0, home: int | None = 0, **facts: Any) -> Mode:
    """Two slots that charge `amount` to a row."""
    return a_mode(1, charges=((row, amount),), home=home, **facts)


def guaranteed(*tasks: dict[str, Any], steps: tuple[int, ...] = (10,) * 8) -> Problem:
    """Tasks that charge 6 units each at home in a row that guarantees 10."""
    return a_problem(*(a_task(homed(6), **facts) for facts in tasks), pools=WIDE, rows=(a_row(guarantee=steps),))


P1, P2 = {"priority": 1}, {"priority": 2}
KEPT = {"interruptible": False, "priority": 3}
NESTED = a_problem(
    a_task(a_mode(1, charges=((0, 6), (1, 6)), home=0), priority=1),
    a_task(homed(6, row=1, home=1), priority=2),
    a_task(homed(6, row=1, home=None), priority=3),
    pools=WIDE,
    rows=(a_row(guarantee=(4,) * 8, subject="child"), a_row(guarantee=(10,) * 8, subject="parent")),
)
NOTHING = a_problem(a_task(homed(6)), pools=WIDE, rows=(a_row(),))

TABLE: tuple[tuple[str, Problem, dict[int, Run], dict[int, int]], ...] = (
    ("alone inside it", guaranteed(P2), {0: a_run(0)}, {0: 6}),
    ("the higher priority first", guaranteed(P2, P1), {0: a_run(0), 1: a_run(0)}, {0: 4, 1: 6}),
    ("what may not be interrupted before any priority", guaranteed(P1, KEPT), {0: a_run(0), 1: a_run(0)}, {0: 4, 1: 6}),
    ("the earlier start first", guaranteed(P2, P2), {0: a_run(1), 1: a_run(0)}, {0: 4, 1: 6}),
    ("the lower position first", guaranteed(P2, P2), {0: a_run(0), 1: a_run(0)}, {0: 6, 1: 4}),
    ("the rest of the rest", guaranteed(P2, P2, P2), {0: a_run(0), 1: a_run(0), 2: a_run(0)}, {0: 6, 1: 4, 2: 0}),
    ("no slot in common", guaranteed(P2, P2), {0: a_run(0), 1: a_run(2)}, {0: 6, 1: 6}),
    ("the least over its slots", guaranteed(P2, steps=(9, 3, 9, 9, 9, 9, 9, 9)), {0: a_run(0)}, {0: 3}),
    ("nothing guaranteed in its second slot", guaranteed(P2, steps=(9, 0, 9, 9, 9, 9, 9, 9)), {0: a_run(0)}, {0: 0}),
    ("the horizon's slots only", guaranteed(P2, steps=(0, 0, 0, 0, 0, 0, 0, 6)), {0: a_run(7)}, {0: 6}),
    ("a parent's guarantee goes to children too", NESTED, {0: a_run(0), 1: a_run(0), 2: a_run(0)}, {0: 4, 1: 4, 2: 0}),
    ("a row that guarantees nothing", NOTHING, {0: a_run(0)}, {0: 0}),
)


def labelled(problem: Problem, runs: dict[int, Run], shares: dict[int, int]) -> Solution:
    """The plan with these shares."""
    return a_solution(problem, {task: replace(run, guaranteed=shares[task]) for task, run in runs.items()})


@pytest.mark.parametrize(("problem", "runs", "shares"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_guarantee_is_shared_out_in_order(problem: Problem, runs: dict[int, Run], shares: dict[int, int]) -> None:
    plan = labelled(problem, runs, shares)
    assert check(problem, plan) == ()
    assert split(problem, a_solution(problem, runs).assignments) == plan.assignments


@pytest.mark.parametrize("off", [-1, 1])
@pytest.mark.parametrize(("problem", "runs", "shares"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_share_off_by_one_breaks_the_rule(
    problem: Problem, runs: dict[int, Run], shares: dict[int, int], off: int
) -> None:
    for task in runs:
        plan = labelled(problem, runs, shares | {task: shares[task] + off})
        assert [(v.rule, v.subject) for v in check(problem, plan)] == [(Rule.PRIORITY, f"t{task}")]
