"""The state folder on a branch: filled from it before a verb runs, committed to it afterwards. Nothing is pushed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import console
from planner.diagnostics import Busy, UsageError

if TYPE_CHECKING:
    from planner.workspace import Workspace

STATE_BRANCH: Final = click.option(
    "--state-branch", metavar="BRANCH",
    help="Keep the state folder on this branch too, say planner-state: take it from there first, and commit it there"
    " at the end. Push it yourself.",
)  # fmt: skip
_SEEN: Final = ".commit"
"""The file that says of which commit a folder is; like the lock, it is not committed."""


@contextmanager
def kept(root: Path, branch: str | None, specs: Path, message: str, *, commits: bool = True) -> Iterator[None]:
    """Keep the folder `root` on a branch of the repository that the specs are in, however the block ends."""
    if branch is None:
        yield
        return
    from planner.commands import trees

    with trees.repository(specs) as work:
        if work is None:
            raise UsageError(f"--state-branch: {specs} is in no git repository, or git is not installed")
        base, is_ours = _filled(work, branch, root), commits
        try:
            yield
        except Busy:
            is_ours = False  # whoever holds the lock commits what it does
            raise
        finally:
            if is_ours:
                _committed(work, branch, root, base, message)


def _filled(work: Workspace, branch: str, root: Path) -> str | None:
    """Make the folder what the branch holds, and give its commit; refused where both have changed since they agreed."""
    from planner.branch import entries, stored, tip

    at, seen = tip(work, branch), root / _SEEN
    base = seen.read_text(encoding="utf-8").strip() or None if seen.is_file() else None
    ours, theirs = stored(work, _files(root)), entries(work, at)
    if ours and ours != entries(work, base) and theirs not in (entries(work, base), ours):
        raise Busy(
            f"{root} was changed since {_short(base)}, and so was the branch {branch}, which is at {_short(at)}:"
            f" another run was there meanwhile; compare both, then remove {root} to go on from the branch"
        )
    if ours in ({}, entries(work, base)):
        _follow(work, at, root)
        return at
    return base


def _follow(work: Workspace, commit: str | None, root: Path) -> None:
    """Make the folder exactly what a commit holds."""
    from planner.branch import entries, stored, taken_out

    found, here = entries(work, commit), stored(work, _files(root))
    root.mkdir(parents=True, exist_ok=True)
    for path in here.keys() - found.keys():
        (root / path).unlink()
    taken_out(work, {path: entry for path, entry in found.items() if here.get(path) != entry}, root)
    (root / _SEEN).write_text(f"{commit or ''}\n", encoding="utf-8")


def _committed(work: Workspace, branch: str, root: Path, base: str | None, message: str) -> None:
    from planner.branch import advance, stored

    made = advance(work, branch, base, stored(work, _files(root)), message)
    _follow(work, made, root)
    if made != base:
        console.err(f"{branch} is at {_short(made)}; to share it: git push origin {branch}\n")


def _files(root: Path) -> dict[str, Path]:
    """What is committed of the folder: everything but the lock and hidden files."""
    from planner.apply.state import LEASE

    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != LEASE and not path.name.startswith(".")
    }


def _short(commit: str | None) -> str:
    return commit[:12] if commit else "no commit"
