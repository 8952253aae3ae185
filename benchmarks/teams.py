"""The Philly week with its virtual clusters as teams: guarantees, silos, and a plan that costs no lender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Final

from benchmarks import philly
from benchmarks.firstcome import first_come
from benchmarks.outcome import Outcome, gap_ppm, timed, warm
from benchmarks.philly import Job
from solvers.problem import Charge, Previous, Problem, Row, Task
from solvers.rules import Rule
from solvers.solution import Solution
from solvers.solve import Effort, solve

GPUS: Final = 350
SILO_BUDGET: Final = 250
"""How long one team's week is searched, in the solver's units: an eighth of `quick`, for the tenth part of the jobs."""

Starts = Mapping[str, int]
"""The slot in which each job starts, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silos:
    """Every team alone on its guarantee: when its jobs start, and the slot in which the last of all ends."""

    starts: Starts
    end: int


def philly_teams(effort: Effort, peers: bool) -> Outcome:
    """425 jobs of 11 teams on 350 GPUs, no job later than in its team's silo, against silos and FCFS with borrowing."""
    jobs = philly.jobs()
    guaranteed = guarantees(jobs, GPUS)
    alone = silos(jobs, guaranteed)
    queue = first_come(jobs, (GPUS,))
    queued = {job.name: start for job, start in zip(jobs, queue.starts, strict=True)}
    problem = lending(jobs, guaranteed, alone)
    warm(problem)
    solution, seconds = timed(lambda: solve(problem, effort=effort))
    starts = starts_of(problem, solution)
    free = starts_of(problem, solve(unbound(problem), effort=effort))
    value, silo = waited(jobs, starts), waited(jobs, alone.starts)
    least = philly.least_waited(problem, solution.bound_micros or 0)
    return Outcome(
        bench="philly-teams",
        seconds=seconds,
        value=value,
        bound=least,
        gap_ppm=gap_ppm(value, least),
        baselines={
            "silos": silo,
            "silos_fcfs": sum(first_come(of(jobs, team), (gpus,)).waited for team, gpus in guaranteed.items()),
            "fcfs_borrowing": queue.waited,
        },
        more={
            "waited": value,
            "silo_waited": silo,
            "below_silos_percent": round(100 - 100 * value / silo, 1),
            "guarantees_broken": broken(jobs, starts, alone),
            "worse_off": " ".join(worse_off(jobs, starts, alone.starts)),
            "fcfs_guarantees_broken": broken(jobs, queued, alone),
            "fcfs_worse_off": " ".join(worse_off(jobs, queued, alone.starts)),
            "unbound_waited": waited(jobs, free),
            "unbound_guarantees_broken": broken(jobs, free, alone),
            "unbound_worse_off": " ".join(worse_off(jobs, free, alone.starts)),
            "borrowed_percent": borrowed_percent(jobs, starts, guaranteed),
            "placed": len(solution.assignments),
            "jobs": len(jobs),
            "teams": len(guaranteed),
            "effort": effort.value,
        },
    )


def of(jobs: tuple[Job, ...], team: str) -> tuple[Job, ...]:
    """The jobs of one team."""
    return tuple(job for job in jobs if job.team == team)


def guarantees(jobs: tuple[Job, ...], gpus: int) -> dict[str, int]:
    """Each team's guarantee, by name: the larger of its largest job and its part of the GPU-slots; together `gpus`.

    Parts are of what all jobs take, and are scaled until all guarantees add up: so that no largest job is cut off, the
    scaling stops at them. What rounding leaves goes to those who lost most by it.
    """
    work: Counter[str] = Counter()
    for job in jobs:
        work[job.team] += job.gpus * job.duration
    largest = {team: max(job.gpus for job in of(jobs, team)) for team in sorted(work)}
    open_teams = set(largest)
    while True:
        left = gpus - sum(largest[team] for team in largest.keys() - open_teams)
        part = Fraction(left, sum(work[team] for team in open_teams))
        small = {team for team in open_teams if work[team] * part < largest[team]}
        if not small:
            break
        open_teams -= small
    exact = {team: work[team] * part if team in open_teams else Fraction(most) for team, most in largest.items()}
    whole = {team: int(share) for team, share in exact.items()}
    for team in sorted(exact, key=lambda team: (whole[team] - exact[team], team))[: gpus - sum(whole.values())]:
        whole[team] += 1
    return whole


