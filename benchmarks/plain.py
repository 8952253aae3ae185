"""The baseline that most people would write: one interval a job and one cumulative constraint, given to CP-SAT."""

from __future__ import annotations

from ortools.sat.python import cp_model

from benchmarks.philly import Job


def plain_cpsat(jobs: tuple[Job, ...], gpus: int, hint: tuple[int, ...], seconds: float) -> int:
    """GPU-slots waited in the best plan that CP-SAT finds in `seconds` on two workers from the starts in `hint`."""
    model = cp_model.CpModel()
    slots = max(start + job.duration for job, start in zip(jobs, hint, strict=True))
    starts = [model.new_int_var(job.start, slots - job.duration, job.name) for job in jobs]
    spans = [
        model.new_fixed_size_interval_var(start, job.duration, job.name)
        for start, job in zip(starts, jobs, strict=True)
    ]
    model.add_cumulative(spans, [job.gpus for job in jobs], gpus)
    model.minimize(sum(job.gpus * (start - job.start) for start, job in zip(starts, jobs, strict=True)))
    for start, value in zip(starts, hint, strict=True):
        model.add_hint(start, value)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    solver.solve(model)
    return round(solver.objective_value)
