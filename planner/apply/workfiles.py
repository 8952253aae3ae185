"""Files that back ends on this machine work from: below one folder, never through a symbolic link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from planner import lockfile
from planner.apply.backend import BackendError
from planner.apply.item import Departure, Standing
from planner.diagnostics import quoted


def changed_line(planned: str, seen: str) -> dict[str, str]:
    """The first line in which two texts differ, as the fields of a departure."""
    pairs = zip_longest(planned.splitlines(), seen.splitlines(), fillvalue="")
    number, (old, new) = next(((at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (0, ("", "")))
    return {"field": f"line {number}", "planned": old.strip(), "seen": new.strip()}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFiles:
    """The files below `root`, by the keys of objects."""

    root: Path

    def path(self, key: str) -> Path:
        """Where the file of a key is; raises `BackendError` for a key that leads out of the folder."""
        pure = PurePosixPath(key)
        if key != str(pure) or pure.is_absolute() or ".." in pure.parts or "\0" in key or "\\" in key:
            raise BackendError(f"refusing the path {quoted(key)}: it does not stay inside {self.root}")
        place = self.root
        for part in pure.parts:
            place /= part
            if place.is_symlink():
                raise BackendError(f"refusing to follow the symbolic link {place}; remove it")
        return place

    def write(self, key: str, text: str, *, executable: bool = False) -> Path:
        """Put a text into the file of a key."""
        path = self.path(key)
        lockfile.write(path, text)
        if executable:
            path.chmod(path.stat().st_mode | 0o111)
        return path

    def read(self, key: str) -> str | None:
        """The text of the file of a key, None where there is none."""
        path = self.path(key)
        return path.read_text("utf-8") if path.is_file() else None

    def keys(self, below: str) -> tuple[str, ...]:
        """The keys of all files below a folder, sorted."""
        files = (path for path in self.path(below).rglob("*") if path.is_file())
        return tuple(sorted(path.relative_to(self.root).as_posix() for path in files))

    def departures(self, cluster: str, texts: Mapping[str, str]) -> Iterator[Departure]:
        """Files of a cluster that are gone, hold another text, or that `texts`, which are by key, have not."""
        for key, text in sorted(texts.items()):
            there = self.read(key)
            if there is None:
                yield Departure(key=key, standing=Standing.MISSING)
            elif there != text:
                yield Departure(key=key, standing=Standing.CHANGED, **changed_line(text, there))
        for key in self.keys(cluster):
            if key not in texts:
                yield Departure(key=key, standing=Standing.EXTRA)

    def remove(self, key: str) -> None:
        """Remove the file of a key, if it is there."""
        self.path(key).unlink(missing_ok=True)
