"""Pages as text: inside the width, the same each time, and never read as markup."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from planner.report.page import (
    Column,
    Heading,
    Medium,
    Page,
    Preformatted,
    Prose,
    Table,
    bad,
    line,
    quiet,
)
from planner.report.text import as_text

HOSTILE = (
    "[red]x",
    "[/]",
    "[bold]",
    ":smile:",
    "a\x1b[31mb",
    "a\rb",
    "\u202eevil",
    "漢字" * 30,
    "x" * 300,
    "\x07",
    "[link=x]y",
)


def table(*columns: Column, cells: tuple[str, ...]) -> Page:
    """A page of one row."""
    return Page(blocks=(Table(columns=columns, rows=(tuple(line(cell) for cell in cells),)),))


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [60, 100])
def test_hostile_text_is_shown_as_it_is_and_stays_inside_the_page(text: str, width: int) -> None:
    page = Page(
        blocks=(
            Heading(title=text, note=text),
            Prose(lines=(line(bad(text), quiet(text)),), indent=2),
            Preformatted(lines=(line(text),)),
            Table(
                columns=(Column(title=text, shrinks=True), Column(title="", wraps=True)),
                rows=((line(text), line(text)),),
            ),
        )
    )
    shown = as_text(page, Medium(width=width))
    assert max(cell_len(part) for part in shown.splitlines()) <= width
    assert not set("\x1b\r\x07\u202e") & set(shown)
    if text.startswith("["):
        assert text in shown


def test_a_colourless_page_has_no_escape_and_a_coloured_one_says_the_same() -> None:
    page = Page(blocks=(Heading(title="Title", note="note"), Prose(lines=(line("plain ", bad("bad")),))))
    plain, coloured = as_text(page, Medium()), as_text(page, Medium(), colour=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_headings_are_set_apart_except_the_first() -> None:
    page = Page(blocks=(Heading(title="One"), Heading(title="Two")))
    assert as_text(page, Medium()) == "One\n\nTwo\n"


def test_the_highest_optional_column_goes_first_and_the_others_are_whole() -> None:
    columns = (Column(title="A"), Column(title="B", optional=2), Column(title="C", optional=1))
    assert as_text(table(*columns, cells=("a" * 20, "b" * 20, "c" * 20)), Medium(width=70)).count("b") == 20
    narrow = as_text(table(*columns, cells=("a" * 20, "b" * 20, "c" * 20)), Medium(width=60))
    assert ("a" * 20 in narrow, "b" in narrow, "c" * 20 in narrow) == (True, False, True)


def test_a_column_that_wraps_loses_nothing() -> None:
    words = " ".join(f"word{number}" for number in range(40))
    shown = as_text(table(Column(title="A"), Column(title="B", wraps=True), cells=("a", words)), Medium(width=60))
    assert shown.split()[3:] == words.split()


def test_a_column_that_shrinks_says_that_it_was_cut() -> None:
    shown = as_text(
        table(Column(title="A", shrinks=True), Column(title="B"), cells=("a" * 90, "b" * 20)), Medium(width=60)
    )
    assert "…" in shown
    assert "b" * 20 in shown


def test_prose_hangs_under_its_first_line() -> None:
    shown = as_text(Page(blocks=(Prose(lines=(line("word " * 30),), indent=2),)), Medium(width=60))
    first, *rest = shown.splitlines()
    assert first.startswith("  word")
    assert all(part.startswith("    word") for part in rest)
    assert rest


def test_a_table_without_titles_has_no_title_line() -> None:
    assert as_text(table(Column(title=""), Column(title=""), cells=("a", "b")), Medium()) == "  a  b\n"
