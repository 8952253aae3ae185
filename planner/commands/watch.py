"""The progress of a plan on stderr, and the first Ctrl-C, which asks the solver for its best plan so far."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from planner.commands import console
from planner.report.progress import Log, Step, step_text

if TYPE_CHECKING:
    from rich.live import Live

_FRAME_SECONDS = 0.1


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


@dataclass(slots=True)
class Watch:
    """Shows what it is told: on a terminal in one line that changes, elsewhere in few plain lines."""

    currency: str
    live: Live | None = None
    log: Log = field(default_factory=Log)
    begun: float = field(default_factory=time.monotonic)
    drawn: float = 0.0
    stopped: bool = False

    def stop(self) -> bool:
        """Whether the solver is asked to end with what it has."""
        return self.stopped

    def tell(self, told: Told) -> None:
        """Show a step."""
        step = Step(
            phase=str(told.phase), value_micros=told.value_micros, bound_micros=told.bound_micros, gap_ppm=told.gap_ppm
        )
        now = time.monotonic()
        text = step_text(step, int(now - self.begun), self.currency)
        if self.live is None:
            if self.log.wants(step, now):
                console.err(f"{text}\n")
        elif step.phase != self.log.phase or now - self.drawn >= _FRAME_SECONDS:
            self.log.phase, self.drawn = step.phase, now
            self.live.update(text, refresh=True)


@contextmanager
def watching(currency: str, colour: str) -> Iterator[Watch]:
    """Watch a solve: progress while it runs, and Ctrl-C as a request; a second Ctrl-C ends the process at once."""
    watch = Watch(currency=currency)
    if sys.stderr.isatty():
        watch.live = _line(colour)
    before = signal.signal(signal.SIGINT, _asking(watch))
    try:
        if watch.live is None:
            yield watch
        else:
            with watch.live:
                yield watch
    finally:
        signal.signal(signal.SIGINT, before)


def _asking(watch: Watch) -> Any:
    def ask(_number: int, _frame: object) -> None:
        watch.stopped = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        console.err("\nstopping with the best plan so far; press Ctrl-C again to end at once\n")

    return ask


def _line(colour: str) -> Live:
    from rich.console import Console
    from rich.live import Live

    plain = not console.colours(colour, sys.stderr)
    terminal = Console(stderr=True, no_color=plain, markup=False, highlight=False, emoji=False)
    return Live("", console=terminal, auto_refresh=False, transient=True)
