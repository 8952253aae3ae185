"""How a gang spreads over the nodes of a pool: which nodes hold which parts, and what each node gives.

The whole goes on one node where it fits. Otherwise each part is split over the fewest nodes that divide it evenly, or
over as many as it says, and parts that leave room on a node share it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from planner.compile.ask import divisors, even_split, fair_share
from planner.compile.fleet import CPUS, MEMORY
from planner.compile.refusal import Code, Refusal
from planner.units import Memory, ceil_fraction

if TYPE_CHECKING:
    from planner.compile.ask import Ask, Piece
    from planner.compile.fleet import DeviceGroup, FleetPool


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Hold:
    """One part on a node: its role and how many devices it has there."""

    role: str
    devices: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`count` nodes alike: the parts on each, and what the gang uses of each (aligned with the pool's resources).

    Where the gang keeps to domains, nodes of one `block` lie in one. Where the pool's cells are islands, the devices
    are taken in `pieces`, each of an island of its own.
    """

    count: int
    holds: tuple[Hold, ...]
    use: tuple[int, ...]
    block: int = 0
    pieces: tuple[int, ...] = ()

    @property
    def devices(self) -> int:
        """Devices that the gang has on each of these nodes."""
        return sum(hold.devices for hold in self.holds)


@dataclass(frozen=True, slots=True)
class _Item:
    """One node's worth of one part; those of one `whole` (a part that spans nodes) stay on different nodes."""

    hold: Hold
    use: tuple[int, ...]
    whole: tuple[str, int] | None = None


def shapes(ask: Ask, pool: FleetPool, group: DeviceGroup | None) -> tuple[Shape, ...] | Refusal:
    """How the ask sits on the nodes of a pool, on devices of one group (None: CPUs only), or why it cannot."""
    places = _places(ask, pool, group)
    if ask.devices > sum(places):
        thing = "devices" if ask.portion is None else "parts of devices"
        what = f"needs {ask.devices} {thing} at once, the pool has {sum(places)}{_aside(pool)}"
        return Refusal(code=Code.SIZE, subject=pool.address, message=what, fix="ask for fewer devices")
    items: list[_Item] = []
    for piece in ask.pieces:
        split = _split(ask, piece, pool, group)
        if isinstance(split, Refusal):
            return split
        items += split
    found = _grouped(_packed(items, (max(places, default=0), *pool.capacity[1:])))
    nodes = sum(shape.count for shape in found)
    if nodes > len(pool.nodes):
        what = f"needs {nodes} nodes at once, the pool has {len(pool.nodes)}{_aside(pool)}"
        return Refusal(
            code=Code.SIZE, subject=pool.address, message=what, fix="ask for fewer devices, or for more on each node"
        )
    return found


def _places(ask: Ask, pool: FleetPool, group: DeviceGroup | None) -> tuple[int, ...]:
    """How many devices, or partitions of the kind asked for, each node has."""
    if group is None:
        return ()
    if not pool.cells:
        return (group.count,) * len(pool.nodes)
    profile = profile_of(ask, group)
    return tuple(sum(1 + len(cell.others) for cell in cells if cell.profile == profile) for cells in pool.cells)


def profile_of(ask: Ask, group: DeviceGroup) -> str | None:
    """The partition asked for, as the catalogue spells it."""
    wanted = ask.portion.profile if ask.portion else None
    found = group.accelerator.partition(wanted) if wanted else None
    return found.name if found else wanted


def memory_of(ask: Ask, group: DeviceGroup) -> int | None:
    """The memory of a device, or of the partition asked for, in MiB; None where it is not known."""
    profile = group.accelerator.partition(ask.portion.profile) if ask.portion and ask.portion.profile else None
    if profile is None or group.memory_mib is None:
        return group.memory_mib
    return profile.memory_mib or int(group.memory_mib * profile.size)


def size_of(ask: Ask, pool: FleetPool, group: DeviceGroup) -> Fraction:
    """How much of a device each is; a share is rounded up to the pool's units."""
    portion = ask.portion
    if portion is None:
        return Fraction(1)
    if portion.profile is not None:
        profile = group.accelerator.partition(portion.profile)
        return Fraction(1) if profile is None else profile.size
    units = pool.pool.sharing.units if pool.pool.sharing else 1
    wanted = portion.share or Fraction(portion.memory_mib or 0, group.memory_mib or 1)
    return Fraction(ceil_fraction(wanted * units), units)


def _aside(pool: FleetPool) -> str:
    kept = len(pool.reserved)
    return f" beside {kept} {'node' if kept == 1 else 'nodes'} kept in reserve" if kept else ""


