"""Messages with a place, and the errors that carry them.

PlannerError                1  failure
├── SpecError               3  the specs are invalid
├── Unsatisfied             4  infeasible, or a required job has no place
├── Stale                   5  a digest, base or snapshot is out of date
├── Blocked                 6  policy, safety threshold or protection
├── PartlyApplied           7  apply stopped after some objects had changed
├── Busy                    8  another run holds the lock
└── UsageError             64  wrong flags or arguments
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final

_ANNOTATIONS_PER_LEVEL: Final = 10
_ANNOTATION_BYTES: Final = 4_000
_SNIPPET_WIDTH: Final = 120
_UNSAFE: Final = re.compile(
    r"[^\x20-\x7e\u00a0-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\uf900-\ufefe\uff01-\uffef\U00010000-\U000effff]"
)


class Severity(StrEnum):
    """How much a diagnostic matters: an error stops, a warning is told, a note explains another one."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands in a file: line and columns count from 1; `end_column` is exclusive, on the same line."""

    file: str
    line: int
    column: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another place that a diagnostic speaks of."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One message: what is wrong, where, what was seen, what was expected, and how to mend it.

    `path` leads to the value inside its document (`variants[0].gpus`), `snippet` is the line of the file, `help` says
    what to do. Places are absent only when a message concerns no file.
    """

    code: str
    severity: Severity
    summary: str
    place: Place | None = None
    address: str = ""
    path: str = ""
    seen: str = ""
    expected: str = ""
    help: str = ""
    snippet: str = ""
    related: tuple[Related, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether this diagnostic makes the specs invalid."""
        return self.severity is Severity.ERROR

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """By place, then code, then text."""
        place = self.place or Place("", 0, 0, 0)
        return place.file, place.line, place.column, self.code, self.summary


class PlannerError(Exception):
    """The root of all errors that a user can meet."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str = "", diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(message or "\n".join(item.summary for item in self.diagnostics))


class SpecError(PlannerError):
    """The specs are invalid; the diagnostics say where."""

    exit_code: ClassVar[int] = 3

    def __init__(self, diagnostics: Iterable[Diagnostic], message: str = "") -> None:
        super().__init__(message, diagnostics)


class Unsatisfied(PlannerError):
    """The specs are valid but cannot be satisfied."""

    exit_code: ClassVar[int] = 4


class Stale(PlannerError):
    """What was reviewed is not what would be done."""

    exit_code: ClassVar[int] = 5


class Blocked(PlannerError):
    """A policy, a threshold or a protection forbids it."""

    exit_code: ClassVar[int] = 6


class PartlyApplied(PlannerError):
    """Some objects changed before apply had to stop."""

    exit_code: ClassVar[int] = 7


class Busy(PlannerError):
    """Another run holds the lock."""

    exit_code: ClassVar[int] = 8


class UsageError(PlannerError):
    """The command line is wrong."""

    exit_code: ClassVar[int] = 64


def printable(text: str) -> str:
    """`text` with every character that could disturb a terminal or a log replaced by its escape."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def quoted(value: object, limit: int = 60) -> str:
    """A value as messages show it: in quotes, on one line, shortened."""
    text = printable(str(value))
    return f"'{text[: limit - 1]}…'" if len(text) > limit else f"'{text}'"


