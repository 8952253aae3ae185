"""`planner plan`: decide where and when everything runs, write the lock file, and tell people what they ask first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.commands import console, inputs, options
from planner.diagnostics import PlannerError, Severity, SpecError, UsageError
from planner.exits import Exit, worst

if TYPE_CHECKING:
    from planner.commands.planning import Wish
    from planner.commands.trees import Given
    from planner.diff import Changes
    from planner.plan import Plan
    from planner.workspace import Commit, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """The commit that a change is compared with, and its specs, unless they are missing or invalid."""

    commit: Commit
    given: Given | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The commit that a change is compared with, and its plan, unless it has none; `renamed` leads to new addresses.

    `record` is the plan that both start from, and the one that may be applied already.
    """

    commit: Commit
    before: Plan | None = None
    record: Plan | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)

    def changes(self, plan: Plan) -> Changes | None:
        """What `plan` changes."""
        from planner.diff import compare

        return compare(self.before, plan, renamed=self.renamed) if self.before else None

    def of_record(self, plan: Plan) -> Plan:
        """`plan` as one that follows the plan of record; that of the base is there to compare with only."""
        from planner.plan import sealed

        followed = self.record.digest if self.record else None
        inputs = plan.inputs.model_copy(update={"previous_digest": followed})
        return sealed(plan.model_copy(update={"inputs": inputs}))


_OUT: Final = click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="The lock file to write. Default: plan.lock.json beside PATH.",
)  # fmt: skip
_LOCK: Final = click.option(
    "--lock", metavar="FILE|REF:FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="The previous plan, which is kept to where nothing is gained by change, in a file or a commit, say"
    " planner-state:applied.lock.json. Default: plan.lock.json beside PATH.",
)  # fmt: skip
_SNAPSHOT: Final = click.option(
    "--snapshot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="What runs now, as discover wrote it.",
)  # fmt: skip
_BASE_OUT: Final = click.option(
    "--base-out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Write the base's plan to this lock file too, for diff to compare with.",
)  # fmt: skip
_EMIT: Final = click.option(
    "--emit",
    type=click.Choice(["problem", "solution"]),
    help="Print what the solver is given or answers, as JSON; write no lock.",
)
_FORMATS: Final = options.formats("text", "json", "github", "markdown")


@options.verb(
    "plan",
    "Decide where and when everything runs.",
    "planner plan",
    "planner plan specs --at 2026-12-01T00:00:00Z --out build/plan.lock.json",
    "planner plan --effort normal --detailed-exitcode",
    "planner plan --base origin/main --format markdown > comment.md",
    "planner plan --format json > plan.json",
    "planner plan --emit problem > problem.json",
    options=(
        options.specs_path, options.at, options.effort, options.budget, _OUT, _FORMATS, _LOCK, _SNAPSHOT,
        options.detailed_exitcode, _EMIT, options.full, options.ref, options.base,
        _BASE_OUT, options.enforce, *options.ALLOWANCES,
    ),
)  # fmt: skip
def command(  # noqa: PLR0913, PLR0917 - click passes one argument a flag
    path: Path,
    at: str | None,
    effort: str,
    budget: int | None,
    out: Path | None,
    form: str,
    lock: Path | None,
    snapshot: Path | None,
    detailed_exitcode: bool,
    emit: str | None,
    full: bool,
    ref: str | None,
    base: str | None,
    base_out: Path | None,
    enforce: bool,
    colour: str,
    **meant: Any,
) -> Exit:
    """Plan the specs at PATH (default: specs) and write the plan to a lock file.

    The plan depends on files, commits and flags only: the same ones give the same bytes on any machine and day. Ctrl-C
    or SIGTERM asks for the best plan so far, which is shown but not written. Exits with 4 when required work has no
    place.

    With --base, the plan starts from that of the commit where HEAD parted from the base, is held to the base's safety
    and denials, lets work wait only since commits of the base, and is shown with all that it changes. With --enforce,
    it exits with 6 where apply would: when the plan moves or stops more of what runs than Policy.safety allows.
    """
    from planner.commands import planning

    given, parted = _read(path, snapshot, ref, base)
    wish = planning.Wish(at=at, effort=effort, budget=budget, colour=colour)
    beside = inputs.lock_beside(path)
    target = out or beside
    review = _review(given, parted, wish, lock) if parted else None
    previous = review.before or review.record if review else planning.previous_plan(lock, beside)
    if emit:
        console.out(planning.emitted(emit, given, wish, previous))
        return Exit.OK
    plan, interrupted = _planned(given, wish, previous, target)
    plan = review.of_record(plan) if review else plan
    if not interrupted:
        _write(target, plan)
        if base_out and review and review.before:
            _write(base_out, review.before)
    _annotate(plan, given, form)
    _show(plan, review, target, form, full, colour)
    applied = (review.record if review else None) or previous
    codes = [Exit.BLOCKED] if _judge(plan, applied, given, enforce, meant) and enforce else []
    return worst((*codes, _code(plan, previous, detailed_exitcode, interrupted, target)))


