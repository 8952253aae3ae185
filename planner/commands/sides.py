"""The two sides of a comparison: lock files, folders, commits, or where a branch parted from the default one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.commands import console, inputs, trees
from planner.diagnostics import UsageError

if TYPE_CHECKING:
    from planner.commands.trees import Given
    from planner.plan import Plan
    from planner.workspace import Commit, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: a plan as it stands in a lock file, or specs that are yet to be planned."""

    name: str
    plan: Plan | None = None
    given: Given | None = None


def sides(a: str | None, b: str | None, base: str | None, specs: Path) -> tuple[Side, Side]:
    """What A and B mean; without them, the commit where `base` and HEAD part, and the specs as they are."""
    if a is not None and base is not None:
        raise UsageError("A and --base both say what to compare with; give one of them")
    first = _parting(base, specs) if a is None else _side(a, specs)
    second = _folder(specs) if b is None else _side(b, specs)
    if first.plan is None or second.plan is None:
        console.err(f"comparing {first.name} with {second.name}\n")
    return first, second


def _side(text: str, specs: Path) -> Side:
    """A lock file, a folder, or what else must be a commit."""
    path = Path(text)
    if path.is_file() and path.suffix not in (".yaml", ".yml"):
        return Side(name=text, plan=inputs.lock(path))
    if path.exists():
        return _folder(path)
    if ":" in text:
        return Side(name=text, plan=inputs.lock(path))
    with trees.repository(specs) as work:
        try:
            found = trees.resolved(work, specs, text)
        except UsageError as error:
            raise UsageError(f"there is no directory or lock file '{text}', and no commit: {error}") from None
        assert work is not None
        return _commit(specs, work, found)


def _folder(path: Path) -> Side:
    with trees.repository(path) as work:
        return Side(name=f"the files in {path}", given=trees.folder(path, work))


def _commit(specs: Path, work: Workspace, found: Commit) -> Side:
    return Side(name=f"{found.name} ({found.short})", given=trees.commit(specs, work, found))


def parting(work: Workspace | None, base: str | None, specs: Path) -> Commit:
    """The commit where the history of HEAD parted from `base`, or from the default branch."""
    if work is None:
        raise UsageError(
            f"{specs} is in no git repository, or git is not installed: there is no commit to compare with; name two"
            " directories or lock files"
        )
    head = work.head()
    if head is None:
        raise UsageError("there is no commit yet to compare with; name two directories or lock files")
    target = work.default_branch() if base is None else trees.told(work.resolve(base))
    return trees.told(work.merge_base(target, head))


def _parting(base: str | None, specs: Path) -> Side:
    with trees.repository(specs) as work:
        found = parting(work, base, specs)
        assert work is not None
        return _commit(specs, work, found)
