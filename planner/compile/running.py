"""Work that runs when the plan starts: it goes on where it is, or is interrupted at what that really costs.

What is done and not saved is lost with an interruption, and so is the restart. In fractions of the whole work of a run
that is expected to last E on its own devices, when the plan starts (`planner.compile.cuts` has what follows):

    done   =  the snapshot's `done` (without one: time run / E) and what has run since the snapshot / E, below 1
    saved  =  the snapshot's `checkpointed`, at least done - checkpoint.every / E; 0 without checkpoints
    left   =  E x (1 - done) to go on;   E' x (1 - saved) + restart to begin again on devices that take E'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile.cells import held_cells, hosts_of, sits_so
from planner.compile.cuts import Course, Cut, course, cut, cuts, restart_seconds
from planner.compile.denial import denial
from planner.compile.foreign import FOR_EVER
from planner.compile.giving_way import Scene, above_guarantees, moments
from planner.compile.sighting import Standing
from planner.names import address
from planner.spec.policy import DenyWhat
from planner.spec.snapshot import Foreign
from planner.units import ceil_div, ceil_fraction

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.sighting import Sighting
    from planner.compile.tasks import Work
    from planner.spec.job import Job
    from planner.spec.service import Service
    from planner.spec.snapshot import Running, Snapshot

_MILLION: Final = 1_000_000
_SECOND_MS: Final = 1_000
_MOST_CUTS: Final = 8
"""For so many moments at most a run may be interrupted."""
_MOST_WAYS: Final = 2_000
"""Runs may be interrupted in so many ways at most, all together, times two; of many runs each in fewer."""


def with_strays(
    snapshots: Sequence[Snapshot], works: Iterable[Work], services: Iterable[Service]
) -> tuple[Snapshot, ...]:
    """The snapshots, in which what runs without a spec is use that nobody here manages, until it is stopped."""
    ours = {f"job/{work.seen.running.job}" for work in works if work.seen is not None}
    ours |= {address("service", service.team, service.name) for service in services}
    return tuple(
        shot.model_copy(update={"foreign": (*shot.foreign, *_strays(shot, ours))}) for shot in snapshots
    )  # fmt: skip


def _strays(shot: Snapshot, ours: set[str]) -> Iterator[Foreign]:
    over = {f"job/{end.job}" for end in shot.finished}
    for run in shot.running:
        if f"job/{run.job}" not in ours | over:
            yield Foreign(pool=run.pool, nodes=run.nodes, owner=f"job/{run.job}")
    for service in shot.services:
        if service.pool is not None and f"service/{service.service}" not in ours:
            yield Foreign(pool=service.pool, nodes=service.nodes, owner=f"service/{service.service}")


def resume(works: Sequence[Work], scene: Scene) -> tuple[Work, ...]:
    """All works, and those that run with how they stand: to go on first, then every way to begin again."""
    found = {work.address: one for work in works if work.seen is not None and (one := standing(work, scene))}
    firsts = [
        replace(work, candidates=(one.going_on,), standing=one.now)
        for work in works
        if (one := found.get(work.address))
    ]
    free = above_guarantees([work for work in firsts if found[work.address].now.ends_there], scene)
    when = moments(works, firsts, scene)
    ways = sum(len(work.candidates) for work in works if work.address in found)
    most = max(1, min(_MOST_CUTS, _MOST_WAYS // max(1, ways)))
    made: list[Work] = []
    for work in works:
        one, first = found.get(work.address), free.get(work.address, 0)
        if one is not None:
            slots = when.of(one.going_on, first or 0, most)
            leaves = cuts(one.course, slots, one.closes, scene.horizon, when.patience)
            made.append(_resumed(work, one, scene, leaves, first))
        else:
            made.append(work)
    return tuple(made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A run that goes on: as which candidate, how it stands, its course, and the slot in which its nodes close."""

    going_on: Candidate
    now: Standing
    course: Course
    closes: int


