"""Who is inside a guarantee, slot by slot."""

from __future__ import annotations

from typing import Any

import pytest

from solvers.problem import Task
from solvers.solution import Assignment
from solvers.split import split
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_row, a_run, a_task


def _task(devices: int, **facts: Any) -> Task:
    return a_task(a_mode(devices, home=0, charges=((0, devices),)), **facts)


def _shares(tasks: tuple[Task, ...], starts: tuple[int, ...], guarantee: tuple[int, ...]) -> list[int]:
    problem = a_problem(*tasks, pools=(a_pool(a_node(64)),), rows=(a_row(guarantee=guarantee),))
    runs = tuple(Assignment(task=task, runs=(a_run(start),)) for task, start in enumerate(starts))
    return [one.runs[0].guaranteed for one in split(problem, runs)]


@pytest.mark.parametrize(
    ("tasks", "starts", "shares"),
    [
        pytest.param((_task(4), _task(4)), (0, 0), [4, 2], id="the first task comes first among equals"),
        pytest.param((_task(4), _task(4)), (1, 0), [2, 4], id="the earlier start comes first"),
        pytest.param((_task(4), _task(4, priority=1)), (0, 1), [2, 4], id="priority comes before start"),
        pytest.param(
            (_task(4, priority=0), _task(4, priority=3, interruptible=False)),
            (0, 0),
            [2, 4],
            id="work that may not be interrupted comes before priority",
        ),
        pytest.param((_task(4), _task(4)), (0, 4), [4, 4], id="work that never meets shares nothing"),
    ],
)
def test_the_guarantee_goes_by_rank(tasks: tuple[Task, ...], starts: tuple[int, ...], shares: list[int]) -> None:
    assert _shares(tasks, starts, (6,) * 8) == shares


def test_a_run_keeps_its_least_share_of_all_its_slots() -> None:
    assert _shares((_task(4),), (0,), (6, 3, 6, 6, 6, 6, 6, 6)) == [3]


def test_slots_past_the_horizon_do_not_count() -> None:
    assert _shares((_task(4),), (7,), (6,) * 8) == [4]


def test_a_run_without_a_home_is_in_no_guarantee() -> None:
    problem = a_problem(a_task(a_mode(4, charges=((0, 4),))), rows=(a_row(guarantee=(6,) * 8),))
    given = (Assignment(task=0, runs=(a_run(0),)),)
    assert split(problem, given) == given
