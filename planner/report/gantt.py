"""A plan as a timeline in mermaid's words, within what GitHub draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from planner.report.figures import DAY, epoch, local, plural, short_digest
from planner.report.loads import horizon
from planner.report.naming import array_name
from planner.report.runs import Row, rows
from planner.units import zone_of

if TYPE_CHECKING:
    from planner.diff import JobChange
    from planner.plan import Plan

ROWS: Final = 40
DAYS: Final = 14
BYTES: Final = 45_000
"""Below the 50,000 characters at which GitHub shows an error instead of a diagram."""
_LABEL: Final = 48
_UNFIT: Final = re.compile(r"[^A-Za-z0-9 _./()+-]+")


def gantt(plan: Plan, changed: Mapping[str, JobChange]) -> tuple[str, str]:
    """The diagram, and what it shows of the whole; changed jobs come first where not all have room, then the urgent.

    Urgent (P0) jobs are drawn as critical, changed ones as active, and those that began before the plan as done.
    """
    end = horizon(plan).start + DAYS * DAY
    every = rows(plan.placements)
    near = [row for row in every if epoch(row.first.start) < end]
    chosen = sorted(near, key=lambda row: _urgency(row, changed))[:ROWS]
    lines = [
        "gantt",
        f"    title Plan {short_digest(plan.digest)} in {_label(plan.inputs.timezone)} time",
        "    dateFormat YYYY-MM-DDTHH:mm",
        "    axisFormat %m-%d %H:%M",
    ]
    for text in _sections(chosen, plan, changed, end):
        if sum(len(line) + 1 for line in lines) + len(text) > BYTES:
            break
        lines.append(text)
    jobs = sum(len(row.placements) for row in chosen)
    whole = f"{jobs:,} of {plural(len(plan.placements), 'job')}"
    cut = f", the first {DAYS} days" if horizon(plan).end > end else ""
    return "\n".join(lines) + "\n", f"{whole}{cut}; P0 in red, what changes in light"


def _urgency(row: Row, changed: Mapping[str, JobChange]) -> tuple[bool, str, str, str]:
    item = row.first
    return item.address not in changed, item.priority, item.start, item.address


def _sections(chosen: Iterable[Row], plan: Plan, changed: Mapping[str, JobChange], end: int) -> Iterator[str]:
    teams: dict[str, list[Row]] = {}
    for row in chosen:
        teams.setdefault(row.first.team, []).append(row)
    for team in sorted(teams):
        yield f"    section {_label(team)}"
        for row in sorted(teams[team], key=lambda row: (row.first.start, row.first.address)):
            yield _task(row, plan, changed, end)


def _task(row: Row, plan: Plan, changed: Mapping[str, JobChange], end: int) -> str:
    item, zone = row.first, zone_of(plan.inputs.timezone)
    start, finish = epoch(item.start), min(epoch(item.finish), end)
    tags = [
        tag
        for tag, applies in (
            ("done", start < horizon(plan).start),
            ("crit", item.priority == "P0"),
            ("active", item.address in changed and start >= horizon(plan).start),
        )
        if applies
    ]
    times = [f"{local(moment, zone):%Y-%m-%dT%H:%M}" for moment in (start, finish)]
    name = array_name(one.address for one in row.placements).partition("/")[2]
    return f"    {item.priority} {_label(name)} :{', '.join([*tags, *times])}"


def _label(text: str) -> str:
    """A name without the signs that mean something to mermaid."""
    brackets = text.replace("[", "(").replace("]", ")")
    return _UNFIT.sub("_", brackets)[:_LABEL].strip() or "_"
