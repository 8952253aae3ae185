"""The fleet as the solver counts it: one pool for each node pool and market, with its resources and nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import chain, count, islice
from math import lcm
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from planner.catalog import Partitioning
from planner.compile.reserve import domains, reserved
from planner.names import address
from planner.spec.cluster import MaxNodes, Partitions, ReservePer
from planner.spec.work import Within
from planner.units import ceil_div

if TYPE_CHECKING:
    from planner.catalog import Accelerator, Catalog, PartitionProfile, Vendor
    from planner.spec.cluster import Cluster, NodePool

DEVICES: Final = "devices"
CPUS: Final = "cpus"
MEMORY: Final = "memory"
_HOUR: Final = 3_600
_MILLION: Final = 1_000_000


class Market(StrEnum):
    """Where nodes come from: own hardware, or one of a cloud's markets."""

    OWN = "own"
    ON_DEMAND = "on_demand"
    SPOT = "spot"

    @property
    def words(self) -> str:
        """What sentences call it."""
        return self.value.replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGroup:
    """Devices of one model in each node of a pool; `resource` is where their own count stands among the resources."""

    accelerator: Accelerator
    count: int
    memory_mib: int | None
    indices: tuple[int, ...]
    resource: int
    power_milliwatts: int | None

    @property
    def model(self) -> str:
        """The catalogue's slug."""
        return self.accelerator.slug

    @property
    def vendor(self) -> Vendor:
        """Who makes them."""
        return self.accelerator.vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A device of a node that is not partitioned, or one partition of it; `part` is how much of the device it is.

    An island of linked devices is one cell too: it has `others` beside the first, and `part` counts them all.
    """

    index: int
    others: tuple[int, ...] = ()
    profile: str | None = None
    at: int | None = None
    part: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Racks or NVLink domains: for each node of a pool the number of its domain, None where that is not known."""

    within: Within
    of_node: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPool:
    """A node pool in one market.

    `resources` begins with all devices; where nodes hold several models each has a count of its own after it. Then come
    CPUs, memory (MiB) and other things, as far as the pool states them. `capacity` is that of one node. In a cloud,
    `nodes` are as many as may be created in the market; their price is per node and hour. `reserved` nodes are there
    beside them, and kept free. `tiers` are the ways in which `nodes` lie together, as far as the pool states them; of
    what is yet to be created nobody knows. Where devices are shared or partitioned, `cells` are what each node has of
    them, or its islands or sockets as `joined` says. Parts of devices in the whole fleet are counted in `units` to a
    device.
    """

    cluster: Cluster
    pool: NodePool
    market: Market
    groups: tuple[DeviceGroup, ...]
    resources: tuple[str, ...]
    capacity: tuple[int, ...]
    nodes: tuple[str, ...]
    node_micros_per_hour: int
    reserved: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()
    cells: tuple[tuple[Cell, ...], ...] = ()
    joined: Within | None = None
    units: int = 1

    @property
    def name(self) -> str:
        """`cluster/pool`, as the plan names it."""
        return f"{self.cluster.name}/{self.pool.name}"

    @property
    def address(self) -> str:
        """`pool/cluster/pool`, as messages name it; what the spot market has of it is told apart."""
        where = address("pool", self.cluster.name, self.pool.name)
        return f"{where} (spot)" if self.market is Market.SPOT else where

    @property
    def devices_per_node(self) -> int:
        """Devices of all models in one node."""
        return self.capacity[0]

    @property
    def ceiling(self) -> int | None:
        """The most nodes that the market grants; None for own hardware."""
        return None if self.market is Market.OWN else len(self.nodes)

    @property
    def is_own(self) -> bool:
        """Whether nodes stand there anyway and are shared by jobs, or are rented for one job and billed whole."""
        return self.market is Market.OWN


def fleet(
    clusters: Iterable[Cluster], catalog: Catalog, down: Collection[tuple[str, str]] = ()
) -> tuple[FleetPool, ...]:
    """Every pool in its market, sorted by name; `down` are the nodes `(cluster/pool, node)` that do not work now."""
    pools = (
        _offered(_fleet_pool(cluster, pool, market, catalog), down)
        for cluster in clusters
        for pool in cluster.pools
        for market in _markets(pool)
    )
    return in_common_units(sorted(pools, key=lambda pool: (pool.name, pool.market)))


def in_common_units(pools: Iterable[FleetPool]) -> tuple[FleetPool, ...]:
    """The pools with the units in which parts of devices are whole numbers in all of them."""
    every = tuple(pools)
    units = lcm(*(_units(pool) for pool in every))
    return tuple(replace(pool, units=units) for pool in every)


def _units(pool: FleetPool) -> int:
    """The fewest units to a device in which every part of one is a whole number."""
    shared = pool.pool.sharing.units if pool.pool.sharing else 1
    return lcm(shared, *(cell.part.denominator for cells in pool.cells for cell in cells))


def _markets(pool: NodePool) -> tuple[Market, ...]:
    most, price = pool.max_nodes or MaxNodes(), pool.price
    spot = price.spot is not None or most.spot > 0
    on_demand = price.on_demand is not None or most.on_demand > 0 or (pool.max_nodes is not None and not spot)
    found = ((Market.ON_DEMAND, on_demand), (Market.SPOT, spot))
    return tuple(market for market, there in found if there) or (Market.OWN,)


