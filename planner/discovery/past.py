"""Runs as they really were: how long they took, and how busy their devices were."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from planner.units import Duration, ceil_div

IDLE_PERMILLE: Final = 100
"""Below this part of a device's time it is called idle."""
_MINUTE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of some work: the account or namespace it ran for, and what the back end called it there.

    `part` is what meters call it, as in `Use.parts`. `seconds` is None where its begin or its end was not seen,
    `permille` where nobody measured its devices.
    """

    tenant: str
    name: str
    part: str
    seconds: int | None = None
    permille: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The shortest, the middle and the longest of some lengths in seconds, each up to the full minute."""

    count: int
    least: int
    middle: int
    most: int

    def __str__(self) -> str:
        least, middle, most = (str(Duration.of_seconds(each)) for each in (self.least, self.middle, self.most))
        if self.count == 1:
            return f"1 run took {middle}"
        return f"{self.count} runs took {least} to {most}, half of them at most {middle}"


def lengths(runs: Iterable[Run]) -> Lengths | None:
    """How long runs took that were seen from begin to end; None where there are none."""
    found = sorted(ceil_div(run.seconds, _MINUTE) * _MINUTE for run in runs if run.seconds)
    if not found:
        return None
    return Lengths(count=len(found), least=found[0], middle=found[len(found) // 2], most=found[-1])


def busy(permilles: Sequence[int]) -> str:
    """How busy devices were on average; empty where nobody measured them."""
    if not permilles:
        return ""
    mean = sum(permilles) // len(permilles)
    return f"used {mean // 10}.{mean % 10} % on average" + (": idle" if mean < IDLE_PERMILLE else "")


def of_pods(runs: Iterable[Run], namespace: str, name: str, others: Iterable[str]) -> tuple[Run, ...]:
    """The runs whose pods bear the name of a workload of a namespace, unless a longer one of `others` fits better."""
    longer = tuple(f"{other}-" for other in others if len(other) > len(name) and other.startswith(f"{name}-"))
    return tuple(
        run
        for run in runs
        if run.tenant == namespace
        and (run.name == name or run.name.startswith(f"{name}-"))
        and not run.name.startswith(longer)
    )
