"""What is due: the work of the applied plan that is interrupted or begins by now, and what keeps it from that.

Nothing is decided anew. What reality has overtaken is left, with the reason, to the next plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from planner.apply.staleness import overtaken
from planner.clock import parse_time
from planner.names import without_index
from planner.plan import Placement, Plan, Segment
from planner.spec.job import Job
from planner.spec.snapshot import FinishedState, Running, Snapshot
from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Work that is to begin now: its address, the hash of what it runs, and the cluster that it begins in."""

    address: str
    spec: str
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Work that runs and is to give way now: its address, its cluster, and for whom."""

    address: str
    cluster: str
    beneficiary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that is due and is not done, and why."""

    address: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """All that is due at a moment, sorted by address."""

    interruptions: tuple[Interruption, ...] = ()
    releases: tuple[Release, ...] = ()
    left: tuple[Left, ...] = ()


def due(plan: Plan, specset: SpecSet, snapshot: Snapshot, *, at: int, paused: Iterable[str] = ()) -> Due:
    """What gives way or begins by `at` (epoch seconds); `paused` are teams and pools that hold.

    What gives way is taken to have done so for what begins.
    """
    stops = tuple(_interruptions(plan, snapshot, at))
    stopped = {item.address.partition("/")[2] for item in stops}
    running = tuple(item for item in snapshot.running if item.job not in stopped)
    facts = _Facts(
        plan=plan, at=at, specset=specset, snapshot=snapshot.model_copy(update={"running": running}),
        held=frozenset(paused), lost=_lost(plan, snapshot, at),
    )  # fmt: skip
    known = {item.job for item in snapshot.running}
    ended = {(item.job, item.spec) for item in snapshot.finished}
    releases, left = [], [*_moves(plan, at), *_unneeded(plan, snapshot, at), *_overrun(plan, known, at)]
    for placement in plan.placements:
        segment, name = _current(placement, at), _name(placement)
        if segment is None or name in known or (name, placement.spec) in ended:
            continue
        if why := next(_obstacles(placement, segment, facts), ""):
            left.append(Left(address=placement.address, why=why))
        else:
            releases.append(Release(address=placement.address, spec=placement.spec, cluster=segment.cluster))
    told = tuple(sorted(left, key=lambda item: (item.address, item.why)))
    return Due(interruptions=stops, releases=tuple(releases), left=told)


