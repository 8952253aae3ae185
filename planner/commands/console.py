"""The two streams: results on stdout, everything else on stderr; and what a terminal can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from planner.report.page import Medium, Page

NARROWEST: Final = 60
WIDEST: Final = 180
UNKNOWN: Final = 100
"""The width of pages that are not shown on a terminal."""


def out(text: str) -> None:
    """Write a result to stdout; a reader who has gone away is no failure."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)


def err(text: str) -> None:
    """Write a message to stderr."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        _drop(sys.stderr)


def _drop(stream: IO[str]) -> None:
    """Lead a stream whose reader has gone away to nowhere, so that nothing fails when the interpreter flushes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def tolerate_any_text() -> None:
    """Show what a stream's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def medium(*, full: bool = False) -> Medium:
    """What stdout can show: its width (COLUMNS decides), and whether it has more signs than ASCII."""
    from planner.report.page import ASCII, UNICODE, Medium

    columns = shutil.get_terminal_size((UNKNOWN, 24)).columns
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return Medium(width=min(WIDEST, max(NARROWEST, columns)), glyphs=UNICODE if unicode else ASCII, full=full)


def colours(choice: str, stream: IO[str]) -> bool:
    """Whether to colour: the choice, else NO_COLOR, else FORCE_COLOR, else whether the stream is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def show(page: Page, medium: Medium, colour: str) -> None:
    """Write a page to stdout as text."""
    from planner.report.text import as_text

    out(as_text(page, medium, colour=colours(colour, sys.stdout)))
