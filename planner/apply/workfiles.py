"""Files that back ends on this machine work from: below one folder, never through a symbolic link."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from planner import lockfile
from planner.apply.backend import BackendError
from planner.diagnostics import quoted


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

    def remove(self, key: str) -> None:
        """Remove the file of a key, if it is there."""
        self.path(key).unlink(missing_ok=True)
