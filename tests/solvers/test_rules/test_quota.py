"""Quota: what runs charges a row no more than its limit, slot by slot."""

from __future__ import annotations

from solvers.problem import Problem
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_row, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

WIDE = (a_pool(a_node(64)),)
NIGHT = (4, 4, 4, 4, 8, 8, 8, 8)


def charging(*amounts: int, limit: tuple[int, ...] = (8,) * 8) -> Problem:
    """One task for each amount that it charges row 0 with."""
    tasks = (a_task(a_mode(1, charges=((0, amount),))) for amount in amounts)
    return a_problem(*tasks, pools=WIDE, rows=(a_row(limit),))


TWICE = a_problem(a_task(a_mode(1, charges=((0, 4), (0, 5)))), pools=WIDE, rows=(a_row((9,) * 8),))
TWICE_OVER = a_problem(a_task(a_mode(1, charges=((0, 4), (0, 5)))), pools=WIDE, rows=(a_row((8,) * 8),))
PARENT = a_problem(
    a_task(a_mode(1, charges=((0, 4), (1, 4)))),
    a_task(a_mode(1, charges=((1, 5),))),
    pools=WIDE,
    rows=(a_row((4,) * 8, subject="child"), a_row((8,) * 8, subject="parent")),
)
UNCHARGED = a_problem(a_task(a_mode(64)), pools=WIDE, rows=(a_row((0,) * 8),))
OPEN = a_problem(a_task(a_mode(1, charges=((0, 99),))), pools=WIDE, rows=(a_row(),))
OVER_END = charging(5, limit=(5,) * 8)

CASES = (
    RuleCase(says="up to the limit", problem=charging(5, 3), runs={0: a_run(0), 1: a_run(0)}, breaks=False),
    RuleCase(says="one over the limit", problem=charging(5, 4), runs={0: a_run(0), 1: a_run(0)}, breaks=True),
    RuleCase(says="one after the other", problem=charging(5, 4), runs={0: a_run(0), 1: a_run(2)}, breaks=False),
    RuleCase(says="one slot in common", problem=charging(5, 4), runs={0: a_run(0), 1: a_run(1)}, breaks=True),
    RuleCase(says="more at night, and in it", problem=charging(8, limit=NIGHT), runs={0: a_run(4)}, breaks=False),
    RuleCase(says="more at night, one slot before", problem=charging(8, limit=NIGHT), runs={0: a_run(3)}, breaks=True),
    RuleCase(says="charged twice, and both fit", problem=TWICE, runs={0: a_run(0)}, breaks=False),
    RuleCase(says="charged twice, and only one fits", problem=TWICE_OVER, runs={0: a_run(0)}, breaks=True),
    RuleCase(says="within both rows", problem=PARENT, runs={0: a_run(0)}, breaks=False),
    RuleCase(
        says="within its own row but not the parent's", problem=PARENT, runs={0: a_run(0), 1: a_run(0)}, breaks=True
    ),
    RuleCase(says="a row it does not charge", problem=UNCHARGED, runs={0: a_run(0)}, breaks=False),
    RuleCase(says="a row without limit", problem=OPEN, runs={0: a_run(0)}, breaks=False),
    RuleCase(says="on past the horizon, where no row has a limit", problem=OVER_END, runs={0: a_run(7)}, breaks=False),
)


@table(CASES)
def test_quota(case: RuleCase) -> None:
    judge(case, Rule.QUOTA)
