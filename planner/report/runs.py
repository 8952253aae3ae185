"""What runs where and when; what is late, interrupted or moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Final

from planner.report.figures import (
    count_text,
    device_hours_text,
    duration_text,
    epoch,
    moment_text,
    money_text,
    plural,
    ranges_text,
)
from planner.report.loads import device_seconds
from planner.report.naming import array_name, element_of, fold_nodes, work_name
from planner.report.page import Block, Column, Heading, Line, Medium, Prose, Table, care, good, line, quiet, strong
from planner.units import zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from planner.plan import Move, Placement, Plan, Preemption, Segment

LISTED: Final = 40
"""So many rows are read; of more, only the first `HEAD` are listed under a summary."""
HEAD: Final = 15
_WIDE: Final = 96
_COLUMNS: Final = (
    Column(title="Start"),
    Column(title="Finish"),
    Column(title="Job", wraps=True),
    Column(title="Prio"),
    Column(title="GPUs", right=True),
    Column(title="Where"),
    Column(title="Model", optional=2),
    Column(title="Nodes", optional=3, shrinks=True),
    Column(title="", optional=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Placements that differ in nothing but their place in an array."""

    placements: tuple[Placement, ...]

    @property
    def first(self) -> Placement:
        """The one that speaks for all."""
        return self.placements[0]


def rows(placements: Iterable[Placement]) -> tuple[Row, ...]:
    """Placements by start, priority and address, elements of an array that run alike drawn together."""
    ordered = sorted(
        placements, key=lambda item: (item.start, item.priority, _likeness(item), element_of(item.address)[1] or 0)
    )
    return tuple(Row(placements=tuple(alike)) for _, alike in groupby(ordered, key=_likeness))


def _likeness(item: Placement) -> tuple[object, ...]:
    where = tuple(
        (part.start, part.end, part.pool, part.variant, part.model or "", part.market) for part in item.segments
    )
    return element_of(item.address)[0], where, str(item.gpus), item.finish, item.late_seconds


