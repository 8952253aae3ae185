"""Specs with what git knows of them: those of a folder, or those that a commit has in that folder's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner.commands import console, inputs
from planner.diagnostics import Diagnostic, SpecError, UsageError, printable
from planner.pipeline import Origin

if TYPE_CHECKING:
    from planner.plan import Plan
    from planner.source import SourceFile
    from planner.spec.job import Job
    from planner.spec.snapshot import Snapshot
    from planner.specset import LoadResult, SpecSet
    from planner.workspace import Commit, Workspace

_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is planned: specs with their warnings, a snapshot, and where they come from.

    `committed_at` is the time of the commit that they are of or were edited from, `first_commits` says since when each
    file exists, and `lock` is the plan that the commit has beside them.
    """

    specset: SpecSet
    warnings: tuple[Diagnostic, ...] = ()
    snapshot: Snapshot | None = None
    origin: Origin = field(default_factory=Origin)
    committed_at: int | None = None
    first_commits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    lock: Plan | None = None

    def waiting(self, previous: Plan | None, start: int) -> SpecSet:
        """The specs, jobs that neither say since when they wait nor are in `previous` waiting since their first commit.

        Nothing waits since later than `start`: clocks of those who commit may be wrong.
        """
        known = frozenset(_addresses(previous))
        jobs = tuple(self._since(job, known, start) for job in self.specset.jobs)
        return self.specset if jobs == self.specset.jobs else replace(self.specset, jobs=jobs)

    def _since(self, job: Job, known: frozenset[str], start: int) -> Job:
        from planner.names import address

        own = address("job", job.team, job.name)
        first = self.first_commits.get(self.specset.place(own).file)
        if job.submitted is not None or first is None or not known.isdisjoint((own, *job.formerly)):
            return job
        return job.model_copy(update={"submitted": min(first, start)})


def _addresses(previous: Plan | None) -> Iterator[str]:
    from planner.names import without_index

    if previous is not None:
        yield from (without_index(item.address) for item in previous.placements)
        yield from (without_index(item.address) for item in previous.unplaced)


@contextmanager
def repository(path: Path) -> Iterator[Workspace | None]:
    """The repository that the specs at `path` are in, if they are in one."""
    from planner import workspace

    found = workspace.find(path)
    if found is None:
        yield None
        return
    with found:
        yield found


def resolved(work: Workspace | None, path: Path, ref: str) -> Commit:
    """The commit that `ref` means where the specs at `path` are."""
    if work is None:
        raise UsageError(f"'{ref}' would be a commit, but {path} is in no git repository, or git is not installed")
    return told(work.resolve(ref))


def told(commit: Commit) -> Commit:
    """Say what there is to say about a commit."""
    if commit.remark:
        console.err(f"note: {printable(commit.remark)}\n")
    return commit


def folder(path: Path, work: Workspace | None, snapshot: Path | None = None) -> Given:
    """The specs at `path` as they are there, and the commit that they were edited from."""
    specset, seen, warnings = inputs.tree_with(inputs.files(path), snapshot)
    given = Given(specset=specset, snapshot=seen, warnings=warnings)
    head = work.head() if work else None
    if work is None or head is None:
        return given
    edited = work.uncommitted()
    return replace(
        given,
        origin=Origin(commit=head.id, dirty=bool(edited)),
        committed_at=head.time,
        first_commits=_first_commits(specset, work, head),
    )


def commit(path: Path, work: Workspace, at: Commit, snapshot: Path | None = None) -> Given:
    """The specs that the commit `at` has at `path`; what is wrong with them is said to be wrong there."""
    specset, seen, warnings = inputs.tree_with(_files(path, work, at), snapshot, prefix=f"{at.short}:")
    return Given(
        specset=specset, snapshot=seen, warnings=warnings, origin=Origin(commit=at.id), committed_at=at.time,
        first_commits=_first_commits(specset, work, at), lock=_lock(path, work, at),
    )  # fmt: skip


def loaded(path: Path, work: Workspace | None, at: Commit) -> LoadResult:
    """The specs that the commit `at` has at `path`, right or wrong."""
    from planner.specset import LoadResult, load

    assert work is not None
    result = load(_files(path, work, at))
    return LoadResult(result.specset, inputs.placed(result.diagnostics, f"{at.short}:"))


def tell_uncommitted(work: Workspace | None) -> None:
    """Say which specs are not those of the commit that the plan will name."""
    if work is None or work.head() is None:
        return
    if edited := work.uncommitted():
        more = f" and {len(edited) - _NAMED:,} more" if len(edited) > _NAMED else ""
        console.err(f"note: not committed as they are: {printable(', '.join(edited[:_NAMED]))}{more}\n")


def guarded(given: Given, base: Given | None) -> Given:
    """`given` as a change of `base` may be planned: it neither lowers the bar that it is held to nor its own place.

    Thresholds and denials are those of the base's policy, and work waits since a commit of the base or not at all: who
    commits says when. Without a base nothing is known to hold.
    """
    given = replace(given, first_commits=base.first_commits if base else MappingProxyType({}))
    if base is None:
        return given
    policy = given.specset.policy
    safe = {"safety": base.specset.policy.safety, "deny": base.specset.policy.deny}
    if (policy.safety, policy.deny) == (safe["safety"], safe["deny"]):
        return given
    console.err("note: safety and deny of the Policy differ from the base's; the base's hold for this plan\n")
    return replace(given, specset=replace(given.specset, policy=policy.model_copy(update=safe)))


def _files(path: Path, work: Workspace, at: Commit) -> tuple[SourceFile, ...]:
    try:
        files = work.files(at)
    except FileNotFoundError:
        raise UsageError(f"there is no '{path}' in {at.name} ({at.short})") from None
    except SpecError as error:
        raise SpecError(inputs.placed(error.diagnostics, f"{at.short}:")) from None
    if not files:
        raise UsageError(f"there are no .yaml or .yml files below '{path}' in {at.name} ({at.short})")
    return files


def _first_commits(specset: SpecSet, work: Workspace, at: Commit) -> Mapping[str, int]:
    if all(job.submitted is not None for job in specset.jobs):
        return MappingProxyType({})
    if work.is_shallow:
        console.err("note: this clone is shallow; jobs wait since the plan's start where no lock says since when\n")
    return work.first_commits(at)


def _lock(path: Path, work: Workspace, at: Commit) -> Plan | None:
    from planner.plan import PlanError, from_json

    beside = inputs.lock_beside(path)
    data = work.bytes_of(at, beside)
    try:
        return None if data is None else from_json(data)
    except PlanError as error:
        console.err(f"note: {beside} in {at.short} is not used: {printable(str(error))}\n")
        return None
