"""Teams with guarantees: what is theirs, and what lending costs them."""

from __future__ import annotations

from benchmarks.philly import Job, jobs
from benchmarks.teams import (
    Silos,
    borrowed_percent,
    broken,
    guarantees,
    lending,
    silos,
    starts_of,
    unbound,
    waited,
    worse_off,
)
from solvers.solve import solve


def _job(name: str, team: str, start: int, duration: int, gpus: int) -> Job:
    return Job(name=name, team=team, start=start, duration=duration, gpus=gpus)


FEW = (
    _job("a", "one", 0, 4, 2),
    _job("b", "one", 0, 4, 2),
    _job("c", "two", 6, 2, 2),
)
"""Two teams of two GPUs each; the first has work for four at once, the second comes later."""


def test_guarantees_add_up_to_all_gpus_and_hold_each_teams_largest_job() -> None:
    week = jobs()
    guaranteed = guarantees(week, 350)
    assert sum(guaranteed.values()) == 350
    assert len(guaranteed) == 11
    assert all(guaranteed[job.team] >= job.gpus for job in week)


def test_a_guarantee_is_the_part_of_the_work_where_that_is_more_than_the_largest_job() -> None:
    work = (_job("a", "one", 0, 30, 1), _job("b", "two", 0, 10, 1), _job("c", "three", 0, 1, 4))
    assert guarantees(work, 12) == {"one": 6, "two": 2, "three": 4}


def test_a_team_alone_waits_for_itself_only() -> None:
    alone = silos(FEW, {"one": 2, "two": 2})
    assert sorted(alone.starts[name] for name in ("a", "b")) == [0, 4]
    assert (alone.starts["c"], alone.end) == (6, 8)


def test_who_has_nothing_to_run_lends_and_nobody_starts_later_than_alone() -> None:
    guaranteed = {"one": 2, "two": 2}
    alone = silos(FEW, guaranteed)
    problem = lending(FEW, guaranteed, alone)
    starts = starts_of(problem, solve(problem, budget=1))
    assert starts == {"a": 0, "b": 0, "c": 6}
    assert (waited(FEW, alone.starts), waited(FEW, starts)) == (8, 0)
    assert borrowed_percent(FEW, starts, guaranteed) == 40.0


def test_without_that_bond_a_job_may_start_later_than_alone() -> None:
    problem = lending(FEW, {"one": 2, "two": 2}, silos(FEW, {"one": 2, "two": 2}))
    assert [task.latest for task in problem.tasks] == [problem.tasks[at].previous.start for at in range(3)]  # type: ignore[union-attr]
    assert {task.latest for task in unbound(problem).tasks} == {None}


def test_a_guarantee_is_broken_while_a_team_has_got_less_work_done_than_alone() -> None:
    alone = Silos(starts={"a": 0, "b": 4, "c": 6}, end=8)
    assert broken(FEW, {"a": 0, "b": 4, "c": 6}, alone) == 0
    assert broken(FEW, {"a": 1, "b": 4, "c": 6}, alone) == 4
    assert broken(FEW, {"a": 0, "b": 0, "c": 7}, alone) == 2


def test_a_team_is_worse_off_when_its_jobs_together_wait_longer() -> None:
    alone = {"a": 0, "b": 4, "c": 6}
    assert worse_off(FEW, {"a": 0, "b": 4, "c": 6}, alone) == ()
    assert worse_off(FEW, {"a": 4, "b": 0, "c": 7}, alone) == ("two",)
