"""The progress of a plan on stderr, and the first Ctrl-C or SIGTERM, which asks the solver for its best plan so far."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

from planner.commands import console
from planner.report.progress import Log, Step, step_text

if TYPE_CHECKING:
    from rich.live import Live

_FRAME_MILLISECONDS: Final = 100
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)


class Told(Protocol):
    """What a solver tells of itself."""

    @property
    def phase(self) -> str:
        """What it is doing."""

    @property
    def value_micros(self) -> int | None:
        """The best value so far."""

    @property
    def bound_micros(self) -> int | None:
        """What nothing can be worth more than."""

    @property
    def gap_ppm(self) -> int | None:
        """How far apart they are."""


class Watch:
    """Shows what it is told: on a terminal in one line that changes, elsewhere in few plain lines."""

    __slots__ = ("_begun", "_currency", "_drawn", "_live", "_log", "_phase", "stopped")

    def __init__(self, currency: str, live: Live | None = None) -> None:
        self._currency = currency
        self._live = live
        self._log = Log()
        self._begun = _milliseconds()
        self._phase = ""
        self._drawn = 0
        self.stopped = False

    def stop(self) -> bool:
        """Whether the solver is asked to end with what it has."""
        return self.stopped

    def tell(self, told: Told) -> None:
        """Show a step."""
        step = Step(
            phase=str(told.phase), value_micros=told.value_micros, bound_micros=told.bound_micros, gap_ppm=told.gap_ppm
        )
        now = _milliseconds()
        text = step_text(step, (now - self._begun) // 1_000, self._currency)
        if self._live is None:
            if self._log.wants(step, now):
                console.err(f"{text}\n")
        elif step.phase != self._phase or now - self._drawn >= _FRAME_MILLISECONDS:
            self._phase, self._drawn = step.phase, now
            self._live.update(text, refresh=True)


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


@contextmanager
def watching(currency: str, colour: str) -> Iterator[Watch]:
    """Watch a solve: progress while it runs, and a signal to end as a request; a second one ends it at once."""
    live = _line(colour) if sys.stderr.isatty() else None
    watch = Watch(currency, live)
    before = {number: signal.signal(number, _asking(watch)) for number in _ENDING}
    try:
        with live or nullcontext():
            yield watch
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _asking(watch: Watch) -> Any:
    def ask(_number: int, _frame: object) -> None:
        watch.stopped = True
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        console.err("\nstopping with the best plan so far; press Ctrl-C again to end at once\n")

    return ask


def _line(colour: str) -> Live:
    from rich.console import Console
    from rich.live import Live

    plain = not console.colours(colour, sys.stderr)
    terminal = Console(stderr=True, no_color=plain, markup=False, highlight=False, emoji=False)
    return Live("", console=terminal, auto_refresh=False, transient=True)
