"""Gang: one run at most, and in it each part on just its count of nodes, all different."""

from __future__ import annotations

from dataclasses import replace

from solvers.check import check
from solvers.rules import Rule
from solvers.solution import Assignment
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_problem, a_run, a_solution, a_task, seats
from tests.solvers.rule_cases import RuleCase, judge, table

FOUR = (a_pool(*[a_node(8)] * 4),)
GANG = a_problem(a_task(a_mode(2, count=3)), pools=FOUR)
ROLES = a_problem(a_task(a_mode(parts=(a_part(4), a_part(2, count=2)))), pools=FOUR)

CASES = (
    RuleCase(says="nobody has to run", problem=GANG, runs={}, breaks=False),
    RuleCase(says="three of three", problem=GANG, runs={0: a_run(0, 0, 1, 2)}, breaks=False),
    RuleCase(says="any three", problem=GANG, runs={0: a_run(0, 0, 2, 3)}, breaks=False),
    RuleCase(says="two of three", problem=GANG, runs={0: a_run(0, 0, 1)}, breaks=True),
    RuleCase(says="four of three", problem=GANG, runs={0: a_run(0, 0, 1, 2, 3)}, breaks=True),
    RuleCase(says="no seats at all", problem=GANG, runs={0: a_run(0, seats=())}, breaks=True),
    RuleCase(says="one node twice", problem=GANG, runs={0: a_run(0, 0, 1, 1)}, breaks=True),
    RuleCase(says="a node the pool has not", problem=GANG, runs={0: a_run(0, 0, 1, 4)}, breaks=True, in_model=False),
    RuleCase(says="node minus one", problem=GANG, runs={0: a_run(0, -1, 0, 1)}, breaks=True, in_model=False),
    RuleCase(
        says="a master and two workers",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((3, 0), (0, 1), (1, 1)))},
        breaks=False,
    ),
    RuleCase(
        says="two masters and a worker",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((3, 0), (0, 0), (1, 1)))},
        breaks=True,
    ),
    RuleCase(
        says="a worker beside its master",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((0, 0), (0, 1), (1, 1)))},
        breaks=True,
    ),
    RuleCase(
        says="workers without a master", problem=ROLES, runs={0: a_run(0, seats=seats((0, 1), (1, 1)))}, breaks=True
    ),
    RuleCase(
        says="a part the mode has not",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((3, 0), (0, 1), (1, 1), (2, 2)))},
        breaks=True,
        in_model=False,
    ),
)


@table(CASES)
def test_gang(case: RuleCase) -> None:
    judge(case, Rule.GANG)


def test_a_task_does_not_run_twice() -> None:
    once = a_solution(GANG, {0: a_run(0, 0, 1, 2)})
    twice = replace(once, assignments=(Assignment(task=0, runs=(a_run(0, 0, 1, 2), a_run(4, 0, 1, 2))),))
    assert {str(violation.rule) for violation in check(GANG, twice)} == {"gang", "value"}
