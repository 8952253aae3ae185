"""The page that keeps the figures: machine, versions, goals, and every number that a run printed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

GOALS: Final[Mapping[str, str]] = MappingProxyType({
    "philly-week": "waited ≤ 8,850, gap ≤ 2.5 %, ≥ 40 % below FCFS + backfill, in a tenth of CP-SAT's time and better",
    "philly-nodes": "without moves ≤ 9,050 (normal), ≤ 8,780 (deep); with at most 100 moves ≤ 8,800, restarts counted",
    "overload-2k": "gap ≤ 0.4 %",
    "overload-10k": "gap ≤ 0.6 %, under 2 GB, in about a minute",
    "openb": "≥ 96.45 % allocated (bound 96.58 %) in 60 s, every pod without a GPU placed",
    "openb-gpuspec33": "≥ 94.6 % allocated (bound 94.72 %) in 60 s, every pod without a GPU placed",
    "services-day": "load served in every slot, ≥ 25 % more training device-hours than with static peaks",
    "vendor-mix": "ahead of the cheapest and of the fastest single vendor in value",
    "quota-1k": "≤ 1 % below the linear relaxation in 20 s",
    "replan": "≤ 1/5 of the first solve's time, ≤ 5 % of placements moved, gap no worse",
    "philly-teams": "no guarantee broken, waited ≥ 40 % below silos, no team worse off than in its silo",
    "deadlines": "strict deadlines met ≥ 97 % of the relaxation's count and above EDF, soft value ≥ 95 % of its bound",
    "validate-5k": "under 2 s",
    "specs": "under 20 s",
})  # fmt: skip
PACKAGES: Final = ("ortools", "numba", "numpy", "pydantic", "PyYAML")


def results_page(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Markdown of one run of everything."""
    lines = [
        "# Benchmark results",
        "",
        "Written by `make bench`. Compiled code is warm, one process a benchmark. Machines differ and are noisy:",
        "compare figures of one run. Values are GPU-slots waited for the Philly rows (less is better), thousandths of",
        "a GPU allocated for the openb rows (their baselines are percent of all GPUs), else micros.",
        "",
        f"{os.cpu_count()} cores, {_processor()}, {platform.system()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        + ".",
        "",
        "| bench | effort | seconds | value | bound | gap | peak MB | baselines | goal |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(_row, outcomes),
        "",
        "Each run's line as printed:",
        "",
        "```json",
        *(json.dumps(outcome) for outcome in outcomes),
        "```",
        "",
    ]
    return "\n".join(lines)


def _row(outcome: Mapping[str, Any]) -> str:
    gap = outcome["gap_ppm"]
    cells = (
        outcome["bench"],
        outcome.get("effort") or "",
        f"{outcome['seconds']:.1f}",
        _number(outcome["value"]),
        _number(outcome["bound"]),
        "" if gap is None else f"{gap / 10_000:.2f} %",
        _number(outcome["peak_mb"]),
        ", ".join(f"{name} {_number(value)}" for name, value in outcome["baselines"].items()),
        GOALS.get(outcome["bench"], ""),
    )
    return "| " + " | ".join(cells) + " |"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, platform.machine())