def nearest(word: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known words that look most like `word`, best first."""
    return tuple(difflib.get_close_matches(word, sorted(set(known)), n=count, cutoff=0.6))


def did_you_mean(word: str, known: Sequence[str], *, list_at_most: int = 40) -> str:
    """Advice about an unknown word: the nearest known ones, or all of them when nothing is near."""
    if near := nearest(word, known):
        return f"did you mean {one_of(near)}?"
    if not known:
        return ""
    shown = ", ".join(sorted(set(known))[:list_at_most])
    return f"known: {shown}" + (", …" if len(set(known)) > list_at_most else "")


def one_of(words: Sequence[str]) -> str:
    """Words in quotes, joined by commas and 'or'."""
    shown = [f"'{word}'" for word in words]
    return " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics in the order in which they are shown, without repetitions."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda item: item.sort_key))


def as_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics for people: place, severity, code and summary, then the line with a caret and the advice."""
    return "".join(_text(item) for item in diagnostics)


def _text(item: Diagnostic) -> str:
    where = f"{printable(str(item.place))}: " if item.place else ""
    subject = f"{item.address}: " if item.address else ""
    lines = [f"{where}{item.severity}[{item.code}]: {printable(subject + item.summary)}"]
    advice = [printable(line) for line in item.help.split("\n")] if item.help else []
    if item.place and item.snippet:
        lines += _snippet(item.place, item.snippet, advice.pop(0) if advice else "")
    lines += [f"     = {line}" for line in advice]
    for other in item.related:
        lines.append(f"     = {printable(str(other.place))}: {printable(other.message)}")
    return "\n".join(lines) + "\n"


def _snippet(place: Place, line: str, advice: str) -> list[str]:
    start = max(0, place.column - 1 - _SNIPPET_WIDTH // 2) if len(line) > _SNIPPET_WIDTH else 0
    part = line[start : start + _SNIPPET_WIDTH]
    before = printable(part[: place.column - 1 - start])
    marked = printable(part[place.column - 1 - start : max(place.end_column, place.column + 1) - 1 - start])
    caret = " " * len(before) + "^" * max(1, len(marked))
    number = f"{place.line:>4}"
    return [f"{number} | {printable(part)}".rstrip(), f"{' ' * len(number)} | {caret} {advice}".rstrip()]


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics for programs: one document with sorted keys."""
    document = {"format_version": "1.0", "diagnostics": [_record(item) for item in diagnostics]}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _record(item: Diagnostic) -> dict[str, Any]:
    record: dict[str, Any] = {
        name: printable(str(getattr(item, name)))
        for name in ("code", "severity", "summary", "address", "path", "seen", "expected", "help", "snippet")
        if getattr(item, name)
    }
    if item.place:
        record |= {"file": item.place.file, "range": _range(item.place)}
    if item.related:
        record["related"] = [
            {"file": other.place.file, "range": _range(other.place), "message": printable(other.message)}
            for other in item.related
        ]
    return record


def _range(place: Place) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": place.line, "column": place.column},
        "end": {"line": place.line, "column": max(place.end_column, place.column)},
    }


def as_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Diagnostics as workflow commands of GitHub Actions.

    GitHub keeps ten annotations a level and drops the rest without a word, so the tenth says how many more there are.
    """
    items = ordered(diagnostics)
    lines: list[str] = []
    for level in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        of_level = [item for item in items if item.severity is level]
        fits = len(of_level) <= _ANNOTATIONS_PER_LEVEL
        shown = of_level if fits else of_level[: _ANNOTATIONS_PER_LEVEL - 1]
        lines += [_annotation(item) for item in shown]
        if not fits:
            more = len(of_level) - len(shown)
            lines.append(
                f"::{_github_level(level)} title=planner::{more} more {level}s: see the log or the job summary."
            )
    return "".join(f"{line}\n" for line in lines)


def _annotation(item: Diagnostic) -> str:
    properties = []
    if item.place:
        properties = [f"file={_property(item.place.file)}", f"line={item.place.line}", f"col={item.place.column}"]
        if item.place.end_column > item.place.column:
            properties += [f"endLine={item.place.line}", f"endColumn={item.place.end_column}"]
    properties.append(f"title={_property(item.code)}")
    notes = [f"{other.place}: {other.message}" for other in item.related]
    subject = f"{item.address}: " if item.address else ""
    message = "\n".join([subject + item.summary, *([item.help] if item.help else []), *notes])
    return f"::{_github_level(item.severity)} {','.join(properties)}::{_data(_clipped(message))}"


def _clipped(message: str) -> str:
    encoded = message.encode("utf-8", "backslashreplace")
    return encoded[:_ANNOTATION_BYTES].decode("utf-8", "ignore")


def _github_level(severity: Severity) -> str:
    return {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}[severity]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