def _current(placement: Placement, at: int) -> Segment | None:
    """The segment in which work is to run at a moment: its second one, once it is over its interruption."""
    return next((part for part in placement.segments if _seconds(part.start) <= at < _seconds(part.end)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What work is held against before it begins; `lost` says by address what the snapshot has taken from it."""

    plan: Plan
    at: int
    specset: SpecSet
    snapshot: Snapshot
    held: frozenset[str]
    lost: Mapping[str, str]


def _lost(plan: Plan, snapshot: Snapshot, at: int) -> dict[str, str]:
    return {item.field.removeprefix("placements[")[:-1]: item.seen for item in overtaken(plan, snapshot, at)}


def _interruptions(plan: Plan, snapshot: Snapshot, at: int) -> Iterator[Interruption]:
    """What still runs as it did before its interruption was due, if whom it gives way to still needs it."""
    ended = _ended(snapshot)
    clusters = {run.job: run.pool.partition("/")[0] for run in _to_stop(plan, snapshot, at)}
    for item in plan.preemptions:
        if (cluster := clusters.get(item.victim.partition("/")[2])) is not None and item.by not in ended:
            yield Interruption(address=item.victim, cluster=cluster, beneficiary=item.by)


def _to_stop(plan: Plan, snapshot: Snapshot, at: int) -> Iterator[Running]:
    due = {item.victim: _seconds(item.at) for item in plan.preemptions if _seconds(item.at) <= at}
    for run in snapshot.running:
        if run.started_at < due.get(f"job/{run.job}", 0):
            yield run


def _unneeded(plan: Plan, snapshot: Snapshot, at: int) -> Iterator[Left]:
    """Interruptions that are due and would serve nobody any more."""
    ended, running = _ended(snapshot), {f"job/{run.job}" for run in _to_stop(plan, snapshot, at)}
    for item in plan.preemptions:
        if item.victim in running and item.by in ended:
            yield Left(address=item.victim, why=f"was to be interrupted at {item.at} for {item.by}, which has ended")


def _ended(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(f"job/{item.job}" for item in snapshot.finished)


def _moves(plan: Plan, at: int) -> Iterator[Left]:
    """Moves that are due: they are told, and left to people and to the next plan."""
    for move in plan.moves:
        if _seconds(move.at) <= at:
            yield Left(address=move.address, why=f"is to move at {move.at} for {move.beneficiary}")


def _overrun(plan: Plan, running: Set[str], at: int) -> Iterator[Left]:
    """Work that still runs although it should have ended; it goes on, and the next plan sees to what it holds up."""
    for placement in plan.placements:
        end = placement.segments[-1].end
        if _name(placement) in running and _seconds(end) <= at:
            yield Left(address=placement.address, why=f"still runs although it was to end at {end}")


def _obstacles(placement: Placement, segment: Segment, facts: _Facts) -> Iterator[str]:
    """Why work does not begin although its time has come, the plainest reason first."""
    for name in (f"team/{placement.team}", f"pool/{segment.pool}"):
        if name in facts.held:
            yield f"{name} is paused"
    yield from _unmet(placement, facts)
    if placement.address in facts.lost:
        yield facts.lost[placement.address]
    for other in facts.snapshot.running:
        if other.job != _name(placement) and _shares(segment, other):
            yield f"job/{other.job} still runs on a device that it is to have"
    yield from _in_its_way(placement, segment, facts)


def _in_its_way(placement: Placement, segment: Segment, facts: _Facts) -> Iterator[str]:
    """Who is to have its devices before it would end, now that it begins a slot or more too late."""
    late = facts.at - _seconds(segment.start)
    if late < facts.plan.inputs.slot_seconds:
        return
    planned, end = _seconds(segment.end), _seconds(segment.end) + late
    over = {placement.address, *(f"job/{item.job}" for item in facts.snapshot.finished)}
    for other in facts.plan.placements:
        for part in other.segments:
            if other.address not in over and planned <= _seconds(part.start) < end and _meet(segment, part):
                yield f"it is late, and {other.address} is to have its devices from {part.start}"


def _meet(one: Segment, other: Segment) -> bool:
    """Whether two segments have a device in common."""
    taken = {(one.pool, node.name, device.index) for node in one.nodes for device in node.devices}
    return any((other.pool, node.name, device.index) in taken for node in other.nodes for device in node.devices)


def _unmet(placement: Placement, facts: _Facts) -> Iterator[str]:
    """Work that it waits for and that has not succeeded, as far as the snapshot knows of it."""
    job = facts.specset.get(without_index(placement.address))
    ended = {item.job.partition("[")[0]: item.state for item in facts.snapshot.finished}
    running = {item.job.partition("[")[0] for item in facts.snapshot.running}
    for reference in job.after if isinstance(job, Job) else ():
        name = reference.removeprefix("job/")
        parent = name if "/" in name else f"{placement.team}/{name}"
        if parent in running:
            yield f"job/{parent}, which it waits for, still runs"
        elif ended.get(parent) is not FinishedState.SUCCEEDED:
            yield f"job/{parent}, which it waits for, has not succeeded"


def _shares(segment: Segment, other: Running) -> bool:
    """Whether running work has a device of the segment; work whose devices are not known has all of its nodes."""
    if other.pool != segment.pool:
        return False
    taken = {node.name: {device.index for device in node.devices} for node in other.nodes}
    return any(
        node.name in taken and (not taken[node.name] or taken[node.name] & {device.index for device in node.devices})
        for node in segment.nodes
    )


def _name(placement: Placement) -> str:
    return placement.address.partition("/")[2]


def _seconds(text: str) -> int:
    return parse_time(text, "UTC")