def silos(jobs: tuple[Job, ...], guaranteed: Mapping[str, int]) -> Silos:
    """Solve the week of each team alone on as many GPUs as are guaranteed to it."""
    starts: dict[str, int] = {}
    for team, gpus in guaranteed.items():
        mine, pool = of(jobs, team), philly.counted(gpus)
        tasks = tuple(philly.task(job, pool) for job in mine)
        problem = Problem(slots=first_come(mine, (gpus,)).end, pools=(pool,), tasks=tasks)
        starts |= starts_of(problem, solve(problem, budget=SILO_BUDGET))
    return Silos(starts=starts, end=max(starts[job.name] + job.duration for job in jobs))


def lending(jobs: tuple[Job, ...], guaranteed: Mapping[str, int], alone: Silos) -> Problem:
    """All teams on all GPUs: who has nothing to run lends, and no job starts later than it would in its team's silo.

    Since guarantees add up to the GPUs, all silos together are such a plan, and the one to start from. Each team's use
    counts in a row with its guarantee, which says what is borrowed.
    """
    pool = philly.counted(sum(guaranteed.values()))
    slots = max(alone.end, first_come(jobs, (pool.nodes[0].capacity[0],)).end)
    row = {team: at for at, team in enumerate(guaranteed)}
    rows = tuple(Row(rule=Rule.QUOTA, subject=team, guarantee=(gpus,) * slots) for team, gpus in guaranteed.items())
    tasks = tuple(_lent(philly.task(job, pool), row[job.team], alone.starts[job.name]) for job in jobs)
    return Problem(slots=slots, pools=(pool,), tasks=tasks, rows=rows)


def _lent(task: Task, row: int, latest: int) -> Task:
    mode = task.modes[0]
    charged = replace(mode, charges=(Charge(row=row, amount=mode.devices),), home=row)
    before = Previous(mode=0, start=latest, nodes=((0, mode.devices),))
    return replace(task, modes=(charged,), latest=latest, previous=before)


def unbound(problem: Problem) -> Problem:
    """The same, but jobs may start as late as they like."""
    return replace(problem, tasks=tuple(replace(task, latest=None) for task in problem.tasks))


def starts_of(problem: Problem, solution: Solution) -> Starts:
    """When each task of a plan of all tasks starts."""
    return {problem.tasks[one.task].name: one.runs[0].start for one in solution.assignments}


def waited(jobs: tuple[Job, ...], starts: Starts) -> int:
    """GPU-slots between when jobs came and when they start."""
    return sum((starts[job.name] - job.start) * job.gpus for job in jobs)


def worse_off(jobs: tuple[Job, ...], starts: Starts, alone: Starts) -> tuple[str, ...]:
    """The teams whose jobs together wait longer than in their silo."""
    teams = sorted({job.team for job in jobs})
    return tuple(team for team in teams if waited(of(jobs, team), starts) > waited(of(jobs, team), alone))


def broken(jobs: tuple[Job, ...], starts: Starts, alone: Silos) -> int:
    """In how many slots of how many teams a team has so far got less work done than alone on its guarantee."""
    count = 0
    for team in sorted({job.team for job in jobs}):
        mine = of(jobs, team)
        end = max((*(starts[job.name] + job.duration for job in mine), alone.end))
        ours, theirs = _done(mine, starts, end), _done(mine, alone.starts, end)
        count += sum(here < there for here, there in zip(ours, theirs, strict=True))
    return count


def _done(jobs: tuple[Job, ...], starts: Starts, slots: int) -> list[int]:
    """GPU-slots of work done by the end of each slot."""
    return list(accumulate(_used(jobs, starts, slots)))


def _used(jobs: tuple[Job, ...], starts: Starts, slots: int) -> list[int]:
    """GPUs in use in each slot."""
    change = [0] * (slots + 1)
    for job in jobs:
        change[starts[job.name]] += job.gpus
        change[starts[job.name] + job.duration] -= job.gpus
    return list(accumulate(change[:slots]))


def borrowed_percent(jobs: tuple[Job, ...], starts: Starts, guaranteed: Mapping[str, int]) -> float:
    """How much of all GPU-slots is used beyond the guarantee of the team that uses it."""
    end = max(starts[job.name] + job.duration for job in jobs)
    beyond = (max(0, used - gpus) for team, gpus in guaranteed.items() for used in _used(of(jobs, team), starts, end))
    return round(100 * sum(beyond) / sum(job.gpus * job.duration for job in jobs), 1)
