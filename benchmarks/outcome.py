"""What a benchmark reports: one line of JSON, and how long and with how much memory its work ran."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from solvers.problem import Problem
from solvers.solve import solve

_Result = TypeVar("_Result")

Figure = int | float | str | bool | None | Mapping[str, "Figure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Figures of one run: `value`, `bound` and `gap_ppm` in the benchmark's own terms, `more` its further keys."""

    bench: str
    seconds: float
    value: int | None = None
    bound: int | None = None
    gap_ppm: int | None = None
    baselines: Mapping[str, Figure] = field(default_factory=dict)
    more: Mapping[str, Figure] = field(default_factory=dict)

    def as_json(self) -> str:
        """One line; `peak_mb` is the most memory this process ever held."""
        figures: dict[str, Figure] = {
            "bench": self.bench,
            "seconds": round(self.seconds, 2),
            "value": self.value,
            "bound": self.bound,
            "gap_ppm": self.gap_ppm,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "baselines": dict(self.baselines),
            **self.more,
        }
        return json.dumps(figures)


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result of `work` and the seconds it took."""
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def warm(problem: Problem) -> None:
    """Compile all that solving the problem uses."""
    solve(problem, budget=1)


def gap_ppm(value: int, bound: int) -> int:
    """`10^6 x |bound - value|` in parts of the value, rounded up."""
    return -(-(10**6) * abs(bound - value) // max(1, abs(value)))
