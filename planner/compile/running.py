"""Work that runs when the plan starts: it goes on where it is, or is interrupted at what that really costs.

What is done and not saved is lost with an interruption, and so is the restart. In fractions of the whole work of a run
that is expected to last E on its own devices:

    done   =  the snapshot's `done` (without one: time run / E) and what has run since the snapshot / E, below 1
    saved  =  the snapshot's `checkpointed`, at least done - checkpoint.every / E; 0 without checkpoints
    left   =  E x (1 - done) to go on;   E' x (1 - saved) + restart to begin again on devices that take E'
    lost   =  worth x (done - saved + restart / E), once, beside what is worked twice
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile.denial import denial
from planner.compile.foreign import FOR_EVER
from planner.compile.sighting import Standing
from planner.names import address
from planner.spec.policy import DenyWhat
from planner.spec.snapshot import Foreign
from planner.units import ceil_fraction

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.horizon import Horizon
    from planner.compile.quota_rows import Rows
    from planner.compile.quotas import Quotas
    from planner.compile.sighting import Sighting
    from planner.compile.tasks import Work
    from planner.spec.job import Job
    from planner.spec.policy import Policy
    from planner.spec.service import Service
    from planner.spec.snapshot import Running, Snapshot
    from solvers.problem import Node

_MILLION: Final = 1_000_000
_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What standings are judged by."""

    horizon: Horizon
    policy: Policy
    known: Quotas
    rows: Rows
    nodes: tuple[tuple[Node, ...], ...]


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
    found = {work.address: standing(work, scene) for work in works if work.seen is not None}
    firsts = [
        replace(work, candidates=(one[0],), standing=one[1]) for work in works if (one := found.get(work.address))
    ]
    guaranteed = inside_guarantees([work for work in firsts if work.standing and work.standing.goes_on], scene)
    return tuple(
        work if (one := found.get(work.address)) is None
        else _resumed(work, *one, scene, guaranteed=work.address in guaranteed)
        for work in works
    )  # fmt: skip


def standing(work: Work, scene: Scene) -> tuple[Candidate, Standing] | None:
    """How the work's run stands, and the candidate that it goes on as; None where no candidate is what runs.

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
    wanted = sorted(shape.devices for shape in candidate.shapes for _ in range(shape.count))
    positions = {name: at for at, name in enumerate(pool.nodes)}
    if len(running.nodes) != len(wanted) or any(node.name not in positions for node in running.nodes):
        return None
    told = [len(node.devices) for node in running.nodes]
    held = told if any(told) else wanted
    if sorted(held) != wanted:
        return None
    units = (devices * pool.units for devices in held)
    return tuple(sorted((positions[node.name], each) for node, each in zip(running.nodes, units, strict=True)))


def _going_on(
    job: Job, candidate: Candidate, seen: Sighting, nodes: tuple[tuple[int, int], ...], scene: Scene
) -> tuple[Candidate, Standing]:
    """The candidate for what is left of the run, and how that stands.

    A run that lasts longer than expected goes on for a slot. Where its nodes close before its limit, but not before it
    is expected to end, it goes on until then.
    """
    expected, horizon = candidate.expected_seconds, scene.horizon
    done = _done(seen, expected, horizon.start)
    saved = _saved(job, seen.running, done, expected)
    left = max(1, ceil_fraction(expected * (1 - done)))
    limit_left = candidate.limit_seconds - (horizon.start - seen.running.started_at)
    opened = _open_seconds(scene, candidate.site.at, nodes)
    going_on = replace(
        candidate, expected_seconds=left, limit_seconds=max(left, min(limit_left, opened)), first=0, last=0,
        egress_micros=0, nodes=tuple(sorted(node for node, _ in nodes)), within=None, further=0,
    )  # fmt: skip
    lost = done - saved + Fraction(_restart_seconds(job), expected)
    return going_on, Standing(
        running=seen.running, done=done, saved=saved, lost_part=lost, lost_seconds=ceil_fraction(expected * lost),
        nodes=nodes, goes_on=horizon.length(left) * horizon.slot_seconds <= opened,
    )  # fmt: skip


def _open_seconds(scene: Scene, pool: int, nodes: tuple[tuple[int, int], ...]) -> int:
    """For how long after the plan's start none of the nodes closes."""
    closures = (shut for node, _ in nodes for shut in scene.nodes[pool][node].closures if shut.end > 0)
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


def _restart_seconds(job: Job) -> int:
    return 0 if job.checkpoint is None else ceil_fraction(Fraction(job.checkpoint.restart.milliseconds, _SECOND_MS))


