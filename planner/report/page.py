"""A report before it has a form: headings, lines and tables that text, markdown or a browser can show alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Tone(StrEnum):
    """What a piece of text is to the reader; never the only carrier of a meaning."""

    PLAIN = "plain"
    STRONG = "strong"
    QUIET = "quiet"
    GOOD = "good"
    CARE = "care"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one tone; whoever shows it makes it safe for its medium."""

    text: str
    tone: Tone = Tone.PLAIN


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The title of a section, and the figure or sentence that belongs beside it."""

    title: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """Lines under each other, each wrapped with a hanging indent of two; `indent` moves all of them."""

    lines: tuple[Line, ...]
    indent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preformatted:
    """Lines that must not be wrapped: drawings, or the words of a `language` that some media draw."""

    lines: tuple[Line, ...]
    language: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    On a page that is too narrow, optional columns are left out (the highest number first), then those that shrink are
    cut. Only a column that `wraps` grows down.
    """

    title: str
    right: bool = False
    wraps: bool = False
    shrinks: bool = False
    optional: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of lines under columns; every row has one line for each column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Line, ...], ...]


Block = Heading | Prose | Preformatted | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Blocks in reading order."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The signs a medium has."""

    levels: str
    """From nothing to full load."""
    bar: str
    track: str
    arrow: str
    dash: str
    dot: str
    ellipsis: str


UNICODE: Final = Glyphs(levels="·▁▂▃▄▅▆▇█", bar="█", track="░", arrow="→", dash="\N{EN DASH}", dot="·", ellipsis="…")
ASCII: Final = Glyphs(levels=".123456789", bar="#", track=".", arrow="->", dash="-", dot="|", ellipsis="...")


@dataclass(frozen=True, slots=True, kw_only=True)
class Medium:
    """What a page is made for: its width in character cells, its signs, and whether everything is listed."""

    width: int = 100
    glyphs: Glyphs = UNICODE
    full: bool = False


def line(*parts: str | Span) -> Line:
    """A line of texts and spans."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def strong(text: str) -> Span:
    """Text that stands out."""
    return Span(text, Tone.STRONG)


def quiet(text: str) -> Span:
    """Text that stands back."""
    return Span(text, Tone.QUIET)


def good(text: str) -> Span:
    """Text that says that something is well."""
    return Span(text, Tone.GOOD)


def care(text: str) -> Span:
    """Text that wants attention."""
    return Span(text, Tone.CARE)


def bad(text: str) -> Span:
    """Text that says that something is not well."""
    return Span(text, Tone.BAD)
