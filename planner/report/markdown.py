"""Pages as GitHub-flavoured markdown in which no text of a user becomes markup, a link, a mention or another cell.

A word is shown as it is only when it cannot mean anything to markdown; everything else becomes code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from planner.diagnostics import printable
from planner.report.page import Block, Heading, Line, Preformatted, Prose, Span, Table, Tone

LONGEST_TEXT: Final = 300
"""So many characters of one span are shown."""
_MOST_OPTIONAL: Final = 1
_PLAIN: Final = re.compile(
    r"""["'(]*[+-]?(?!www\.|gh-)[^\W_]+(?:[.,/'+-][^\W_]+|:[0-9]+)*[)"',.;:!?%]*""", re.IGNORECASE
)
_SIGNS: Final = re.compile(r"[=→·…%/\u2013█░▁▂▃▄▅▆▇✅❌]+|[,;:.)]|⚠️")
_ESCAPED_SIGNS: Final = {"<": "&lt;", ">": "&gt;", "+": "\\+", "-": "\\-", "~": "\\~", "!": "\\!", "->": "\\-&gt;"}
_NAME: Final = re.compile(r"[A-Za-z0-9_./:,\[\]+-]*[/_\[:.][A-Za-z0-9_./:,\[\]+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the blocks under it; `is_open` says whether it starts unfolded."""

    title: str
    note: str = ""
    blocks: tuple[Block, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A section that was given so much room: its text, and how many lines of it found none."""

    text: str
    left_out: int


def sections(blocks: Sequence[Block]) -> tuple[Section, ...]:
    """Blocks gathered under their headings; what comes before the first heading is left out."""
    found: list[Section] = []
    for block in blocks:
        if isinstance(block, Heading):
            found.append(Section(title=block.title, note=block.note))
        elif found:
            last = found.pop()
            found.append(Section(title=last.title, note=last.note, blocks=(*last.blocks, block)))
    return tuple(found)


def folded(section: Section, room: int) -> Cut:
    """A section that folds, in at most `room` bytes, cut between two lines; empty where not even one has room."""
    opened = " open" if section.is_open else ""
    note = f" · {as_html(section.note)}" if section.note else ""
    head = f"<details{opened}>\n<summary><b>{as_html(section.title)}</b>{note}</summary>\n"
    foot = "\n</details>\n"
    cut = rendered(section.blocks, room - len((head + foot).encode()))
    return Cut(text=f"{head}{cut.text}{foot}" if cut.text else "", left_out=cut.left_out)


def rendered(blocks: Sequence[Block], room: int) -> Cut:
    """Blocks in at most `room` bytes: whole lines, and how many more there would have been."""
    written: list[str] = []
    left, left_out = room - _NOTICE, 0
    for lines in map(tuple, map(_lines, blocks)):
        head, body = lines[0], lines[1:]
        fits = _fitting((head, *body), left)
        shown = lines[:fits] if fits > 1 or not body else ()
        written += shown
        left -= sum(len(text.encode()) + 1 for text in shown)
        left_out += len(lines) - 1 - max(0, len(shown) - 1)
    if not written:
        return Cut(text="", left_out=left_out)
    more = f"\n_{left_out:,} more {'line is' if left_out == 1 else 'lines are'} left out here._\n" if left_out else ""
    return Cut(text="\n".join(written) + "\n" + more, left_out=left_out)


_NOTICE: Final = 60
"""Bytes kept for the sentence that says how much is left out."""


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of the first lines fit."""
    for count, text in enumerate(lines):
        room -= len(text.encode()) + 1
        if room < 0:
            return count
    return len(lines)


def _lines(block: Block) -> Iterator[str]:
    """A block as a head, which is worth nothing alone, and lines of which any number of the first ones can be shown."""
    match block:
        case Heading():
            yield ""
            yield f"#### {text_of(block.title)}\n"
        case Prose():
            yield ""
            yield from (f"- {_unnumbered(as_markdown(_stripped(item)))}" for item in block.lines)
        case Preformatted():
            yield ""
            yield fenced("".join("".join(span.text for span in item) + "\n" for item in block.lines), block.language)
        case Table():
            yield from _table(block)
        case _:
            assert_never(block)


def _stripped(item: Line) -> Line:
    """A line without the blanks that it begins with."""
    head = item[0].text.lstrip() if item else ""
    return (Span(head, item[0].tone), *item[1:]) if item else ()


def _unnumbered(text: str) -> str:
    """Text that does not begin a list."""
    return re.sub(r"^([0-9]+)([.)])", r"\1\\\2", text)


def _table(block: Table) -> Iterator[str]:
    """The columns that every page should show; a comment is narrow, and what is optional stands in the lock."""
    kept = [index for index, column in enumerate(block.columns) if column.optional <= _MOST_OPTIONAL]
    columns = [block.columns[index] for index in kept]
    titles = " | ".join(text_of(column.title) or " " for column in columns)
    rules = " | ".join("---:" if column.right else "---" for column in columns)
    yield f"\n| {titles} |\n| {rules} |"
    for row in block.rows:
        yield "| " + " | ".join(as_markdown(row[index]) or " " for index in kept) + " |"


def as_markdown(item: Line) -> str:
    """A line of markdown; names stand as code, and what stands out is bold."""
    text = ""
    for part in map(_span, item):
        text += "<!-- -->" if text.endswith("`") and part.startswith("`") else ""
        text += part
    return text.strip()


def _span(span: Span) -> str:
    text = clipped(printable(span.text))
    core = text.strip(" ")
    if not core:
        return " " if text else ""
    before, after = (" " if text.startswith(" ") else ""), (" " if text.endswith(" ") else "")
    stands_out = span.tone in (Tone.STRONG, Tone.BAD, Tone.CARE) and any(map(str.isalnum, core))
    shown = text_of(core)
    if span.tone is Tone.STRONG and _NAME.fullmatch(core):
        shown = code(core)
    elif stands_out and "`" not in shown and "<code>" not in shown:
        shown = f"**{shown}**"
    return before + shown + after


def text_of(text: str) -> str:
    """Text as markdown that shows it and does nothing else, word by word."""
    words = [_word(word) for word in printable(text).split(" ")]
    return " ".join(words)


def _word(word: str) -> str:
    if _is_plain(word):
        return word
    return _ESCAPED_SIGNS.get(word) or code(word)


def _is_plain(word: str) -> bool:
    """Whether a word means nothing but itself; two colons can make an emoji."""
    return not word or bool(_SIGNS.fullmatch(word)) or bool(_PLAIN.fullmatch(word) and word.count(":") < 2)


def code(text: str) -> str:
    """Text as code; a bar, which ends a cell even inside of code, stands as a character reference."""
    parts = re.split(r"(\|)", printable(text))
    return "".join("<code>&#124;</code>" if part == "|" else _ticked(part) for part in parts if part)


def _ticked(text: str) -> str:
    """A code span under a fence that nothing in it can close."""
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_run(text: str) -> int:
    """The length of the longest row of backticks."""
    return max(map(len, re.findall(r"`+", text)), default=0)


def as_html(text: str) -> str:
    """Text inside an HTML element, where markdown is not read."""
    words = clipped(printable(text)).split(" ")
    return " ".join(word if _is_plain(word) else f"<code>{_referenced(word)}</code>" for word in words)


def _referenced(text: str) -> str:
    """Text in which all but letters, digits and blanks are character references."""
    return "".join(char if char.isalnum() or char == " " else f"&#{ord(char)};" for char in text)


def clipped(text: str) -> str:
    """Text without what is beyond the limit."""
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def fenced(text: str, language: str) -> str:
    """A block of text as it is, under a fence that nothing in it can close."""
    lines = [printable(line) for line in text.splitlines()]
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return "\n".join((f"{fence}{language}", *lines, fence))
