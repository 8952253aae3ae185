"""Whether any devices of the fleet could ever run a piece of work, and if not, why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.catalog import Accelerator, Vendor
from planner.spec.cluster import Cluster, NodePool
from planner.spec.job import Job
from planner.spec.service import Service
from planner.spec.work import GpuRequest, Variant, Within, WorkPlace
from planner.specset.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Devices of one model in one pool."""

    cluster: Cluster
    pool: NodePool
    accelerator: Accelerator
    memory_mib: int | None
    per_node: int

    @property
    def key(self) -> str:
        """`dc1/h100`."""
        return f"{self.cluster.name}/{self.pool.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What work needs of devices, as far as the fleet can refuse it for ever."""

    count: int
    nodes: int | None
    models: tuple[str, ...]
    vendor: Vendor
    memory_mib: int | None
    share: Fraction | None
    share_memory_mib: int | None
    partition: str | None
    place: WorkPlace
    largest_role: int
    over_pools: bool


def classes(tree: Tree) -> tuple[Class, ...]:
    """The devices of a tree by pool and model."""
    return tuple(
        Class(item.spec, pool, found, group.memory.mib if group.memory else found.memory_mib, group.count)
        for item in tree.clusters
        for pool in item.spec.pools
        for group in pool.gpus
        if (found := tree.catalog.get(group.model))
    )


def wish_of(spec: Job | Service, variant: Variant | None) -> Wish:
    """What one variant needs; None means the work itself."""
    gpus = (variant.gpus if variant else None) or spec.gpus or GpuRequest(count=0)
    models = (variant.models if variant else ()) or gpus.models
    vendor = (variant.vendor if variant else None) or gpus.vendor or Vendor.NVIDIA
    roles = spec.roles if isinstance(spec, Job) else ()
    fewest = spec.replicas.min if isinstance(spec, Job) and spec.replicas else None
    return Wish(
        count=sum(role.gpus.count * role.replicas for role in roles) or gpus.count * (fewest or 1),
        nodes=gpus.nodes,
        models=models,
        vendor=vendor,
        memory_mib=gpus.memory.mib if gpus.memory else None,
        share=gpus.share,
        share_memory_mib=gpus.share_memory.mib if gpus.share_memory else None,
        partition=gpus.partition,
        place=spec.place,
        largest_role=max((role.gpus.count for role in roles), default=gpus.count if fewest else 0),
        over_pools=spec.topology is not None and spec.topology.within is Within.CLUSTER,
    )


def refusal(wish: Wish, fleet: Sequence[Class]) -> tuple[str, str, str] | None:
    """Why nothing can ever run it: code, summary and advice; None when something can.

    The devices are narrowed down by one condition after the other; the one that leaves none is the reason.
    """
    if wish.count == 0:
        return None
    left: Sequence[Class] = fleet
    for keeps, reason in _STEPS:
        kept = [one for one in left if keeps(wish, one)]
        if not kept:
            return reason(wish, left)
        left = kept
    return None


def candidates(wish: Wish, fleet: Sequence[Class]) -> tuple[Class, ...]:
    """The devices that could run it in an empty fleet."""
    return tuple(one for one in fleet if all(keeps(wish, one) for keeps, _ in _STEPS))


def _of_vendor(wish: Wish, one: Class) -> bool:
    return one.accelerator.vendor is wish.vendor


def _of_model(wish: Wish, one: Class) -> bool:
    return not wish.models or one.accelerator.slug in wish.models


def _at_place(wish: Wish, one: Class) -> bool:
    place, region = wish.place, one.cluster.place.name
    names = {one.cluster.name, one.key, region}
    return (
        (not place.clusters or one.cluster.name in place.clusters)
        and (not place.pools or one.key in place.pools)
        and (not place.regions or region in place.regions)
        and names.isdisjoint(place.exclude)
    )


def _with_memory(wish: Wish, one: Class) -> bool:
    least = max(wish.memory_mib or 0, wish.share_memory_mib or 0)
    return not least or one.memory_mib is None or one.memory_mib >= least


