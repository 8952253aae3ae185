"""The busiest week of the Philly cluster as a problem: place every long job on too few GPUs so that least GPU time
is waited.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from solvers.problem import Mode, Node, Part, Pool, Problem, Task
from solvers.solution import Solution

MICROS: Final = 10**6
"""What one GPU-slot of waiting costs, so that values read as GPU-slots."""

WORTH: Final = 10**12
"""What every job is worth: more than any plan can lose by waiting, so that all jobs run."""

_SLOT_SECONDS: Final = 3600
_DEVICES_PER_NODE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job in slots of one hour: submitted before slot `start`, running `duration` slots on `gpus` devices."""

    name: str
    team: str
    start: int
    duration: int
    gpus: int


def jobs() -> tuple[Job, ...]:
    """Read the jobs of at least 24 GPU-hours, submission and duration rounded up to whole slots."""
    path = Path(__file__).parent / "data" / "philly_week.csv"
    with path.open(newline="") as lines:
        return tuple(
            Job(
                name=row["job"],
                team=row["vc"],
                start=-(-int(row["submit_s"]) // _SLOT_SECONDS),
                duration=-(-int(row["duration_s"]) // _SLOT_SECONDS),
                gpus=int(row["gpus"]),
            )
            for row in csv.DictReader(lines)
        )


def counted(gpus: int) -> Pool:
    """A pool of `gpus` devices without nodes."""
    return Pool(name="philly", resources=("gpu",), nodes=(Node(name="all", capacity=(gpus,)),))


def racked(nodes: int) -> Pool:
    """A pool of nodes with 8 devices each."""
    machines = tuple(Node(name=f"node{number:02d}", capacity=(_DEVICES_PER_NODE,)) for number in range(nodes))
    return Pool(name="philly", resources=("gpu",), nodes=machines)


def week(pool: Pool, slots: int) -> Problem:
    """The week on one pool; a task's value is `WORTH - MICROS * GPU-slots waited`.

    `slots` must be enough for every job to end inside; `first_come` says how many its plan needs.
    """
    return Problem(slots=slots, pools=(pool,), tasks=tuple(task(job, pool) for job in jobs()))


def task(job: Job, pool: Pool) -> Task:
    """A job as work for the pool; one above a node takes whole nodes where there are several."""
    parts = (Part(count=1, use=(job.gpus,)),)
    if len(pool.nodes) > 1 and job.gpus > _DEVICES_PER_NODE:
        parts = (Part(count=-(-job.gpus // _DEVICES_PER_NODE), use=(_DEVICES_PER_NODE,)),)
    return Task(
        name=job.name,
        modes=(Mode(name="gpu", pool=0, parts=parts, duration=job.duration, limit=job.duration),),
        worth_micros=WORTH,
        since=job.start + job.duration,
        delay_micros=job.gpus * MICROS,
        earliest=job.start,
    )


def waited(problem: Problem, solution: Solution) -> int:
    """GPU-slots between what could start and what did."""
    total = 0
    for assignment in solution.assignments:
        work = problem.tasks[assignment.task]
        for run in assignment.runs:
            total += (run.start - work.earliest) * work.modes[run.mode].devices
    return total


def moves(solution: Solution) -> int:
    """How often jobs go on elsewhere than where they ran before."""
    pairs = (pair for assignment in solution.assignments for pair in pairwise(assignment.runs))
    return sum(before.seats != after.seats for before, after in pairs)


def least_waited(problem: Problem, bound_micros: int) -> int:
    """The GPU-slots that any plan of all jobs waits at least, from a bound on value; rounded up, since they are
    whole.
    """
    return max(0, -(-(len(problem.tasks) * WORTH - bound_micros) // MICROS))
