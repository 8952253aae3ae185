"""Runs as placements: times, named nodes, device indices and money."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from planner.compile.cells import by_node, places
from planner.compile.fleet import Market
from planner.compile.joined import islands_of
from planner.compile.refusal import as_reasons, one_a_subject
from planner.decode.binding import Claim, Devices, bind
from planner.plan import Device, NodeUse, Placement, QuotaUse, Reason, Segment, count_of
from planner.spec.work import Market as Wanted
from planner.units import format_time, parse_time
from solvers.worth import lead_value, moved_devices, run_value

if TYPE_CHECKING:
    from planner.compile.fleet import Cell, DeviceGroup, FleetPool
    from planner.compile.foreign import Busy
    from planner.compile.problem import Compiled
    from planner.compile.shape import Hold
    from planner.decode.placed import Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """One part of one run on one node of its pool; `cells` are what it has there of divided devices."""

    key: str
    placed: Placed
    node: int
    hold: Hold
    cells: tuple[Cell, ...] = ()


def seated(runs: Iterable[Placed]) -> Iterator[Seated]:
    """Every part of every run, seat by seat."""
    for each in runs:
        if each.pool.cells and each.candidate.devices:
            yield from _on_cells(each)
            continue
        for number, seat in enumerate(sorted(each.run.seats, key=lambda seat: (seat.part, seat.node))):
            for position, hold in enumerate(each.candidate.shapes[seat.part].holds):
                key = f"{each.work.address} {number} {position}{' ahead' if each.leads else ''}"
                yield Seated(key=key, placed=each, node=seat.node, hold=hold)


def _on_cells(each: Placed) -> Iterator[Seated]:
    """The parts of a run in a divided pool, block by block: each takes its number of the block's cells in order.

    An island stands there as often as the run has devices of it.
    """
    hosts, every = len(each.pool.nodes), tuple(places(each.pool))
    for block, shape in enumerate(by_node(each.candidate)):
        parts = ((seat.node - hosts, each.mode.parts[seat.part]) for seat in each.run.seats)
        seats = [(at, part.use[0]) for at, part in parts if at >= 0 and part.block == block]
        unit = int(each.candidate.size * each.pool.units)
        cells = (at for at, use in sorted(seats) for _ in range(use // unit))
        for position, hold in enumerate(shape.holds):
            mine = [every[at] for at in islice(cells, hold.devices)]
            yield Seated(
                key=f"{each.work.address} {block} {position}", placed=each, node=mine[0][0], hold=hold,
                cells=tuple(cell for _, cell in mine),
            )  # fmt: skip


def devices(compiled: Compiled, seats: Sequence[Seated]) -> dict[str, tuple[int, ...]]:
    """The device indices of each part by its key."""
    claims: dict[tuple[int, int, int], list[Seated]] = defaultdict(list)
    for each in seats:
        site = each.placed.candidate.site
        if site.position is not None and not each.cells:
            claims[site.at, site.position, each.node].append(each)
    bound: dict[str, tuple[int, ...]] = {}
    for (at, position, node), parts in sorted(claims.items()):
        pool = parts[0].placed.pool
        bound |= bind(_claims(parts, pool), _of_group(pool, pool.groups[position], compiled.busy[at][node]))
    return bound | _of_islands(compiled, seats)


def _of_islands(compiled: Compiled, seats: Sequence[Seated]) -> dict[str, tuple[int, ...]]:
    """The device indices of each part whose cells are islands: each island is bound by itself."""
    claims: dict[tuple[int, int, Cell], list[Claim]] = defaultdict(list)
    keys: dict[str, list[str]] = {}
    for each in seats:
        if each.placed.pool.joined:
            before = {index for held in _held(each, each.placed.pool) for index in held}
            for cell, count in Counter(each.cells).items():
                key, run = f"{each.key} {cell.index}", each.placed.run
                kept = tuple(sorted(before & {cell.index, *cell.others}))
                keys.setdefault(each.key, []).append(key)
                claims[each.placed.candidate.site.at, each.node, cell].append(
                    Claim(key=key, start=run.start, end=run.end, count=count, held=kept)
                )
    found: dict[str, tuple[int, ...]] = {}
    for (at, node, cell), island in claims.items():
        indices = (cell.index, *cell.others)
        busy = tuple((index, end) for index, end in compiled.busy[at][node] if index in indices)
        found |= bind(island, Devices(indices=indices, islands=(indices,), busy=busy))
    return {key: tuple(sorted(index for one in parts for index in found[one])) for key, parts in keys.items()}


def _of_group(pool: FleetPool, group: DeviceGroup, busy: Busy) -> Devices:
    links = pool.pool.links or (pool.pool.sockets if group.accelerator.island in {None, 1} else ())
    return Devices(
        indices=group.indices,
        islands=islands_of(group.indices, links, group.accelerator.island),
        busy=tuple((index, end) for index, end in busy if index in group.indices),
    )


def _claims(parts: Sequence[Seated], pool: FleetPool) -> Iterator[Claim]:
    held: dict[tuple[str, str, bool], list[tuple[int, ...]]] = {}
    for each in parts:
        place = (each.placed.work.address, each.hold.role, each.placed.leads)
        if place not in held:
            held[place] = _held(each, pool)
        mine = held[place].pop(0) if held[place] else ()
        run = each.placed.run
        yield Claim(key=each.key, start=run.start, end=run.end, count=each.hold.devices, held=mine)


def _held(part: Seated, pool: FleetPool) -> list[tuple[int, ...]]:
    """What it holds on this node if it goes on there, else what the previous plan gave parts of this role on it."""
    before = part.placed.work.before
    if part.placed.goes_on and (seen := part.placed.work.seen) is not None:
        return [
            tuple(device.index for device in node.devices)
            for node in seen.running.nodes
            if node.name == pool.nodes[part.node]
        ]
    if before is None or before.segments[0].pool != pool.name:
        return []
    name = pool.nodes[part.node]
    return [
        tuple(device.index for device in use.devices)
        for use in before.segments[0].nodes
        if use.name == name and (use.role or "") == part.hold.role
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """The parts of every run by the position of its task and whether it leads to another, and the devices of each part
    by its key.
    """

    by_run: Mapping[tuple[int, bool], Sequence[Seated]]
    bound: Mapping[str, tuple[int, ...]]


def seats_of(compiled: Compiled, runs: Iterable[Placed]) -> Seats:
    """Every part of every run with its devices."""
    seats = tuple(seated(runs))
    by_run: dict[tuple[int, bool], list[Seated]] = defaultdict(list)
    for each in seats:
        by_run[each.placed.at, each.placed.leads].append(each)
    return Seats(by_run=by_run, bound=devices(compiled, seats))


def placements(compiled: Compiled, runs: Sequence[Placed], seats: Seats) -> tuple[Placement, ...]:
    """The runs of every job as a placement, sorted by address."""
    leads = {each.at: each for each in runs if each.leads}
    found = (
        _placement(compiled, each, leads.get(each.at), seats)
        for each in runs
        if each.work.layer is None and not each.leads
    )
    return tuple(sorted(found, key=lambda placement: placement.address))


def _placement(compiled: Compiled, each: Placed, lead: Placed | None, seats: Seats) -> Placement:
    """The placement of a job by its last run, and the one that leads to it if it is interrupted."""
    work, horizon = each.work, compiled.horizon
    job, runs = work.job, (each,) if lead is None else (lead, each)
    finish = horizon.moment(each.run.end)
    begun = began(each)
    return Placement(
        address=work.address,
        spec=compiled.specset.spec_hash(work.address),
        team=job.team,
        priority=job.priority.value,
        submitted=format_time(work.submitted),
        gpus=count_of(each.candidate.amount),
        finish=format_time(finish),
        limit_seconds=each.candidate.limit_seconds + (0 if begun is None else horizon.start - begun),
        late_seconds=0 if job.window.deadline is None else max(0, finish - job.window.deadline),
        lost_work_seconds=each.candidate.lost_seconds,
        cash_micros=sum(run.cash_micros for run in runs),
        power_micros=sum(run.power_micros for run in runs),
        value_micros=_value(compiled, each),
        estimated=each.candidate.estimated,
        reasons=(*_rounded(each), *_reasons(compiled, each)),
        segments=tuple(
            segment(compiled, run, seats, start=run.run.start, end=run.run.end, begun=began(run)) for run in runs
        ),
    )


def began(each: Placed) -> int | None:
    """When a run that goes on has begun: as the previous plan said, if that is when and where it was to run."""
    if not each.goes_on or each.work.seen is None:
        return None
    run, before = each.work.seen.running, each.work.before
    first = before.segments[0] if before is not None else None
    same = first is not None and first.pool == run.pool and {n.name for n in first.nodes} == {n.name for n in run.nodes}
    if first is not None and same and parse_time(first.start, "UTC") <= each.work.seen.at:
        return parse_time(first.start, "UTC")
    return run.started_at


def _reasons(compiled: Compiled, each: Placed) -> tuple[Reason, ...]:
    """Of work that may use the spot market and does not: what every such pool had against it."""
    if each.work.job.market.spot is Wanted.NEVER or each.pool.market is Market.SPOT:
        return ()
    spot = {pool.address for pool in compiled.fleet if pool.market is Market.SPOT}
    return as_reasons(one_a_subject(refusal for refusal in each.work.refusals if refusal.subject in spot))


def _rounded(each: Placed) -> Iterator[Reason]:
    """That a share takes more than was asked for, because the pool's units cannot express it."""
    asked = each.work.job.gpus.share if each.work.job.gpus else None
    size = each.candidate.size
    if asked is not None and each.candidate.profile is None and size > asked:
        units = each.pool.pool.sharing.units if each.pool.pool.sharing else 1
        message = f"{asked} of a device takes {size}: the pool divides a device into {units} units"
        yield Reason(code="rounded", subject=each.pool.address, message=message, fix=f"ask for {size}")


