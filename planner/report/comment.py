"""The comment that a pull request gets: what the change does to people first, and never longer than GitHub takes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.diff import Changes, Effect
from planner.report.difference import TELLINGS, difference_page
from planner.report.figures import duration_text, money_change_text, plural, short_digest
from planner.report.gantt import gantt
from planner.report.markdown import Section, as_markdown, code, fenced, folded, rendered, sections
from planner.report.naming import work_name
from planner.report.page import Block, Column, Line, Medium, Page, Preformatted, Prose, Table, care, line, strong
from planner.report.plan import plan_page

if TYPE_CHECKING:
    from planner.plan import Plan

BYTES: Final = 60_000
"""GitHub takes 65,536 characters; the rest is for whoever adds a line."""
MARK: Final = "<!-- planner "
"""What a comment of ours begins with; a hidden document in JSON follows."""
_OPEN_ROWS: Final = 10
_MEDIUM: Final = Medium(width=90)
_LEFT_TO_TEXT: Final = ("Next",)
_URGENT: Final = ("Does not run", "Late")
_RESERVED: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a plan is compared with: a commit, and its plan where it has one."""

    commit: str | None = None
    plan: Plan | None = None


def comment(
    plan: Plan,
    *,
    base: Base | None = None,
    changes: Changes | None = None,
    more: tuple[Block, ...] = (),
    lock: str = "plan.lock.json",
    limit: int = BYTES,
) -> str:
    """The comment for `plan` in at most `limit` bytes (at least 4,000), with what it changes against `base`.

    `more` are sections that follow what changes.

    What does not fit is cut at the ends of sections, the least important first. Where that is a part of what changes,
    or of a plan that is compared with nothing, the hidden header says `truncated`, and the comment proves no approval.
    """
    before = base.plan if base else None
    opening = f"### {_verdict(plan, changes)}\n{_about(plan, before)}\n"
    closing = _closing(plan, lock)
    room = limit - len((opening + closing).encode()) - _RESERVED
    body, left_out = [], []
    parts = (
        ("", (*_changed(plan, before, changes), *_opened(sections(more)))),
        ("#### The whole plan\n" if changes and changes.any else "", _plan(plan, changes)),
    )
    for title, own in parts:
        cuts = []
        for section in own:
            cut = folded(section, room if section.is_open else room * 2 // 3)
            room -= len(cut.text.encode()) + 1
            cuts.append(cut)
        left_out.append(any(cut.left_out for cut in cuts))
        texts = [cut.text for cut in cuts if cut.text]
        body += [title, *texts] if title and texts else texts
    notice = "_Parts are left out for length; the lock file of this run has everything._\n\n" if any(left_out) else ""
    unread = left_out[0] if before and changes else any(left_out)
    return _header(plan, base, truncated=unread) + opening + "\n".join(body) + "\n" + notice + closing


def _header(plan: Plan, base: Base | None, *, truncated: bool) -> str:
    """The hidden first line, from which the next run finds its comment, and apply what was reviewed."""
    fields = {
        "format": 1,
        "digest": plan.digest,
        "at": plan.inputs.start,
        "head": plan.inputs.commit,
        "base": _base_commit(base),
        "previous": plan.inputs.previous_digest,
        "snapshot": plan.inputs.snapshot_digest,
        "complete": plan.status.complete,
        "truncated": truncated,
    }
    text = json.dumps(fields, separators=(",", ":")).replace("--", "-\\u002d").replace(">", "\\u003e")
    return f"{MARK}{text} -->\n"


def _base_commit(base: Base | None) -> str | None:
    """The commit that a plan is compared with, as it is known or as its plan says."""
    if base is None or base.commit is not None or base.plan is None:
        return base.commit if base else None
    return base.plan.inputs.commit


def _verdict(plan: Plan, changes: Changes | None) -> str:
    parts = list(_told(plan, changes))
    stopped = changes.of(Effect.DISPLACED, Effect.REFUSED) if changes else plan.unplaced
    late = changes.of(Effect.LATER) if changes else [item for item in plan.placements if item.late_seconds]
    mark = "❌" if stopped or not plan.status.complete else "⚠️" if late else "✅"
    return f"{mark} Plan {code(short_digest(plan.digest))}: {as_markdown(line(', '.join(parts)))}"


def _about(plan: Plan, before: Plan | None) -> str:
    """The horizon, the proof and the result of the plan."""
    about = [block for block in plan_page(plan, _MEDIUM).blocks[:2] if isinstance(block, Prose)]
    if before is not None and before.inputs.start != plan.inputs.start:
        about.append(Prose(lines=(line(care("the two plans start at different times"), "; sums are over each's own"),)))
    return rendered(about, _RESERVED * 4).text


def _told(plan: Plan, changes: Changes | None) -> Iterator[str]:
    total = len(plan.placements) + len(plan.unplaced)
    if changes is not None and not changes.any:
        yield "nothing changes"
    if changes is not None:
        for effect, telling in TELLINGS.items():
            if count := len(changes.of(effect)):
                yield f"{count:,} {telling.word}"
        if count := len(changes.becoming_late):
            yield plural(count, "becomes late", "become late")
        if changes.cost and (shift := changes.cost.cash_micros[1] - changes.cost.cash_micros[0]):
            yield f"cloud bill {money_change_text(shift, plan.costs.currency)}"
    yield f"{len(plan.placements):,} of {plural(total, 'job')} run"
    if not plan.status.complete:
        yield "required work has no place"


def _changed(plan: Plan, before: Plan | None, changes: Changes | None) -> Iterator[Section]:
    """What people must know first, open; then the rest of what changes, open where it is short."""
    if before is None or changes is None or not changes.any:
        return
    found = _sections(difference_page(changes, before, plan, _MEDIUM))[1:]
    urgent = {TELLINGS[effect].title for effect in (Effect.DISPLACED, Effect.REFUSED)}
    yield from (replace(section, is_open=True) for section in found if section.title in urgent)
    yield from _late(changes)
    for section in found:
        if section.title not in urgent:
            yield from _opened((section,))


def _opened(found: Iterable[Section]) -> Iterator[Section]:
    """Sections, open where they are short."""
    for section in found:
        yield replace(section, is_open=_rows(section) <= _OPEN_ROWS)


def _late(changes: Changes) -> Iterator[Section]:
    late = sorted(changes.becoming_late, key=lambda item: (-(item.after.late_seconds if item.after else 0), item.key))
    if late:
        columns = (Column(title="Job"), Column(title="Late by", right=True), Column(title="Why"))
        rows: list[tuple[Line, ...]] = [
            (
                line(strong(work_name(item.address))),
                line(care(duration_text(item.after.late_seconds if item.after else 0))),
                line(item.reason.message if item.reason else ""),
            )
            for item in late
        ]
        yield Section(
            title="Become late", note=plural(len(late), "job"), is_open=True,
            blocks=(Table(columns=columns, rows=tuple(rows)),),
        )  # fmt: skip


def _timeline(plan: Plan, changes: Changes | None) -> Iterator[Section]:
    if plan.placements:
        changed = {item.address: item for item in changes.jobs} if changes else {}
        text, note = gantt(plan, changed)
        drawn = Preformatted(lines=tuple(map(line, text.splitlines())), language="mermaid")
        yield Section(title="Timeline", note=note, blocks=(drawn,))


def _plan(plan: Plan, changes: Changes | None) -> Iterator[Section]:
    yield from _timeline(plan, changes)
    yield from _whole(plan, is_open=changes is None)


def _whole(plan: Plan, *, is_open: bool) -> Iterator[Section]:
    """The plan itself, folded; what does not run or is late is open where nothing above has told it."""
    for section in _sections(plan_page(plan, _MEDIUM))[1:]:
        if section.title not in _LEFT_TO_TEXT:
            yield replace(section, is_open=is_open and section.title in _URGENT)


def _sections(page: Page) -> tuple[Section, ...]:
    return sections(page.blocks)


def _rows(section: Section) -> int:
    return sum(len(block.rows) for block in section.blocks if isinstance(block, Table))


def _closing(plan: Plan, lock: str) -> str:
    commands = f"planner show {shlex.quote(lock)} --full\nplanner render {shlex.quote(lock)} --out build/manifests\n"
    where = [f"digest {code(plan.digest)}", f"start {code(plan.inputs.start)}"]
    if plan.inputs.commit:
        where.append(f"commit {code(plan.inputs.commit)}" + (" with uncommitted changes" if plan.inputs.dirty else ""))
    return f"{fenced(commands, 'sh')}\n\n{', '.join(where)}\n"