def is_firm(work: Work, now: Standing, going_on: Candidate, scene: Scene) -> bool:
    """Whether nothing may interrupt the run: its job, the policy or its least run time say so, or it is protected."""
    job, run = work.job, now.running
    since = scene.horizon.start - run.started_at
    return (
        not job.preemptible
        or job.protected
        or since * _SECOND_MS < job.min_run.milliseconds
        or _denied(DenyWhat.PREEMPT, work, going_on, scene)
    )


def may_move(work: Work, going_on: Candidate, scene: Scene) -> bool:
    """Whether the run may be taken to other nodes: only at a checkpoint, and unless job or policy forbid it."""
    job = work.job
    return job.movable and job.checkpoint is not None and not _denied(DenyWhat.MOVE, work, going_on, scene)


def _denied(what: DenyWhat, work: Work, going_on: Candidate, scene: Scene) -> bool:
    ask = next(wish.ask for wish in work.wishes if wish.ask.variant == going_on.variant)
    return denial(scene.policy.deny, ask, going_on.site, what) is not None


def inside_guarantees(works: Sequence[Work], scene: Scene) -> frozenset[str]:
    """Addresses of what runs and may not be interrupted for others, since its team would fall below its guarantee.

    Of each quota only as much gives way as runs above the guarantee at some time: first the lowest priority, and of
    one priority what has begun last.
    """
    running: dict[int, list[Work]] = {}
    for work in works:
        site = work.candidates[0].site if work.standing is not None else None
        if site is not None and site.position is not None:
            home = scene.known.home(work.job.team, (site.at, site.position))
            if home is not None:
                running.setdefault(home, []).append(work)
    found: set[str] = set()
    for home, group in running.items():
        above = _above(group, [each.planned for each in scene.rows.by_quota[home].held], scene.horizon)
        for work in sorted(group, key=_rank, reverse=True):
            found |= set() if _gives_way(work.candidates[0], above, scene.horizon) else {work.address}
    return frozenset(found)


def _above(group: Sequence[Work], guaranteed: Sequence[int], horizon: Horizon) -> list[int]:
    """By how much what runs exceeds a guarantee, slot by slot."""
    used = [0] * horizon.slots
    for work in group:
        for slot in _slots(work.candidates[0], horizon):
            used[slot] += work.candidates[0].devices
    return [max(0, have - own) for have, own in zip(used, guaranteed, strict=True)]


def _gives_way(going_on: Candidate, above: list[int], horizon: Horizon) -> bool:
    """Whether the run is at some time wholly above the guarantee; then it is taken from what others may still take."""
    slots = _slots(going_on, horizon)
    if not any(above[slot] >= going_on.devices for slot in slots):
        return False
    for slot in slots:
        above[slot] = max(0, above[slot] - going_on.devices)
    return True


def _slots(going_on: Candidate, horizon: Horizon) -> range:
    return range(min(horizon.length(going_on.expected_seconds), horizon.slots))


def _rank(work: Work) -> tuple[bool, str, int, str]:
    assert work.standing is not None, "only what runs is ranked"
    return work.job.preemptible, work.job.priority.value, work.standing.running.started_at, work.address


def _resumed(work: Work, going_on: Candidate, now: Standing, scene: Scene, *, guaranteed: bool) -> Work:
    """The work with its run as the first candidate, then the ways to begin again from what is saved.

    What stays may only change nodes without a pause, and that only where it may move.
    """
    firm = is_firm(work, now, going_on, scene)
    stays = now.goes_on and (firm or guaranteed)
    moves = may_move(work, going_on, scene) and not firm
    again = [_again(each, work.job, now) for each in work.candidates]
    on = [going_on] if now.goes_on else []
    moved = [replace(each, last=0) for each in again] if moves and now.goes_on else []
    later = [] if stays else [replace(each, first=1, paused=True) for each in again] if now.goes_on else again
    return replace(work, candidates=(*on, *moved, *later), standing=replace(now, stays=stays))


def _again(candidate: Candidate, job: Job, now: Standing) -> Candidate:
    restart = _restart_seconds(job)
    left = ceil_fraction(candidate.expected_seconds * (1 - now.saved)) + restart
    limit = ceil_fraction(candidate.limit_seconds * (1 - now.saved)) + restart
    return replace(
        candidate, expected_seconds=left, limit_seconds=max(left, limit),
        lost_seconds=candidate.lost_seconds + now.lost_seconds, lost_part=now.lost_part,
    )  # fmt: skip
