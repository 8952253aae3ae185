"""The order in which jobs are submitted, and what each waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.names import without_index
from renderers.slurm import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from planner.plan import Plan
    from planner.specset import SpecSet
    from renderers.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One submission: the planned start, the job's name in the queue, its file, and the addresses that it waits for.

    `comment` tells how it was written, and `settings` are what `scontrol update` takes where only these differ.
    """

    address: str
    start: int
    name: str
    file: str
    after: tuple[str, ...]
    comment: str = ""
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What the program is told of a step: its parents are names with commas between."""

    name: str
    file: str
    comment: str
    parents: str
    settings: tuple[str, ...]


def lines(steps: tuple[Step, ...]) -> tuple[Line, ...]:
    """The lines of the program, in the order of the steps."""
    names = {step.address: step.name for step in steps}
    return tuple(
        Line(
            name=step.name,
            file=step.file,
            comment=step.comment,
            parents=",".join(names[address] for address in step.after),
            settings=step.settings,
        )
        for step in steps
    )


def held(plan: Plan, specset: SpecSet) -> tuple[str, ...]:
    """The names that jobs without a place have in the queue, if they are there at all."""
    found = {
        words.job_name(words.stem(address), specset.spec_hash(address))
        for item in plan.unplaced
        if item.address.startswith("job/")
        for address in _elements(item.address, specset)
    }
    return tuple(sorted(found))


def _elements(address: str, specset: SpecSet) -> tuple[str, ...]:
    """An array as a whole stands for its elements."""
    array = specset.job(address.partition("/")[2]).array
    if array is None or without_index(address) != address:
        return (address,)
    return tuple(f"{address}[{index}]" for index in array.indices)


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
