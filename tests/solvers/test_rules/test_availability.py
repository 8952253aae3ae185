"""Availability: as long as a run may last, none of its nodes is closed, also past the horizon."""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table


def closed(start: int, end: int, limit: int = 2) -> Problem:
    """Node 0 is closed, node 1 open, in a horizon of 8 slots; the task lasts 2 slots and may last `limit`."""
    pool = a_pool(a_node(8, closed=(start, end)), a_node(8))
    return a_problem(a_task(a_mode(8, duration=2, limit=limit)), pools=(pool,))


def one_node(start: int, end: int) -> Problem:
    """The same in a pool of one node."""
    return a_problem(a_task(a_mode(8, duration=2, limit=4)), pools=(a_pool(a_node(8, closed=(start, end))),))


GANG = a_problem(a_task(a_mode(8, count=2)), pools=(a_pool(a_node(8, closed=(3, 4)), a_node(8), a_node(8)),))

CASES = (
    RuleCase(says="closed from its end on", problem=closed(4, 6), runs={0: a_run(2, 0)}, breaks=False),
    RuleCase(says="closed in its last slot", problem=closed(3, 6), runs={0: a_run(2, 0)}, breaks=True),
    RuleCase(says="closed until it starts", problem=closed(0, 2), runs={0: a_run(2, 0)}, breaks=False),
    RuleCase(says="closed in its first slot", problem=closed(0, 3), runs={0: a_run(2, 0)}, breaks=True),
    RuleCase(says="closed within", problem=closed(3, 4, limit=4), runs={0: a_run(2, 0)}, breaks=True),
    RuleCase(says="on the node that is open", problem=closed(0, 8), runs={0: a_run(2, 1)}, breaks=False),
    RuleCase(
        says="expected to end before, may last until",
        problem=closed(5, 6, limit=3),
        runs={0: a_run(2, 0)},
        breaks=False,
    ),
    RuleCase(
        says="expected to end before, may last longer",
        problem=closed(5, 6, limit=4),
        runs={0: a_run(2, 0)},
        breaks=True,
    ),
    RuleCase(
        says="closed past the horizon when it may still last",
        problem=closed(9, 12, limit=4),
        runs={0: a_run(6, 0)},
        breaks=True,
    ),
    RuleCase(
        says="closed past the horizon when it cannot last",
        problem=closed(10, 12, limit=4),
        runs={0: a_run(6, 0)},
        breaks=False,
    ),
    RuleCase(says="closed since before the horizon", problem=closed(-4, 1), runs={0: a_run(0, 0)}, breaks=True),
    RuleCase(says="closed before the horizon", problem=closed(-4, 0), runs={0: a_run(0, 0)}, breaks=False),
    RuleCase(says="one node of a gang is closed", problem=GANG, runs={0: a_run(2, 0, 1)}, breaks=True),
    RuleCase(says="a gang around the closed node", problem=GANG, runs={0: a_run(2, 1, 2)}, breaks=False),
    RuleCase(
        says="the only node is open as long as it may last", problem=one_node(4, 5), runs={0: a_run(0)}, breaks=False
    ),
    RuleCase(says="the only node closes while it may last", problem=one_node(3, 5), runs={0: a_run(0)}, breaks=True),
)


@table(CASES)
def test_availability(case: RuleCase) -> None:
    judge(case, Rule.AVAILABILITY)
