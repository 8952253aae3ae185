"""What owners must know of a new plan: which of their jobs moved, from when to when, and because of what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from planner.diff import Changes, Effect, JobChange, Run
from planner.report.comment import BYTES
from planner.report.difference import TELLINGS
from planner.report.figures import epoch, hours_text, moment_text, plural
from planner.report.markdown import code, rendered
from planner.report.naming import work_name
from planner.report.page import Block, Column, Heading, Line, Medium, Page, Prose, Table, good, line, quiet, strong
from planner.units import zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from planner.plan import Plan

MOVED: Final = (
    Effect.DISPLACED, Effect.LATER, Effect.EARLIER, Effect.RESHAPED, Effect.MOVED, Effect.PLACED, Effect.REFUSED,
)  # fmt: skip
"""What owners are told of; what they did themselves, such as a job that is new, they know."""
_MENTION: Final = re.compile(r"@[A-Za-z0-9]([A-Za-z0-9-]{0,38})(/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")
_ROWS: Final = 50
_MEDIUM: Final = Medium(width=90)

Owners = Mapping[str, Sequence[str]]
"""Who answers for each team."""


def owners_page(changes: Changes, after: Plan, owners: Owners, medium: Medium) -> Page:
    """One section a team whose jobs moved."""
    teams = _teams(changes)
    if not teams:
        return Page(blocks=(Prose(lines=(line(good("no job moved"), "; everybody has what was promised"),)),))
    blocks: list[Block] = []
    for team, items in teams.items():
        blocks.append(Heading(title=team, note=", ".join(owners.get(team, ())) or plural(len(items), "job")))
        blocks += _section(items, after, medium)
    return Page(blocks=tuple(blocks))


def owners_markdown(changes: Changes, after: Plan, owners: Owners, limit: int = BYTES) -> str:
    """The same for a comment in at most `limit` bytes, with owners mentioned who are written as a forge writes them.

    Whatever else a team names as its owners is shown as code, so that it mentions nobody.
    """
    teams = _teams(changes)
    if not teams:
        return "No job moved; everybody has what was promised.\n"
    room, parts = limit - 200, []
    for team, items in teams.items():
        head = f"#### {code(team)} {' '.join(map(_mention, owners.get(team, ())))}".rstrip() + "\n\n"
        cut = rendered(tuple(_section(items, after, _MEDIUM)), room - len(head.encode()))
        room -= len((head + cut.text).encode()) + 1
        if room < 0 or not cut.text:
            parts.append("_More teams are left out for length; the two lock files have everything._\n")
            break
        parts.append(head + cut.text)
    return "\n".join(parts)


def _mention(owner: str) -> str:
    return owner if _MENTION.fullmatch(owner) else code(owner)


def _teams(changes: Changes) -> dict[str, list[JobChange]]:
    teams: dict[str, list[JobChange]] = {}
    for item in changes.of(*MOVED):
        teams.setdefault(item.team, []).append(item)
    return dict(sorted(teams.items()))


def _section(items: Sequence[JobChange], after: Plan, medium: Medium) -> Iterator[Block]:
    shown = items if medium.full else items[:_ROWS]
    zone = zone_of(after.inputs.timezone)
    columns = (
        Column(title="Job", shrinks=True),
        Column(title=""),
        Column(title="From"),
        Column(title="To"),
        Column(title="By", right=True),
        Column(title="Because", wraps=True),
    )
    yield Table(columns=columns, rows=tuple(_row(item, after, zone) for item in shown))
    if len(shown) < len(items):
        yield Prose(lines=(line(quiet(f"and {plural(len(items) - len(shown), 'more job')}")),))


def _row(item: JobChange, after: Plan, zone: ZoneInfo) -> tuple[Line, ...]:
    telling = TELLINGS[item.effect]
    shift = item.start_seconds or item.finish_seconds
    return (
        line(strong(work_name(item.address))),
        line(telling.speak(telling.word)),
        line(_when(item.before, zone)),
        line(_when(item.after, zone)),
        line(hours_text(shift) if shift else ""),
        line("; ".join(_because(item, after))),
    )


def _when(run: Run | None, zone: ZoneInfo) -> str:
    return f"{moment_text(run.start, zone)}, {', '.join(run.pools)}" if run else "no place"


def _because(item: JobChange, after: Plan) -> Iterator[str]:
    if item.becomes_late:
        yield "becomes late"
    if item.before and item.after and item.before.start < epoch(after.inputs.start) <= item.after.start:
        yield "it had not begun by its time"
    elif item.reason:
        subject = f"{item.reason.subject}: " if item.reason.subject else ""
        yield f"{subject}{item.reason.message}" + (f"; try: {item.reason.fix}" if item.reason.fix else "")
    elif item.effect is Effect.EARLIER:
        yield "room became free"
    elif item.after:
        yield "the plan as a whole is worth more so"
