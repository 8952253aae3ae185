"""Compatibility: a run is one of its task's own modes."""

from __future__ import annotations

from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

POOLS = (a_pool(a_node(8)), a_pool(a_node(4), name="other"))
EITHER = a_problem(a_task(a_mode(8), a_mode(4, pool=1)), a_task(a_mode(2)), pools=POOLS)

CASES = (
    RuleCase(says="its first mode", problem=EITHER, runs={0: a_run(0, mode=0)}, breaks=False),
    RuleCase(says="its last mode", problem=EITHER, runs={0: a_run(0, mode=1)}, breaks=False),
    RuleCase(says="one past its last mode", problem=EITHER, runs={0: a_run(0, mode=2)}, breaks=True, in_model=False),
    RuleCase(says="mode minus one", problem=EITHER, runs={0: a_run(0, mode=-1)}, breaks=True, in_model=False),
    RuleCase(
        says="a mode that only another has", problem=EITHER, runs={1: a_run(0, mode=1)}, breaks=True, in_model=False
    ),
)


@table(CASES)
def test_compatibility(case: RuleCase) -> None:
    judge(case, Rule.COMPATIBILITY)
