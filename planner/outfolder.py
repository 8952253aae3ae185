"""A folder of rendered files that is kept equal to what was rendered, without touching anybody else's files.

The folder's index names every file that was written, so that a later run knows which it may replace or remove. It is
written with old and new names before anything changes and with the new ones after: a run that is killed leaves no file
that the next one does not know.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from planner import lockfile
from planner.diagnostics import PlannerError, quoted

INDEX: Final = ".planner-manifest.json"
FORMAT: Final = "planner/manifests/v1"


class FolderError(PlannerError):
    """The folder cannot be written safely."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class File:
    """One file to write: its path below the folder, and its text."""

    path: str
    text: str
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Paths, sorted, that writing would create, change or remove."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether the folder is not what was rendered."""
        return bool(self.created or self.changed or self.removed)


def difference(root: Path, files: Iterable[File], *, below: str | None = None) -> Difference:
    """What `write` would do; raises `FolderError` where it would refuse."""
    wanted = _checked(files, below)
    owned = _owned(root)
    stale = [path for path in owned if path not in wanted and _within(path, below) and _present(root, path)]
    states = {path: _state(root, file, owned) for path, file in wanted.items()}
    return Difference(
        created=tuple(sorted(path for path, state in states.items() if state == "missing")),
        changed=tuple(sorted(path for path, state in states.items() if state == "different")),
        removed=tuple(sorted(stale)),
    )


def write(root: Path, files: Iterable[File], *, below: str | None = None) -> Difference:
    """Make the folder hold exactly `files` of all that is ours; with `below`, of all that is ours in that subfolder.

    Refuses paths that leave the folder, symbolic links on the way, and files that somebody else put there.
    """
    wanted = _checked(files, below)
    found = difference(root, wanted.values(), below=below)
    owned = _owned(root)
    kept = {path: digest for path, digest in owned.items() if not _within(path, below)}
    digests = {path: _digest(file.text.encode()) for path, file in wanted.items()}
    if found.any:
        _write_index(root, {**owned, **digests})
    for path in (*found.created, *found.changed):
        _put(root, wanted[path])
    for path in found.removed:
        _remove(root, path)
    if found.any or kept | digests != owned:
        _write_index(root, kept | digests)
    return found


def _checked(files: Iterable[File], below: str | None) -> Mapping[str, File]:
    wanted = {file.path: file for file in files}
    for path in wanted:
        pure = PurePosixPath(path)
        clean = path == str(pure) and not pure.is_absolute() and ".." not in pure.parts and path not in (".", INDEX)
        if not clean or "\0" in path or "\\" in path or not _within(path, below):
            raise FolderError(f"refusing to write {quoted(path)}: it does not stay inside the output folder")
    return wanted


def _within(path: str, below: str | None) -> bool:
    return below is None or path.startswith(f"{below}/")


def _owned(root: Path) -> dict[str, str]:
    index = root / INDEX
    if root.is_symlink():
        raise FolderError(f"refusing to write through the symbolic link {root}; name the folder itself")
    _refuse_links(root, INDEX)
    if not index.exists():
        return {}
    try:
        document = json.loads(index.read_bytes())
        files = document["files"] if document["format"] == FORMAT else None
        if isinstance(files, dict) and all(isinstance(part, str) for item in files.items() for part in item):
            _checked((File(path=path, text="") for path in files), None)
            return files
    except (ValueError, KeyError, TypeError):
        pass
    raise FolderError(f"{index} is not an index of rendered files; move it away or choose another folder")


def _refuse_links(root: Path, path: str) -> None:
    place = root
    for part in PurePosixPath(path).parts:
        place /= part
        if place.is_symlink():
            raise FolderError(f"refusing to follow the symbolic link {place}; remove it or choose another folder")


def _present(root: Path, path: str) -> bool:
    _refuse_links(root, path)
    return (root / path).exists()


def _state(root: Path, file: File, owned: Mapping[str, str]) -> str:
    _refuse_links(root, file.path)
    target = root / file.path
    if not target.exists():
        return "missing"
    if file.path not in owned:
        raise FolderError(f"{target} exists and was not rendered here; move it away or choose another folder")
    if not target.is_file():
        raise FolderError(f"{target} is not a plain file; move it away or choose another folder")
    same = target.read_bytes() == file.text.encode() and bool(target.stat().st_mode & 0o100) == file.executable
    return "same" if same else "different"


def _put(root: Path, file: File) -> None:
    target = root / file.path
    lockfile.write(target, file.text)
    if file.executable:
        target.chmod(target.stat().st_mode | 0o111)


def _remove(root: Path, path: str) -> None:
    target = root / path
    target.unlink(missing_ok=True)
    for parent in _parents(root, target):
        try:
            parent.rmdir()
        except OSError:
            return


def _parents(root: Path, target: Path) -> Iterator[Path]:
    yield from (parent for parent in target.parents if parent != root and parent.is_relative_to(root))


def _write_index(root: Path, digests: Mapping[str, str]) -> None:
    document = {"format": FORMAT, "files": dict(digests)}
    lockfile.write(root / INDEX, json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()
