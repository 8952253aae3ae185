"""The order in which jobs are submitted, and what each waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.names import without_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from renderers.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One submission: the planned start, the job's name in the queue, its file, and the addresses that it waits for."""

    address: str
    start: int
    name: str
    file: str
    after: tuple[str, ...]


def parents_of(payload: Payload) -> tuple[str, ...]:
    """The jobs that must have finished before this one: `prep` means the team's own, `data/prep` another's."""
    job = payload.job
    return tuple(sorted({f"job/{_key(name, job.team)}" for name in job.after}))


def _key(reference: str, team: str) -> str:
    key = reference.removeprefix("job/")
    return key if "/" in key else f"{team}/{key}"


def elements(array: str, known: Mapping[str, object]) -> tuple[str, ...]:
    """The known addresses that a reference means: the job itself, or all elements of an array."""
    return tuple(address for address in known if without_index(address) == array)


def ordered(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Every step after those that it waits for, otherwise by start: of two equal jobs Slurm runs the older first."""
    by_start = sorted(steps, key=lambda item: (item.start, item.address))
    return tuple(_walk({step.address: step for step in by_start}))


def _walk(known: Mapping[str, Step]) -> Iterator[Step]:
    """Depth first, without recursion: chains may be longer than Python's stack."""
    stack = [(step, False) for step in reversed(tuple(known.values()))]
    opened: set[str] = set()
    while stack:
        step, ready = stack.pop()
        if ready:
            yield step
        elif step.address not in opened:
            opened.add(step.address)
            stack.append((step, True))
            stack += [(known[parent], False) for parent in reversed(step.after) if parent in known]
