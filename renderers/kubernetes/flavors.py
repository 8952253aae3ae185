"""Flavors: the kinds of node of a cluster as Kueue tells them apart, and how much of each resource they have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.catalog import Naming, vendors
from planner.spec.backend import DevicesBy, Queueing
from renderers.kubernetes import versions
from renderers.kubernetes.naming import dns_label, is_label
from renderers.kubernetes.resources import Taint, layout_of, parse_taint, pool_resources
from renderers.kubernetes.topology import levels_of

if TYPE_CHECKING:
    from planner.catalog import Accelerator, Catalog, Vendor
    from planner.spec.cluster import Cluster, NodePool
    from planner.specset import DeviceClass

CPU: Final = "cpu"
MEMORY: Final = "memory"
OWN_LABEL: Final = "planner.dev/flavor"
UNCHECKED: Final = 1_000_000
"""CPU cores, and GiB of memory, where a pool does not say how much it has: nothing is limited by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor:
    """Nodes of one or several pools that no label tells apart.

    `queue` is the vendor, or `cpu` for nodes without devices: resources of one queue are admitted together. `devices`
    and `models` are what quotas count; `capacity` is in cores, MiB and pieces of each device resource. `labels_seen`
    says that no label is only assumed, `needs_label` that somebody has to put our own label on the nodes, `unusable`
    which of the pool's labels Kubernetes does not take, `levels` the labels of its topology, the widest first.
    """

    name: str
    queue: str
    vendor: Vendor | None
    models: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]
    pools: tuple[str, ...]
    devices: int
    capacity: tuple[tuple[str, int], ...]
    labels_seen: bool = True
    unusable: tuple[str, ...] = ()
    needs_label: bool = False
    levels: tuple[str, ...] = ()

    def amount(self, resource: str) -> int:
        """How much of a resource the nodes have in all."""
        return dict(self.capacity).get(resource, 0)

    def holds(self, devices: DeviceClass) -> bool:
        """Whether these devices, of the same cluster, are among the flavor's."""
        return devices.where.pool.name in self.pools and devices.accelerator.slug in self.models


def flavors_of(cluster: Cluster, catalog: Catalog) -> tuple[Flavor, ...]:
    """The flavors of a cluster, by name; pools with the same models, labels and taints are one."""
    merged: dict[tuple[object, ...], Flavor] = {}
    for pool in sorted(cluster.pools, key=lambda item: item.name):
        for flavor in _of_pool(pool, cluster, catalog):
            key = (flavor.queue, flavor.models, flavor.labels, flavor.taints, flavor.levels)
            merged[key] = _joined(merged[key], flavor) if key in merged else flavor
    return tuple(map(_labelled, *_apart(sorted(merged.values(), key=lambda flavor: (flavor.name, flavor.pools)))))


def _apart(flavors: list[Flavor]) -> tuple[list[Flavor], list[bool]]:
    """Flavors with names of their own, and whether each is alone in its queue.

    Those that would have one name, such as pools that only taints tell apart, get their pool's name too.
    """
    names, queues = Counter(item.name for item in flavors), Counter(item.queue for item in flavors)
    named = [
        replace(item, name=dns_label(f"{item.name}-{item.pools[0]}")) if names[item.name] > 1 else item
        for item in flavors
    ]
    return named, [queues[item.queue] == 1 for item in flavors]


def _labelled(flavor: Flavor, alone: bool) -> Flavor:
    """Give a flavor without labels one of ours, unless it is alone: Kueue takes a bare one for any other."""
    if flavor.labels or alone:
        return flavor
    return replace(flavor, labels=((OWN_LABEL, flavor.name),), needs_label=True)


def _of_pool(pool: NodePool, cluster: Cluster, catalog: Catalog) -> tuple[Flavor, ...]:
    by_vendor: dict[Vendor, list[Accelerator]] = {}
    for group in pool.gpus:
        if (accelerator := catalog.get(group.model)) is not None:
            by_vendor.setdefault(accelerator.vendor, []).append(accelerator)
    if not by_vendor:
        return (_cpu_flavor(pool),)
    return tuple(_flavor(pool, cluster, vendor, tuple(models)) for vendor, models in sorted(by_vendor.items()))


