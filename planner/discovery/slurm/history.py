"""Slurm's accounts of jobs that are over: what ended, and how long it really took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from planner.discovery.found import Ended
from planner.discovery.past import Run
from planner.discovery.slurm.comments import marked
from planner.discovery.slurm.records import moment, number

COMMAND: Final = (
    "sacct", "--allusers", "--allocations", "--parsable2", "--starttime", "now-28days",
    "--format=JobIDRaw,State,Start,End,ElapsedRaw,Account,Comment,JobName",
)  # fmt: skip
"""What is run. The name stands last, since it may hold the sign that divides columns."""
BEGINNING: Final = "JobIDRaw|State|"
_SUCCEEDED: Final = "COMPLETED"
_FAILED: Final = frozenset({"FAILED", "TIMEOUT", "OUT_OF_MEMORY", "BOOT_FAIL", "NODE_FAIL", "DEADLINE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was the planner's own and ended, and all runs that did what they were to do."""

    ended: tuple[Ended, ...] = ()
    runs: tuple[Run, ...] = ()


def history(text: str) -> History:
    """Read the output of `COMMAND`, with its header, of any version."""
    rows = list(_rows(text))
    return History(ended=tuple(_ended(rows)), runs=tuple(_runs(rows)))


def _rows(text: str) -> Iterator[dict[str, str]]:
    lines = text.splitlines()
    names = lines[0].split("|") if lines else []
    for line in lines[1:]:
        cells = line.split("|", len(names) - 1)
        if len(cells) == len(names):
            row = dict(zip(names, cells, strict=True))
            yield row | {"State": row.get("State", "").partition(" ")[0]}


def _ended(rows: list[dict[str, str]]) -> Iterator[Ended]:
    for row in rows:
        address, spec = marked(row.get("Comment", ""))
        at, state = moment(row.get("End")), row["State"]
        if address and at is not None and (state == _SUCCEEDED or state in _FAILED):
            yield Ended(address=address, spec=spec, succeeded=state == _SUCCEEDED, at=at)


def _runs(rows: list[dict[str, str]]) -> Iterator[Run]:
    for row in rows:
        seconds = number(row.get("ElapsedRaw"))
        if row["State"] == _SUCCEEDED and seconds:
            part = f"job {row.get('JobIDRaw', '')}"
            yield Run(tenant=row.get("Account", ""), name=row.get("JobName", ""), part=part, seconds=seconds)