def _with_parts(wish: Wish, one: Class) -> bool:
    if wish.partition is not None:
        return wish.partition.lower() in _partitions(one)
    if wish.share is not None or wish.share_memory_mib is not None:
        return one.pool.sharing is not None
    return True


def _in_nodes(wish: Wish, one: Class) -> bool:
    if wish.over_pools or wish.partition is not None or wish.share is not None or wish.share_memory_mib is not None:
        return True
    if wish.largest_role:
        return wish.largest_role <= one.per_node and wish.count <= one.per_node * one.pool.node_count
    if wish.nodes is not None:
        return (
            wish.count % wish.nodes == 0
            and wish.count // wish.nodes <= one.per_node
            and wish.nodes <= one.pool.node_count
        )
    return any(
        wish.count % nodes == 0 and wish.count // nodes <= one.per_node
        for nodes in range(1, min(wish.count, one.pool.node_count) + 1)
    )


def _partitions(one: Class) -> set[str]:
    declared = one.pool.partitions
    fixed = {part.profile for _, devices in declared.fixed for _, layout in devices for part in layout}
    names = {*declared.allowed, *fixed, *([declared.compute] if declared.compute else [])}
    return {name.lower() for name in names}


def _no_vendor(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    vendors = sorted({str(one.accelerator.vendor) for one in left})
    have = f"the fleet has {' and '.join(vendors)}" if vendors else "the fleet has no devices"
    return (
        "SPEC420",
        f"no pool has devices of {wish.vendor}",
        f"{have}; state gpus.vendor, or give variants for other vendors",
    )


def _no_model(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    models = sorted({one.accelerator.slug for one in left})
    return (
        "SPEC420",
        f"no {wish.vendor} device is a {' or '.join(wish.models)}",
        f"of {wish.vendor} the fleet has {', '.join(models)}",
    )


def _no_place(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    return "SPEC420", "no suitable pool is where the work may run", f"suitable pools: {_keys(left)}; widen place"


def _no_memory(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    least = max(wish.memory_mib or 0, wish.share_memory_mib or 0)
    most = max(one.memory_mib or 0 for one in left)
    summary = f"no device has {_gib(least)} of memory; the largest that it could use has {_gib(most)}"
    return "SPEC411", summary, f"ask for at most {_gib(most)}, or spread the model over more devices"


def _no_parts(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    if wish.partition is None:
        return (
            "SPEC410",
            "no pool that it could use shares its devices",
            f"add sharing: to one of {_keys(left)}, or ask for whole devices",
        )
    offered = sorted({name for one in left for name in _partitions(one)})
    have = f"they offer {', '.join(offered)}" if offered else "add partitions: to one of them"
    return (
        "SPEC410",
        f"no pool that it could use offers the partition {wish.partition!r}",
        f"pools: {_keys(left)}; {have}",
    )


def _no_nodes(wish: Wish, left: Sequence[Class]) -> tuple[str, str, str]:
    sizes = ", ".join(f"{one.key}: {one.pool.node_count} nodes of {one.per_node}" for one in left)
    if wish.largest_role:
        shape = f"parts of {wish.count} devices in all"
    elif wish.nodes:
        shape = f"{wish.nodes} nodes of {wish.count // wish.nodes}"
    else:
        shape = f"{wish.count} devices, as equal parts of nodes,"
    return "SPEC420", f"no pool has room for {shape} even when it is empty", f"pools: {sizes}"


def _keys(left: Sequence[Class]) -> str:
    return ", ".join(sorted({one.key for one in left}))


def _gib(mib: int) -> str:
    whole, rest = divmod(mib, 1024)
    return f"{mib}Mi" if rest else f"{whole}Gi"


_Step = tuple[Callable[[Wish, Class], bool], Callable[[Wish, Sequence[Class]], tuple[str, str, str]]]
_STEPS: tuple[_Step, ...] = (
    (_of_vendor, _no_vendor),
    (_of_model, _no_model),
    (_at_place, _no_place),
    (_with_memory, _no_memory),
    (_with_parts, _no_parts),
    (_in_nodes, _no_nodes),
)
