"""Two weeks of a training cluster with deadlines: strict ones, soft ones that pay less step by step, and none."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from benchmarks.edf import earliest_deadline_first
from benchmarks.outcome import Outcome, timed, warm
from benchmarks.philly import counted
from solvers.problem import Mode, Part, Problem, Task
from solvers.solution import Solution
from solvers.solve import Effort, solve

SLOT_MINUTES: Final = 10
GPUS_PERCENT: Final = 60
"""GPUs in percent of the most that jobs would use at once if each started when it came."""
MICROS: Final = 10**6
"""What one point of value is worth to the solver."""
BEST_EFFORT: Final = 1
"""Points of a job without a deadline, which the trace leaves open: half of what the last step of a soft one pays."""
STRICT_POINTS: Final = 10
"""Points of a job with a strict deadline, as the trace has it."""
STRICT: Final = 10
"""The solver is given so many times the points of a strict deadline: it is not to be traded for a few soft ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job in slots: it may start from `start` on, and pays `values[k]` points when it ends by `ends[k]`.

    Both lists are empty without a deadline; a strict deadline has one step.
    """

    gpus: int
    start: int
    duration: int
    strict: bool
    ends: tuple[int, ...]
    values: tuple[int, ...]


def jobs() -> tuple[Job, ...]:
    """Read the jobs; submission and duration are rounded up to whole slots, deadlines down."""
    path = Path(__file__).parent / "data" / "deadlines" / "mix2.csv.gz"
    with gzip.open(path, "rt", newline="") as lines:
        return tuple(map(_job, csv.DictReader(lines)))


def _job(row: Mapping[str, str]) -> Job:
    submit = int(row["submit_min"])
    return Job(
        gpus=int(row["gpus"]),
        start=-(-submit // SLOT_MINUTES),
        duration=-(-int(row["duration_min"]) // SLOT_MINUTES),
        strict=row["class"] == "strict",
        ends=tuple((submit + minutes) // SLOT_MINUTES for minutes in _steps(row["deadlines_min"])),
        values=_steps(row["values"]),
    )


def _steps(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("-"))) if text else ()


def peak(work: Iterable[Job]) -> int:
    """The most GPUs in use at once if every job started when it came."""
    change: Counter[int] = Counter()
    for job in work:
        change[job.start] += job.gpus
        change[job.start + job.duration] -= job.gpus
    return max(accumulate(change[slot] for slot in sorted(change)))


def slots_of(work: Iterable[Job]) -> int:
    """The horizon: every job ends in it when it starts as it comes."""
    return max(job.start + job.duration for job in work)


def problem(work: Sequence[Job], gpus: int, slots: int) -> Problem:
    """The work on one pool; each step of a deadline is a mode of its own that has to end by it.

    A job is worth its points when it ends inside the horizon.
    """
    return Problem(
        slots=slots,
        pools=(counted(gpus),),
        tasks=tuple(_task(at, job, slots) for at, job in enumerate(work)),
    )


def _task(number: int, job: Job, slots: int) -> Task:
    worth = max(job.values, default=BEST_EFFORT) * (STRICT if job.strict else 1)
    modes: list[Mode] = []
    earliest = job.start
    for end, value in zip(job.ends or (slots,), job.values or (worth,), strict=True):
        latest = min(end, slots) - job.duration
        lost = 0 if job.strict else worth - value
        if latest >= earliest:
            modes.append(_mode(job, earliest, latest, lost))
        earliest = max(earliest, latest + 1)
    return Task(name=f"job{number:05d}", modes=tuple(modes), worth_micros=worth * MICROS, earliest=job.start)


def _mode(job: Job, earliest: int, latest: int, lost: int) -> Mode:
    return Mode(
        name=f"by{latest + job.duration}",
        pool=0,
        parts=(Part(count=1, use=(job.gpus,)),),
        duration=job.duration,
        limit=job.duration,
        cost_micros=lost * MICROS,
        earliest=earliest,
        latest=latest,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Strict deadlines met, points of soft ones, and jobs without a deadline that ran, by when jobs start."""

    strict: int
    soft: int
    best_effort: int


def score(work: Sequence[Job], starts: Mapping[int, int]) -> Score:
    """Count what starts of jobs, by position, bring."""
    strict = soft = best_effort = 0
    for at, start in starts.items():
        job = work[at]
        paid = next((value for end, value in zip(job.ends, job.values, strict=True) if start + job.duration <= end), 0)
        strict += job.strict and paid > 0
        soft += 0 if job.strict else paid
        best_effort += not job.ends
    return Score(strict=strict, soft=soft, best_effort=best_effort)


def starts_of(solution: Solution) -> dict[int, int]:
    """When each task of a plan starts, by position."""
    return {one.task: one.runs[0].start for one in solution.assignments}


def deadlines(effort: Effort, peers: bool) -> Outcome:
    """30,746 jobs on 60 % of the GPUs that they would use at once, against earliest deadline first with backfill."""
    work = jobs()
    gpus, slots = peak(work) * GPUS_PERCENT // 100, slots_of(work)
    edf = score(work, earliest_deadline_first(work, gpus, slots))
    strict_bound = most_strict(work, gpus, slots)
    whole = problem(work, gpus, slots)
    warm(problem(work[:100], gpus, slots))
    solution, seconds = timed(lambda: solve(whole, effort=effort))
    plan = score(work, starts_of(solution))
    assert solution.bound_micros is not None, "a plan of the search comes with a bound"
    soft_bound = most_soft(work, solution.bound_micros // MICROS - plan.strict * STRICT * STRICT_POINTS)
    return Outcome(
        bench="deadlines",
        seconds=seconds,
        value=solution.value_micros,
        bound=solution.bound_micros,
        gap_ppm=solution.gap_ppm,
        baselines={"edf_strict_met": edf.strict, "edf_soft": edf.soft},
        more={
            "strict_met": plan.strict,
            "strict_bound": strict_bound,
            "strict_percent_of_bound": round(100 * plan.strict / strict_bound, 2),
            "edf_strict_met": edf.strict,
            "strict_jobs": sum(job.strict for job in work),
            "soft": plan.soft,
            "soft_bound": soft_bound,
            "soft_percent_of_bound": round(100 * plan.soft / soft_bound, 2),
            "edf_soft": edf.soft,
            "best_effort": plan.best_effort,
            "edf_best_effort": edf.best_effort,
            "gpus": gpus,
            "slots": slots,
            "jobs": len(work),
            "placed": len(solution.assignments),
            "effort": effort.value,
        },
    )


def most_strict(work: Sequence[Job], gpus: int, slots: int) -> int:
    """How many strict deadlines any plan can meet at most, by a relaxation of the strict jobs alone."""
    strict = problem([job for job in work if job.strict], gpus, slots)
    bound = solve(strict, budget=0).bound_micros
    assert bound is not None, "a plan of the search comes with a bound"
    return bound // (STRICT * STRICT_POINTS * MICROS)


def most_soft(work: Iterable[Job], left: int) -> int:
    """The points that soft deadlines can bring: at most what strict ones leave of a bound, and at most all points."""
    return min(left, sum(max(job.values) for job in work if job.ends and not job.strict))
