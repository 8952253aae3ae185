"""First come, first served with conservative backfill: every job reserves the earliest place that all earlier jobs
leave.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.philly import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Starts in the order of the jobs, GPU-slots waited, and the slot in which the last job ends."""

    starts: tuple[int, ...]
    waited: int
    end: int


def first_come(jobs: tuple[Job, ...], capacities: tuple[int, ...]) -> Queue:
    """Schedule jobs by submission over nodes of the given capacities; a job above a node's takes whole nodes.

    A job that fits one node takes the fullest on which it fits (lowest first among equals), as a packing scheduler
    does.
    """
    slots = max(job.start for job in jobs) + sum(job.duration for job in jobs)
    free = [[capacity] * slots for capacity in capacities]
    starts: dict[str, int] = {}
    for job in sorted(jobs, key=lambda job: (job.start, job.name)):
        start, nodes = _earliest(job, capacities, free)
        share = job.gpus // len(nodes)
        for node in nodes:
            for slot in range(start, start + job.duration):
                free[node][slot] -= share
        starts[job.name] = start
    order = tuple(starts[job.name] for job in jobs)
    return Queue(
        starts=order,
        waited=sum((start - job.start) * job.gpus for job, start in zip(jobs, order, strict=True)),
        end=max(start + job.duration for job, start in zip(jobs, order, strict=True)),
    )


def _earliest(job: Job, capacities: tuple[int, ...], free: list[list[int]]) -> tuple[int, tuple[int, ...]]:
    count = max(1, -(-job.gpus // capacities[0]))
    share = job.gpus // count
    ready = [job.start] * len(free)
    start = job.start
    while True:
        for node, row in enumerate(free):
            ready[node] = _ready(row, max(ready[node], start), job.duration, share)
        fitting = [node for node in range(len(free)) if ready[node] == start]
        if len(fitting) >= count:
            return start, _fullest(fitting, free, range(start, start + job.duration), count)
        start = sorted(ready)[count - 1] if sorted(ready)[count - 1] > start else start + 1


def _ready(row: list[int], start: int, duration: int, share: int) -> int:
    """The first slot from `start` on in which the node has `share` for `duration` slots."""
    slot = start
    while slot < start + duration:
        if row[slot] < share:
            start = slot + 1
        slot += 1
    return start


def _fullest(fitting: list[int], free: list[list[int]], slots: range, count: int) -> tuple[int, ...]:
    return tuple(sorted(fitting, key=lambda node: (sum(free[node][slot] for slot in slots), node))[:count])
