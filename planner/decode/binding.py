"""Which devices of a node each run gets: interval colouring, run by run in order of start.

At any moment the runs on a node hold no more devices than it has, so that taking any free ones in order of start always
works out. Which free ones is a choice: those held in the previous plan, then whole islands, then the tightest island
that is large enough, so that linked devices stay together, and the lowest index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A run that needs `count` devices of a node in slots `[start, end)`; `held` are those of the previous plan."""

    key: str
    start: int
    end: int
    count: int
    held: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Devices of one kind in a node: their indices, those that are linked with each other, and until when others use
    some of them from the beginning on.
    """

    indices: tuple[int, ...]
    islands: tuple[tuple[int, ...], ...]
    busy: tuple[tuple[int, int], ...] = ()


class OverCommitted(Exception):
    """Runs need more devices of a node than it has; the solver's answer was wrong."""


def bind(claims: Iterable[Claim], devices: Devices) -> dict[str, tuple[int, ...]]:
    """The devices of each claim, by its key, in ascending order. Raises `OverCommitted`."""
    busy_until = dict.fromkeys(devices.indices, 0) | dict(devices.busy)
    bound: dict[str, tuple[int, ...]] = {}
    ordered = sorted(claims, key=_rank)
    for position, claim in enumerate(ordered):
        free = [index for index in devices.indices if busy_until[index] <= claim.start]
        if len(free) < claim.count:
            raise OverCommitted(f"{claim.key} needs {claim.count} devices in slot {claim.start}, {len(free)} are free")
        wanted = _wanted_later(ordered[position + 1 :], claim) if len(free) > claim.count else frozenset()
        chosen = _chosen(claim, free, wanted, devices.islands)
        busy_until.update(dict.fromkeys(chosen, claim.end))
        bound[claim.key] = tuple(sorted(chosen))
    return bound


def _rank(claim: Claim) -> tuple[int, bool, int, str]:
    """By start; among equals those that had devices before, then the largest, so that islands stay whole."""
    return claim.start, not claim.held, -claim.count, claim.key


def _wanted_later(others: Sequence[Claim], claim: Claim) -> frozenset[int]:
    """Devices that runs which begin before this one ends had in the previous plan."""
    return frozenset(index for other in others if other.start < claim.end for index in other.held)


def _chosen(claim: Claim, free: Sequence[int], wanted: frozenset[int], islands: Sequence[tuple[int, ...]]) -> list[int]:
    kept = [index for index in claim.held if index in free][: claim.count]
    spare = [index for index in free if index not in kept]
    unwanted = [index for index in spare if index not in wanted]
    missing = claim.count - len(kept)
    if len(unwanted) >= missing:
        return kept + _from_islands(missing, unwanted, islands)
    rest = [index for index in spare if index in wanted]
    return kept + unwanted + _from_islands(missing - len(unwanted), rest, islands)


def _from_islands(count: int, free: Sequence[int], islands: Sequence[tuple[int, ...]]) -> list[int]:
    """`count` of the free devices, broken out of as few islands as possible."""
    parts = ([index for index in island if index in free] for island in islands)
    left = [part for part in parts if part]
    taken: list[int] = []
    while missing := count - len(taken):
        enough = [island for island in left if len(island) >= missing]
        best = (
            min(enough, key=lambda island: (len(island), island))
            if enough
            else max(left, key=lambda island: (len(island), -island[0]))
        )
        taken += best[:missing]
        left.remove(best)
        left = [island for island in left if island]
    return taken
