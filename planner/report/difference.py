"""What one plan changes against another: first for people, then for machines; as readable for 2,000 jobs as for 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.diff import Changes, Effect, JobChange, QuotaChange, Run, TeamChange, UseChange
from planner.report.figures import (
    decimal,
    device_hours_text,
    duration_text,
    hours_text,
    moment_text,
    money_change_text,
    money_text,
    percent_text,
    plural,
    short_digest,
)
from planner.report.naming import array_name, element_of, fold_nodes, work_name
from planner.report.page import (
    Block,
    Column,
    Heading,
    Line,
    Medium,
    Page,
    Prose,
    Span,
    Table,
    bad,
    care,
    good,
    line,
    quiet,
    strong,
)
from planner.report.plan import proof
from planner.units import zone_of

if TYPE_CHECKING:
    from planner.plan import Plan

LISTED: Final = 15
HEAD: Final = 8
_WIDE: Final = 100


@dataclass(frozen=True, slots=True)
class Telling:
    """How an effect is spoken of: its sign, in a count, as a title, and its tone."""

    sign: str
    word: str
    title: str
    speak: Callable[[str], Span]


TELLINGS: Final[Mapping[Effect, Telling]] = {
    Effect.DISPLACED: Telling("x", "no longer run", "No longer run", bad),
    Effect.PLACED: Telling("+", "now run", "Now run", good),
    Effect.LATER: Telling(">", "later", "Later", care),
    Effect.EARLIER: Telling("<", "earlier", "Earlier", good),
    Effect.RESHAPED: Telling("~", "run differently", "Run differently, at the same time", care),
    Effect.MOVED: Telling("~", "move", "Move, at the same time", care),
    Effect.EDITED: Telling("=", "edited in place", "Edited, at the same place and time", quiet),
    Effect.ADDED: Telling("+", "new", "New", good),
    Effect.REFUSED: Telling("x", "new without a place", "New, without a place", bad),
    Effect.REMOVED: Telling("-", "gone", "Gone", strong),
    Effect.DROPPED: Telling("-", "gone that did not run", "Gone, did not run before", quiet),
    Effect.REASONS: Telling("=", "still do not run, for other reasons", "Still do not run, for other reasons", quiet),
}


def difference_page(changes: Changes, before: Plan, after: Plan, medium: Medium) -> Page:
    """Everything that `changes` says, told in the time zone and currency of `after`."""
    return Page(
        blocks=(
            *_header(changes, before, after, medium),
            *(block for effect in Effect for block in _jobs(changes.of(effect), effect, after, medium)),
            *_teams(changes.teams, after.costs.currency, medium),
            *_quotas(changes.quotas, after, medium),
            *_machines(changes.uses, medium),
            *_sections(changes),
        )
    )


def _header(changes: Changes, before: Plan, after: Plan, medium: Medium) -> tuple[Block, ...]:
    title = f"Plan {short_digest(before.digest)} {medium.glyphs.arrow} {short_digest(after.digest)}"
    if not changes.any:
        kept = plural(changes.unchanged, "job stays", "jobs stay")
        return Heading(title=title), Prose(lines=(line(good("nothing changes"), f"; {kept} as planned"),), indent=2)
    lines = [_counts(changes), _late(changes), _money(changes, after.costs.currency, medium)]
    if before.inputs.start != after.inputs.start or before.inputs.slots != after.inputs.slots:
        lines.append(line(care("the two plans have different horizons"), "; sums are over each plan's own"))
    lines.append(line(quiet("proof "), *proof(after.status)))
    return Heading(title=title), Prose(lines=tuple(filter(None, lines)), indent=2)


def _counts(changes: Changes) -> Line:
    parts: list[Span] = []
    for effect, telling in TELLINGS.items():
        if count := len(changes.of(effect)):
            parts += [telling.speak(f"{telling.sign} {count:,} {telling.word}"), Span("   ")]
    return line(*parts, quiet(f"= {changes.unchanged:,} unchanged"))


def _late(changes: Changes) -> Line:
    late = changes.becoming_late
    return line(care(f"! {plural(len(late), 'job becomes', 'jobs become')} late")) if late else ()


def _money(changes: Changes, currency: str, medium: Medium) -> Line:
    if changes.cost is None:
        return ()
    named = (
        ("cloud bill", changes.cost.cash_micros),
        ("power", changes.cost.power_micros),
        ("chargeback", changes.cost.chargeback_micros),
    )
    parts = []
    for name, (old, new) in named:
        if old != new:
            sums = _between(medium, money_text(old, currency), money_text(new, currency))
            parts.append(f"{name} {sums} ({money_change_text(new - old, currency)})")
    return line("; ".join(parts))


def _between(medium: Medium, *sides: str) -> str:
    """Two texts with an arrow between them; one of them when they are the same."""
    return f" {medium.glyphs.arrow} ".join(dict.fromkeys(sides))


def _jobs(items: Sequence[JobChange], effect: Effect, after: Plan, medium: Medium) -> tuple[Block, ...]:
    if not items:
        return ()
    rows = _alike(items)
    heading = Heading(title=TELLINGS[effect].title, note=plural(len(items), "job"))
    if medium.full or len(rows) <= LISTED:
        return heading, _table(rows, after, medium)
    rest = sum(len(row) for row in rows[HEAD:])
    more = Prose(lines=(line(quiet(f"and {plural(rest, 'more job')}; --full lists them all")),), indent=2)
    return heading, _by_team(items, medium), _table(rows[:HEAD], after, medium), more


def _alike(items: Iterable[JobChange]) -> list[tuple[JobChange, ...]]:
    """Elements of an array to which the same happens, drawn together; the order of the first ones is kept."""
    groups: dict[tuple[object, ...], list[JobChange]] = {}
    for item in items:
        key = element_of(item.address)[0], _when(item.before), _when(item.after), item.reason
        groups.setdefault(key, []).append(item)
    return [tuple(group) for group in groups.values()]


def _when(run: Run | None) -> tuple[object, ...]:
    return (run.start, run.finish, run.pools) if run else ()


def _by_team(items: Sequence[JobChange], medium: Medium) -> Table:
    teams: dict[str, list[JobChange]] = {}
    for item in items:
        teams.setdefault(item.team, []).append(item)
    columns = (
        Column(title="Team"),
        Column(title="Jobs", right=True),
        Column(title="Shift, least to most", optional=1),
        Column(title="Median", right=True),
    )
    rows = []
    for team, own in sorted(teams.items()):
        shifts = sorted((item.start_seconds or item.finish_seconds for item in own), key=abs)
        span = f"{hours_text(shifts[0])} to {hours_text(shifts[-1])}"
        figures = (span, hours_text(shifts[len(shifts) // 2])) if shifts[-1] else ("", "")
        rows.append((line(strong(team)), line(f"{len(own):,}"), *map(line, figures)))
    return _pruned(columns, rows)


def _table(rows: Iterable[tuple[JobChange, ...]], after: Plan, medium: Medium) -> Table:
    columns = (
        Column(title="Job", shrinks=True),
        Column(title="Start"),
        Column(title="By", right=True),
        Column(title="Where", shrinks=True, optional=1),
        Column(title="", wraps=True),
    )
    return _pruned(columns, [_row(row, after, medium) for row in rows])


def _pruned(columns: tuple[Column, ...], rows: Sequence[tuple[Line, ...]]) -> Table:
    """A table without the columns that have nothing in any row."""
    kept = [index for index in range(len(columns)) if any(span.text for row in rows for span in row[index])]
    return Table(
        columns=tuple(columns[index] for index in kept), rows=tuple(tuple(row[index] for index in kept) for row in rows)
    )


def _row(row: tuple[JobChange, ...], after: Plan, medium: Medium) -> tuple[Line, ...]:
    item = row[0]
    shift = item.start_seconds or item.finish_seconds
    return (
        line(strong(array_name(one.address for one in row))),
        line(_start(item, after, medium)),
        line(hours_text(shift) if shift else ""),
        line(_where(row, medium)),
        line("; ".join(filter(None, _remarks(item, medium)))),
    )


def _start(item: JobChange, after: Plan, medium: Medium) -> str:
    zone = zone_of(after.inputs.timezone)

    def shown(run: Run) -> str:
        moment = (
            run.finish if item.before and item.after and not item.start_seconds and item.finish_seconds else run.start
        )
        text = moment_text(moment, zone)
        return text if medium.width >= _WIDE else text.partition(" ")[2]

    runs = [run for run in (item.before, item.after) if run]
    texts = list(dict.fromkeys(shown(run) for run in runs))
    only_finish = len(runs) == 2 and not item.start_seconds and item.finish_seconds
    return ("finish " if only_finish else "") + f" {medium.glyphs.arrow} ".join(texts)


def _where(row: tuple[JobChange, ...], medium: Medium) -> str:
    before, after = row[0].before, row[0].after
    if not before or not after:
        run = before or after
        return ", ".join(run.pools) if run else ""
    if before.pools != after.pools:
        return _between(medium, ", ".join(before.pools), ", ".join(after.pools))
    old, new = (_nodes(run for item in row if (run := getattr(item, side))) for side in ("before", "after"))
    if old != new:
        return _between(medium, old, new)
    return (
        f"other devices of {new}"
        if before.seats != after.seats and row[0].effect is Effect.MOVED
        else ", ".join(after.pools)
    )


def _nodes(runs: Iterable[Run]) -> str:
    return fold_nodes(node for run in runs for _, node, _ in run.seats)


def _remarks(item: JobChange, medium: Medium) -> Iterable[str]:
    before, after = item.before, item.after
    if item.formerly:
        yield f"was {work_name(item.formerly)}"
    if item.becomes_late and after:
        yield f"becomes late by {duration_text(after.late_seconds)}"
    if before and before.late_seconds and after and not after.late_seconds:
        yield "no longer late"
    if before and after and before.gpus != after.gpus:
        yield f"GPUs {_between(medium, decimal(before.gpus, 3), decimal(after.gpus, 3))}"
    if before and after and before.models != after.models:
        yield _between(medium, ", ".join(before.models) or "CPU", ", ".join(after.models) or "CPU")
    if before and after and before.priority != after.priority:
        yield _between(medium, before.priority, after.priority)
    if item.reason and not after and item.effect not in (Effect.REMOVED, Effect.DROPPED):
        subject = f"{item.reason.subject}: " if item.reason.subject else ""
        yield f"{subject}{item.reason.message}" + (f"; try: {item.reason.fix}" if item.reason.fix else "")


def _teams(items: Sequence[TeamChange], currency: str, medium: Medium) -> tuple[Block, ...]:
    if not items:
        return ()
    columns = (
        Column(title="Team"),
        Column(title="Jobs"),
        Column(title="Work"),
        Column(title="", right=True),
        Column(title="Cloud bill"),
        Column(title="Chargeback", optional=1),
    )
    rows = [
        (
            line(strong(item.team)),
            line(_between(medium, *(f"{count:,}" for count in item.jobs))),
            line(_between(medium, *map(device_hours_text, item.device_seconds))),
            line(_signed(item.device_seconds)),
            line(_amounts(item.cash_micros, currency, medium)),
            line(_amounts(item.chargeback_micros, currency, medium)),
        )
        for item in items
    ]
    return Heading(title="Teams"), _pruned(columns, rows)


def _signed(pair: tuple[Fraction, Fraction]) -> str:
    change = pair[1] - pair[0]
    return f"{'-' if change < 0 else '+'}{device_hours_text(abs(change))}" if change else ""


def _amounts(pair: tuple[int, int], currency: str, medium: Medium) -> str:
    return _between(medium, *(money_text(amount, currency) for amount in pair)) if pair[0] != pair[1] else ""


def _quotas(items: Sequence[QuotaChange], after: Plan, medium: Medium) -> tuple[Block, ...]:
    if not items:
        return ()
    fields = ("guaranteed", "used", "borrowed", "lent")
    columns = (Column(title="Team"), Column(title="Quota"), *(Column(title=field.title()) for field in fields))
    seconds = after.inputs.slots * after.inputs.slot_seconds

    def mean(pair: tuple[Fraction, Fraction]) -> Line:
        return (
            line(_between(medium, *(decimal(value / seconds, 1) for value in pair))) if any(pair) else line(quiet("0"))
        )

    rows = tuple(
        (line(strong(item.team)), line(item.quota), *(mean(getattr(item, field)) for field in fields)) for item in items
    )
    differing = tuple(row for row in rows if any(medium.glyphs.arrow in span.text for cell in row for span in cell))
    rows = differing or rows  # what is rounded away tells nobody anything, unless it is all there is
    return Heading(title="Quota", note="devices on average over the horizon"), Table(columns=columns, rows=rows)


def _machines(items: Sequence[UseChange], medium: Medium) -> tuple[Block, ...]:
    kinds = ("pool", "vendor", "model") if medium.full else ("pool",)
    shown = [item for kind in kinds for item in items if item.by == kind]
    if not shown:
        return ()
    columns = (
        Column(title=""),
        Column(title=""),
        Column(title="Used"),
        Column(title="Of", optional=1),
        Column(title="Share"),
    )
    rows = tuple(
        (
            line(quiet(item.by)),
            line(strong(item.name)),
            line(_between(medium, *map(device_hours_text, item.used))),
            line(_between(medium, *map(device_hours_text, item.capacity))),
            line(_between(medium, *(percent_text(*pair) for pair in zip(item.used, item.capacity, strict=True)))),
        )
        for item in shown
    )
    return Heading(title="Machines"), Table(columns=columns, rows=rows)


_SECTIONS: Final = {
    "services": "replicas or places of services",
    "preemptions": "interruptions",
    "moves": "moves during runs",
    "layouts": "partitions of devices",
    "degraded": "what back ends cannot enforce",
    "diagnostics": "warnings",
    "quota": "when quotas hold",
    "complete": "whether all required work has a place",
}


def _sections(changes: Changes) -> tuple[Block, ...]:
    if not changes.sections:
        return ()
    lines = tuple(line(_SECTIONS[item.section]) for item in changes.sections)
    return Heading(title="Also different"), Prose(lines=lines, indent=2)