def _flavor(pool: NodePool, cluster: Cluster, vendor: Vendor, models: tuple[Accelerator, ...]) -> Flavor:
    devices = pool.node_count * sum(group.count for group in pool.gpus if group.model in {item.slug for item in models})
    whole = pool.node_count * pool.devices_per_node
    slugs = tuple(sorted(item.slug for item in models))
    labels, seen = _labels(pool, cluster, vendor, models)
    return Flavor(
        name=dns_label("-".join((*slugs, pool.name)) if pool.labels or len(slugs) > 1 else slugs[0]),
        queue=str(vendor),
        vendor=vendor,
        models=slugs,
        labels=labels,
        taints=tuple(sorted(map(parse_taint, pool.taints))),
        pools=(pool.name,),
        unusable=_unusable(pool),
        devices=devices,
        capacity=(
            (CPU, _host(pool.cpus, UNCHECKED, pool) * devices // whole),
            (MEMORY, _host(pool.memory.mib if pool.memory else None, UNCHECKED << 10, pool) * devices // whole),
            *pool_resources(pool, cluster.backend, models, vendors()[vendor]),
        ),
        labels_seen=seen,
        levels=_levels(pool, cluster, labels),
    )


def _levels(pool: NodePool, cluster: Cluster, labels: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The levels of a pool's topology; Kueue knows them only of flavors with labels, and of what claims no devices."""
    backend = cluster.backend
    if backend.queueing is Queueing.KUEUE and (
        not labels
        or backend.devices is DevicesBy.DRA
        or versions.parse(backend.kueue_version) < versions.TOPOLOGY_OBJECTS
    ):
        return ()
    return levels_of(pool)


def _cpu_flavor(pool: NodePool) -> Flavor:
    return Flavor(
        name=dns_label(f"cpu-{pool.name}"),
        queue=CPU,
        vendor=None,
        models=(),
        labels=_own_labels(pool),
        taints=tuple(sorted(map(parse_taint, pool.taints))),
        pools=(pool.name,),
        unusable=_unusable(pool),
        devices=0,
        capacity=(
            (CPU, _host(pool.cpus, UNCHECKED, pool)),
            (MEMORY, _host(pool.memory.mib if pool.memory else None, UNCHECKED << 10, pool)),
        ),
    )


def _own_labels(pool: NodePool) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in pool.labels if is_label(key, value))


def _unusable(pool: NodePool) -> tuple[str, ...]:
    return tuple(f"{key}: {value}" for key, value in pool.labels if not is_label(key, value))


def _host(per_node: int | None, unchecked: int, pool: NodePool) -> int:
    return unchecked if per_node is None else per_node * pool.node_count


def _labels(
    pool: NodePool, cluster: Cluster, vendor: Vendor, models: tuple[Accelerator, ...]
) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Labels that select the nodes, and whether each of the catalogue's was seen on a real node.

    Where a node holds several models its product label names only one of them, and tells nothing.
    """
    own = dict(_own_labels(pool))
    if len(models) > 1:
        return tuple(sorted(own.items())), True
    suffix = _label_suffix(pool, cluster, vendor)
    catalogued = {key: value + suffix for key, value in models[0].kubernetes_labels}
    unseen = models[0].product_label_seen is False and not set(catalogued) <= set(own)
    return tuple(sorted({**catalogued, **own}.items())), not unseen


def _label_suffix(pool: NodePool, cluster: Cluster, vendor: Vendor) -> str:
    layout, facts = layout_of(pool, cluster.backend), vendors()[vendor]
    if layout.shared_units:
        return facts.shared_label_suffix or ""
    if layout.profile and layout.naming is Naming.SINGLE and facts.partition_label_suffix:
        return facts.partition_label_suffix.replace("{profile}", layout.profile.replace("+", "."))
    return ""


def _joined(one: Flavor, other: Flavor) -> Flavor:
    resources = [name for name, _ in one.capacity] + [
        name for name, _ in other.capacity if name not in dict(one.capacity)
    ]
    return replace(
        one,
        pools=one.pools + other.pools,
        devices=one.devices + other.devices,
        capacity=tuple((name, one.amount(name) + other.amount(name)) for name in resources),
        unusable=tuple(sorted({*one.unusable, *other.unusable})),
    )
