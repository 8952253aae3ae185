"""The real week as a problem, and its queue."""

from __future__ import annotations

import pytest

from benchmarks.firstcome import first_come
from benchmarks.philly import MICROS, WORTH, Job, counted, jobs, least_waited, moves, racked, waited, week
from solvers.solution import Assignment, Proof, Run, Seat, Solution


def _job(name: str, start: int, duration: int, gpus: int) -> Job:
    return Job(name=name, team="team", start=start, duration=duration, gpus=gpus)


def test_the_week_holds_every_job_of_a_day_of_one_gpu() -> None:
    week_jobs = jobs()
    assert len(week_jobs) == 425
    assert min(job.duration * job.gpus for job in week_jobs) >= 24
    assert {job.gpus for job in week_jobs} == {1, 2, 4, 8, 16}
    assert len({job.team for job in week_jobs}) == 11


def test_a_job_above_a_node_takes_whole_nodes_where_there_are_nodes() -> None:
    whole, split = week(counted(350), 2_000), week(racked(44), 2_000)
    large = [position for position, job in enumerate(jobs()) if job.gpus == 16]
    assert [whole.tasks[position].modes[0].parts[0].use for position in large] == [(16,), (16,)]
    assert [(split.tasks[position].modes[0].parts[0].count) for position in large] == [2, 2]


def test_value_is_worth_less_what_is_waited() -> None:
    problem = week(counted(350), 2_000)
    task, delay = problem.tasks[7], 5
    start = task.earliest + delay
    run = Run(mode=0, start=start, end=start + task.modes[0].duration, seats=(Seat(node=0, part=0),))
    plan = Solution(
        assignments=(Assignment(task=7, runs=(run,)),), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC
    )
    assert waited(problem, plan) == delay * task.modes[0].devices
    assert task.delay_micros * (run.end - task.since) == waited(problem, plan) * MICROS


def test_a_job_moves_when_it_goes_on_elsewhere() -> None:
    here, there = (Seat(node=0, part=0),), (Seat(node=1, part=0),)

    def plan(*runs: Run) -> Solution:
        return Solution(
            assignments=(Assignment(task=0, runs=runs),), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC
        )

    first = Run(mode=0, start=0, end=2, seats=here)
    assert moves(plan(first)) == 0
    assert moves(plan(first, Run(mode=0, start=4, end=6, seats=here))) == 0
    assert moves(plan(first, Run(mode=0, start=2, end=4, seats=there), Run(mode=0, start=4, end=6, seats=here))) == 2


@pytest.mark.parametrize(("lost", "least"), [(0, 0), (1, 1), (MICROS, 1), (MICROS + 1, 2), (-5, 0)])
def test_the_least_wait_is_rounded_up_to_whole_slots(lost: int, least: int) -> None:
    problem = week(counted(350), 2_000)
    assert least_waited(problem, len(problem.tasks) * WORTH - lost) == least


def test_the_queue_backfills_without_delaying_who_came_first() -> None:
    queue = first_come(
        (_job("a", 0, 4, 6), _job("b", 1, 4, 4), _job("c", 2, 2, 2), _job("d", 2, 3, 2)),
        (8,),
    )
    assert queue.starts == (0, 4, 2, 4)
    assert (queue.waited, queue.end) == (3 * 4 + 2 * 2, 8)


def test_the_queue_puts_a_job_on_the_fullest_node_and_a_gang_on_whole_nodes() -> None:
    queue = first_come((_job("a", 0, 4, 4), _job("b", 0, 2, 4), _job("c", 0, 1, 16), _job("d", 0, 1, 8)), (8, 8))
    assert queue.starts == (0, 0, 4, 0)