def running(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Runs": every job in order of time, or its summary when they are many."""
    if not plan.placements:
        return ()
    listed = rows(plan.placements)
    note = f"{plural(len(plan.placements), 'job')}, by start"
    if medium.full or len(listed) <= LISTED:
        return Heading(title="Runs", note=note), _table(plan, listed, medium)
    rest = sum(len(row.placements) for row in listed[HEAD:])
    return (
        Heading(title="Runs", note=f"{plural(len(plan.placements), 'job')}, by team and pool"),
        _summary(plan),
        Heading(title="Next to start", note=f"the first {HEAD} lines"),
        _table(plan, listed[:HEAD], medium),
        Prose(lines=(line(quiet(f"and {plural(rest, 'more job')}; --full lists them all")),), indent=2),
    )


def _table(plan: Plan, listed: Iterable[Row], medium: Medium) -> Table:
    return Table(columns=_COLUMNS, rows=tuple(_row(row, plan, medium) for row in listed))


def _row(row: Row, plan: Plan, medium: Medium) -> tuple[Line, ...]:
    zone = zone_of(plan.inputs.timezone)
    item, segments = row.first, row.first.segments
    pools = dict.fromkeys(part.pool for part in segments)
    models = dict.fromkeys(part.model for part in segments if part.model)
    count = count_text(Fraction(item.gpus))
    start, finish = (moment_text(epoch(moment), zone) for moment in (item.start, item.finish))
    if medium.width < _WIDE:
        start, finish = (text.partition(" ")[2] for text in (start, finish))
    return (
        line(start),
        line(finish),
        line(strong(array_name(one.address for one in row.placements))),
        line(item.priority),
        line(f"{len(row.placements)} x {count}" if len(row.placements) > 1 else count),
        line(", ".join(pools)),
        line(", ".join(models)),
        line(_nodes(row)),
        line(care(_remarks(row, plan.costs.currency))),
    )


def _nodes(row: Row) -> str:
    segment = row.first.segments[0]
    names = [node.name for item in row.placements for part in item.segments for node in part.nodes]
    return _one_node(segment) if len(set(names)) == len(row.placements) == 1 else fold_nodes(names)


def _one_node(segment: Segment) -> str:
    devices = ranges_text(device.index for device in segment.nodes[0].devices)
    return segment.nodes[0].name + (f":{devices}" if devices else "")


def _remarks(row: Row, currency: str) -> str:
    cash = sum(item.cash_micros for item in row.placements)
    return ", ".join(
        filter(
            None,
            (
                f"late by {duration_text(row.first.late_seconds)}" if row.first.late_seconds else "",
                f"cloud {money_text(cash, currency)}" if cash else "",
                f"in {len(row.first.segments)} parts" if len(row.first.segments) > 1 else "",
                "time estimated" if row.first.estimated else "",
            ),
        )
    )


def _summary(plan: Plan) -> Table:
    zone = zone_of(plan.inputs.timezone)
    groups: dict[tuple[str, str], list[Placement]] = {}
    for item in plan.placements:
        groups.setdefault((item.team, item.segments[0].pool), []).append(item)
    columns = (
        Column(title="Team"),
        Column(title="Where"),
        Column(title="Jobs", right=True),
        Column(title="Work", right=True),
        Column(title="First start"),
        Column(title="Last finish"),
        Column(title="Late", right=True),
    )
    return Table(columns=columns, rows=tuple(_group(*key, groups[key], zone) for key in sorted(groups)))


def _group(team: str, pool: str, items: list[Placement], zone: ZoneInfo) -> tuple[Line, ...]:
    late = sum(1 for item in items if item.late_seconds)
    return (
        line(strong(team)),
        line(pool),
        line(f"{len(items):,}"),
        line(device_hours_text(sum(map(device_seconds, items), Fraction(0)))),
        line(moment_text(min(epoch(item.start) for item in items), zone)),
        line(moment_text(max(epoch(item.finish) for item in items), zone)),
        line(care(f"{late:,}") if late else quiet("0")),
    )


def late(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Late": jobs that finish after their soft deadline, the latest first."""
    items = sorted(
        (item for item in plan.placements if item.late_seconds), key=lambda item: (-item.late_seconds, item.address)
    )
    if not items:
        return ()
    shown = items if medium.full else items[:HEAD]
    zone = zone_of(plan.inputs.timezone)
    columns = (
        Column(title="Job", shrinks=True),
        Column(title="By", right=True),
        Column(title="Due", optional=1),
        Column(title="Finish"),
        Column(title="Why", wraps=True),
    )
    table = Table(columns=columns, rows=tuple(_late_row(item, zone) for item in shown))
    heading = Heading(title="Late", note=f"{plural(len(items), 'job')} past the soft deadline")
    return heading, table, *_more(len(items) - len(shown))


def _late_row(item: Placement, zone: ZoneInfo) -> tuple[Line, ...]:
    finish = epoch(item.finish)
    return (
        line(strong(work_name(item.address))),
        line(care(duration_text(item.late_seconds))),
        line(moment_text(finish - item.late_seconds, zone)),
        line(moment_text(finish, zone)),
        line("; ".join(reason.message for reason in item.reasons)),
    )


def interrupted(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The sections "Interrupted" and "Moved": who yields to whom, when, and the work that is lost."""
    zone = zone_of(plan.inputs.timezone)
    stops = [_yielding(item, zone) for item in plan.preemptions]
    moves = [_moving(item, zone) for item in plan.moves]
    return (*_list("Interrupted", stops, medium), *_list("Moved", moves, medium))


def _yielding(item: Preemption, zone: ZoneInfo) -> Line:
    return line(
        f"{moment_text(epoch(item.at), zone)}  ",
        strong(work_name(item.victim)),
        f" gives {count_text(Fraction(item.gpus))} GPUs to {work_name(item.by)},",
        f" losing {duration_text(item.lost_work_seconds)} of work",
    )


def _moving(item: Move, zone: ZoneInfo) -> Line:
    return line(
        f"{moment_text(epoch(item.at), zone)}  ",
        strong(work_name(item.address)),
        f" from {fold_nodes(item.source)} to {fold_nodes(item.target)} for {work_name(item.beneficiary)},",
        f" losing {duration_text(item.lost_work_seconds)} of work",
    )


def _list(title: str, lines: list[Line], medium: Medium) -> tuple[Block, ...]:
    if not lines:
        return ()
    shown = lines if medium.full else lines[:HEAD]
    heading = Heading(title=title, note=plural(len(lines), "job"))
    return heading, Prose(lines=tuple(shown), indent=2), *_more(len(lines) - len(shown))


def _more(count: int) -> tuple[Block, ...]:
    return (Prose(lines=(line(quiet(f"and {count:,} more; --full lists them all")),), indent=2),) if count else ()


def services(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Services": replicas of each over the horizon, and whether they bear their load."""
    if not plan.services:
        return ()
    columns = (
        Column(title="Service"),
        Column(title="Prio"),
        Column(title="Replicas", right=True),
        Column(title="Load borne"),
    )
    table = []
    for item in plan.services:
        counts = [step.replicas for step in item.steps] or [0]
        short = sum(
            step.replicas < step.replicas_needed or step.capacity_milliqps < step.load_milliqps for step in item.steps
        )
        least, most = min(counts), max(counts)
        replicas = f"{least}{medium.glyphs.dash}{most}" if least != most else str(least)
        borne = line(care(f"not in {plural(short, 'step')}")) if short else line("always")
        table.append((line(strong(work_name(item.address))), line(item.priority), line(replicas), borne))
    heading = Heading(title="Services", note=plural(len(plan.services), "service"))
    told = tuple(_lacking(plan))
    return heading, Table(columns=columns, rows=tuple(table)), *((Prose(lines=told, indent=2),) if told else ())


def _lacking(plan: Plan) -> Iterator[Line]:
    """What is wrong with services: why replicas are missing, and bounds that cannot be."""
    for item in plan.services:
        for reason in item.reasons:
            where = "" if reason.subject == item.address else f"{reason.subject}: "
            yield line(care(work_name(item.address)), f" {where}{reason.message}", quiet(f" [{reason.code}]"))
            if reason.fix:
                yield line("  ", good("try: "), reason.fix)
