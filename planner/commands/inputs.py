"""What verbs read: trees of specs with their diagnostics, and lock files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner.diagnostics import SpecError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planner.diagnostics import Diagnostic
    from planner.plan import Plan
    from planner.source import SourceFile
    from planner.spec.snapshot import Snapshot
    from planner.specset import LoadResult, SpecSet


def files(path: Path) -> tuple[SourceFile, ...]:
    """The spec files at or below `path`; a tree without any is a mistake, not an empty fleet."""
    from planner.source import read_tree

    try:
        found = read_tree(path)
    except FileNotFoundError:
        raise UsageError(f"there is no directory or file '{path}'; name the folder with the specs") from None
    if not found:
        raise UsageError(f"there are no .yaml or .yml files below '{path}'")
    return found


def load(path: Path) -> LoadResult:
    """Read and check the specs at or below `path`."""
    from planner.specset import load as load_specs

    return load_specs(files(path))


def tree_with(
    found: tuple[SourceFile, ...], snapshot: Path | None, *, prefix: str = ""
) -> tuple[SpecSet, Snapshot | None, tuple[Diagnostic, ...]]:
    """The specs in files with their warnings, and the snapshot in the file of that name, checked against them.

    Places in diagnostics get `prefix` before their file.
    """
    from planner.specset import load as load_specs
    from planner.specset import read_tree

    result = load_specs(found)
    if result.specset is None:
        raise SpecError(placed(result.diagnostics, prefix))
    if snapshot is None:
        return result.specset, None, result.diagnostics
    try:
        both = load_specs((*found, *read_tree(snapshot)))
    except FileNotFoundError:
        raise UsageError(f"there is no snapshot '{snapshot}'") from None
    if both.specset is None:
        raise SpecError(both.diagnostics)
    seen = [item for item in both.specset.snapshots if item not in result.specset.snapshots]
    if len(seen) != 1:
        raise UsageError(f"'{snapshot}' holds {len(seen)} documents of kind Snapshot; one is expected")
    return result.specset, seen[0], result.diagnostics


def placed(diagnostics: Iterable[Diagnostic], prefix: str) -> tuple[Diagnostic, ...]:
    """Diagnostics whose files are named with `prefix` before them, such as the commit that they are of."""
    return tuple(
        replace(item, place=replace(item.place, file=prefix + item.place.file)) if item.place else item
        for item in diagnostics
    )


def valid(path: Path) -> SpecSet:
    """The specs at or below `path`; raises `SpecError` with all diagnostics when they have errors."""
    result = load(path)
    if result.specset is None:
        raise SpecError(result.diagnostics)
    return result.specset


def lock(path: Path) -> Plan:
    """Read a lock file, or where there is none of that name and it is `REF:PATH`, the one that a commit has there."""
    from planner import lockfile

    if ":" in str(path) and not path.exists():
        return _lock_at(*str(path).split(":", 1))
    try:
        return lockfile.read(path)
    except FileNotFoundError:
        raise UsageError(f"there is no lock file '{path}'; make one with: planner plan") from None
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from None


def _lock_at(ref: str, inside: str) -> Plan:
    """The lock file at a path, counted from the top of the repository, in a commit, branch or tag."""
    from planner import workspace
    from planner.plan import PlanError, from_json

    work = workspace.find(Path())
    if work is None:
        raise UsageError(f"'{ref}:{inside}' would be a file in a commit, but this folder is in no git repository")
    with work:
        at = work.resolve(ref)
        data = work.bytes_of(at, work.top / inside)
    if data is None:
        raise UsageError(f"there is no file '{inside}' in {at.name} ({at.short})")
    try:
        return from_json(data)
    except PlanError as error:
        raise PlanError(f"{ref}:{inside}: {error}") from None


def lock_beside(path: Path) -> Path:
    """Where the lock of the specs at `path` is kept: beside them, or inside a folder that is named by dots only."""
    return (path.parent if path.name not in ("", "..") else path) / "plan.lock.json"


def diagnostics_text(diagnostics: Iterable[Diagnostic], form: str) -> str:
    """Diagnostics in one of the forms that they have."""
    from planner.diagnostics import as_github, as_json, as_text

    return {"json": as_json, "github": as_github}.get(form, as_text)(diagnostics)
