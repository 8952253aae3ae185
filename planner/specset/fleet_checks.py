"""Checks of clusters, their pools and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog import Accelerator
from planner.diagnostics import quoted
from planner.hosts import fold
from planner.spec.cluster import Cluster, GpuGroup, NodePool, Place
from planner.specset import partition_checks
from planner.specset.faults import Faults, Item, also
from planner.specset.tree import Tree
from planner.yamlio import Path


def check(tree: Tree, faults: Faults) -> None:
    """Report what is wrong with the fleet."""
    for item in tree.clusters:
        _place(item, faults)
        _hosts(item, faults)
        _names(item, faults)
        for index, pool in enumerate(item.spec.pools):
            path = ("pools", index)
            _nodes(item, path, pool, faults)
            _devices(item, path, pool, faults)
            _domains(item, path, pool, faults)
            _links(item, path, pool, faults)
            _money(item, path, pool, faults)
            _absences(item, path, pool, faults)
            accelerators = [found for group in pool.gpus if (found := tree.catalog.get(group.model))]
            partition_checks.check(item, path, pool, accelerators, faults)
            _sharing(item, path, pool, accelerators, faults)
    _shared_nodes(tree, faults)


def _place(item: Item[Cluster], faults: Faults) -> None:
    place = item.spec.place
    stated = place.model_fields_set & set(Place.model_fields)
    if stated and stated not in ({"site"}, {"provider", "region"}, {"edge"}):
        faults.add(
            "SPEC212", item, ("place",), "a place is one of three kinds, not a mixture",
            help="write {site: sh-1}, {provider: aws, region: us-east-1} or {edge: store-17}",
        )  # fmt: skip


def _hosts(item: Item[Cluster], faults: Faults) -> None:
    names = {name for pool in item.spec.pools for name in pool.node_names()}
    for index, host in enumerate(item.spec.backend.hosts):
        if host.node not in names:
            summary = f"no pool of the cluster has the node {quoted(host.node)}"
            path = ("backend", "hosts", index, "node")
            faults.add("SPEC306", item, path, summary, help=f"its nodes are {fold(names)}")


def _names(item: Item[Cluster], faults: Faults) -> None:
    first: dict[str, int] = {}
    for index, pool in enumerate(item.spec.pools):
        if pool.name in first:
            summary = f"two pools have the name {quoted(pool.name)}"
            faults.add(
                "SPEC401", item, ("pools", index, "name"), summary, help="rename one of them",
                related=(also(item, "pools", first[pool.name], "name", message="the first one"),),
            )  # fmt: skip
        first.setdefault(pool.name, index)


def _nodes(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    if pool.nodes.names and pool.nodes.count is not None:
        faults.add(
            "SPEC212", item, (*path, "nodes"), "nodes are given both by name and by number", help="keep the names"
        )
    if not pool.node_count and pool.max_nodes is None:
        faults.add(
            "SPEC203", item, path, f"the pool {quoted(pool.name)} has no nodes",
            help="add nodes: with a host list or a number, or max_nodes: where a cloud creates them",
        )  # fmt: skip
    if pool.max_nodes is not None and not item.spec.place.is_cloud:
        faults.add(
            "SPEC212", item, (*path, "max_nodes"), "max_nodes needs a cloud, but the cluster is not in one",
            help="add place: {provider: …, region: …} to the cluster, or list the nodes instead",
        )  # fmt: skip
    if pool.reserve is not None and pool.reserve.nodes >= max(pool.node_count, 1):
        summary = f"{pool.reserve.nodes} nodes are reserved, but the pool has {pool.node_count}"
        faults.add("SPEC415", item, (*path, "reserve"), summary, help="reserve fewer")


def _devices(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    taken: set[int] = set()
    names = set(pool.node_names())
    for index, group in enumerate(pool.gpus):
        where = (*path, "gpus", index) if len(pool.gpus) > 1 else (*path, "gpus")
        if group.devices and len(group.devices) != group.count:
            summary = f"count is {group.count}, but {len(group.devices)} devices are listed"
            faults.add("SPEC421", item, (*where, "devices"), summary, help="make the two agree")
        twice = sorted((set(group.devices) & taken) | {one for one in group.devices if group.devices.count(one) > 1})
        if twice:
            faults.add(
                "SPEC421",
                item,
                (*where, "devices"),
                f"device {twice[0]} is described twice",
                help="give each index once",
            )
        taken |= set(group.devices)
        _uuids(item, where, group, names, faults)


def _uuids(item: Item[Cluster], path: Path, group: GpuGroup, names: set[str], faults: Faults) -> None:
    for node, uuids in group.uuids:
        if node not in names:
            faults.add(
                "SPEC306",
                item,
                (*path, "uuids", node),
                f"the pool has no node {quoted(node)}",
                help=f"its nodes are {fold(names)}",
                key=True,
            )
        if len(uuids) != group.count:
            summary = f"{node} has {len(uuids)} uuids for {group.count} devices"
            faults.add(
                "SPEC421",
                item,
                (*path, "uuids", node),
                summary,
                help="give one uuid for each device, in the order of their indices",
            )


def _domains(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    for per, field, word in (
        ("nodes_per_rack", "racks", "rack"),
        ("nodes_per_nvlink_domain", "nvlink_domains", "NVLink domain"),
    ):
        size, groups = getattr(pool, per), getattr(pool, field)
        if size is not None and groups:
            faults.add(
                "SPEC212",
                item,
                (*path, per),
                f"{per} and {field} exclude each other",
                help=f"keep {field}, or number the nodes evenly",
            )
        if size is not None and size > pool.node_count:
            summary = f"{per} is {size}, but the pool has only {pool.node_count} nodes"
            faults.add("SPEC417", item, (*path, per), summary, help=f"write at most {pool.node_count}")
        _domain_nodes(item, (*path, field), pool, groups, word, faults)


def _domain_nodes(
    item: Item[Cluster],
    path: Path,
    pool: NodePool,
    groups: Sequence[tuple[str, tuple[str, ...]]],
    word: str,
    faults: Faults,
) -> None:
    names, home = set(pool.node_names()), dict[str, str]()
    for domain, nodes in groups:
        for node in nodes:
            if node not in names:
                summary = f"the {word} {quoted(domain)} has the node {quoted(node)}, but the pool has not"
                faults.add("SPEC306", item, (*path, domain), summary, help=f"the pool's nodes are {fold(names)}")
            if node in home:
                summary = f"the node {quoted(node)} is in two places: {word} {home[node]} and {word} {domain}"
                faults.add("SPEC417", item, (*path, domain), summary, help="list it once")
            home.setdefault(node, domain)


def _links(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    known = {index for group in pool.device_indices() for index in group}
    for field in ("links", "sockets"):
        seen: set[int] = set()
        for index, group in enumerate(getattr(pool, field)):
            for device in group:
                if device not in known:
                    faults.add(
                        "SPEC306", item, (*path, field, index), f"nodes of the pool have no device {device}",
                        help=f"devices are counted from 0 to {max(known, default=0)}",
                    )  # fmt: skip
                elif device in seen:
                    faults.add(
                        "SPEC421",
                        item,
                        (*path, field, index),
                        f"device {device} is in two groups of {field}",
                        help="list it once",
                    )
                seen.add(device)


def _money(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    if pool.max_nodes is None:
        return
    for market in ("on_demand", "spot"):
        if getattr(pool.max_nodes, market) and getattr(pool.price, market) is None:
            faults.add(
                "SPEC212", item, (*path, "max_nodes"), f"max_nodes.{market} has no price.{market}",
                help=f"add price: {{{market}: USD …/h}}: what one node costs per hour",
            )  # fmt: skip


def _absences(item: Item[Cluster], path: Path, pool: NodePool, faults: Faults) -> None:
    names = set(pool.node_names())
    for index, absence in enumerate(pool.unavailable):
        where = (*path, "unavailable", index)
        if absence.end <= absence.start:
            faults.add(
                "SPEC408", item, (*where, "to"), "the absence ends before it begins", help="write a time after from"
            )
        for node in absence.nodes:
            if node not in names:
                faults.add(
                    "SPEC306",
                    item,
                    (*where, "nodes"),
                    f"the pool has no node {quoted(node)}",
                    help=f"its nodes are {fold(names)}",
                )
                break


def _sharing(
    item: Item[Cluster], path: Path, pool: NodePool, accelerators: Sequence[Accelerator], faults: Faults
) -> None:
    if pool.sharing is None:
        return
    if not pool.gpus:
        faults.add(
            "SPEC212",
            item,
            (*path, "sharing"),
            "the pool shares devices but has none",
            help="add gpus:, or remove sharing:",
        )
    elif pool.sharing.units < 2:
        faults.add(
            "SPEC208",
            item,
            (*path, "sharing", "units"),
            "a device shared by one is not shared",
            help="write 2 or more, or remove sharing:",
        )


def _shared_nodes(tree: Tree, faults: Faults) -> None:
    """The same node in two pools of one cluster, or of clusters that are not known to be at different places."""
    first: dict[str, list[tuple[Item[Cluster], int]]] = {}
    for item in tree.clusters:
        for index, pool in enumerate(item.spec.pools):
            for node in pool.nodes.names:
                others = first.setdefault(node, [])
                clash = next((other for other in others if _may_be_one(other[0], item)), None)
                if clash:
                    other, position = clash
                    keys = f"{_key(other, position)} and {_key(item, index)}"
                    faults.add(
                        "SPEC402", item, ("pools", index, "nodes"), f"the node {quoted(node)} is in two pools, {keys}",
                        help="list it in one of them; clusters at different places may use the same names",
                        related=(also(other, "pools", position, "nodes", message="first listed here"),),
                    )  # fmt: skip
                    break
                others.append((item, index))


def _may_be_one(one: Item[Cluster], other: Item[Cluster]) -> bool:
    if one is other or one.spec.place == other.spec.place:
        return True
    return not all(item.document.value.get("place") for item in (one, other))


def _key(item: Item[Cluster], index: int) -> str:
    return f"{item.spec.name}/{item.spec.pools[index].name}"