def standing(work: Work, scene: Scene) -> Found | None:
    """How the work's run stands; None where no candidate is what runs.

    That is so where the pool, the variant or a node is gone or not legal any more: then it begins again elsewhere.
    """
    seen = work.seen
    if seen is None:
        return None
    for candidate in work.candidates:
        if _is(candidate, seen.running) and (nodes := _nodes(candidate, seen.running)) is not None:
            return _going_on(work.job, candidate, seen, nodes, scene)
    return None


def _is(candidate: Candidate, running: Running) -> bool:
    pool = candidate.site.pool
    return (
        pool.name == running.pool
        and running.variant in {None, candidate.variant}
        and (pool.is_own or pool.market.value == running.market.value)
    )


def _nodes(candidate: Candidate, running: Running) -> tuple[tuple[int, int], ...] | None:
    """The nodes of a run and its units of devices there, if the candidate sits like that; unnamed devices are those
    that fit.
    """
    pool = candidate.site.pool
    if pool.cells and candidate.devices:
        return _cells(candidate, running)
    wanted = sorted(shape.devices for shape in candidate.shapes for _ in range(shape.count))
    positions = {name: at for at, name in enumerate(pool.nodes)}
    parts = any(device.share or device.profile for node in running.nodes for device in node.devices)
    if parts or len(running.nodes) != len(wanted) or any(node.name not in positions for node in running.nodes):
        return None
    told = [len(node.devices) for node in running.nodes]
    held = told if any(told) else wanted
    if sorted(held) != wanted:
        return None
    units = (devices * pool.units for devices in held)
    return tuple(sorted((positions[node.name], each) for node, each in zip(running.nodes, units, strict=True)))


def _cells(candidate: Candidate, running: Running) -> tuple[tuple[int, int], ...] | None:
    """The hosts and cells of a run on divided devices, with its units of them, if the candidate sits like that."""
    accelerator = candidate.site.group.accelerator if candidate.site.group else None
    for device in (device for node in running.nodes for device in node.devices):
        profile = accelerator.partition(device.profile) if accelerator and device.profile else None
        if (profile.name if profile else device.profile) != candidate.profile:
            return None
        if device.share is not None and device.share != candidate.size:
            return None
    held = held_cells(candidate, ((node.name, node.devices) for node in running.nodes))
    return tuple(sorted(held.items())) if sits_so(candidate, held) else None


