"""What snapshots say of jobs that run, and how such a run stands when the plan starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from solvers.problem import Previous

if TYPE_CHECKING:
    from fractions import Fraction

    from planner.compile.cuts import Cut
    from planner.spec.snapshot import Running, Snapshot
    from solvers.problem import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A job that a snapshot taken at `at` saw running."""

    running: Running
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands: its mode is the first of its work, `nodes` are `(node, devices)` by position in the pool.

    `at_once` is what an interruption at the plan's start finds and loses. `goes_on`: it runs there when the plan
    starts, on nodes that are open. `ends_there`: these are there for all that is left. `stays`: nothing may stop it.
    """

    running: Running
    at_once: Cut
    nodes: tuple[tuple[int, int], ...]
    goes_on: bool = True
    ends_there: bool = True
    stays: bool = False

    @property
    def done(self) -> Fraction:
        """The part of the whole work that is done when the plan starts."""
        return self.at_once.done

    @property
    def saved(self) -> Fraction:
        """The part of the whole work that is safe when the plan starts."""
        return self.at_once.saved

    @property
    def previous(self) -> Previous | None:
        """The run as the solver knows it: what goes on from slot 0 where it is has not moved."""
        return Previous(mode=0, start=0, nodes=self.nodes) if self.goes_on else None


def played(parts: Sequence[Part], nodes: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each node that a run holds with the part that it plays there: one of as many devices, else what is left."""
    left = [at for at, part in enumerate(parts) for _ in range(part.count)]
    found: list[tuple[int, int]] = []
    for node, devices in nodes:
        at = next((at for at in left if parts[at].use[0] == devices), left[0])
        left.remove(at)
        found.append((node, at))
    return tuple(found)


def sightings(snapshots: Iterable[Snapshot]) -> Mapping[str, Sighting]:
    """What runs, by address; of several snapshots that saw it the last one counts."""
    seen = sorted(snapshots, key=lambda shot: (shot.taken_at, shot.name))
    found = {f"job/{run.job}": Sighting(running=run, at=shot.taken_at) for shot in seen for run in shot.running}
    return MappingProxyType(found)
