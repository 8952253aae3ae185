"""What is no problem is refused with what was seen; sums that int64 cannot hold are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from solvers.problem import LARGEST, Charge, Problem, Row, Spill
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_previous, a_problem, a_row, a_taken, a_task


def spilling(into: int, steps: int = 8) -> Row:
    """A row of which all spills."""
    return a_row(spill=Spill(row=into, above=(0,) * steps))


NODE = a_node(8, taken=(a_taken(0, 1, 2, 3),))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: a_problem(slots=0), "the horizon has 0 slots, expected at least 1"),
        (lambda: a_problem(pools=(a_pool(a_node(-1)),)), r"node n0 of pool pool has capacity \(-1,\) for resources"),
        (lambda: a_problem(pools=(a_pool(NODE),)), r"node n0 of pool pool has \(2, 3\) taken for resources"),
        (lambda: a_problem(a_task(worth_micros=-1)), "task t0 has a negative worth, premium, delay, late or move rate"),
        (lambda: a_problem(a_task(move_micros=-1)), "task t0 has a negative"),
        (lambda: a_problem(a_task(earliest=-1)), "task t0 has earliest start -1, expected at least 0"),
        (lambda: a_problem(a_task(after=(1,))), r"task t0 comes after \(1,\), of which one is no task"),
        (lambda: a_problem(a_task(budgets=(0,))), r"task t0 names budgets \(0,\), of which one is none"),
        (lambda: a_problem(a_task(previous=a_previous(0, mode=1))), "task t0 ran in mode 1, of 1"),
        (lambda: a_problem(a_task(stays=True)), "task t0 stays, but its first mode does not say on which nodes"),
        (lambda: a_problem(a_task(a_mode(pool=1))), "mode mode of task t0 names pool 1, of 1"),
        (
            lambda: a_problem(a_task(a_mode(nodes=(1,)))),
            r"mode mode of task t0 names nodes \(1,\), of which one is none",
        ),
        (lambda: a_problem(a_task(a_mode(home=0))), "mode mode of task t0 is at home in row 0, of 0"),
        (lambda: a_problem(a_task(a_mode(parts=()))), r"mode mode of task t0 has parts \(\)"),
        (lambda: a_problem(a_task(a_mode(parts=(a_part(8, count=0),)))), "mode mode of task t0 has parts"),
        (lambda: a_problem(a_task(a_mode(8, 8))), "expected a count of at least 1 and 1 uses of at least 0 each"),
        (lambda: a_problem(a_task(a_mode(duration=0))), "lasts 0 slots within a limit of 0, expected 1 <= duration"),
        (lambda: a_problem(a_task(a_mode(duration=2, limit=1))), "lasts 2 slots within a limit of 1"),
        (
            lambda: a_problem(a_task(a_mode(cash_micros=-1))),
            "mode mode of task t0 has negative cash, power, cost or earliest start",
        ),
        (lambda: a_problem(a_task(a_mode(charges=((0, 1),)))), "mode mode of task t0 charges"),
        (lambda: a_problem(rows=(a_row((1,) * 7),)), "row row needs 8 steps of at least 0, has 7"),
        (lambda: a_problem(rows=(a_row(guarantee=(-1,) * 8),)), "row row needs 8 steps of at least 0, has 8"),
        (lambda: a_problem(rows=(a_row(bonus=-1),)), "row row has a bonus of -1 micros, expected at least 0"),
        (lambda: a_problem(rows=(spilling(1),)), r"rows spill into \[1\], of which one is none of 1"),
        (lambda: a_problem(rows=(spilling(0),)), "row row spills into itself"),
        (lambda: a_problem(rows=(spilling(1), spilling(0))), "row row spills into itself"),
        (lambda: a_problem(rows=(spilling(1, steps=7), a_row())), "row row needs 8 steps of at least 0, has 7"),
        (
            lambda: a_problem(rows=(spilling(1), a_row(guarantee=(1,) * 8, subject="all"))),
            "row all has a guarantee, and others spill into it",
        ),
        (
            lambda: a_problem(a_task(a_mode(charges=((0, 1), (1, 1)))), rows=(spilling(1), a_row())),
            "mode mode of task t0 charges two rows that lead into one",
        ),
        (lambda: a_problem(a_task(worth_micros=LARGEST // 2)), "its numbers can add up to"),
    ],
)
def test_what_is_no_problem_is_refused(make: Callable[[], Problem], message: str) -> None:
    with pytest.raises(ValueError, match=f"^not a problem: .*{message}"):
        make()


def test_numbers_just_small_enough_are_taken() -> None:
    assert a_problem(a_task(worth_micros=LARGEST // 2 - 1)).tasks[0].worth_micros == LARGEST // 2 - 1


def test_the_devices_of_a_gang_are_those_of_all_its_parts() -> None:
    assert a_mode(parts=(a_part(8, 1), a_part(2, 1, count=3))).devices == 14


def test_a_charge_of_nothing_is_no_fault() -> None:
    assert a_problem(a_task(a_mode(charges=((0, 0),))), rows=(a_row(),)).tasks[0].modes[0].charges == (
        Charge(row=0, amount=0),
    )