def _going_on(
    job: Job, candidate: Candidate, seen: Sighting, nodes: tuple[tuple[int, int], ...], scene: Scene
) -> Found:
    """What is left of the run, and how that stands.

    A run that lasts longer than expected goes on for a slot. Where its nodes close before its limit, but not before it
    is expected to end, it goes on until then.
    """
    expected, horizon, running = candidate.expected_seconds, scene.horizon, seen.running
    done = _done(seen, expected, horizon.start)
    left = max(1, ceil_fraction(expected * (1 - done)))
    limit_left = candidate.limit_seconds - (horizon.start - running.started_at)
    opened = _open_seconds(scene, candidate, nodes)
    ends_there = horizon.length(left) * horizon.slot_seconds <= opened
    free_from = ceil_div(running.started_at * _SECOND_MS + job.min_run.milliseconds, _SECOND_MS)
    run = course(
        job, running, expected, done=done, saved=_saved(job, running, done, expected), ends=horizon.length(left),
        floor=max(0, horizon.ceil(free_from)) if ends_there else 0,
    )  # fmt: skip
    going_on = replace(
        candidate, expected_seconds=left, limit_seconds=max(left, min(limit_left, opened)), first=0, last=0,
        egress_micros=0, nodes=hosts_of(candidate.site.pool, (node for node, _ in nodes)), within=None, further=0,
        seats=tuple(node for node, _ in nodes) if candidate.site.pool.cells and candidate.devices else None,
    )  # fmt: skip
    now = Standing(
        running=running, at_once=cut(run, 0, horizon), nodes=nodes, goes_on=opened > 0, ends_there=ends_there
    )  # fmt: skip
    return Found(going_on=going_on, now=now, course=run, closes=opened // horizon.slot_seconds)


def _open_seconds(scene: Scene, candidate: Candidate, nodes: tuple[tuple[int, int], ...]) -> int:
    """For how long after the plan's start none of the nodes closes."""
    hosts = hosts_of(candidate.site.pool, (node for node, _ in nodes))
    closures = (shut for host in hosts for shut in scene.nodes[candidate.site.at][host].closures if shut.end > 0)
    return min((max(0, shut.start) for shut in closures), default=FOR_EVER) * scene.horizon.slot_seconds


def _done(seen: Sighting, expected: int, start: int) -> Fraction:
    told = Fraction(seen.running.done.ppm, _MILLION)
    since = seen.at if told else seen.running.started_at
    done = told + Fraction(max(0, start - since), expected)
    return max(told, min(done, 1 - Fraction(1, expected)))


def _saved(job: Job, running: Running, done: Fraction, expected: int) -> Fraction:
    if job.checkpoint is None:
        return Fraction(0)
    told = Fraction(running.checkpointed.ppm, _MILLION)
    return min(done, max(told, done - Fraction(job.checkpoint.every.milliseconds, _SECOND_MS * expected)))


def never_stops(work: Work, going_on: Candidate, scene: Scene) -> bool:
    """Whether nothing may ever interrupt the run: its job or the policy say so, or it is protected."""
    job = work.job
    return not job.preemptible or job.protected or _denied(DenyWhat.PREEMPT, work, going_on, scene)


def may_move(work: Work, going_on: Candidate, scene: Scene) -> bool:
    """Whether the run may be taken to other nodes: only at a checkpoint, and unless job or policy forbid it."""
    job = work.job
    return job.movable and job.checkpoint is not None and not _denied(DenyWhat.MOVE, work, going_on, scene)


def _denied(what: DenyWhat, work: Work, going_on: Candidate, scene: Scene) -> bool:
    ask = next(wish.ask for wish in work.wishes if wish.ask.variant == going_on.variant)
    return denial(scene.policy.deny, ask, going_on.site, what) is not None


def _resumed(work: Work, found: Found, scene: Scene, leaves: Iterable[Cut], first: int | None) -> Work:
    """The work with its run as the first candidate, then the ways to begin again from what is saved.

    It may leave at each of `leaves`, and from slot `first` on it may be stopped rather than moved (None: never). What
    may not be stopped may only change nodes without a pause, and that only where it may move. Work whose nodes close
    before it ends has to go, whatever its job or the policy say.
    """
    now = found.now
    firm = now.ends_there and never_stops(work, found.going_on, scene)
    moves = not now.ends_there or (not firm and may_move(work, found.going_on, scene))
    first = None if firm else first
    again: list[Candidate] = []
    for each in () if firm else leaves:
        made = [_again(candidate, work.job, each) for candidate in work.candidates]
        again += [replace(one, last=each.slot) for one in made if moves and now.goes_on]
        if first is not None and each.slot >= first:
            again += [replace(one, first=each.slot + now.goes_on, paused=now.goes_on) for one in made]
    stays = now.ends_there and (firm or first is None or found.course.floor > 0)
    on = [found.going_on] if now.goes_on else []
    return replace(work, candidates=(*on, *again), standing=replace(now, stays=stays))


def _again(candidate: Candidate, job: Job, found: Cut) -> Candidate:
    """The candidate for what is left after an interruption, from its slot on."""
    restart = restart_seconds(job)
    left = ceil_fraction(candidate.expected_seconds * (1 - found.saved)) + restart
    limit = ceil_fraction(candidate.limit_seconds * (1 - found.saved)) + restart
    return replace(
        candidate, expected_seconds=left, limit_seconds=max(left, limit), first=found.slot,
        lost_seconds=candidate.lost_seconds + found.lost_seconds, lost_part=found.lost_part,
        cut=found if found.slot else None,
    )  # fmt: skip
