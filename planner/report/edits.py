"""What is edited, for people: specs field by field with equal edits drawn together, and files with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from planner.edits import Edit, FieldEdit, FileEdit, SpecEdit
from planner.report.figures import duration_text, plural
from planner.report.naming import work_name
from planner.report.page import (
    Block,
    Column,
    Heading,
    Line,
    Medium,
    Preformatted,
    Prose,
    Span,
    Table,
    care,
    good,
    line,
    quiet,
    strong,
)

LISTED: Final = 25
NAMES: Final = 3
_VALUE: Final = 48
_MILLISECONDS: Final = ".milliseconds"
_WORDS: Final[dict[Edit, Callable[[str], Span]]] = {Edit.ADDED: good, Edit.REMOVED: strong, Edit.CHANGED: care}
_SIGNS: Final = {Edit.ADDED: "+ new", Edit.REMOVED: "- gone", Edit.CHANGED: "~"}


def specs_blocks(edits: Sequence[SpecEdit], medium: Medium) -> tuple[Block, ...]:
    """The section "Specs"; nothing when none differs."""
    if not edits:
        return ()
    groups: dict[tuple[object, ...], list[SpecEdit]] = {}
    for item in edits:
        kind = item.address.partition("/")[0]
        groups.setdefault((kind, item.edit, item.fields, item.formerly), []).append(item)
    rows = [row for group in groups.values() for row in _spec_rows(group, medium)]
    columns = (
        Column(title="Spec", shrinks=True),
        Column(title=""),
        Column(title="Field", shrinks=True),
        Column(title="", wraps=True),
    )
    heading = Heading(title="Specs", note=plural(len(edits), "spec"))
    return heading, *_listed(columns, rows, medium)


def _spec_rows(group: Sequence[SpecEdit], medium: Medium) -> Iterator[tuple[Line, ...]]:
    first = group[0]
    sign = _WORDS[first.edit](_SIGNS[first.edit])
    was = f"was {work_name(first.formerly)}" if first.formerly else ""
    if not first.fields:
        yield line(strong(_names(group))), line(sign), line(was), line("")
    for number, field in enumerate(first.fields):
        name = line(strong(_names(group))) if not number else line("")
        yield name, line(sign if not number else ""), line(_path(field)), line(_values(field, medium))


def _names(group: Sequence[SpecEdit]) -> str:
    shown = [work_name(item.address) for item in group[:NAMES]]
    return ", ".join(shown) + (f" and {len(group) - NAMES:,} more" if len(group) > NAMES else "")


def _values(field: FieldEdit, medium: Medium) -> str:
    old, new = (_clipped(_measured(value, field.path), medium) for value in (field.before, field.after))
    return f"{old or '(default)'} {medium.glyphs.arrow} {new or '(default)'}"


def _path(field: FieldEdit) -> str:
    """The path of a field as people write it: the unit that a time is kept in is no key of theirs."""
    return field.path.removesuffix(_MILLISECONDS)


def _measured(value: str | None, path: str) -> str:
    """A value, times with their unit."""
    whole = path.endswith(_MILLISECONDS) and value and value.isdigit() and int(value) % 1_000 == 0
    return duration_text(int(value) // 1_000) if whole and value else value or ""


def _clipped(text: str, medium: Medium) -> str:
    mark = medium.glyphs.ellipsis
    return text if medium.full or len(text) <= _VALUE else text[: _VALUE - len(mark)] + mark


def files_blocks(edits: Sequence[FileEdit], medium: Medium) -> tuple[Block, ...]:
    """The section "Manifests", with every line that differs where everything is listed."""
    if not edits:
        return ()
    columns = (Column(title="File", shrinks=True), Column(title=""), Column(title="Lines", right=True))
    rows = [
        (
            line(strong(item.path)),
            line(_WORDS[item.edit](_SIGNS[item.edit])),
            line(f"+{item.added:,} -{item.removed:,}"),
        )
        for item in edits
    ]
    heading = Heading(title="Manifests", note=plural(len(edits), "file"))
    if not medium.full:
        return heading, *_listed(columns, rows, medium)
    drawn = tuple(
        Preformatted(lines=tuple(line(text) for text in item.diff.split("\n")), language="diff") for item in edits
    )
    return heading, *_listed(columns, rows, medium), *drawn


def _listed(columns: tuple[Column, ...], rows: Sequence[tuple[Line, ...]], medium: Medium) -> tuple[Block, ...]:
    shown = rows if medium.full else rows[:LISTED]
    table = Table(columns=columns, rows=tuple(shown))
    more = line(quiet(f"and {plural(len(rows) - len(shown), 'more line')}; --full lists them all"))
    return (table, Prose(lines=(more,), indent=2)) if len(rows) > len(shown) else (table,)
