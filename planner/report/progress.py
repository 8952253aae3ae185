"""What a solver says while it works, in one line; and when a log wants to hear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.report.figures import money_text, ppm_text

QUIET_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A moment of a solve: the phase, the best value and bound so far (micros), and their gap (parts per million)."""

    phase: str
    value_micros: int | None = None
    bound_micros: int | None = None
    gap_ppm: int | None = None


def step_text(step: Step, seconds: int, currency: str) -> str:
    """`improve  value USD 1,200.00  bound USD 1,210.00  gap 0.9 %  12 s`."""
    parts = [f"{step.phase:<9}"]
    if step.value_micros is not None:
        parts.append(f"value {money_text(step.value_micros, currency)}")
    if step.bound_micros is not None:
        parts.append(f"bound {money_text(step.bound_micros, currency)}")
    if step.gap_ppm is not None:
        parts.append(f"gap {ppm_text(step.gap_ppm)}")
    return "  ".join([*parts, f"{seconds} s"])


class Log:
    """Decides which steps a log hears: every change of phase, and at most one in `QUIET_SECONDS` between them."""

    __slots__ = ("_phase", "_told_at")

    def __init__(self) -> None:
        self._phase = ""
        self._told_at = 0

    def wants(self, step: Step, milliseconds: int) -> bool:
        """Whether to tell `step` at a moment of any steady clock; what is wanted counts as told."""
        if step.phase == self._phase and milliseconds - self._told_at < QUIET_SECONDS * 1_000:
            return False
        self._phase, self._told_at = step.phase, milliseconds
        return True
