"""Specs in git: read from any commit without a checkout, and what history knows of them.

Nothing here fetches or changes settings, and only `planner.branch` writes. A reference that somebody wrote is checked,
resolved once to a commit, and only the commit's id goes further.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Final, Self

from planner.diagnostics import (
    Diagnostic,
    Place,
    PlannerError,
    Severity,
    SpecError,
    UsageError,
    nearest,
    one_of,
    printable,
    quoted,
)
from planner.source import BESIDE, FILE_BYTES, SUFFIXES, TREE_BYTES, TREE_FILES, SourceFile, plain

if TYPE_CHECKING:
    from git import Repo
    from git.objects import Blob, Submodule, Tree

    Entry = Blob | Tree | Submodule

SPELLING: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@^~-]{0,199}")
"""How a reference may be written: no options, ranges, paths or searches in messages."""
DEFAULT_BRANCHES: Final = ("refs/remotes/origin/HEAD", "origin/main", "origin/master", "main", "master")
_LINK: Final = 0o120000
_READ_ONLY: Final = MappingProxyType({
    "GIT_ALLOW_PROTOCOL": "none",  # objects that a partial clone lacks are missing, not fetched
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
})  # fmt: skip
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_UNSHALLOW: Final = (
    "this clone is shallow, it lacks a part of the history; get it with `git fetch --unshallow`, or on GitHub Actions"
    " with `fetch-depth: 0` for actions/checkout"
)


class HistoryError(PlannerError):
    """The repository cannot answer: history is missing, or git refuses to read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit: its full id, the name it was asked for by, its time (epoch seconds), and what to tell about it."""

    id: str
    name: str
    time: int
    remark: str = ""

    @property
    def short(self) -> str:
        """The first twelve digits of its id."""
        return self.id[:12]


def find(root: Path) -> Workspace | None:
    """The working tree that `root`, a tree of specs, belongs to; None outside a repository or without git.

    `root` need not exist in the working tree. Close what is returned.
    """
    if shutil.which("git") is None:
        return None
    from git import InvalidGitRepositoryError, NoSuchPathError, Repo

    place = root.resolve()
    folder = next(each for each in (place, *place.parents) if each.is_dir())
    try:
        repository = Repo(folder, search_parent_directories=True, expand_vars=False)
    except (InvalidGitRepositoryError, NoSuchPathError):
        return None
    if repository.working_tree_dir is None:
        repository.close()
        return None
    repository.git.update_environment(**_READ_ONLY)
    top = Path(repository.working_tree_dir).resolve()
    return Workspace(repository, root, top, place.relative_to(top).as_posix())


class Workspace:
    """A repository seen from one tree of specs in it; a context manager, because git keeps processes open."""

    def __init__(self, repository: Repo, root: Path, top: Path, inside: str) -> None:
        self._repository = repository
        self._root = root
        self._top = top
        self._inside = inside

    def __enter__(self) -> Self:
        """Keep the repository open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the processes of git."""
        self.close()

    def close(self) -> None:
        """End the processes of git."""
        self._repository.close()

    @property
    def top(self) -> Path:
        """The folder of the working tree."""
        return self._top

    @property
    def is_shallow(self) -> bool:
        """Whether the clone lacks a part of the history."""
        return self.answer("rev-parse", "--is-shallow-repository")[1] == "true"

    def head(self) -> Commit | None:
        """The commit that is checked out, on a branch or not; None before the first commit."""
        status, _ = self.answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return None if status else self.resolve("HEAD")

    def resolve(self, ref: str) -> Commit:
        """The commit that a branch, tag, id or expression such as `HEAD~2` means.

        Raises `UsageError` for what is not spelled like one or does not exist, `HistoryError` where a shallow clone may
        be to blame. Of a tag and a branch of one name the tag is meant, as everywhere in git.
        """
        if not SPELLING.fullmatch(ref) or ".." in ref:
            raise UsageError(f"{quoted(ref)} is not the name of a branch, tag or commit")
        status, found = self.answer("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if status:
            raise self._unknown(ref)
        time = self.answer("show", "--no-patch", "--format=%ct", found)[1]
        return Commit(id=found, name=ref, time=int(time), remark=self._ambiguous(ref))

    def default_branch(self) -> Commit:
        """The branch that changes are merged into; raises `UsageError` when none is known."""
        for name in DEFAULT_BRANCHES:
            if self.answer("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")[0] == 0:
                return self.resolve(name)
        cause = f"; {_UNSHALLOW}" if self.is_shallow else "; say which with --base, for example --base origin/main"
        raise UsageError(f"no default branch is known here (looked for {', '.join(DEFAULT_BRANCHES)}){cause}")

    def merge_base(self, one: Commit, other: Commit) -> Commit:
        """The commit where two lines of history part; raises `HistoryError` when none is found, never guesses one."""
        status, found = self.answer("merge-base", one.id, other.id)
        shallow = self.is_shallow
        if status:
            cause = _UNSHALLOW if shallow else f"compare with it as it is by naming it: planner diff {one.name}"
            raise HistoryError(f"{one.name} and {other.name} have no common ancestor here: {cause}")
        base = self.resolve(found)
        sure = not shallow or found in (one.id, other.id)
        remark = "" if sure else f"the common ancestor may be older than the true one: {_UNSHALLOW}"
        return Commit(id=base.id, name=f"merge base of {one.name} and {other.name}", time=base.time, remark=remark)

    def files(self, commit: Commit) -> tuple[SourceFile, ...]:
        """The specs in `commit` and what lies beside them, with the paths and limits of `planner.source.read_tree`.

        Symbolic links, submodules and Git LFS pointers raise `SpecError`; where there is nothing, `FileNotFoundError`.
        """
        with self._told():
            entry = self._entry(commit, self._inside)
            if entry is None:
                raise FileNotFoundError(f"There is no '{self._root}' in {commit.name}.")
            if entry.type != "tree":
                return (self._read(entry, self._root.as_posix()),)
            return self._tree(commit, entry)

    def bytes_of(self, commit: Commit, path: Path) -> bytes | None:
        """The bytes of one plain file in `commit`; None when it has none of that path."""
        place = path.resolve()
        if not place.is_relative_to(self._top):
            return None
        with self._told():
            entry = self._entry(commit, place.relative_to(self._top).as_posix())
            if entry is None or entry.type != "blob" or _kind(entry) == _LINK:
                return None
            return bytes(entry.data_stream.read())

    def uncommitted(self) -> tuple[str, ...]:
        """The paths of specs in the working tree that differ from the commit checked out, or that it does not have."""
        status, text = self.answer(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=traditional", "--no-renames",
            "--", self._pathspec, strip=False,
        )  # fmt: skip
        if status:
            raise self._failure(text)
        entries = (entry[3:].rstrip("/") for entry in text.split("\0") if entry)
        return tuple(sorted(self._shown(path) for path in entries if self._is_spec(path)))

    def first_commits(self, commit: Commit) -> Mapping[str, int]:
        """When each spec file of `commit` was first committed, in epoch seconds, by its path; renames are followed.

        Empty for a shallow clone, which would only know when its history was cut.
        """
        if self.is_shallow:
            return MappingProxyType({})
        status, text = self.answer(
            "log", "--reverse", "--topo-order", "--format=commit %ct", "-z", "--name-status", "--find-renames",
            "--no-ext-diff", commit.id, "--", self._pathspec, strip=False,
        )  # fmt: skip
        if status:
            raise self._failure(text)
        times = _first_times(text.split("\0"))
        return MappingProxyType({self._shown(path): time for path, time in sorted(times.items())})

    @property
    def _pathspec(self) -> str:
        return ":(top)" if self._inside == "." else f":(top,literal){self._inside}"

    def _shown(self, path: str) -> str:
        """A path of the repository as `planner.source.read_tree` shows it."""
        return (self._root / PurePosixPath(path).relative_to(self._inside)).as_posix()

    def _is_spec(self, path: str) -> bool:
        parts = PurePosixPath(path).relative_to(self._inside).parts
        return path.endswith(SUFFIXES + BESIDE) and not any(part.startswith(".") for part in parts)

    def _tree(self, commit: Commit, tree: Tree) -> tuple[SourceFile, ...]:
        entries = sorted((self._shown(str(entry.path)), entry) for entry in _below(tree))
        faults = [fault for shown, entry in entries for fault in self._faults(commit, shown, entry)]
        if faults:
            raise SpecError(faults)
        blobs = [
            (shown, entry) for shown, entry in entries if entry.type == "blob" and shown.endswith(SUFFIXES + BESIDE)
        ]
        limits = ((len(blobs), TREE_FILES, "files"), (sum(entry.size for _, entry in blobs), TREE_BYTES, "bytes"))
        for amount, limit, unit in limits:
            if amount > limit:
                summary = f"the specs are more than {limit:,} {unit}"
                raise SpecError([_fault("SPEC105", self._root.as_posix(), summary, "split the tree")])
        return tuple(self._read(entry, shown) for shown, entry in blobs)

    def _faults(self, commit: Commit, shown: str, entry: Entry) -> Iterator[Diagnostic]:
        if entry.type == "submodule":
            yield _fault("SPEC115", shown, "a submodule, which is not read", "keep specs in the repository itself")
        elif _kind(entry) == _LINK and (shown.endswith(SUFFIXES + BESIDE) or not self._leads_to_file(commit, entry)):
            yield _fault("SPEC115", shown, "symbolic links are not followed", "replace the link by the file itself")

    def _leads_to_file(self, commit: Commit, link: Entry) -> bool:
        target = link.data_stream.read(4_096).decode("utf-8", "replace")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(str(link.path)), target))
        entry = None if path.startswith(("/", "..")) else self._entry(commit, path)
        return entry is not None and entry.type == "blob"

    def _read(self, entry: Entry, shown: str) -> SourceFile:
        if entry.type != "blob" or _kind(entry) == _LINK:
            what = "a submodule" if entry.type == "submodule" else "a symbolic link"
            help_text = "keep specs in the repository itself, or name the folder that they are in"
            raise SpecError([_fault("SPEC115", shown, f"{what}, which is not read", help_text)])
        return plain(shown, entry.data_stream.read(FILE_BYTES + 1))

    def _entry(self, commit: Commit, path: str) -> Entry | None:
        """What `commit` has at a path of the repository."""
        tree = self._repository.commit(commit.id).tree
        try:
            return tree if path == "." else tree / path
        except (KeyError, TypeError):  # a path that leads through a submodule raises TypeError
            return None

    def _ambiguous(self, ref: str) -> str:
        both = all(
            self.answer("show-ref", "--verify", "--quiet", f"{kind}/{ref}")[0] == 0
            for kind in ("refs/tags", "refs/heads")
        )
        return f"{ref} is a tag and a branch; the tag is meant, the branch is refs/heads/{ref}" if both else ""

    def _unknown(self, ref: str) -> PlannerError:
        if self.is_shallow:
            return HistoryError(f"there is no commit {quoted(ref)} here: {_UNSHALLOW}, and fetch the branch too")
        names = self.answer("for-each-ref", "--format=%(refname:short)", "--count=1000")[1].split("\n")
        near = nearest(ref, names)
        advice = f"did you mean {one_of(near)}?" if near else "a branch of the remote may need `git fetch` first"
        return UsageError(f"there is no branch, tag or commit {quoted(ref)}; {advice}")

    def answer(
        self, command: str, *arguments: str, strip: bool = True, stdin: str = "", environment: Mapping[str, str] = _NONE
    ) -> tuple[int, str]:
        """The exit status of a git command and what it said; raises `HistoryError` when git refuses or breaks.

        For modules that know git's plumbing; arguments are never what somebody wrote, only what was resolved.
        """
        run = getattr(self._repository.git, command.replace("-", "_"))
        with TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            status, out, err = run(
                *arguments, with_extended_output=True, with_exceptions=False, strip_newline_in_stdout=strip,
                istream=given, env=dict(environment),
            )  # fmt: skip
        if status not in (0, 1):
            raise self._failure(err)
        return int(status), out.strip() if strip else out

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what git says when it cannot read an object."""
        from git.exc import GitError, ODBError

        try:
            yield
        except (GitError, ODBError, ValueError) as error:
            raise self._failure(str(error)) from None

    def _failure(self, said: str) -> HistoryError:
        if "dubious ownership" in said:
            command = f"git config --global --add safe.directory {shlex.quote(str(self._top))}"
            return HistoryError(
                f"git does not read {self._top}, which belongs to another user; if you trust it: {command}"
            )
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return HistoryError(f"git cannot read {self._top}: {printable(lines[0] if lines else 'no reason given')}")


def _below(tree: Tree) -> Iterable[Entry]:
    """Everything below a tree but hidden files and folders."""
    for entry in tree:
        if not posixpath.basename(str(entry.path)).startswith("."):
            yield entry
            if entry.type == "tree":
                yield from _below(entry)


def _kind(entry: Entry) -> int:
    return int(entry.mode) & 0o170000


def _first_times(parts: Iterable[str]) -> dict[str, int]:
    """The time of the first commit of each path, as `git log --reverse -z --name-status` tells; a deletion ends it."""
    times: dict[str, int] = {}
    now, stream = 0, iter(parts)
    for part in stream:
        word = part.lstrip("\n")
        if word.startswith("commit "):
            now = int(word[len("commit ") :])
        elif word.startswith("R"):
            since = times.pop(next(stream), now)
            times[next(stream)] = since
        elif word.startswith("D"):
            times.pop(next(stream), None)
        elif word:
            times.setdefault(next(stream), now)
    return times


def _fault(code: str, path: str, summary: str, help_text: str) -> Diagnostic:
    place = Place(path, 1, 1, 1)
    return Diagnostic(code=code, severity=Severity.ERROR, summary=summary, place=place, help=help_text)
