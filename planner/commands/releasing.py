"""What `planner apply` does between plans: interrupt due work or let it begin, and hold teams and pools back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.commands import console
from planner.diagnostics import Stale, UsageError, did_you_mean, printable, quoted
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.apply.backend import Backend
    from planner.apply.due import Due, Interruption, Left, Release
    from planner.apply.lease import Held
    from planner.apply.state import State
    from planner.plan import Plan
    from planner.spec.snapshot import Snapshot
    from planner.specset import SpecSet


def hold(state: State, specset: SpecSet, pause: tuple[str, ...], resume: tuple[str, ...]) -> Exit:
    """Hold teams and pools back or let them go again, and say which are held."""
    from planner.apply import release

    known = {f"team/{team.name}" for team in specset.teams} | {str(where.address) for where in specset.pools()}
    before = set(release.paused(state.paused_path))
    for name in pause:
        if name not in known:
            raise UsageError(f"--pause: {quoted(name)} is no team or pool; {did_you_mean(name, sorted(known))}")
    for name in resume:
        if name not in before:
            raise UsageError(
                f"--resume: {quoted(name)} is not paused; paused: {', '.join(sorted(before)) or 'nothing'}"
            )
    after = (before | set(pause)) - set(resume)
    release.set_paused(state.paused_path, after)
    console.out(f"paused: {', '.join(sorted(after)) or 'nothing'}\n")
    return Exit.OK


def due_now(plan: Plan, state: State, specset: SpecSet, snapshot: Snapshot | None, at: int) -> Due:
    """What is due of the applied plan; refused for any other plan and without a snapshot of now."""
    from planner.apply.due import due
    from planner.apply.release import paused

    applied = state.applied()
    if applied is None or applied.digest != plan.digest:
        seen = applied.digest if applied else "none"
        raise Stale(f"only work of the applied plan is released; applied is {seen}, asked for is {plan.digest}")
    if snapshot is None:
        raise UsageError("--due needs --snapshot: nothing begins where it is not known what runs now")
    if plan.inputs.specs_digest != specset.digest:
        raise Stale(
            f"inputs.specs_digest: the applied plan says {plan.inputs.specs_digest}, the specs are {specset.digest};"
            " give the specs that it was made from with --specs"
        )
    longest = specset.policy.safety.max_plan_age
    if (at - snapshot.taken_at) * 1_000 > longest.milliseconds:
        raise Stale(f"the snapshot is more than {longest} old (safety.max_plan_age); take another")
    return due(plan, specset, snapshot, at=at, paused=paused(state.paused_path))


def within(found: Due, clusters: tuple[str, ...], specset: SpecSet) -> Due:
    """What is due in these clusters, in all of them where none is named; refused for one that the specs lack."""
    known = [cluster.name for cluster in specset.clusters]
    for name in clusters:
        if name not in known:
            raise UsageError(f"--cluster: {quoted(name)} is no cluster; {did_you_mean(name, known)}")
    if not clusters:
        return found
    return replace(
        found,
        interruptions=tuple(item for item in found.interruptions if item.cluster in clusters),
        releases=tuple(item for item in found.releases if item.cluster in clusters),
    )


def let_begin(found: Due, state: State, backends: Mapping[str, Backend], lease: Held) -> Exit:
    """Interrupt due work and let it begin, and say what was done and what was left."""
    from planner.apply.release import release

    told = release(found, state.known().records, backends, lease, _did)
    console.out("".join(map(_left, told)) + f"{_count(found):,} due, {len(told):,} left\n")
    return Exit.OK


def shown(found: Due) -> Exit:
    """Say what is due, and do nothing."""
    every: tuple[Interruption | Release, ...] = (*found.interruptions, *found.releases)
    console.out("".join(f"due: {_sentence(item)}\n" for item in every))
    console.out("".join(map(_left, found.left)) + f"{_count(found):,} due; nothing was changed\n")
    return Exit.OK


def _count(found: Due) -> int:
    return len(found.interruptions) + len(found.releases)


def _did(item: Interruption | Release) -> None:
    from planner.apply.due import Release

    console.out(f"{'begins: ' if isinstance(item, Release) else ''}{_sentence(item)}\n")


def _sentence(item: Interruption | Release) -> str:
    from planner.apply.due import Release

    where = f"{printable(item.address)} in {printable(item.cluster)}"
    return where if isinstance(item, Release) else f"interrupted: {where} for {printable(item.beneficiary)}"


def _left(item: Left) -> str:
    return f"left: {printable(item.address)}: {printable(item.why)}\n"
