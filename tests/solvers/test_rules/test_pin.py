"""Pin: a mode that names nodes runs on those, a task whose earliest start is its latest starts then, and what runs and
may not stop has a run.
"""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

FOUR = (a_pool(*[a_node(8)] * 4),)


def naming(*nodes: int, count: int = 1) -> Problem:
    """A task on so many of the nodes named, of 4."""
    return a_problem(a_task(a_mode(8, count=count, nodes=nodes)), pools=FOUR)


AT_THREE = a_problem(a_task(earliest=3, latest=3))
GOES_ON = a_mode(8, nodes=(1,), latest=0)
STAYING = a_problem(a_task(GOES_ON, a_mode(8), stays=True), pools=FOUR)
ANYWHERE = a_problem(a_task(a_mode(8)), pools=FOUR)

CASES = (
    RuleCase(says="on the node named", problem=naming(2), runs={0: a_run(0, 2)}, breaks=False),
    RuleCase(says="on the node before", problem=naming(2), runs={0: a_run(0, 1)}, breaks=True),
    RuleCase(says="on the node after", problem=naming(2), runs={0: a_run(0, 3)}, breaks=True),
    RuleCase(
        says="all of the gang on nodes named", problem=naming(0, 2, 3, count=2), runs={0: a_run(0, 0, 3)}, breaks=False
    ),
    RuleCase(says="one of the gang elsewhere", problem=naming(0, 2, 3, count=2), runs={0: a_run(0, 0, 1)}, breaks=True),
    RuleCase(says="no node named, so none allowed", problem=naming(), runs={0: a_run(0, 0)}, breaks=True),
    RuleCase(says="none named at all", problem=ANYWHERE, runs={0: a_run(0, 3)}, breaks=False),
    RuleCase(says="from the slot named", problem=AT_THREE, runs={0: a_run(3)}, breaks=False),
    RuleCase(says="one slot before it", problem=AT_THREE, runs={0: a_run(2)}, breaks=True),
    RuleCase(says="one slot after it", problem=AT_THREE, runs={0: a_run(4)}, breaks=True),
    RuleCase(says="not at all", problem=AT_THREE, runs={}, breaks=False),
    RuleCase(says="what runs goes on where it is", problem=STAYING, runs={0: a_run(0, 1)}, breaks=False),
    RuleCase(says="what runs goes on elsewhere", problem=STAYING, runs={0: a_run(3, 2, mode=1)}, breaks=False),
    RuleCase(says="what runs and may not stop has no run", problem=STAYING, runs={}, breaks=True),
)


@table(CASES)
def test_pin(case: RuleCase) -> None:
    judge(case, Rule.PIN)
