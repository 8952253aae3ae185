"""Topology: each block of a mode in one known domain of its tier, no two blocks in the same."""

from __future__ import annotations

from dataclasses import replace

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_problem, a_run, a_task, seats
from tests.solvers.rule_cases import RuleCase, judge, table

RACKS = a_pool(*(a_node(8, domains=(domain,)) for domain in (0, 0, 1, 1, None, None)), tiers=("rack",))
"""Nodes 0 and 1 in one rack, 2 and 3 in another, 4 and 5 in none that is known."""


def within(count: int) -> Problem:
    """A gang of so many nodes in one rack."""
    return a_problem(a_task(a_mode(8, count=count, within=0)), pools=(RACKS,))


SPLIT = a_problem(a_task(a_mode(parts=(a_part(8, count=2), a_part(8, block=1)), within=0)), pools=(RACKS,))
FREE = a_problem(a_task(a_mode(parts=(a_part(8, count=2), a_part(8, block=1)))), pools=(RACKS,))
ROLES = a_problem(a_task(a_mode(parts=(a_part(8), a_part(2)), within=0)), pools=(RACKS,))
TWO_TIERS = a_problem(
    a_task(a_mode(8, count=2, within=1)),
    pools=(a_pool(*(a_node(8, domains=pair) for pair in ((0, 0), (0, 1), (1, 1))), tiers=("rack", "row")),),
)

CASES = (
    RuleCase(says="both nodes in the first rack", problem=within(2), runs={0: a_run(0, 0, 1)}, breaks=False),
    RuleCase(says="both nodes in the second rack", problem=within(2), runs={0: a_run(0, 2, 3)}, breaks=False),
    RuleCase(says="one node in each rack", problem=within(2), runs={0: a_run(0, 1, 2)}, breaks=True),
    RuleCase(says="both nodes in no known rack", problem=within(2), runs={0: a_run(0, 4, 5)}, breaks=True),
    RuleCase(says="one node in no known rack", problem=within(2), runs={0: a_run(0, 3, 4)}, breaks=True),
    RuleCase(says="a single node in no known rack", problem=within(1), runs={0: a_run(0, 4)}, breaks=True),
    RuleCase(says="not at all", problem=within(2), runs={}, breaks=False),
    RuleCase(says="three nodes where racks have two", problem=within(3), runs={0: a_run(0, 0, 1, 2)}, breaks=True),
    RuleCase(
        says="two and one in different racks",
        problem=SPLIT,
        runs={0: a_run(0, seats=seats((2, 0), (3, 0), (0, 1)))},
        breaks=False,
    ),
    RuleCase(
        says="the two torn apart", problem=SPLIT, runs={0: a_run(0, seats=seats((0, 0), (2, 0), (1, 1)))}, breaks=True
    ),
    RuleCase(
        says="the one in no known rack",
        problem=SPLIT,
        runs={0: a_run(0, seats=seats((2, 0), (3, 0), (4, 1)))},
        breaks=True,
    ),
    RuleCase(
        says="blocks anywhere in a mode without a tier",
        problem=FREE,
        runs={0: a_run(0, seats=seats((0, 0), (2, 0), (4, 1)))},
        breaks=False,
    ),
    RuleCase(
        says="unlike parts of one block in one rack",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((3, 0), (2, 1)))},
        breaks=False,
    ),
    RuleCase(
        says="unlike parts of one block in two racks",
        problem=ROLES,
        runs={0: a_run(0, seats=seats((1, 0), (2, 1)))},
        breaks=True,
    ),
    RuleCase(says="the mode's tier is what counts", problem=TWO_TIERS, runs={0: a_run(0, 1, 2)}, breaks=False),
    RuleCase(says="another tier does not", problem=TWO_TIERS, runs={0: a_run(0, 0, 1)}, breaks=True),
)


@table(CASES)
def test_topology(case: RuleCase) -> None:
    judge(case, Rule.TOPOLOGY)


WIDE = a_pool(*(a_node(8, domains=(at // 3,)) for at in range(6)), tiers=("rack",))


def test_two_blocks_do_not_share_a_rack_that_holds_both() -> None:
    problem = a_problem(a_task(a_mode(parts=(a_part(8), a_part(8, block=1)), within=0)), pools=(WIDE,))
    apart = RuleCase(says="", problem=problem, runs={0: a_run(0, seats=seats((0, 0), (3, 1)))}, breaks=False)
    judge(apart, Rule.TOPOLOGY)
    judge(replace(apart, runs={0: a_run(0, seats=seats((0, 0), (1, 1)))}, breaks=True), Rule.TOPOLOGY)
