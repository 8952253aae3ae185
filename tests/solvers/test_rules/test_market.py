"""Market: a pool with more nodes than its market grants is not to be used."""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table


def market(nodes: int, ceiling: int | None) -> Problem:
    """A market of so many nodes, beside own hardware in pool 1."""
    pools = (a_pool(*[a_node(8)] * nodes, ceiling=ceiling), a_pool(a_node(8), name="own"))
    return a_problem(a_task(a_mode(8), a_mode(8, pool=1)), pools=pools)


CASES = (
    RuleCase(says="as many nodes as granted", problem=market(3, 3), runs={0: a_run(0, 2)}, breaks=False),
    RuleCase(says="fewer nodes than granted", problem=market(3, 4), runs={0: a_run(0, 2)}, breaks=False),
    RuleCase(says="one node more than granted", problem=market(3, 2), runs={0: a_run(0, 0)}, breaks=True),
    RuleCase(says="one node, none granted", problem=market(1, 0), runs={0: a_run(0, 0)}, breaks=True),
    RuleCase(
        says="one node more than granted, none used", problem=market(3, 2), runs={0: a_run(0, 0, mode=1)}, breaks=False
    ),
    RuleCase(says="own hardware has no ceiling", problem=market(3, None), runs={0: a_run(0, 2)}, breaks=False),
)


@table(CASES)
def test_market(case: RuleCase) -> None:
    judge(case, Rule.MARKET)
