"""Asking a driver library one call at a time, so that a call that fails costs one fact and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.diagnostics import printable


class Asking:
    """Asks a library, and remembers what failed: a failed answer is None and a warning that names the call.

    `unsupported` tells the failures by which the library says that a card has no such thing. Where a fact is optional
    they are no news and leave no warning, and neither does a package that lacks the call.
    """

    def __init__(self, library: Any, unsupported: Callable[[Exception], bool]) -> None:
        self.warnings: list[str] = []
        self.last: Exception | None = None
        self._library = library
        self._unsupported = unsupported

    def ask(self, subject: str, call: str, *given: object, optional: bool = False) -> Any:
        """Call a function of the library by its name; None when that fails."""
        self.last = None
        try:
            return getattr(self._library, call)(*given)
        # Drivers differ in what they raise: their own errors, but also failures to decode a name or to find a symbol.
        except Exception as error:
            self.last = error
            lacking = isinstance(error, AttributeError) or self._unsupported(error)
            if not (optional and lacking):
                self.warn(f"{subject}: {call}: {told(error)}")
            return None

    def warn(self, sentence: str) -> None:
        """Remember a warning once."""
        text = printable(sentence)
        if text not in self.warnings:
            self.warnings.append(text)


def told(error: Exception) -> str:
    """What an error says, on one line; its class where it says nothing."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def text_of(value: object) -> str | None:
    """A name as text: old packages give bytes; what is no text, empty or `N/A` is None."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return None
    if not isinstance(value, str):
        return None
    shown = printable(value.strip())
    return shown[:256] if shown and shown.upper() != "N/A" else None


def number_of(value: object) -> int | None:
    """A whole number that is not negative; anything else, such as `N/A`, is None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
