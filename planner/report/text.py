"""Pages as text for terminals and logs, through rich."""

from __future__ import annotations

import io
from typing import Final, Literal, assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from planner.diagnostics import printable
from planner.report.page import Block, Column, Heading, Line, Medium, Page, Preformatted, Prose, Table, Tone

STYLES: Final = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "dim",
    Tone.GOOD: "green",
    Tone.CARE: "yellow",
    Tone.BAD: "bold red",
}

_INDENT: Final = 2
_GUTTER: Final = 2
_READABLE: Final = 30
_NARROWEST: Final = 16
"""A column that can be cut is left so many cells before another one goes, and never less than the second number."""


def as_text(page: Page, medium: Medium, *, colour: bool = False) -> str:
    """`page` in lines of at most `medium.width` cells, without trailing blanks; the same arguments give the same text.

    Text is never read as markup, and characters that could disturb a terminal are shown escaped.
    """
    console = _console(medium, colour=colour)
    for number, block in enumerate(page.blocks):
        if number and isinstance(block, Heading):
            console.print()
        _show(console, block, medium)
    written = console.file
    assert isinstance(written, io.StringIO)
    return "".join(f"{text.rstrip()}\n" for text in written.getvalue().splitlines())


def _console(medium: Medium, *, colour: bool) -> Console:
    return Console(
        file=io.StringIO(),
        width=medium.width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def _show(console: Console, block: Block, medium: Medium) -> None:
    match block:
        case Heading():
            console.print(_heading(block))
        case Prose():
            _show_prose(console, block, medium)
        case Preformatted():
            for item in block.lines:
                console.print(_text(item), no_wrap=True, overflow="crop", crop=True)
        case Table():
            console.print(_grid(block, medium))
        case _:
            assert_never(block)


def _heading(block: Heading) -> Text:
    text = Text(printable(block.title), style="bold")
    if block.note:
        text.append(f"  {printable(block.note)}", style="not bold dim")
    return text


def _show_prose(console: Console, block: Prose, medium: Medium) -> None:
    for item in block.lines:
        wrapped = _text(item).wrap(console, max(20, medium.width - block.indent - 2))
        for number, part in enumerate(wrapped):
            console.print(Padding(part, (0, 0, 0, block.indent + (2 if number else 0))))


def _grid(block: Table, medium: Medium) -> Padding:
    cells = [[_text(cell) for cell in row] for row in block.rows]
    natural = [
        max([cell_len(column.title), *(row[index].cell_len for row in cells)])
        for index, column in enumerate(block.columns)
    ]
    widths = _fitted(block.columns, natural, medium.width - _INDENT)
    titled = any(block.columns[index].title for index in widths)
    grid = Grid(box=None, padding=(0, _GUTTER, 0, 0), pad_edge=False, header_style="dim", show_header=titled)
    for index, width in widths.items():
        column = block.columns[index]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        overflow: Literal["fold", "ellipsis"] = "fold" if column.wraps else "ellipsis"
        grid.add_column(
            printable(column.title), justify=justify, no_wrap=not column.wraps, overflow=overflow, width=width
        )
    for row in cells:
        grid.add_row(*(row[index] for index in widths))
    return Padding(grid, (0, 0, 0, _INDENT))


def _fitted(columns: tuple[Column, ...], natural: list[int], room: int) -> dict[int, int]:
    """The columns that are shown, by position, with their widths."""

    def capped(cap: int) -> list[int]:
        return [
            min(width, cap) if column.wraps or column.shrinks else width
            for column, width in zip(columns, natural, strict=True)
        ]

    shown, least = list(range(len(columns))), capped(_NARROWEST)
    while _total(shown, capped(_READABLE)) > room and any(columns[index].optional for index in shown):
        shown.remove(max(shown, key=lambda index: (columns[index].optional, index)))
    widths = {index: natural[index] for index in shown}
    excess = _total(shown, natural) - room
    for index in sorted(shown, key=lambda index: (not columns[index].wraps, -natural[index])):
        cut = max(0, min(excess, natural[index] - least[index]))
        widths[index] -= cut
        excess -= cut
    return widths


def _total(shown: list[int], widths: list[int]) -> int:
    return sum(widths[index] for index in shown) + _GUTTER * (len(shown) - 1)


def _text(item: Line) -> Text:
    return Text.assemble(*((printable(span.text), STYLES[span.tone]) for span in item))
