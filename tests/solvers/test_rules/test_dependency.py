"""Dependency: what comes after runs only if what comes before runs and has ended."""

from __future__ import annotations

from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

WIDE = (a_pool(a_node(64)),)
CHAIN = a_problem(a_task(), a_task(after=(0,)), pools=WIDE)
BACK = a_problem(a_task(after=(1,)), a_task(), pools=WIDE)
BOTH = a_problem(a_task(), a_task(a_mode(duration=3)), a_task(after=(0, 1)), pools=WIDE)
CYCLE = a_problem(a_task(after=(1,)), a_task(after=(0,)), pools=WIDE)
ITSELF = a_problem(a_task(after=(0,)), pools=WIDE)
LONG = a_problem(a_task(a_mode(duration=9)), a_task(after=(0,)), pools=WIDE)

CASES = (
    RuleCase(says="starts when it ends", problem=CHAIN, runs={0: a_run(1), 1: a_run(3)}, breaks=False),
    RuleCase(says="starts one slot before it ends", problem=CHAIN, runs={0: a_run(1), 1: a_run(2)}, breaks=True),
    RuleCase(says="starts long after", problem=CHAIN, runs={0: a_run(0), 1: a_run(7)}, breaks=False),
    RuleCase(says="what comes before does not run", problem=CHAIN, runs={1: a_run(5)}, breaks=True),
    RuleCase(says="what comes after need not run", problem=CHAIN, runs={0: a_run(0)}, breaks=False),
    RuleCase(says="what comes before is listed later", problem=BACK, runs={0: a_run(2), 1: a_run(0)}, breaks=False),
    RuleCase(says="the wrong way round", problem=BACK, runs={0: a_run(0), 1: a_run(2)}, breaks=True),
    RuleCase(says="after both", problem=BOTH, runs={0: a_run(0), 1: a_run(0, end=3), 2: a_run(3)}, breaks=False),
    RuleCase(
        says="after only one of both", problem=BOTH, runs={0: a_run(0), 1: a_run(0, end=3), 2: a_run(2)}, breaks=True
    ),
    RuleCase(says="nothing of a cycle runs", problem=CYCLE, runs={}, breaks=False),
    RuleCase(says="one of a cycle runs", problem=CYCLE, runs={0: a_run(4)}, breaks=True),
    RuleCase(says="all of a cycle runs", problem=CYCLE, runs={0: a_run(0), 1: a_run(4)}, breaks=True),
    RuleCase(says="after itself", problem=ITSELF, runs={0: a_run(0)}, breaks=True),
    RuleCase(
        says="what comes before ends past the horizon",
        problem=LONG,
        runs={0: a_run(0, end=9), 1: a_run(7)},
        breaks=True,
    ),
)


@table(CASES)
def test_dependency(case: RuleCase) -> None:
    judge(case, Rule.DEPENDENCY)
