"""Budget: the cash of what names it, in its slots, is within it."""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_budget, a_mode, a_node, a_pool, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

WIDE = (a_pool(a_node(64)),)


def paying(micros: int, start: int = 0, end: int = 100, *, named: bool = True) -> Problem:
    """Two tasks of 10 micros a slot for 2 slots, both on the budget (or none), and one that costs only power."""
    on = (0,) if named else ()
    tasks = (a_task(a_mode(1, cash_micros=10), budgets=on), a_task(a_mode(1, cash_micros=10), budgets=on))
    power = a_task(a_mode(1, power_micros=1_000), budgets=on)
    return a_problem(*tasks, power, pools=WIDE, budgets=(a_budget(micros, start, end),))


CASES = (
    RuleCase(says="all of it", problem=paying(40), runs={0: a_run(0), 1: a_run(0)}, breaks=False),
    RuleCase(says="one micro more", problem=paying(39), runs={0: a_run(0), 1: a_run(0)}, breaks=True),
    RuleCase(says="at different times all the same", problem=paying(39), runs={0: a_run(0), 1: a_run(6)}, breaks=True),
    RuleCase(says="only one of both", problem=paying(39), runs={1: a_run(0)}, breaks=False),
    RuleCase(says="power is no cash", problem=paying(40), runs={0: a_run(0), 1: a_run(0), 2: a_run(0)}, breaks=False),
    RuleCase(says="not on the budget", problem=paying(0, named=False), runs={0: a_run(0)}, breaks=False),
    RuleCase(says="nothing to spend", problem=paying(0), runs={0: a_run(0)}, breaks=True),
    RuleCase(says="overspent already, and only power used", problem=paying(-5), runs={2: a_run(0)}, breaks=False),
    RuleCase(says="overspent already, and one more", problem=paying(-5), runs={0: a_run(0)}, breaks=True),
    RuleCase(says="half of it in the month", problem=paying(10, 3, 5), runs={0: a_run(2)}, breaks=False),
    RuleCase(says="half of it in the month, one micro more", problem=paying(9, 3, 5), runs={0: a_run(2)}, breaks=True),
    RuleCase(says="over when the month begins", problem=paying(0, 4, 6), runs={0: a_run(2)}, breaks=False),
    RuleCase(says="from when the month ends", problem=paying(0, 0, 2), runs={0: a_run(2)}, breaks=False),
    RuleCase(says="past the horizon costs too", problem=paying(19), runs={0: a_run(7)}, breaks=True),
    RuleCase(says="past the horizon in the next month", problem=paying(10, 0, 8), runs={0: a_run(7)}, breaks=False),
)


@table(CASES)
def test_budget(case: RuleCase) -> None:
    judge(case, Rule.BUDGET)
