"""A table row for a rule's tests, and the two judges it is put before: the checker and the exact model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from ortools.sat.python import cp_model

from solvers.check import check
from solvers.cpsat.model import build
from solvers.cpsat.rows import Rounding
from solvers.problem import Problem
from solvers.rules import Rule
from solvers.solution import Assignment, Proof, Run, Solution
from solvers.split import split
from solvers.worth import value


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCase:
    """Some runs by task position, and whether they break the rule; `says` is the test's name.

    `in_model` is false for what the exact model has no words for (a mode or node that does not exist).
    """

    says: str
    problem: Problem
    runs: dict[int, Run]
    breaks: bool
    in_model: bool = True


def table(cases: Sequence[RuleCase]) -> pytest.MarkDecorator:
    """Parametrise `case` over a table, with the sentences as ids."""
    return pytest.mark.parametrize("case", cases, ids=[case.says for case in cases])


def broken_rules(case: RuleCase) -> set[str]:
    """The rules and claims that the checker sees broken, value and shares being filled in truly."""
    listed = tuple(Assignment(task=task, runs=(run,)) for task, run in sorted(case.runs.items()))
    if case.in_model:
        listed = split(case.problem, listed)
    draft = Solution(assignments=listed, value_micros=0, bound_micros=None, proof=Proof.HEURISTIC)
    worth = value(case.problem, draft)
    solution = Solution(assignments=listed, value_micros=worth, bound_micros=None, proof=Proof.HEURISTIC)
    return {str(violation.rule) for violation in check(case.problem, solution)}


def model_allows(case: RuleCase) -> bool:
    """Whether the exact model has a solution with just these runs."""
    exact = build(case.problem, Rounding.RELAX)
    for choice in exact.variables.choices:
        run = case.runs.get(choice.task)
        chosen = run is not None and run.mode == choice.mode_position
        exact.model.add(choice.present == int(chosen))
        if run is not None and chosen:
            seated = {(seat.part, seat.node) for seat in run.seats}
            exact.model.add(choice.starts[run.start] == 1)
            for part, node, literal in choice.sits():
                exact.model.add(literal == int((part, node) in seated))
    status = cp_model.CpSolver().solve(exact.model)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return bool(status == cp_model.OPTIMAL)


def judge(case: RuleCase, rule: Rule) -> None:
    """Hold both judges to what the case says: the checker names this rule and no other, the model agrees."""
    assert broken_rules(case) == ({str(rule)} if case.breaks else set())
    if case.in_model:
        assert model_allows(case) is not case.breaks