def _value(compiled: Compiled, each: Placed) -> int:
    """What a run and the one that leads to it are worth: without the bonus of guarantees, which is a team's, and
    without moves.
    """
    task, ahead = each.task, each.mode.lead
    moves = task.move_micros * moved_devices(task, each.run)
    led = 0 if ahead is None else lead_value(task, ahead)
    return run_value(compiled.problem, task, each.run) + moves + led


def segment(
    compiled: Compiled, each: Placed, seats: Seats, *, start: int, end: int, begun: int | None = None
) -> Segment:
    """What a run has in slots `[start, end)`; one that goes on has had it since the moment it has `begun`."""
    site, parts = each.candidate.site, seats.by_run[each.at, each.leads]
    group = site.group
    return Segment(
        start=format_time(compiled.horizon.moment(start) if begun is None else begun),
        end=format_time(compiled.horizon.moment(end)),
        cluster=site.pool.cluster.name,
        pool=site.pool.name,
        variant=each.candidate.variant,
        vendor=group.vendor.value if group else None,
        model=group.model if group else None,
        market=site.pool.market.value,
        quota=_quota(compiled, each),
        nodes=tuple(
            _node(site.pool, seat, seats.bound) for seat in sorted(parts, key=lambda seat: (seat.node, seat.key))
        ),
    )


def _node(pool: FleetPool, seat: Seated, bound: Mapping[str, tuple[int, ...]]) -> NodeUse:
    size = seat.placed.candidate.size
    found = (Device(index=index) for index in bound.get(seat.key, ()))
    parts = (
        Device(index=cell.index, profile=cell.profile, at=cell.at, share=None if size == cell.part else str(size))
        for cell in (() if pool.joined else seat.cells)
    )
    return NodeUse(name=pool.nodes[seat.node], role=seat.hold.role or None, devices=(*found, *parts))


def _quota(compiled: Compiled, each: Placed) -> tuple[QuotaUse, ...]:
    site = each.candidate.site
    if site.position is None:
        return ()
    home = compiled.known.home(each.work.job.team, (site.at, site.position))
    if home is None:
        return ()
    guaranteed = Fraction(each.run.guaranteed, compiled.problem.units)
    name = compiled.known.covers[home].quota.name
    borrowed = each.candidate.amount - guaranteed
    return (QuotaUse(quota=name, guaranteed=count_of(guaranteed), borrowed=count_of(borrowed)),)
