"""Lending: what rows have above what they keep, and all else that counts there, fits the row that they spill into."""

from __future__ import annotations

from solvers.problem import Problem, Row, Spill
from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_row, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

WIDE = (a_pool(a_node(64)),)


def keeping(kept: tuple[int, ...], into: int, subject: str) -> Row:
    """A row that keeps `kept` for itself; what it has above that counts in row `into`."""
    return a_row(subject=subject, rule=Rule.LENDING, spill=Spill(row=into, above=kept))


def sharing(mine: int, yours: int, others: int, kept: tuple[int, ...] = (3,) * 8, left: int = 5) -> Problem:
    """10 devices of which two teams keep `kept` (and 2) for themselves, which leaves `left` to all; and three runs."""
    tasks = (a_task(a_mode(1, charges=((row, amount),))) for row, amount in enumerate((mine, yours, others)))
    rows = (keeping(kept, 2, "mine"), keeping((2,) * 8, 2, "yours"), a_row((left,) * 8, subject="all"))
    return a_problem(*tasks, pools=WIDE, rows=rows)


def chained(child: int, other: int) -> Problem:
    """A child keeps 2, its parent 3 more, which leaves 5 to all."""
    tasks = (a_task(a_mode(1, charges=((0, child),))), a_task(a_mode(1, charges=((2, other),))))
    rows = (keeping((2,) * 8, 1, "child"), keeping((3,) * 8, 2, "parent"), a_row((5,) * 8, subject="all"))
    return a_problem(*tasks, pools=WIDE, rows=rows)


NIGHT = (0, 0, 0, 0, 3, 3, 3, 3)
ALL = {0: a_run(0), 1: a_run(0), 2: a_run(0)}
BOTH = {0: a_run(0), 1: a_run(0)}

CASES = (
    RuleCase(says="others take all that nobody keeps", problem=sharing(3, 2, 5), runs=ALL, breaks=False),
    RuleCase(says="others take one that is kept", problem=sharing(0, 2, 6), runs=ALL, breaks=True),
    RuleCase(says="what is kept and idle is not lent", problem=sharing(0, 0, 5), runs=ALL, breaks=False),
    RuleCase(says="one keeper takes all but what the other keeps", problem=sharing(8, 0, 0), runs=ALL, breaks=False),
    RuleCase(says="one keeper takes what the other keeps", problem=sharing(9, 0, 0), runs=ALL, breaks=True),
    RuleCase(says="above what they keep they share", problem=sharing(5, 4, 1), runs=ALL, breaks=False),
    RuleCase(says="above what they keep they share, and one more", problem=sharing(5, 4, 2), runs=ALL, breaks=True),
    RuleCase(says="one after the other", problem=sharing(8, 4, 1), runs={0: a_run(0), 1: a_run(2)}, breaks=False),
    RuleCase(says="in one slot in common", problem=sharing(8, 4, 0), runs={0: a_run(0), 1: a_run(1)}, breaks=True),
    RuleCase(
        says="kept at night, used at night", problem=sharing(8, 0, 0, kept=NIGHT), runs={0: a_run(4)}, breaks=False
    ),
    RuleCase(
        says="kept at night, used a slot before", problem=sharing(8, 0, 0, kept=NIGHT), runs={0: a_run(3)}, breaks=True
    ),
    RuleCase(says="a child uses what its parent keeps", problem=chained(10, 0), runs=BOTH, breaks=False),
    RuleCase(says="a child goes beyond what its parent keeps", problem=chained(11, 0), runs=BOTH, breaks=True),
    RuleCase(says="others leave to a child what both keep", problem=chained(5, 5), runs=BOTH, breaks=False),
    RuleCase(says="others take what a parent keeps", problem=chained(2, 6), runs=BOTH, breaks=True),
)


@table(CASES)
def test_lending(case: RuleCase) -> None:
    judge(case, Rule.LENDING)
