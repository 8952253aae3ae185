"""What a solver answers: who runs where and when, what that is worth, and what nothing can be worth more than."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from solvers.problem import Lead


class Proof(StrEnum):
    """How much is known: `bounded` has a valid bound with a gap, `heuristic` has no bound, `none` no solution."""

    OPTIMAL = "optimal"
    BOUNDED = "bounded"
    HEURISTIC = "heuristic"
    INFEASIBLE = "infeasible"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One node (position in the mode's pool) that plays one part (position in the mode's parts)."""

    node: int
    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Slots `[start, end)` in one mode on named nodes.

    `guaranteed` is the least number of its quota units inside its home row's guarantee, over its slots in the horizon.
    """

    mode: int
    start: int
    end: int
    seats: tuple[Seat, ...]
    guaranteed: int = 0


def run_of_lead(lead: Lead) -> Run:
    """The run that leads to another: it goes on in the first mode from slot 0, where it is."""
    seats = tuple(Seat(node=node, part=part) for node, part in sorted(lead.seats))
    return Run(mode=0, start=0, end=lead.slots, seats=seats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The runs of one task (position in the problem), in order of time."""

    task: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPrice:
    """What one more device of a pool would be worth in each slot, in micros."""

    pool: int
    micros: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Assignments in task order (a task that is absent does not run), with value and bound in micros."""

    assignments: tuple[Assignment, ...]
    value_micros: int
    bound_micros: int | None
    proof: Proof
    prices: tuple[PoolPrice, ...] = ()

    @property
    def gap_micros(self) -> int | None:
        """Bound minus value, None without a bound."""
        return None if self.bound_micros is None else self.bound_micros - self.value_micros

    @property
    def gap_ppm(self) -> int | None:
        """`10^6 * gap / max(1, |bound|)`, rounded up."""
        if self.bound_micros is None:
            return None
        return -(-(10**6) * (self.bound_micros - self.value_micros) // max(1, abs(self.bound_micros)))
