"""Tasks that differ in nothing but their name run in order of their names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solvers.canonical import lined_up
from solvers.problem import Mode, Node, Part, Pool, Previous, Problem, Task
from solvers.solution import Assignment, Run, Seat

MODE = Mode(name="cuda", pool=0, parts=(Part(count=1, use=(1,)),), duration=2, limit=2)


def task(name: str, **facts: Any) -> Task:
    return replace(Task(name=name, modes=(MODE,), worth_micros=100), **facts)


def problem(*tasks: Task) -> Problem:
    nodes = (Node(name="n1", capacity=(1,)), Node(name="n2", capacity=(1,)))
    return Problem(slots=12, pools=(Pool(name="p", resources=("gpu",), nodes=nodes),), tasks=tasks)


def starting(at: int, start: int, node: int = 0) -> Assignment:
    return Assignment(task=at, runs=(Run(mode=0, start=start, end=start + 2, seats=(Seat(node=node, part=0),)),))


def starts(made: tuple[Assignment, ...]) -> dict[int, int]:
    return {assignment.task: assignment.runs[0].start for assignment in made}


def test_the_first_of_equal_tasks_starts_first() -> None:
    made = lined_up(problem(task("a"), task("b"), task("c")), (starting(0, 4), starting(1, 2), starting(2, 0)))
    assert starts(made) == {0: 0, 1: 2, 2: 4}


def test_the_last_of_equal_tasks_is_the_one_without_a_place() -> None:
    made = lined_up(problem(task("a"), task("b"), task("c")), (starting(1, 2), starting(2, 0)))
    assert starts(made) == {0: 0, 1: 2}


def test_of_two_that_start_together_the_first_has_the_first_node() -> None:
    made = lined_up(problem(task("a"), task("b")), (starting(0, 0, node=1), starting(1, 0, node=0)))
    assert [assignment.runs[0].seats[0].node for assignment in made] == [0, 1]


@pytest.mark.parametrize(
    "tasks",
    [
        (task("a"), task("b", worth_micros=101)),
        (task("a", previous=Previous(mode=0, start=4, nodes=((0, 1),))), task("b")),
        (task("a"), task("b"), task("c", after=(1,), earliest=8)),
    ],
    ids=["one is worth more", "one stays where it was", "something waits for one of them alone"],
)
def test_tasks_that_are_not_alike_stay_where_they_are(tasks: tuple[Task, ...]) -> None:
    given = (starting(0, 4), starting(1, 0))
    assert lined_up(problem(*tasks), given) == given


def test_tasks_that_the_same_work_waits_for_change_places() -> None:
    made = lined_up(
        problem(task("a"), task("b"), task("c", after=(0, 1))), (starting(0, 4), starting(1, 0), starting(2, 6))
    )
    assert starts(made) == {0: 0, 1: 4, 2: 6}
