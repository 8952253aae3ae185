"""Spec files as bytes: what is read from a directory, and what is refused there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.diagnostics import Diagnostic, Place, Severity, SpecError

FILE_BYTES: Final = 1 << 20
TREE_BYTES: Final = 50 << 20
TREE_FILES: Final = 20_000
SUFFIXES: Final = (".yaml", ".yml")
BESIDE: Final = (".csv", ".sh", ".sbatch", ".slurm")
_LFS: Final = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One spec file: its path as messages show it, and its bytes."""

    path: str
    text: bytes


def read_tree(root: Path) -> tuple[SourceFile, ...]:
    """Read every `.yaml` and `.yml` file at or below `root`, and scripts and tables beside them, sorted by path.

    Paths in the result begin with `root` as it was given. Hidden files and directories are left out. Symbolic links,
    files that are not plain and trees beyond the limits raise `SpecError`; a missing root raises `FileNotFoundError`.
    """
    if root.is_file():
        return (_read(root, root.as_posix()),)
    if not root.is_dir():
        raise FileNotFoundError(f"There is no directory or file '{root}'.")
    paths = sorted(_below(root), key=lambda path: path.as_posix())
    links = [path for path in paths if path.is_symlink()]
    if links:
        help_text = "replace the link by the file itself"
        raise SpecError([_fault("SPEC115", path, "symbolic links are not followed", help_text) for path in links])
    files = [path for path in paths if not path.is_dir()]
    if len(files) > TREE_FILES:
        raise SpecError([_fault("SPEC105", root, f"more than {TREE_FILES} spec files", "split the tree")])
    return _read_all(root, files)


def _below(root: Path) -> Iterator[Path]:
    """Every spec file and every directory below `root`, except hidden ones; links are given, not followed."""
    for directory, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            yield Path(directory, name)
        for name in files:
            if name.endswith(SUFFIXES + BESIDE) and not name.startswith("."):
                yield Path(directory, name)


def _read_all(root: Path, paths: list[Path]) -> tuple[SourceFile, ...]:
    files: list[SourceFile] = []
    total = 0
    for path in paths:
        files.append(_read(path, path.as_posix()))
        total += len(files[-1].text)
        if total > TREE_BYTES:
            raise SpecError(
                [_fault("SPEC105", root, f"spec files of more than {TREE_BYTES >> 20} MiB in all", "split the tree")]
            )
    return tuple(files)


def _read(path: Path, shown: str) -> SourceFile:
    """Read one plain file without following a link; at most one byte beyond the limit, which the loader refuses."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SpecError([_fault("SPEC115", path, "not a plain file", "keep only plain files in the tree")])
        return plain(shown, stream.read(FILE_BYTES + 1))


def plain(path: str, data: bytes) -> SourceFile:
    """A spec file of these bytes; its lines end in LF, so that a checkout that ends them otherwise means the same.

    Raises `SpecError` for the pointer that Git LFS leaves where a file is kept elsewhere.
    """
    if data.startswith(_LFS):
        help_text = "keep specs out of Git LFS; in a checkout, git lfs pull brings the file itself"
        raise SpecError([_fault("SPEC115", Path(path), "a Git LFS pointer instead of the file", help_text)])
    return SourceFile(path, data if len(data) > FILE_BYTES else data.replace(b"\r\n", b"\n"))


def _fault(code: str, path: Path, summary: str, help_text: str) -> Diagnostic:
    place = Place(path.as_posix(), 1, 1, 1)
    return Diagnostic(code=code, severity=Severity.ERROR, summary=summary, place=place, help=help_text)
