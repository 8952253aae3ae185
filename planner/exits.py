"""The exit codes of every verb: one table, and which code wins when several apply."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """What the exit code of a verb means; the numbers are a promise."""

    OK = 0
    FAILURE = 1
    CHANGES = 2
    INVALID = 3
    UNSATISFIED = 4
    STALE = 5
    BLOCKED = 6
    PARTIAL = 7
    BUSY = 8
    USAGE = 64
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """The sentence that help and documentation give."""
        return MEANINGS[self]


MEANINGS: Final = {
    Exit.OK: "done, or nothing changed",
    Exit.FAILURE: "something failed that should not",
    Exit.CHANGES: "there are changes (only with --detailed-exitcode or --check)",
    Exit.INVALID: "the specs are invalid",
    Exit.UNSATISFIED: "a required workload has no place",
    Exit.STALE: "a digest, base or snapshot is out of date",
    Exit.BLOCKED: "a policy, a threshold or a protection forbids it",
    Exit.PARTIAL: "stopped after some objects had changed",
    Exit.BUSY: "another run holds the lock",
    Exit.USAGE: "wrong flags or arguments",
    Exit.INTERRUPTED: "interrupted",
}

WORST_FIRST: Final = (
    Exit.INTERRUPTED,
    Exit.FAILURE,
    Exit.USAGE,
    Exit.INVALID,
    Exit.BLOCKED,
    Exit.STALE,
    Exit.BUSY,
    Exit.UNSATISFIED,
    Exit.PARTIAL,
    Exit.CHANGES,
    Exit.OK,
)
"""An interrupted run says so whatever else is true of it: its result is not the one that was asked for."""


def worst(codes: Iterable[Exit]) -> Exit:
    """The code that a verb ends with when all of `codes` apply; none is `OK`."""
    return min(codes, key=WORST_FIRST.index, default=Exit.OK)
