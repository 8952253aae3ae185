"""When running work may be interrupted, slot by slot, and what is lost then."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from planner.compile.cuts import Course, cut, cuts
from planner.compile.horizon import Horizon

TEN_MINUTES = 600
HORIZON = Horizon(start=1_796_119_800, slot_seconds=TEN_MINUTES, slots=72)
FAR = 1_000
RUN = Course(
    expected=14_400, done=Fraction(600, 14_400), saved=Fraction(0), every=1_800, restart=300,
    base=HORIZON.start - 600, saved_at_base=False, ends=23, floor=0,
)  # fmt: skip
"""Four hours of work that began ten minutes before the plan, and saves itself every half hour."""


def slots(run: Course, *moments: int, closes: int = FAR, patience: int = 1_800) -> list[int]:
    """The slots in which the run may be interrupted."""
    return [each.slot for each in cuts(run, moments, closes, HORIZON, patience)]


@pytest.mark.parametrize(
    ("slot", "done", "saved"),
    [(0, 600, 0), (1, 1_200, 0), (2, 1_800, 1_800), (3, 2_400, 1_800), (4, 3_000, 1_800), (5, 3_600, 3_600)],
)
def test_what_is_done_since_the_last_checkpoint_is_lost_with_the_restart(slot: int, done: int, saved: int) -> None:
    found = cut(RUN, slot, HORIZON)
    assert (found.done, found.saved) == (Fraction(done, 14_400), Fraction(saved, 14_400))
    assert found.lost_seconds == done - saved + 300


def test_checkpoints_are_counted_from_the_last_one_that_is_known() -> None:
    saved = replace(RUN, base=HORIZON.start - 300, saved_at_base=True, saved=Fraction(300, 14_400))
    assert [cut(saved, slot, HORIZON).lost_seconds - 300 for slot in (0, 1, 2, 3, 4)] == [300, 900, 1_500, 300, 900]


@pytest.mark.parametrize(
    ("moment", "patience", "expected"),
    [
        (0, 1_200, [2]),
        (0, 1_199, [0, 2]),
        (1, 600, [2]),
        (1, 599, [1, 2]),
        (2, 0, [2]),
        (3, 0, [3, 5]),
    ],
)
def test_others_wait_for_the_next_checkpoint_as_long_as_they_have_patience(
    moment: int, patience: int, expected: list[int]
) -> None:
    assert slots(RUN, moment, patience=patience) == expected


def test_before_its_least_run_time_nobody_cuts_it() -> None:
    assert slots(replace(RUN, floor=1), 0, patience=0) == [1, 2]
    assert slots(replace(RUN, floor=3), 0, patience=0) == [3, 5]


def test_work_without_checkpoints_gives_way_at_once_or_never() -> None:
    assert slots(replace(RUN, every=None), 0, 4, 9) == [0]
    assert slots(replace(RUN, every=None, floor=2), 0, 4, 9) == [2]
    assert slots(replace(RUN, every=None), 0, patience=FAR * TEN_MINUTES) == [0]


def test_nothing_is_cut_when_it_ends_by_itself() -> None:
    assert slots(replace(RUN, ends=3), 2, 3) == [2]
    assert slots(replace(RUN, ends=2), 0, patience=1_200) == []


@pytest.mark.parametrize(("closes", "expected"), [(0, [0]), (1, [0]), (2, [0, 2]), (4, [0, 2]), (5, [0, 2, 5])])
def test_before_its_nodes_close_it_goes_at_once_or_at_its_last_checkpoint(closes: int, expected: list[int]) -> None:
    assert slots(RUN, 0, closes=closes) == expected
