"""The exit codes: their numbers, and which one wins."""

from __future__ import annotations

import itertools

import pytest

from planner import diagnostics
from planner.exits import MEANINGS, WORST_FIRST, Exit, worst


def test_the_numbers_are_those_that_were_promised() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0, "FAILURE": 1, "CHANGES": 2, "INVALID": 3, "UNSATISFIED": 4, "STALE": 5, "BLOCKED": 6, "PARTIAL": 7,
        "BUSY": 8, "USAGE": 64, "INTERRUPTED": 130,
    }  # fmt: skip


def test_every_code_has_a_meaning_and_a_rank() -> None:
    assert set(MEANINGS) == set(WORST_FIRST) == set(Exit)
    assert len(WORST_FIRST) == len(Exit)


@pytest.mark.parametrize(("better", "worse"), list(itertools.pairwise(reversed((1, 64, 3, 6, 5, 8, 4, 7, 2, 0)))))
def test_the_worse_code_wins_whatever_the_order(better: int, worse: int) -> None:
    assert worst([Exit(better), Exit(worse)]) == worst([Exit(worse), Exit(better)]) == worse


def test_no_code_at_all_is_success() -> None:
    assert worst([]) is Exit.OK


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (diagnostics.PlannerError, Exit.FAILURE),
        (diagnostics.SpecError, Exit.INVALID),
        (diagnostics.Unsatisfied, Exit.UNSATISFIED),
        (diagnostics.Stale, Exit.STALE),
        (diagnostics.Blocked, Exit.BLOCKED),
        (diagnostics.PartlyApplied, Exit.PARTIAL),
        (diagnostics.Busy, Exit.BUSY),
        (diagnostics.UsageError, Exit.USAGE),
    ],
)
def test_errors_end_with_the_code_of_their_kind(error: type[diagnostics.PlannerError], code: Exit) -> None:
    assert error.exit_code == code
