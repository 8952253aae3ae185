"""What snapshots say of jobs that run, and how such a run stands when the plan starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from solvers.problem import Previous

if TYPE_CHECKING:
    from fractions import Fraction

    from planner.spec.snapshot import Running, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A job that a snapshot taken at `at` saw running."""

    running: Running
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run stands: its mode is the first of its work, `nodes` are `(node, devices)` by position in the pool.

    `done` and `saved` are of the whole work; an interruption at the plan's start loses `lost_part` of it, which takes
    `lost_seconds` on these devices. `goes_on`: its nodes are there for what is left. `stays`: nothing may interrupt it.
    """

    running: Running
    done: Fraction
    saved: Fraction
    lost_part: Fraction
    lost_seconds: int
    nodes: tuple[tuple[int, int], ...]
    goes_on: bool = True
    stays: bool = False

    @property
    def previous(self) -> Previous | None:
        """The run as the solver knows it: what goes on from slot 0 where it is has not moved."""
        return Previous(mode=0, start=0, nodes=self.nodes) if self.goes_on else None


def sightings(snapshots: Iterable[Snapshot]) -> Mapping[str, Sighting]:
    """What runs, by address; of several snapshots that saw it the last one counts."""
    seen = sorted(snapshots, key=lambda shot: (shot.taken_at, shot.name))
    found = {f"job/{run.job}": Sighting(running=run, at=shot.taken_at) for shot in seen for run in shot.running}
    return MappingProxyType(found)
