"""Earliest deadline first with backfill: what a queue does that knows deadlines and run times, but not what comes."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import Final, Protocol

NEVER: Final = 2**31


class Due(Protocol):
    """Work with steps: it pays less from step to step, and after the last of `ends` nothing; none are no deadline."""

    @property
    def gpus(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def duration(self) -> int: ...
    @property
    def ends(self) -> tuple[int, ...]: ...


def earliest_deadline_first(work: Sequence[Due], gpus: int, slots: int) -> dict[int, int]:
    """When each job starts, by its position; jobs that reach none of their deadlines are dropped.

    In each slot jobs start in the order of the next deadline that they still reach, jobs without any last. The first
    that does not fit reserves the earliest slot in which enough GPUs are free; others start before it only when they
    end by then or leave it what it needs.
    """
    arrivals = sorted(range(len(work)), key=lambda at: (work[at].start, at))
    starts: dict[int, int] = {}
    running: list[tuple[int, int]] = []
    waiting: list[int] = []
    free = gpus
    for slot in range(slots):
        while running and running[0][0] <= slot:
            free += running.pop(0)[1]
        while arrivals and work[arrivals[0]].start <= slot:
            waiting.append(arrivals.pop(0))
        due = {at: next_deadline(work[at], slot) for at in waiting}
        waiting = sorted((at for at in waiting if due[at] is not None), key=lambda at: (due[at], at))
        begun = _begin(work, waiting, running, free, slot)
        for at in begun:
            starts[at] = slot
            free -= work[at].gpus
            insort(running, (slot + work[at].duration, work[at].gpus))
        gone = set(begun)
        waiting = [at for at in waiting if at not in gone]
    return starts


def next_deadline(job: Due, slot: int) -> int | None:
    """The first deadline that a job reaches when it starts in a slot; None for none, `NEVER` where it has none."""
    if not job.ends:
        return NEVER
    return next((end for end in job.ends if slot + job.duration <= end), None)


def _begin(
    work: Sequence[Due], waiting: Sequence[int], running: Sequence[tuple[int, int]], free: int, slot: int
) -> list[int]:  # fmt: skip
    """Which of the waiting, in their order, start in this slot."""
    begun: list[int] = []
    reserved: int | None = None
    spare = 0
    for at in waiting:
        job = work[at]
        if job.gpus <= free and (reserved is None or slot + job.duration <= reserved or job.gpus <= spare):
            begun.append(at)
            free -= job.gpus
            if reserved is not None and slot + job.duration > reserved:
                spare -= job.gpus
        elif reserved is None:
            started = ((slot + work[one].duration, work[one].gpus) for one in begun)
            reserved, spare = _reservation(sorted((*running, *started)), free, job.gpus)
        if free == 0:
            break
    return begun


def _reservation(running: Sequence[tuple[int, int]], free: int, wanted: int) -> tuple[int, int]:
    """The slot by which so many GPUs are free, and how many more there are then."""
    for end, gpus in running:
        free += gpus
        if free >= wanted:
            return end, free - wanted
    return NEVER, 0
