"""A plan made again after an edit."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.philly import MICROS, Job, counted, task
from benchmarks.replan import ADDED, LOST, MOVE, changed, moved_percent, runs_of, spent, without_previous
from solvers.problem import Problem
from solvers.solution import Solution
from solvers.solve import solve


def _problem(*jobs: Job) -> Problem:
    pool = counted(2 * LOST)
    return Problem(slots=200, pools=(pool,), tasks=tuple(task(job, pool) for job in jobs))


def _planned() -> tuple[Problem, Solution]:
    problem = _problem(*(Job(name=f"job{at}", team="team", start=0, duration=30, gpus=LOST) for at in range(4)))
    return problem, solve(problem, budget=1)


def test_a_node_is_lost_and_a_job_added_and_all_else_is_where_it_was_planned() -> None:
    problem, plan = _planned()
    edited = changed(problem, plan)
    assert edited.pools[0].nodes[0].capacity == (LOST,)
    assert [one.name for one in edited.tasks[-2:]] == ["job3", ADDED.name]
    assert edited.tasks[-1].previous is None
    starts = [one.previous.start for one in edited.tasks if one.previous is not None]
    assert starts == [run.start for run in runs_of(plan).values()] == [0, 0, 30, 30]
    assert {one.move_micros for one in edited.tasks[:-1]} == {MOVE * MICROS}
    assert without_previous(edited).tasks == (*problem.tasks, edited.tasks[-1])


def test_what_starts_elsewhen_or_not_at_all_has_moved() -> None:
    problem, plan = _planned()
    assert moved_percent(plan, plan) == 0.0
    assert moved_percent(plan, replace(plan, assignments=plan.assignments[1:])) == 25.0
    half = solve(changed(problem, plan), budget=1)
    assert moved_percent(plan, half) == 50.0


def test_moves_are_spent_beside_waiting() -> None:
    """Of four jobs that run two by two, two have to run later on half the GPUs: each waits 60 slots more and moves."""
    problem, plan = _planned()
    assert spent(problem, plan) == (2 * 30 * LOST, 2 * 30 * LOST)
    edited = replace(changed(problem, plan), tasks=changed(problem, plan).tasks[:-1])
    cost, least = spent(edited, solve(edited, budget=10))
    assert cost == (30 + 60 + 90) * LOST + 2 * MOVE * LOST
    assert least <= cost