def _read(path: Path, snapshot: Path | None, ref: str | None, base: str | None) -> tuple[Given, Parted | None]:
    """The specs to plan, and the commit that they are compared with."""
    from planner.commands import sides, trees

    with trees.repository(path) as work:
        if ref is None:
            given = trees.folder(path, work, snapshot)
            trees.tell_uncommitted(work)
        else:
            at = trees.resolved(work, path, ref)
            assert work is not None
            given = trees.commit(path, work, at, snapshot)
        if base is None:
            return given, None
        commit = sides.parting(work, base, path)
        assert work is not None
        parted = Parted(commit=commit, given=_given_at(path, work, commit, snapshot))
    return trees.guarded(given, parted.given), parted


def _given_at(path: Path, work: Workspace, commit: Commit, snapshot: Path | None) -> Given | None:
    """The specs of the base; when they are missing or invalid, the change may be what mends that, so it is planned."""
    from planner.commands import trees

    try:
        return trees.commit(path, work, commit, snapshot)
    except (SpecError, UsageError) as error:
        reason = f"{len(error.diagnostics)} errors in its specs" if error.diagnostics else str(error)
        console.err(f"note: no comparison with {commit.name} ({commit.short}): {reason}\n")
        return None


def _review(given: Given, parted: Parted, wish: Wish, lock: Path | None) -> Review:
    """The plan of the base for the same start, made from the lock that it has or that is named."""
    from planner.commands import planning
    from planner.units import format_time

    named = inputs.lock(lock) if lock else None
    if parted.given is None:
        return Review(commit=parted.commit, record=named)
    same = replace(wish, at=format_time(planning.started(given, wish)))
    record = named or parted.given.lock
    before, _ = planning.recorded(parted.given, same, record)
    renamed = planning.renamed(given.specset, before)
    return Review(commit=parted.commit, before=before, record=record, renamed=renamed)


def _planned(given: Given, wish: Wish, previous: Plan | None, target: Path) -> tuple[Plan, bool]:
    """Plan; a problem that no plan comes of is kept beside the lock, so that it can be replayed."""
    from planner import lockfile
    from planner.commands.planning import planned
    from planner.pipeline import Unsolved

    try:
        return planned(given, wish, previous)
    except Unsolved as error:
        kept = target.with_name("planner-failure.json")
        lockfile.write(kept, error.instance)
        raise PlannerError(f"{error}\nthe instance is kept in {kept}; please attach it to a report") from error


def _write(target: Path, plan: Plan) -> None:
    from planner import lockfile
    from planner.plan import to_json

    lockfile.write(target, to_json(plan))


def _annotate(plan: Plan, given: Given, form: str) -> None:
    """Annotations of all that GitHub should show in the files, on the stream that carries no result."""
    from planner.report.github import findings

    if form == "github" or os.environ.get("GITHUB_ACTIONS") == "true":
        console.err(inputs.diagnostics_text((*given.warnings, *findings(plan, given.specset)), "github"))


def _show(plan: Plan, review: Review | None, target: Path, form: str, full: bool, colour: str) -> None:
    from planner.plan import to_json
    from planner.report.difference import difference_page
    from planner.report.plan import plan_page

    match form:
        case "json":
            console.out(to_json(plan))
        case "markdown":
            console.out(_comment(plan, review, target))
        case _:
            medium = console.medium(full=full)
            console.show(plan_page(plan, medium, lock=str(target)), medium, colour)
            changes = review.changes(plan) if review else None
            if review and review.before and changes:
                console.out("\n")
                console.show(difference_page(changes, review.before, plan, medium), medium, colour)


def _comment(plan: Plan, review: Review | None, target: Path) -> str:
    from planner.report import comment

    if review is None:
        return comment.comment(plan, lock=str(target))
    base = comment.Base(commit=review.commit.id, plan=review.before)
    return comment.comment(plan, base=base, changes=review.changes(plan), lock=str(target))


def _judge(plan: Plan, applied: Plan | None, given: Given, enforced: bool, meant: Mapping[str, Any]) -> bool:
    """Say which rails of the policy the plan runs into: as errors where they are enforced, else as notes."""
    from planner.safety import Allowed, judged
    from planner.units import parse_time

    finished = {f"job/{item.job}" for item in given.snapshot.finished} if given.snapshot else set()
    allowed = Allowed(moved=meant["allow_moved"], stopped=meant["allow_stopped"], empty=meant["allow_empty"])
    at = parse_time(plan.inputs.start, "UTC")
    found = judged(applied, plan, given.specset, at=at, finished=finished, allowed=allowed)
    severity = Severity.ERROR if enforced else Severity.NOTE
    console.err(inputs.diagnostics_text((replace(item.diagnostic, severity=severity) for item in found), "text"))
    return bool(found)


def _code(plan: Plan, previous: Plan | None, detailed: bool, interrupted: bool, target: Path) -> Exit:
    from planner.diff import compare

    codes = [] if plan.status.complete else [Exit.UNSATISFIED]
    if detailed and (previous is None or compare(previous, plan).any):
        codes.append(Exit.CHANGES)
    if interrupted:
        console.err(f"interrupted: this is the best plan so far; {target} was not written\n")
        codes.append(Exit.INTERRUPTED)
    return worst(codes)
