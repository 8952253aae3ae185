"""Window: not before the earliest start, not after the latest, in the horizon, and over by the deadline."""

from __future__ import annotations

from solvers.rules import Rule
from tests.solvers.builders import a_mode, a_problem, a_run, a_task
from tests.solvers.rule_cases import RuleCase, judge, table

FREE = a_problem(a_task())
BETWEEN = a_problem(a_task(earliest=2, latest=4))
MODE_BETWEEN = a_problem(a_task(a_mode(earliest=2, latest=4)))
DUE = a_problem(a_task(deadline=5))
DUE_AFTER = a_problem(a_task(deadline=9))

CASES = (
    RuleCase(says="from the first slot", problem=FREE, runs={0: a_run(0)}, breaks=False),
    RuleCase(says="from before the horizon", problem=FREE, runs={0: a_run(-1)}, breaks=True, in_model=False),
    RuleCase(says="from the last slot and on", problem=FREE, runs={0: a_run(7)}, breaks=False),
    RuleCase(says="from past the horizon", problem=FREE, runs={0: a_run(8)}, breaks=True, in_model=False),
    RuleCase(says="from the earliest slot", problem=BETWEEN, runs={0: a_run(2)}, breaks=False),
    RuleCase(says="one slot early", problem=BETWEEN, runs={0: a_run(1)}, breaks=True),
    RuleCase(says="from the latest slot", problem=BETWEEN, runs={0: a_run(4)}, breaks=False),
    RuleCase(says="one slot late", problem=BETWEEN, runs={0: a_run(5)}, breaks=True),
    RuleCase(says="from the mode's earliest slot", problem=MODE_BETWEEN, runs={0: a_run(2)}, breaks=False),
    RuleCase(says="one slot before the mode may start", problem=MODE_BETWEEN, runs={0: a_run(1)}, breaks=True),
    RuleCase(says="from the mode's latest slot", problem=MODE_BETWEEN, runs={0: a_run(4)}, breaks=False),
    RuleCase(says="one slot after the mode may start", problem=MODE_BETWEEN, runs={0: a_run(5)}, breaks=True),
    RuleCase(says="over by the deadline", problem=DUE, runs={0: a_run(3)}, breaks=False),
    RuleCase(says="one slot over the deadline", problem=DUE, runs={0: a_run(4)}, breaks=True),
    RuleCase(says="a deadline past the horizon is met", problem=DUE_AFTER, runs={0: a_run(7)}, breaks=False),
    RuleCase(
        says="ends a slot later than it lasts", problem=FREE, runs={0: a_run(0, end=3)}, breaks=True, in_model=False
    ),
    RuleCase(
        says="ends a slot sooner than it lasts", problem=FREE, runs={0: a_run(0, end=1)}, breaks=True, in_model=False
    ),
)


@table(CASES)
def test_window(case: RuleCase) -> None:
    judge(case, Rule.WINDOW)
