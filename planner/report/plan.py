"""The report of a plan in the order in which people ask: how good, what runs, what does not, the cost, who has what."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Final, assert_never

from planner.report.balance import cost, quotas, utilisation
from planner.report.figures import dated_text, duration_text, money_text, plural, ppm_text, short_digest
from planner.report.loads import horizon
from planner.report.page import Block, Heading, Line, Medium, Page, Prose, Span, bad, care, good, line, quiet, strong
from planner.report.refusals import refused
from planner.report.runs import interrupted, late, running, services
from planner.report.timeline import timeline
from planner.units import zone_of

if TYPE_CHECKING:
    from planner.plan import Note, Plan, Status

_NOTES: Final = 5


def plan_page(plan: Plan, medium: Medium, *, lock: str = "plan.lock.json") -> Page:
    """Everything that people are told of `plan`; `lock` is the file it is in, for the next command."""
    return Page(
        blocks=(
            *_header(plan, medium),
            *running(plan, medium),
            *services(plan, medium),
            *refused(plan, medium),
            *late(plan, medium),
            *interrupted(plan, medium),
            *cost(plan),
            *utilisation(plan, medium),
            *quotas(plan, medium),
            *timeline(plan, medium),
            *_warnings(plan, medium),
            *_next(plan, lock),
        )
    )


def _header(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    inputs = plan.inputs
    where = f", commit {inputs.commit[:12]}" if inputs.commit else ""
    where += " with uncommitted changes" if inputs.dirty else ""
    title = f"Plan {short_digest(plan.digest)}"
    slots = f"{plural(inputs.slots, 'slot')} of {duration_text(inputs.slot_seconds)}"
    slots += f": {inputs.slot_reason}" if inputs.slot_reason else ""
    lines = (
        _when(plan, medium),
        line(quiet("steps    "), slots),
        line(quiet("proof    "), *proof(plan.status)),
        _result(plan),
    )
    return Heading(title=title, note=f"of specs {short_digest(inputs.specs_digest)}{where}"), Prose(
        lines=lines, indent=2
    )


def _when(plan: Plan, medium: Medium) -> Line:
    inputs, whole = plan.inputs, horizon(plan)
    zone = zone_of(inputs.timezone)
    return line(
        quiet("horizon  "),
        f"{dated_text(whole.start, zone)} {medium.glyphs.arrow} {dated_text(whole.end, zone)} {inputs.timezone}",
    )


def proof(status: Status) -> Line:
    """How good a plan is, in words: how far it can be from the best possible one."""
    match status.proof:
        case "optimal":
            return line(good("the best possible plan, proven"))
        case "bounded":
            gap = ppm_text(status.gap_ppm) if status.gap_ppm is not None else "an unknown part"
            return line(good(f"within {gap} of the best possible"), ", proven")
        case "heuristic":
            return line(care("a good plan; how far it is from the best possible is not known"))
        case "infeasible":
            return line(bad("the specs cannot be satisfied, proven"))
        case "none":
            return line(bad("no plan was found"))
        case _:
            assert_never(status.proof)


def _result(plan: Plan) -> Line:
    total = len(plan.placements) + len(plan.unplaced)
    late_count = sum(1 for item in plan.placements if item.late_seconds)
    parts: list[Span] = [strong(f"{len(plan.placements):,} of {plural(total, 'job')} run")]
    parts += [Span(", "), care(f"{late_count:,} late")] if late_count else []
    parts += [Span(", "), bad(f"{plural(len(plan.unplaced), 'does', 'do')} not run")] if plan.unplaced else []
    if not plan.status.complete:
        parts += [Span("; "), bad("required work has no place")]
    if plan.costs.total.cash_micros:
        parts.append(Span(f"; cloud bill {money_text(plan.costs.total.cash_micros, plan.costs.currency)}"))
    return line(quiet("result   "), *parts)


def _warnings(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    lines = [
        text
        for _, notes in groupby(plan.diagnostics, key=lambda note: note.code)
        for text in _notes(tuple(notes), medium)
    ]
    lines += [line(care("! "), f"{item.address}: degraded on {item.backend}: {item.message}") for item in plan.degraded]
    return (Heading(title="Warnings"), Prose(lines=tuple(lines), indent=2)) if lines else ()


def _notes(notes: tuple[Note, ...], medium: Medium) -> list[Line]:
    """The warnings of one code; of many, the first and how many more."""
    shown = notes if medium.full else notes[:_NOTES]
    lines = [
        line(
            care("! "),
            f"{note.subject}: " if note.subject else "",
            note.message,
            quiet(f" [{note.code}]"),
            f"; try: {note.fix}" if note.fix else "",
        )
        for note in shown
    ]
    if len(notes) > len(shown):
        lines.append(line(quiet(f"  and {len(notes) - len(shown):,} more [{notes[0].code}]; --full lists them all")))
    return lines


def _next(plan: Plan, lock: str) -> tuple[Block, ...]:
    if not plan.placements and not plan.services:
        return ()
    command = f"planner render {shlex.quote(lock)} --out build/manifests"
    return Heading(title="Next"), Prose(lines=(line(strong(command)),), indent=2)
