"""What drifted, for people: the body of one rolling issue, a page for a terminal, annotations, or JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.diagnostics import Diagnostic, Severity
from planner.names import without_index
from planner.report.comment import BYTES
from planner.report.figures import dated_text, plural, short_digest
from planner.report.json import document
from planner.report.markdown import code, folded, rendered, sections
from planner.report.naming import work_name
from planner.report.page import (
    Block,
    Column,
    Heading,
    Line,
    Medium,
    Page,
    Prose,
    Table,
    care,
    good,
    line,
    quiet,
    strong,
)
from planner.units import format_time, zone_of

if TYPE_CHECKING:
    from planner.apply.drift import Drifted
    from planner.plan import Plan
    from planner.specset import SpecSet

MARK: Final = "<!-- planner-drift"
"""What the body of the issue begins with, so that the next run finds it."""
_LISTED: Final = 30
_TITLES: Final = {
    "unreached": "Could not be asked",
    "late": "Late",
    "overrun": "Run longer than planned",
    "early": "Began before their time",
    "elsewhere": "Run elsewhere",
    "lost": "Cannot run as planned",
    "missing": "Missing",
    "changed": "Changed by hand",
    "extra": "Not planned",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found: the applied plan, when the clusters were looked at, and all that drifted, in order.

    `runs` says whether a Snapshot told what runs.
    """

    plan: Plan
    at: int
    found: tuple[Drifted, ...]
    runs: bool


def drift_page(looked: Looked, medium: Medium) -> Page:
    """Everything that drifted, by kind."""
    return Page(blocks=(*_opening(looked), *_kinds(looked.found, medium)))


def drift_markdown(looked: Looked, limit: int = BYTES) -> str:
    """The body of the issue in at most `limit` bytes; what does not fit is counted."""
    title = f"### {'⚠️' if looked.found else '✅'} Drift from plan {code(short_digest(looked.plan.digest))}\n\n"
    opening = rendered(_opening(looked)[1:], limit // 4).text
    head = f'{MARK} {{"digest":"{looked.plan.digest}","drift":{len(looked.found)}}} -->\n{title}{opening}\n'
    room, body = limit - len(head.encode()) - 100, []
    for section in sections(_kinds(looked.found, Medium(width=90, full=True))):
        cut = folded(section, room)
        room -= len(cut.text.encode()) + 1
        body.append(cut.text)
    return head + "\n".join(filter(None, body))


def drift_json(looked: Looked) -> str:
    """The findings for programs; times RFC 3339, `runs` is false where no Snapshot was given."""
    return document(
        digest=looked.plan.digest,
        at=format_time(looked.at),
        runs=looked.runs,
        drift=[
            {
                name: str(value)
                for name in ("kind", "subject", "cluster", "field", "planned", "seen")
                if (value := getattr(item, name))
            }
            for item in looked.found
        ],
    )


def drift_findings(looked: Looked, specset: SpecSet) -> Iterator[Diagnostic]:
    """One warning for each, at the spec that it is about, where there is one."""
    for item in looked.found:
        address = without_index(item.subject)
        spec = specset.get(address)
        yield Diagnostic(
            code=item.kind.value,
            severity=Severity.WARNING,
            summary=_sentence(item),
            address=item.subject,
            place=specset.place(address) if spec is not None else None,
            seen=item.seen,
            expected=item.planned,
        )


def _opening(looked: Looked) -> tuple[Block, ...]:
    when = dated_text(looked.at, zone_of(looked.plan.inputs.timezone))
    counts: dict[str, int] = {}
    for item in looked.found:
        counts[item.kind.value] = counts.get(item.kind.value, 0) + 1
    told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    lines: list[Line] = [line(care(told) if told else good("everything is as planned"), f", looked at {when}")]
    if not looked.runs:
        lines.append(line(quiet("what runs was not compared: no snapshot was given")))
    return Heading(title=f"Drift from plan {short_digest(looked.plan.digest)}"), Prose(lines=tuple(lines), indent=2)


def _kinds(found: Sequence[Drifted], medium: Medium) -> tuple[Block, ...]:
    kinds = dict.fromkeys(item.kind for item in found)
    return tuple(block for kind in kinds for block in _kind([item for item in found if item.kind is kind], medium))


def _kind(items: Sequence[Drifted], medium: Medium) -> Iterator[Block]:
    shown = items if medium.full else items[:_LISTED]
    yield Heading(title=_TITLES[items[0].kind.value], note=plural(len(items), "finding"))
    columns = (
        Column(title="What", shrinks=True),
        Column(title="Where", optional=1),
        Column(title="", optional=2),
        Column(title="Planned", wraps=True),
        Column(title="Seen", wraps=True),
    )
    rows = tuple(
        (
            line(strong(work_name(item.subject))),
            line(item.cluster),
            line(item.field),
            line(item.planned),
            line(item.seen),
        )
        for item in shown
    )
    kept = [at for at in range(len(columns)) if any(row[at][0].text for row in rows)]
    yield Table(columns=tuple(columns[at] for at in kept), rows=tuple(tuple(row[at] for at in kept) for row in rows))
    if len(shown) < len(items):
        yield Prose(lines=(line(quiet(f"and {len(items) - len(shown):,} more; --full lists them all")),), indent=2)


def _sentence(item: Drifted) -> str:
    field = f" {item.field}" if item.field else ""
    planned = f"; planned: {item.planned}" if item.planned else ""
    return f"{item.kind}{field}: {item.seen or 'it is not there'}{planned}"
