"""Pools whose devices are divided: the solver's nodes are then cells, each a device that is shared, or a partition.

A run that takes some cells of a node takes them beside what it needs of the node itself (CPUs, memory). So the solver
sees each node twice over: as a host that has these things and no devices, and as its cells that have devices and
nothing else. All of them lie in one domain of a tier of their own, and each block of a mode is what it takes of one
node. Devices are counted in units, `FleetPool.units` to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from solvers.problem import Node, Part, Taken

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.fleet import Cell, FleetPool
    from planner.compile.foreign import Busy
    from planner.compile.shape import Shape
    from planner.plan import Device
    from planner.spec.snapshot import SeenDevice

TIER: Final = "node"
"""The tier of a divided pool in which a node and its cells lie together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """How a mode sits in the solver's pool: fields of `solvers.problem.Mode`."""

    parts: tuple[Part, ...]
    nodes: tuple[int, ...] | None
    within: int | None


def seating(candidate: Candidate) -> Seating:
    """How a candidate sits; a rented node is taken whole."""
    pool, shapes = candidate.site.pool, candidate.shapes
    if not pool.cells:
        parts = (
            Part(count=shape.count, use=_use(pool, shape) if pool.is_own else _all(pool), block=shape.block)
            for shape in shapes
        )
        return Seating(parts=tuple(parts), nodes=candidate.nodes, within=candidate.within)
    hosts = range(len(pool.nodes)) if candidate.nodes is None else candidate.nodes
    if not candidate.devices:
        return Seating(
            parts=tuple(Part(count=shape.count, use=shape.use) for shape in shapes), nodes=tuple(hosts), within=None
        )
    if candidate.seats is not None:
        return Seating(parts=tuple(_parts(candidate)), nodes=candidate.seats, within=None)
    cells = (at for at, (host, cell) in _numbered(pool) if host in hosts and cell.profile == candidate.profile)
    return Seating(parts=tuple(_parts(candidate)), nodes=(*hosts, *cells), within=len(pool.tiers))


def _use(pool: FleetPool, shape: Shape) -> tuple[int, ...]:
    return (shape.use[0] * pool.units, *shape.use[1:])


def _all(pool: FleetPool) -> tuple[int, ...]:
    return (pool.capacity[0] * pool.units, *pool.capacity[1:])


def _parts(candidate: Candidate) -> Iterator[Part]:
    pool, size = candidate.site.pool, candidate.size
    nothing = (0,) * (len(pool.resources) - 1)
    for block, shape in enumerate(by_node(candidate)):
        for piece, count in sorted(Counter(shape.pieces or (1,) * shape.devices).items(), reverse=True):
            yield Part(count=count, use=(int(piece * size * pool.units), *nothing), block=block)
        if any(shape.use[1:]):
            yield Part(count=1, use=(0, *shape.use[1:]), block=block)


def by_node(candidate: Candidate) -> tuple[Shape, ...]:
    """What the candidate takes of each node, block by block."""
    return tuple(replace(shape, count=1) for shape in candidate.shapes for _ in range(shape.count))


def held_cells(candidate: Candidate, nodes: Iterable[tuple[str, Sequence[Device | SeenDevice]]]) -> dict[int, int]:
    """The units that a run had of each cell, by its devices on named nodes; and 0 of each node that gave it more."""
    pool = candidate.site.pool
    positions = {
        (pool.nodes[host], index, cell.at): at
        for at, (host, cell) in _numbered(pool)
        for index in (cell.index, *cell.others)
    }
    each, takes_hosts = int(candidate.size * pool.units), any(any(shape.use[1:]) for shape in candidate.shapes)
    held: dict[int, int] = {}
    for name, devices in nodes:
        if takes_hosts and name in pool.nodes:
            held[pool.nodes.index(name)] = 0
        for one in devices:
            if (at := positions.get((name, one.index, one.at))) is not None:
                held[at] = held.get(at, 0) + each
    return held


def sits_so(candidate: Candidate, held: Mapping[int, int]) -> bool:
    """Whether the units that a run had of each cell, and the hosts it had them on, are those of the candidate."""
    return Counter(held.values()) == Counter(part.use[0] for part in _parts(candidate) for _ in range(part.count))


def _numbered(pool: FleetPool) -> Iterator[tuple[int, tuple[int, Cell]]]:
    """The cells by their position among the solver's nodes."""
    return enumerate(places(pool), len(pool.nodes))


def places(pool: FleetPool) -> Iterator[tuple[int, Cell]]:
    """Every cell with the position of its node, in the order in which the solver's nodes follow the hosts."""
    return ((host, cell) for host, cells in enumerate(pool.cells) for cell in cells)


def hosts_of(pool: FleetPool, nodes: Iterable[int]) -> tuple[int, ...]:
    """The nodes of a pool, in order, on which the solver's nodes lie."""
    first, owners = len(pool.nodes), [host for host, _ in places(pool)]
    return tuple(sorted({node if node < first else owners[node - first] for node in nodes}))


def divided(pool: FleetPool, hosts: Sequence[Node], busy: Sequence[Busy]) -> tuple[Node, ...]:
    """The hosts as the solver's nodes; of a divided pool the hosts without devices, and then every cell.

    What others use of a device is gone for all its cells.
    """
    if not pool.cells:
        return tuple(_in_units(host, pool.units) for host in hosts)
    emptied = (
        replace(
            host,
            capacity=(0, *host.capacity[1:]),
            domains=(*host.domains, at),
            taken=tuple(replace(each, use=(0, *each.use[1:])) for each in host.taken),
        )
        for at, host in enumerate(hosts)
    )
    return (*emptied, *(_cell(pool, hosts[at], at, cell, busy[at]) for at, cell in places(pool)))


def _in_units(host: Node, units: int) -> Node:
    if units == 1:
        return host
    taken = tuple(replace(each, use=(each.use[0] * units, *each.use[1:])) for each in host.taken)
    return replace(host, capacity=(host.capacity[0] * units, *host.capacity[1:]), taken=taken)


def _cell(pool: FleetPool, host: Node, at: int, cell: Cell, busy: Busy) -> Node:
    nothing = (0,) * (len(pool.resources) - 1)
    capacity = (int(cell.part * pool.units), *nothing)
    return Node(
        name=f"{host.name}/{cell.index}" + (f"/{cell.at}" if cell.profile else ""),
        capacity=capacity,
        domains=(*host.domains, at),
        closures=host.closures,
        taken=tuple(
            Taken(start=0, end=end, use=(capacity[0] // (1 + len(cell.others)), *nothing))
            for index, end in busy
            if index in {cell.index, *cell.others}
        ),
    )
