"""Integers in, integers out: problems, their rules, solvers with a proven bound, and the checker.

`solve` and `Effort` load numpy, numba and OR-Tools when they are first asked for; everything else is standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.problem import Problem
from solvers.rules import Rule
from solvers.solution import Proof, Solution

if TYPE_CHECKING:
    from solvers.solve import Effort, Progress, solve

__all__ = ["Effort", "Problem", "Progress", "Proof", "Rule", "Solution", "solve"]


def __getattr__(name: str) -> Any:
    if name in {"Effort", "Progress", "solve"}:
        return getattr(import_module("solvers.solve"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
