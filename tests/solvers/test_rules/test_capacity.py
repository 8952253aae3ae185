"""Capacity: what runs on a node and what is taken of it fit, node by node, slot by slot, resource by resource."""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_problem, a_run, a_taken, a_task, seats
from tests.solvers.rule_cases import RuleCase, judge, table


def two(left: int, right: int, *nodes: int) -> Problem:
    """Two tasks that use so many devices of one of the nodes each, for 2 slots."""
    pool = a_pool(*(a_node(capacity) for capacity in nodes))
    return a_problem(a_task(a_mode(left)), a_task(a_mode(right)), pools=(pool,))


def beside(taken: tuple[int, int, int], *use: int) -> Problem:
    """One task beside taken use `(start, end, devices)` on a node of 8 devices and 4 CPUs."""
    start, end, devices = taken
    node = a_node(8, 4, taken=(a_taken(start, end, devices, 0),))
    return a_problem(a_task(a_mode(*use)), pools=(a_pool(node),))


ROLES = a_problem(
    a_task(a_mode(parts=(a_part(8), a_part(2)))), a_task(a_mode(6)), pools=(a_pool(a_node(8), a_node(8)),)
)

CASES = (
    RuleCase(says="a node may be full", problem=two(5, 3, 8), runs={0: a_run(0), 1: a_run(0)}, breaks=False),
    RuleCase(says="one device too many", problem=two(5, 4, 8), runs={0: a_run(0), 1: a_run(0)}, breaks=True),
    RuleCase(
        says="one run starts when the other ends", problem=two(8, 8, 8), runs={0: a_run(0), 1: a_run(2)}, breaks=False
    ),
    RuleCase(says="one slot in common", problem=two(8, 8, 8), runs={0: a_run(0), 1: a_run(1)}, breaks=True),
    RuleCase(says="each on its own node", problem=two(8, 8, 8, 8), runs={0: a_run(0, 0), 1: a_run(0, 1)}, breaks=False),
    RuleCase(
        says="both on one node while the other is empty",
        problem=two(8, 8, 8, 8),
        runs={0: a_run(0, 1), 1: a_run(0, 1)},
        breaks=True,
    ),
    RuleCase(
        says="the pool has room but no node has",
        problem=two(6, 6, 6, 5),
        runs={0: a_run(0, 0), 1: a_run(0, 1)},
        breaks=True,
    ),
    RuleCase(says="beside what is taken", problem=beside((0, 8, 3), 5, 1), runs={0: a_run(0)}, breaks=False),
    RuleCase(
        says="one more than what is taken leaves", problem=beside((0, 8, 3), 6, 1), runs={0: a_run(0)}, breaks=True
    ),
    RuleCase(says="taken until it starts", problem=beside((0, 2, 8), 8, 1), runs={0: a_run(2)}, breaks=False),
    RuleCase(says="taken for one slot more", problem=beside((0, 3, 8), 8, 1), runs={0: a_run(2)}, breaks=True),
    RuleCase(says="taken from its end on", problem=beside((4, 9, 8), 8, 1), runs={0: a_run(2)}, breaks=False),
    RuleCase(says="taken since before the horizon", problem=beside((-3, 1, 1), 8, 1), runs={0: a_run(0)}, breaks=True),
    RuleCase(
        says="more taken than there is, and none of it used",
        problem=beside((0, 8, 9), 0, 4),
        runs={0: a_run(0)},
        breaks=False,
    ),
    RuleCase(
        says="more taken than there is, and one used", problem=beside((0, 8, 9), 1, 4), runs={0: a_run(0)}, breaks=True
    ),
    RuleCase(says="the second resource is full", problem=beside((0, 8, 0), 1, 4), runs={0: a_run(0)}, breaks=False),
    RuleCase(
        says="the second resource has one too many", problem=beside((0, 8, 0), 1, 5), runs={0: a_run(0)}, breaks=True
    ),
    RuleCase(
        says="beside the small part of a gang",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((0, 0), (1, 1))), 1: a_run(0, 1)},
        breaks=False,
    ),
    RuleCase(
        says="beside the large part of a gang",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((0, 0), (1, 1))), 1: a_run(0, 0)},
        breaks=True,
    ),
    RuleCase(
        says="full up to the end of the horizon", problem=two(8, 8, 8), runs={0: a_run(5), 1: a_run(7)}, breaks=False
    ),
    RuleCase(
        says="in common only in the last slot", problem=two(8, 8, 8), runs={0: a_run(6), 1: a_run(7)}, breaks=True
    ),
)


@table(CASES)
def test_capacity(case: RuleCase) -> None:
    judge(case, Rule.CAPACITY)