def _split(ask: Ask, piece: Piece, pool: FleetPool, group: DeviceGroup | None) -> list[_Item] | Refusal:
    if piece.nodes is not None:
        each = even_split(piece.devices, piece.nodes)
        if each is None:
            return _no_split(piece, pool, f"{piece.devices} devices do not divide over {piece.nodes} nodes")
        use = _use(ask, each, pool, group)
        if fault := _fault(ask, use, each, pool, group):
            return fault
        return _items(piece, piece.nodes, each, use)
    first: Refusal | None = None
    for nodes in divisors(piece.devices // piece.unit) if piece.devices else (1,):
        each = piece.devices // nodes
        use = _use(ask, each, pool, group)
        fault = _fault(ask, use, each, pool, group)
        if fault is None:
            return _items(piece, nodes, each, use)
        if fault.code is not Code.NODE_SIZE:
            first = first or fault
    return first or _no_split(piece, pool, f"{piece.devices} devices fit on no even number of nodes")


def _items(piece: Piece, nodes: int, devices: int, use: tuple[int, ...]) -> list[_Item]:
    role = piece.role or ""
    wholes = [(role, replica) if nodes > 1 else None for replica in range(piece.replicas)]
    return [_Item(Hold(role=role, devices=devices), use, whole) for whole in wholes for _ in range(nodes)]


def _no_split(piece: Piece, pool: FleetPool, message: str) -> Refusal:
    return Refusal(code=Code.NODE_SIZE, subject=pool.address, message=message, fix="change gpus.count or gpus.nodes")


def _use(ask: Ask, devices: int, pool: FleetPool, group: DeviceGroup | None) -> tuple[int, ...]:
    """What so many devices on a node use of each of its resources; what the pool does not state is not counted."""
    use = []
    whole = devices * size_of(ask, pool, group) if group is not None else Fraction(devices)
    for position, (name, capacity) in enumerate(zip(pool.resources, pool.capacity, strict=True)):
        if position == 0 or (group is not None and position == group.resource):
            use.append(devices)
        elif name == CPUS:
            use.append(_host_use(ask.host.cpus, ask.host.cpus_per_device, capacity, whole, pool, least=1))
        elif name == MEMORY:
            use.append(_host_use(ask.host.memory_mib, ask.host.memory_mib_per_device, capacity, whole, pool, least=0))
        else:
            use.append(dict(ask.host.gres).get(name.removeprefix("gres/"), 0) if name.startswith("gres/") else 0)
    return tuple(use)


def _host_use(
    stated: int | None, each: int | None, capacity: int, devices: Fraction, pool: FleetPool, *, least: int
) -> int:
    if stated is not None:
        return stated
    if each is not None:
        return ceil_fraction(each * devices)
    return fair_share(capacity, devices, pool.devices_per_node) or least


def _fault(ask: Ask, use: tuple[int, ...], devices: int, pool: FleetPool, group: DeviceGroup | None) -> Refusal | None:
    if group is not None and devices > (most := max(_places(ask, pool, group), default=0)):
        message = f"needs {devices} devices on one node, a node has {most}"
        return Refusal(
            code=Code.NODE_SIZE,
            subject=pool.address,
            message=message,
            fix="let it spread: leave gpus.nodes out or raise it",
        )
    counted = {0, group.resource} if group is not None else {0}
    for at, (name, needed, has) in enumerate(zip(pool.resources, use, pool.capacity, strict=True)):
        if needed > has and at not in counted:
            message = f"needs {amount(name, needed)} on a node, a node has {amount(name, has)}"
            return Refusal(code=Code.RESOURCES, subject=pool.address, message=message, fix="ask for less on each node")
    return None


def amount(resource: str, number: int) -> str:
    """So much of a resource, for people."""
    match resource.removeprefix("gres/"):
        case "memory":
            return f"{Memory(number)} of memory"
        case "devices" | "cpus" as things:
            return f"{number} {things[:-1] if number == 1 else things}"
        case name:
            return f"{number} {name}"


def _packed(items: list[_Item], capacity: tuple[int, ...]) -> list[list[_Item]]:
    """Nodes filled with items, largest first, each on the first with room that holds no other part of its whole."""
    nodes: list[list[_Item]] = []
    free: list[tuple[int, ...]] = []
    first_open: dict[_Item, int] = {}
    for item in sorted(items, key=lambda item: (tuple(-use for use in item.use), item.hold, item.whole or ("", 0))):
        at = first_open.get(item, 0)
        while at < len(nodes) and not _fits(item, nodes[at], free[at]):
            at += 1
        if at == len(nodes):
            nodes.append([])
            free.append(capacity)
        free[at] = tuple(have - need for have, need in zip(free[at], item.use, strict=True))
        nodes[at].append(item)
        first_open[item] = at
    return nodes


def _fits(item: _Item, held: list[_Item], free: tuple[int, ...]) -> bool:
    if any(need > have for need, have in zip(item.use, free, strict=True)):
        return False
    return item.whole is None or all(item.whole != other.whole for other in held)


def _grouped(nodes: list[list[_Item]]) -> tuple[Shape, ...]:
    counted = Counter(tuple(sorted((item.hold, item.use) for item in node)) for node in nodes)
    return tuple(
        Shape(
            count=count,
            holds=tuple(hold for hold, _ in node),
            use=tuple(map(sum, zip(*(use for _, use in node), strict=True))),
        )
        for node, count in sorted(counted.items(), key=lambda pair: (tuple(-sum(use) for _, use in pair[0]), pair[0]))
    )