def _fleet_pool(cluster: Cluster, pool: NodePool, market: Market, catalog: Catalog) -> FleetPool:
    price = pool.price.spot if market is Market.SPOT else pool.price.on_demand
    groups = _groups(pool, catalog)
    counted = _counted(pool, groups)
    return FleetPool(
        cluster=cluster,
        pool=pool,
        market=market,
        groups=groups,
        resources=tuple(name for name, _ in counted),
        capacity=tuple(amount for _, amount in counted),
        nodes=_node_names(pool, market),
        node_micros_per_hour=price.micros_per_hour if price else 0,
    )


def _offered(pool: FleetPool, down: Collection[tuple[str, str]]) -> FleetPool:
    """The pool without the nodes that it keeps in reserve."""
    aside = reserved(pool.pool, {node for name, node in down if name == pool.name})
    nodes = tuple(name for name in pool.nodes if name not in aside)
    return replace(
        pool,
        nodes=nodes,
        reserved=tuple(name for name in pool.nodes if name in aside),
        tiers=tuple(_tiers(pool.pool, nodes)) if pool.is_own else (),
        cells=tuple(tuple(_cells(pool, name)) for name in nodes) if is_divided(pool.pool) else (),
    )


def is_divided(pool: NodePool) -> bool:
    """Whether devices of a pool are shared or partitioned."""
    return pool.sharing is not None or pool.partitions != Partitions()


def _cells(pool: FleetPool, node: str) -> Iterator[Cell]:
    """What a node has: each device whole, or its partitions by the layout that is there or that its mode makes."""
    partitions = pool.pool.partitions
    fixed = dict(dict(partitions.fixed).get(node, ()))
    for group in pool.groups:
        for index in group.indices:
            layout = [(each.profile, each.at) for each in fixed.get(index, ())]
            yield from _of_device(group.accelerator, index, layout, partitions.compute)


def is_whole(accelerator: Accelerator, profile: PartitionProfile) -> bool:
    """Whether a mode leaves the card in one piece."""
    return accelerator.partitioning is Partitioning.WHOLE_CARD_MODE and profile.max_instances == 1


def _of_device(
    accelerator: Accelerator, index: int, layout: Sequence[tuple[str, int]], mode: str | None
) -> Iterator[Cell]:
    """One cell a partition. A mode divides the whole card, so that a layout of such a card only names its mode."""
    by_mode = accelerator.partitioning is Partitioning.WHOLE_CARD_MODE
    named = layout[0][0] if layout and by_mode else mode
    profile = accelerator.partition(named) if named else None
    if profile is not None and not is_whole(accelerator, profile):
        layout = [(profile.name, at) for at in profile.placements or range(profile.max_instances)]
    elif by_mode:
        layout = ()
    for name, at in layout:
        found = accelerator.partition(name)
        assert found is not None, "specset has checked the names of partitions"
        yield Cell(index=index, profile=found.name, at=at, part=found.size)
    if not layout:
        yield Cell(index=index)


TIERS: Final = MappingProxyType({Within.NVLINK_DOMAIN: ReservePer.NVLINK_DOMAIN, Within.RACK: ReservePer.RACK})
"""What work may ask to stay within, by how a pool states it."""


def _tiers(pool: NodePool, nodes: Sequence[str]) -> Iterator[Tier]:
    for within, per in TIERS.items():
        numbers = {name: number for number, members in enumerate(domains(pool, per)) for name in members}
        if numbers:
            yield Tier(within=within, of_node=tuple(numbers.get(name) for name in nodes))


def _groups(pool: NodePool, catalog: Catalog) -> tuple[DeviceGroup, ...]:
    several = len(pool.gpus) > 1
    return tuple(
        DeviceGroup(
            accelerator=accelerator,
            count=group.count,
            memory_mib=group.memory.mib if group.memory else accelerator.memory_mib,
            indices=tuple(sorted(indices)),
            resource=position + 1 if several else 0,
            power_milliwatts=pool.power.milliwatts if pool.power else accelerator.tdp_milliwatts,
        )
        for position, (group, indices) in enumerate(zip(pool.gpus, pool.device_indices(), strict=True))
        if (accelerator := catalog.get(group.model)) is not None
    )


def _counted(pool: NodePool, groups: tuple[DeviceGroup, ...]) -> list[tuple[str, int]]:
    counted = [(DEVICES, sum(group.count for group in groups))]
    if len(groups) > 1:
        counted += [(group.model, group.count) for group in groups]
    if pool.cpus is not None:
        counted.append((CPUS, pool.cpus))
    if pool.memory is not None:
        counted.append((MEMORY, pool.memory.mib))
    return counted + [(f"gres/{name}", amount) for name, amount in pool.gres]


def _node_names(pool: NodePool, market: Market) -> tuple[str, ...]:
    """The nodes that stand there or may be created; a pool that rents named nodes has them in one market only."""
    if pool.max_nodes is None:
        return () if market is Market.SPOT and pool.price.on_demand is not None else pool.node_names()
    if market is Market.SPOT:
        return tuple(f"{pool.name}-spot-{number:04}" for number in range(1, pool.max_nodes.spot + 1))
    names = pool.node_names() if pool.nodes.names or pool.nodes.count is not None else ()
    made = (f"{pool.name}-{number:04}" for number in count(1))
    return tuple(islice(chain(names, (name for name in made if name not in names)), pool.max_nodes.on_demand))


def micros_per_slot(micros_per_hour: int, slot_seconds: int) -> int:
    """A price per hour as money per slot, rounded up."""
    return ceil_div(micros_per_hour * slot_seconds, _HOUR)


def power_micros_per_slot(milliwatts: int, micros_per_kwh: int, slot_seconds: int) -> int:
    """What so much power costs in a slot, rounded up."""
    return ceil_div(milliwatts * micros_per_kwh * slot_seconds, _MILLION * _HOUR)
