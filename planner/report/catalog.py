"""The catalogue of accelerators as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from planner.report.figures import plural
from planner.report.page import Column, Heading, Page, Prose, Table, line, quiet, strong

# The less a column helps to choose a model, the sooner a narrow page goes without it.
_OPTIONAL: Final = {"NAME": 6, "PARTITIONS": 7, "HOST": 5, "SPEED": 4, "ISLAND": 3, "LINK": 2, "POWER": 1}


def catalog_page(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Page:
    """Every model with what is known of it; the first column is the name that specs use."""
    listed = tuple(rows)
    columns = tuple(
        Column(title=title.capitalize(), optional=_OPTIONAL.get(title, 0), shrinks=title == "PARTITIONS")
        for title in header
    )
    cells = tuple(
        (line(strong(row[0])), *(line(quiet(cell) if cell == "unknown" else cell) for cell in row[1:]))
        for row in listed
    )
    note = line(quiet("Speed is relative to the reference model; unknown: no source states it."))
    return Page(
        blocks=(
            Heading(title="Accelerators", note=plural(len(listed), "model")),
            Table(columns=columns, rows=cells),
            Prose(lines=(note,), indent=2),
        )
    )
