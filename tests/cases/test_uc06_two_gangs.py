"""UC-06: two gangs that each need the whole fleet run one after the other, never half and half."""

from __future__ import annotations

from solvers.check import check
from solvers.problem import Problem, Task
from solvers.solution import Solution
from solvers.solve import solve
from tests.solvers.builders import a_mode, a_node, a_part, a_pool, a_problem, a_task

FLEET = (a_pool(*[a_node(8)] * 4),)


def gang() -> Task:
    """Four nodes of 8 devices for 2 slots of an hour; waiting costs a little."""
    return a_task(a_mode(8, count=4, duration=2), worth_micros=64_000, delay_micros=32)


def roles(master: int, worker: int) -> Problem:
    """A master and a worker of so many devices, declared apart, on one node of 8."""
    return a_problem(a_task(a_mode(parts=(a_part(master), a_part(worker)))))


def spans(solution: Solution) -> list[tuple[int, int, int]]:
    """(start, end, nodes) of every run, in order of time."""
    return sorted((run.start, run.end, len(run.seats)) for one in solution.assignments for run in one.runs)


def test_two_gangs_run_one_after_the_other() -> None:
    problem = a_problem(gang(), gang(), pools=FLEET)
    solution = solve(problem)
    assert spans(solution) == [(0, 2, 4), (2, 4, 4)]
    assert check(problem, solution) == ()
    assert solution.bound_micros == solution.value_micros


def test_a_second_gang_that_finds_no_time_has_no_part_of_the_fleet() -> None:
    problem = a_problem(gang(), gang(), slots=2, pools=FLEET)
    assert spans(solve(problem)) == [(0, 2, 4)]


def test_roles_that_need_more_than_there_is_do_not_run_at_all() -> None:
    solution = solve(roles(8, 8))
    assert solution.assignments == ()
    assert solution.bound_micros == 0


def test_roles_need_a_node_each() -> None:
    two = a_problem(a_task(a_mode(parts=(a_part(8), a_part(8)))), pools=(a_pool(*[a_node(8)] * 2),))
    assert spans(solve(two)) == [(0, 2, 2)]
    assert solve(roles(4, 4)).assignments == ()
