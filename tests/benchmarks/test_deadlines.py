"""Jobs with deadlines as a problem, and the queue that they are compared with."""

from __future__ import annotations

import pytest

from benchmarks.deadlines import (
    MICROS,
    STRICT,
    STRICT_POINTS,
    Job,
    Score,
    jobs,
    most_soft,
    most_strict,
    peak,
    problem,
    score,
    slots_of,
    starts_of,
)
from benchmarks.edf import NEVER, earliest_deadline_first, next_deadline
from solvers.solve import solve


def _job(
    gpus: int, start: int, duration: int, ends: tuple[int, ...] = (), values: tuple[int, ...] = (), strict: bool = False
) -> Job:  # fmt: skip
    return Job(gpus=gpus, start=start, duration=duration, strict=strict, ends=ends, values=values)


def test_the_trace_has_strict_soft_and_no_deadlines_and_no_job_without_a_gpu() -> None:
    work = jobs()
    assert len(work) == 30_746
    assert sum(job.strict for job in work) == 9_211
    assert sum(not job.ends for job in work) == 3_125
    assert {job.values for job in work} == {(10,), (10, 8, 5, 2), ()}
    assert min(job.gpus for job in work) == 1
    assert all(job.ends == tuple(sorted(job.ends)) for job in work)


def test_the_first_job_is_rounded_against_itself() -> None:
    """Submitted in minute 1, 174 minutes long, due 239 minutes later: slots 1 to 24 of ten minutes, 18 of them."""
    assert jobs()[0] == _job(1, 1, 18, (24,), (10,), strict=True)


def test_the_peak_is_what_all_use_that_start_as_they_come() -> None:
    assert peak((_job(2, 0, 3), _job(3, 2, 1), _job(4, 3, 1))) == 5
    assert slots_of((_job(2, 0, 3), _job(3, 2, 4))) == 6


def test_each_step_that_can_be_reached_is_a_mode_that_costs_what_it_pays_less() -> None:
    task = problem([_job(1, 2, 3, (4, 6, 6, 9), (10, 8, 5, 2))], 1, 20).tasks[0]
    assert [(mode.earliest, mode.latest, mode.cost_micros) for mode in task.modes] == [
        (2, 3, 2 * MICROS),
        (4, 6, 8 * MICROS),
    ]
    assert task.worth_micros == 10 * MICROS


@pytest.mark.parametrize(("end", "modes"), [(4, 0), (5, 1), (6, 1)])
def test_a_strict_deadline_is_met_or_the_job_has_no_mode(end: int, modes: int) -> None:
    task = problem([_job(1, 2, 3, (end,), (10,), strict=True)], 1, 20).tasks[0]
    assert len(task.modes) == modes
    assert task.worth_micros == STRICT * STRICT_POINTS * MICROS


def test_points_are_those_of_the_step_that_a_job_ends_by() -> None:
    soft, strict, best = _job(1, 0, 2, (4, 6), (10, 8)), _job(1, 0, 2, (4,), (10,), strict=True), _job(1, 0, 2)
    work = (soft, strict, best)
    assert score(work, {0: 2, 1: 2, 2: 9}) == Score(strict=1, soft=10, best_effort=1)
    assert score(work, {0: 3, 1: 3}) == Score(strict=0, soft=8, best_effort=0)
    assert score(work, {0: 5}) == Score(strict=0, soft=0, best_effort=0)


def test_a_plan_of_few_jobs_meets_what_the_relaxation_allows() -> None:
    """Two GPUs, and three strict jobs of one GPU and three slots that are all due in slot 4: two of them fit."""
    work = [_job(1, 0, 3, (4,), (10,), strict=True) for _ in range(3)]
    assert score(work, starts_of(solve(problem(work, 2, 10), budget=1))).strict == 2
    assert 2 <= most_strict(work, 2, 10) <= 3


def test_soft_points_are_bounded_by_what_is_left_and_by_all_there_are() -> None:
    work = (_job(1, 0, 2, (4, 6), (10, 8)), _job(1, 0, 2, (4,), (10,), strict=True), _job(1, 0, 2))
    assert [most_soft(work, left) for left in (9, 10, 11)] == [9, 10, 10]


@pytest.mark.parametrize(("slot", "deadline"), [(1, 4), (2, 5), (3, 6), (4, None)])
def test_a_queue_aims_at_the_first_step_that_it_still_reaches(slot: int, deadline: int | None) -> None:
    assert next_deadline(_job(1, 0, 3, (4, 5, 6), (10, 8, 5)), slot) == deadline


def test_without_a_deadline_a_job_is_last_and_never_dropped() -> None:
    assert next_deadline(_job(1, 0, 3), 10**6) == NEVER
    assert earliest_deadline_first((_job(1, 0, 2), _job(1, 0, 2, (9,), (10,))), 1, 20) == {1: 0, 0: 2}


def test_a_job_is_dropped_once_it_can_meet_no_deadline() -> None:
    work = (_job(1, 0, 3, (3,), (10,)), _job(1, 0, 3, (5,), (10,)), _job(1, 0, 3, (6,), (10,)))
    assert earliest_deadline_first(work, 1, 20) == {0: 0, 2: 3}


def test_others_pass_a_reservation_only_where_they_do_not_delay_it() -> None:
    """Two of three GPUs are busy until slot 4; the next job needs all three, so the last GPU is free for four slots."""
    work = (
        _job(2, 0, 4, (4,), (10,)),
        _job(3, 0, 2, (8,), (10,)),
        _job(1, 0, 5, (9,), (10,)),
        _job(1, 0, 4, (11,), (10,)),
    )
    assert earliest_deadline_first(work, 3, 20) == {0: 0, 3: 0, 1: 4}


def test_others_take_what_a_reservation_leaves() -> None:
    work = (_job(3, 0, 4, (4,), (10,)), _job(3, 0, 2, (8,), (10,)), _job(1, 0, 5, (9,), (10,)))
    assert earliest_deadline_first(work, 4, 20) == {0: 0, 2: 0, 1: 4}
