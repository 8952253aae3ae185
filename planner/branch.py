"""A branch that is read and written without a checkout: a folder goes in and out of it, the working tree stays.

Writers never wait for each other. Each builds a commit on what it saw, and the branch takes it only if it is still
there; where another was first, the changes of both are joined file by file, and a file that both changed is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from planner.diagnostics import Busy, UsageError, quoted
from planner.workspace import SPELLING, HistoryError, Workspace

_TRIES: Final = 10
_FILE: Final = "100644"
_PROGRAM: Final = "100755"
_IDENTITY: Final = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "gpu-fleet-planner"), ("EMAIL", "planner@gpu-fleet-planner.invalid"))
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a commit: its mode and the id of its bytes."""

    mode: str
    blob: str


Entries = Mapping[str, Entry]
"""Files by their paths."""


def tip(work: Workspace, branch: str) -> str | None:
    """The commit that the branch is at, here or else at `origin`; None where there is none; refuses other names."""
    if not SPELLING.fullmatch(branch) or work.answer("check-ref-format", f"refs/heads/{branch}")[0]:
        raise UsageError(f"{quoted(branch)} cannot be the name of a branch")
    if work.answer("symbolic-ref", "--quiet", "HEAD")[1] == f"refs/heads/{branch}":
        raise UsageError(f"the branch {quoted(branch)} is checked out; state belongs on a branch of its own")
    return _commit(work, f"refs/heads/{branch}") or _commit(work, f"refs/remotes/origin/{branch}")


def _commit(work: Workspace, ref: str) -> str | None:
    status, found = work.answer("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return None if status else found


def entries(work: Workspace, commit: str | None) -> dict[str, Entry]:
    """The plain files of a commit; nothing for none."""
    text = work.answer("ls-tree", "-r", "-z", "--full-tree", commit, strip=False)[1] if commit else ""
    rows = [row.partition("\t") for row in text.split("\0") if row]
    files = {path: Entry(*_mode_and_id(about)) for about, _, path in rows}
    return {path: entry for path, entry in files.items() if entry.mode in (_FILE, _PROGRAM)}


def _mode_and_id(about: str) -> tuple[str, str]:
    mode, _, blob = about.split(" ")
    return mode, blob


def stored(work: Workspace, files: Mapping[str, Path]) -> dict[str, Entry]:
    """Put files into the repository, by the paths that they have in a commit."""
    names = sorted(files)
    places = [str(files[name].resolve()) for name in names]
    if unfit := [place for place in places if not place.isprintable()]:
        raise UsageError(f"{quoted(unfit[0])} is no path that can be committed")
    lines = "".join(f"{place}\n" for place in places)
    blobs = work.answer("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=lines)[1].split()
    modes = [_PROGRAM if files[name].stat().st_mode & 0o100 else _FILE for name in names]
    return {name: Entry(mode, blob) for name, mode, blob in zip(names, modes, blobs, strict=True)}


def taken_out(work: Workspace, found: Entries, folder: Path) -> None:
    """Write files into a folder; raises `UsageError` for a path that leads out of it."""
    for path, entry in sorted(found.items()):
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts:
            raise UsageError(f"refusing the path {quoted(path)}: it does not stay inside {folder}")
        target = folder / pure
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(work.answer("cat-file", "blob", entry.blob, strip=False)[1], encoding="utf-8")
        target.chmod(0o755 if entry.mode == _PROGRAM else 0o644)


def advance(work: Workspace, branch: str, base: str | None, wanted: Entries, message: str) -> str:
    """Make the branch hold `wanted`, which was made from the commit `base`; gives the commit it is at then.

    What others changed meanwhile stays. Raises `Busy` where they changed a file that is changed here too.
    """
    since = entries(work, base)
    mine = {path: wanted.get(path) for path in {*since, *wanted} if since.get(path) != wanted.get(path)}
    for _ in range(_TRIES):
        seen = tip(work, branch)
        there = entries(work, seen)
        if clash := sorted(path for path, entry in mine.items() if there.get(path) not in (since.get(path), entry)):
            raise Busy(
                f"the branch {branch} was changed by another run, which wrote {quoted(clash[0])} too;"
                " nothing was committed; compare both before going on"
            )
        joined = {path: entry for path in {*there, *mine} if (entry := mine.get(path, there.get(path))) is not None}
        if seen is not None and joined == there:
            return seen
        made = committed(work, joined, seen, message)
        if _moved(work, branch, made, _commit(work, f"refs/heads/{branch}"), seen):
            return made
    raise Busy(f"the branch {branch} is changed by others again and again; nothing was committed")


def committed(work: Workspace, files: Entries, parent: str | None, message: str) -> str:
    """A commit of exactly these files, which no branch has yet."""
    lines = "".join(f"{entry.mode} {entry.blob}\t{path}\0" for path, entry in sorted(files.items()))
    with TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        _said(work.answer("update-index", "-z", "--index-info", stdin=lines, environment=index))
        tree = _said(work.answer("write-tree", environment=index))
    parents = ("-p", parent) if parent else ()
    return _said(work.answer("commit-tree", tree, *parents, "-m", message, environment=_IDENTITY))


def _moved(work: Workspace, branch: str, made: str, here: str | None, seen: str | None) -> bool:
    """Whether the branch took the commit: only if it is where it was seen, or not here where only origin had it."""
    expected = here or "0" * len(made)
    if here is not None and here != seen:
        return False
    try:
        status, _ = work.answer("update-ref", "-m", "planner: state", f"refs/heads/{branch}", made, expected)
    except HistoryError:
        return False
    return status == 0


def _said(answer: tuple[int, str]) -> str:
    status, text = answer
    if status:
        raise HistoryError(f"git did not commit: it ended with {status}")
    return text
