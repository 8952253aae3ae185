"""The Philly week planned again from its own plan, after one node is lost and one job is added."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from benchmarks import philly
from benchmarks.firstcome import first_come
from benchmarks.outcome import Outcome, gap_ppm, timed, warm
from planner.commands.diff import FIRST_LOOK
from solvers.problem import Previous, Problem
from solvers.solution import Run, Solution
from solvers.solve import Effort, solve

GPUS: Final = 350
LOST: Final = 8
ADDED: Final = philly.Job(name="added", team="added", start=60, duration=24, gpus=8)
"""Wednesday noon, a day on a whole node."""
MOVE: Final = 10
"""GPU-slots of waiting that a device costs whose start changes.

By a Policy's defaults a move costs $1 a device; waiting costs 1 % of the worth a day, which for a job of priority P2
and the mean length here, 63 h, is $4 x 63 x 1 % / 24 = $0.105 a device-slot.
"""


def replan(effort: Effort, peers: bool) -> Outcome:
    """The week on 350 GPUs at the given effort, then on 342 with one job more, as `planner diff` looks at an edit."""
    slots = first_come((*philly.jobs(), ADDED), (GPUS - LOST,)).end
    problem = philly.week(philly.counted(GPUS), slots)
    warm(problem)
    first, first_seconds = timed(lambda: solve(problem, effort=effort))
    edited = changed(problem, first)
    warm(edited)
    second, seconds = timed(lambda: solve(edited, budget=FIRST_LOOK))
    afresh = solve(without_previous(edited), effort=effort)
    cost, least = spent(edited, second)
    first_gap = gap_ppm(*spent(problem, first))
    return Outcome(
        bench="replan",
        seconds=seconds,
        value=cost,
        bound=least,
        gap_ppm=gap_ppm(cost, least),
        baselines={
            "first_seconds": round(first_seconds, 2),
            "waited_afresh": philly.waited(edited, afresh),
            "moved_percent_afresh": moved_percent(first, afresh),
        },
        more={
            "seconds_ratio": round(seconds / first_seconds, 3),
            "moved_percent": moved_percent(first, second),
            "first_gap_ppm": first_gap,
            "waited": philly.waited(edited, second),
            "first_waited": philly.waited(problem, first),
            "placed": len(second.assignments),
            "jobs": len(edited.tasks),
            "budget": FIRST_LOOK,
            "effort": effort.value,
        },
    )


def changed(problem: Problem, plan: Solution) -> Problem:
    """The same work with `LOST` devices fewer and `ADDED` more, and for each job where the plan had it.

    A device whose start changes costs as much as `MOVE` GPU-slots of waiting.
    """
    runs = runs_of(plan)
    kept = tuple(
        replace(task, previous=_previous(problem, at, runs[at]), move_micros=MOVE * philly.MICROS)
        if at in runs
        else task
        for at, task in enumerate(problem.tasks)
    )
    pool = philly.counted(problem.pools[0].nodes[0].capacity[0] - LOST)
    return replace(problem, pools=(pool,), tasks=(*kept, philly.task(ADDED, pool)))


def _previous(problem: Problem, task: int, run: Run) -> Previous:
    devices = problem.tasks[task].modes[run.mode].devices
    return Previous(mode=run.mode, start=run.start, nodes=((run.seats[0].node, devices),))


def without_previous(problem: Problem) -> Problem:
    """The same with no plan to start from."""
    return replace(problem, tasks=tuple(replace(task, previous=None, move_micros=0) for task in problem.tasks))


def runs_of(plan: Solution) -> dict[int, Run]:
    """The run of each task that has one."""
    return {one.task: one.runs[0] for one in plan.assignments}


def moved_percent(before: Solution, after: Solution) -> float:
    """How many of the placements of `before` start elsewhen in `after` or are not in it, in percent."""
    was, now = runs_of(before), runs_of(after)
    moved = sum(task not in now or now[task].start != run.start for task, run in was.items())
    return round(100 * moved / len(was), 1)


def spent(problem: Problem, plan: Solution) -> tuple[int, int]:
    """GPU-slots that a plan loses by waiting and by moves, and that every plan loses at least."""
    worth = len(problem.tasks) * philly.WORTH
    return (worth - plan.value_micros) // philly.MICROS, philly.least_waited(problem, plan.bound_micros or 0)
