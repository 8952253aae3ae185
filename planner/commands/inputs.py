"""What verbs read: trees of specs with their diagnostics, and lock files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.diagnostics import SpecError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planner.diagnostics import Diagnostic
    from planner.plan import Plan
    from planner.specset import LoadResult, SpecSet


def load(path: Path) -> LoadResult:
    """Read and check the specs at or below `path`; a tree without any spec is a mistake, not an empty fleet."""
    from planner.source import read_tree
    from planner.specset import load as load_specs

    try:
        files = read_tree(path)
    except FileNotFoundError:
        raise UsageError(f"there is no directory or file '{path}'; name the folder with the specs") from None
    if not files:
        raise UsageError(f"there are no .yaml or .yml files below '{path}'")
    return load_specs(files)


def valid(path: Path) -> SpecSet:
    """The specs at or below `path`; raises `SpecError` with all diagnostics when they have errors."""
    result = load(path)
    if result.specset is None:
        raise SpecError(result.diagnostics)
    return result.specset


def lock(path: Path) -> Plan:
    """Read a lock file."""
    from planner import lockfile

    try:
        return lockfile.read(path)
    except FileNotFoundError:
        raise UsageError(f"there is no lock file '{path}'; make one with: planner plan") from None
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from None


def lock_beside(path: Path) -> Path:
    """Where the lock of the specs at `path` is kept: beside them, or inside a folder that is named by dots only."""
    return (path.parent if path.name not in ("", "..") else path) / "plan.lock.json"


def diagnostics_text(diagnostics: Iterable[Diagnostic], form: str) -> str:
    """Diagnostics in one of the forms that they have."""
    from planner.diagnostics import as_github, as_json, as_text

    return {"json": as_json, "github": as_github}.get(form, as_text)(diagnostics)
