"""The journal: which steps of an unfinished run are done, one line a step, each on the disk before the next step.

A line is a sealed document of its own that names the seal before it. A last line that is cut short is what a killed
run leaves: the step that it would have told of counts as not done. Any other fault means that the file was changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planner import lockfile
from planner.apply import inventory, sealed
from planner.apply.item import Record
from planner.apply.sealed import StateError

FORMAT: Final = "planner/journal/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One object after its step; `record` is absent once it is removed."""

    key: str
    record: Record | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What a run has done so far: of which plan, on which inventory (by its seal), and each step in order."""

    plan: str
    base: str
    done: tuple[Done, ...] = ()


class Writer:
    """An open journal to which steps are added."""

    def __init__(self, path: Path, plan: str, base: str) -> None:
        """Begin a journal for `plan` on the inventory with the seal `base`; one that was there is replaced."""
        head = {"format": FORMAT, "plan": plan, "base": base}
        self.path, self._last = path, sealed.seal_of(head)
        lockfile.write(path, _line(head))

    def add(self, done: Done) -> None:
        """Say on the disk that a step is done."""
        entry = inventory.entry_of(done.record) if done.record else None
        content = {"format": FORMAT, "after": self._last, "key": done.key, "record": entry}
        self._last = sealed.seal_of(content)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_line(content).encode())
            stream.flush()
            os.fsync(descriptor)


def read(path: Path) -> Journal | None:
    """The journal of an unfinished run, None when there is none; raises `StateError` for one that was changed."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise StateError(f"{path} is not a plain file")
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return None
    head, seal = sealed.checked(lines[0], FORMAT, f"{path}, line 1,")
    try:
        return Journal(plan=str(head["plan"]), base=str(head["base"]), done=tuple(_steps(path, lines[1:-1], seal)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(f"{path} is not a journal: {error}") from None


def _steps(path: Path, lines: list[bytes], seal: str) -> Iterator[Done]:
    """The steps of all lines that end in a line feed: what follows the last of them was cut short."""
    for number, line in enumerate(lines, 2):
        content, after = sealed.checked(line, FORMAT, f"{path}, line {number},")
        if content["after"] != seal:
            raise StateError(f"{path}, line {number}, does not follow the line before it: lines are missing or moved")
        seal = after
        entry = content["record"]
        yield Done(key=str(content["key"]), record=None if entry is None else inventory.record_of(entry))


def _line(content: dict[str, Any]) -> str:
    return json.dumps({**content, "seal": sealed.seal_of(content)}, sort_keys=True, ensure_ascii=False) + "\n"
