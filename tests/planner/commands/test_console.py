"""Streams and terminals: who decides on colours, widths and signs."""

from __future__ import annotations

import io

import pytest

from planner.commands import console
from planner.commands.watch import Watch, watching
from planner.report.page import UNICODE
from planner.report.progress import Step


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "colours"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_flag_decides_then_no_color_then_force_color_then_the_terminal(
    choice: str, environment: dict[str, str], terminal: bool, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert console.colours(choice, Terminal() if terminal else io.StringIO()) is colours


@pytest.mark.parametrize(
    ("columns", "width"), [("80", 80), ("59", 60), ("60", 60), ("180", 180), ("181", 180), ("junk", 100)]
)
def test_pages_are_as_wide_as_the_terminal_within_reason(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert console.medium().width == width
    assert console.medium(full=True).full


def test_pytest_captures_unicode(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.medium().glyphs == UNICODE
    console.out("→")
    assert capsys.readouterr().out == "→"


def test_a_log_gets_plain_lines_and_only_when_something_happens(capsys: pytest.CaptureFixture[str]) -> None:
    with watching("USD", "auto") as watch:
        for phase in ("prices", "prices", "improve", "improve"):
            watch.tell(Step(phase=phase, value_micros=1_000_000))
        assert not watch.stop()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["prices", "improve"]


def test_a_terminal_gets_one_line_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with watching("USD", "never") as watch:
        watch.tell(Step(phase="prices", value_micros=1_000_000))
        watch.tell(Step(phase="improve", value_micros=2_000_000))
    assert "value USD 1.00" in terminal.getvalue()
    assert "value USD 2.00" in terminal.getvalue()
    assert "\x1b[2K" in terminal.getvalue()


def test_a_watch_that_nobody_stops_does_not_stop() -> None:
    assert Watch("USD").stop() is False
