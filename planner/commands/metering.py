"""Measured use for the verbs that tell it: asked of a Prometheus, or from files with its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.diagnostics import UsageError

if TYPE_CHECKING:
    from planner.discovery.past import Run
    from planner.discovery.prometheus import Answer
    from planner.discovery.usage import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Meters:
    """Where use is told, and how far back a Prometheus is asked about it."""

    prometheus: str | None
    window: str
    files: tuple[Path, ...]

    def measured(self, at: int) -> tuple[Measured, ...]:
        """The mean use by whoever had the devices, up to a moment in seconds since 1970 UTC."""
        from planner.commands.texts import text_of_file
        from planner.discovery.usage import measured, uses_in

        return measured((*uses_in(self._answers(at)), *map(text_of_file, self.files)))

    def runs(self, at: int) -> tuple[Run, ...]:
        """The runs that meters know of, up to a moment in seconds since 1970 UTC."""
        from planner.commands.texts import text_of_file
        from planner.discovery.usage import metered

        return metered(self._answers(at), map(text_of_file, self.files), at - self._seconds(), at)

    def _answers(self, at: int) -> tuple[Answer, ...]:
        from planner.discovery.prometheus import answers

        return answers(self.prometheus, self._seconds(), at) if self.prometheus else ()

    def _seconds(self) -> int:
        from planner.units import Duration

        try:
            seconds = Duration.parse(self.window).seconds
        except ValueError as error:
            raise UsageError(f"--window: {error}") from None
        if not seconds:
            raise UsageError("--window: a length of time is needed, for example 7d")
        return seconds
