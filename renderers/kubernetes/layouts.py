"""Layouts of partitioned devices that the plan chooses: what pools then offer, and what operators are told.

An operator takes named layouts from a ConfigMap and gives a node the one that a label of the node names. The names are
made from what the layouts hold, so that a node is cut anew only where its own layout changes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from planner.catalog import LayoutStyle, Vendor, vendors
from planner.spec.cluster import FixedPartition
from renderers.kubernetes.emit import document
from renderers.kubernetes.naming import short_hash
from renderers.kubernetes.resources import layout_of
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from planner.catalog import Catalog
    from planner.plan import Plan
    from planner.spec.cluster import Cluster, NodePool

NAME: Final = "planner-layouts"
Profiles = tuple[tuple[str, int], ...]
"""How often each profile is on one device; none for a device that is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLayout:
    """How the devices of one node are cut, by index; `whole` is what the vendor calls a device that is not.

    `memory_mode` holds for all devices of the node.
    """

    vendor: Vendor
    devices: tuple[tuple[int, Profiles], ...]
    whole: str
    memory_mode: str

    @property
    def name(self) -> str:
        """The name under which the operator finds it."""
        return f"planner-{short_hash(json.dumps([self.devices, self.memory_mode]))}"


def as_laid_out(cluster: Cluster, plan: Plan) -> Cluster:
    """`cluster` with the partitions that the plan chose as if they were there for good, beside those it may choose."""
    pools = tuple(_pool_as_laid_out(pool, cluster, plan) for pool in cluster.pools)
    return cluster.model_copy(update={"pools": pools})


def _pool_as_laid_out(pool: NodePool, cluster: Cluster, plan: Plan) -> NodePool:
    if not pool.partitions.allowed:
        return pool
    nodes: dict[str, list[tuple[int, tuple[FixedPartition, ...]]]] = {}
    for each in plan.layouts:
        if each.pool == f"{cluster.name}/{pool.name}":
            parts = tuple(FixedPartition(profile=item.profile, at=item.at) for item in each.windows[0].partitions)
            nodes.setdefault(each.node, []).append((each.device, parts))
    fixed = tuple((node, tuple(devices)) for node, devices in sorted(nodes.items()))
    return pool.model_copy(update={"partitions": pool.partitions.model_copy(update={"fixed": fixed})})


def chosen(cluster: Cluster, catalog: Catalog) -> dict[str, NodeLayout]:
    """The layout of each named node of the pools in which the planner may choose, once `cluster` is as laid out."""
    return {
        node: layout
        for pool in cluster.pools
        if pool.partitions.allowed and pool.nodes.names
        for node, layout in _of_pool(pool, cluster, catalog)
    }


def _of_pool(pool: NodePool, cluster: Cluster, catalog: Catalog) -> Iterator[tuple[str, NodeLayout]]:
    (group,) = pool.gpus
    accelerator = catalog.get(group.model)
    if accelerator is None:
        return
    whole = next((profile.name for profile in accelerator.partitions if profile.max_instances == 1), "")
    cut = {node: dict(devices) for node, devices in pool.partitions.fixed}
    for node in pool.nodes.names:
        parts = cut.get(node, {})
        yield (
            node,
            NodeLayout(
                vendor=accelerator.vendor,
                devices=tuple((at, _counted(parts.get(at, ()))) for at in group.devices or range(group.count)),
                whole=whole,
                memory_mode=layout_of(pool, cluster.backend).memory_mode,
            ),
        )


def _counted(parts: Sequence[FixedPartition]) -> Profiles:
    return tuple(sorted(Counter(part.profile for part in parts).items()))


def labels(cluster: Cluster, catalog: Catalog) -> dict[str, dict[str, str]]:
    """The labels by which operators that are told the layouts cut the nodes, by node."""
    found: dict[str, dict[str, str]] = {}
    for node, layout in chosen(cluster, catalog).items():
        key = vendors()[layout.vendor].partition_layout_label_key
        if key is not None and layout.vendor in dict(cluster.backend.operators):
            found[node] = {key: layout.name}
    return found


def objects(cluster: Cluster, catalog: Catalog) -> Iterator[Manifest]:
    """For each operator whose nodes the plan cuts, all layouts by name."""
    every = chosen(cluster, catalog)
    for vendor, namespace in cluster.backend.operators:
        style = vendors()[vendor].partition_layout_style
        layouts = {layout.name: layout for layout in every.values() if layout.vendor is vendor}
        if style is None or not layouts:
            continue
        file, text = _STYLES[style]([layout for _, layout in sorted(layouts.items())])
        tree = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": f"{NAME}-{vendor}",
                "namespace": namespace,
                "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
            },
            "data": {file: text},
        }
        yield Manifest(
            path=f"{cluster.name}/{namespace}/configmap-{NAME}-{vendor}.yaml",
            text=document(tree),
            addresses=(f"cluster/{cluster.name}",),
        )


def _mig_parted(layouts: Sequence[NodeLayout]) -> tuple[str, str]:
    """Devices that are cut alike stand together; where on a device an instance lies is found by the operator."""
    configs = {}
    for layout in layouts:
        alike = groupby(sorted(layout.devices, key=lambda item: (item[1], item[0])), key=lambda item: item[1])
        configs[layout.name] = [
            {
                "devices": [at for at, _ in devices],
                "mig-enabled": bool(profiles),
                **({"mig-devices": dict(profiles)} if profiles else {}),
            }
            for profiles, devices in alike
        ]
    return "config.yaml", document({"version": "v1", "mig-configs": configs})


def _config_manager(layouts: Sequence[NodeLayout]) -> tuple[str, str]:
    """How many devices get which mode; which ones is the operator's choice."""
    profiles: dict[str, Any] = {}
    for layout in layouts:
        modes = Counter(parts[0][0] if parts else layout.whole for _, parts in layout.devices)
        profiles[layout.name] = {
            "skippedGPUs": {"ids": []},
            "profiles": [
                {
                    "computePartition": mode.upper(),
                    "memoryPartition": layout.memory_mode.upper(),
                    "numGPUsAssigned": count,
                }
                for mode, count in sorted(modes.items())
            ],
        }
    return "config.json", json.dumps({"gpu-config-profiles": profiles}, indent=2, sort_keys=True) + "\n"


_STYLES: Final[Mapping[LayoutStyle, Callable[[Sequence[NodeLayout]], tuple[str, str]]]] = MappingProxyType(
    {LayoutStyle.MIG_PARTED: _mig_parted, LayoutStyle.CONFIG_MANAGER: _config_manager}
)


def unmet(cluster: Cluster, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """What of the layouts the cluster cannot be held to: sentences, each with the pool that it is about."""
    every = chosen(cluster, catalog)
    for pool in cluster.pools:
        if pool.partitions.allowed:
            mine = [every[node] for node in pool.nodes.names if node in every]
            yield from ((pool.name, text) for text in _unmet(mine, cluster))


def _unmet(layouts: Sequence[NodeLayout], cluster: Cluster) -> Iterator[str]:
    if not layouts:
        yield "its nodes have no names: cut their devices by hand as layouts of the plan says"
        return
    vendor = layouts[0].vendor
    if vendor not in dict(cluster.backend.operators):
        yield f"nothing cuts its devices: state operators.{vendor}, or cut them as layouts of the plan says"
        return
    yield (
        f"its operator cuts idle devices once it reads {NAME}-{vendor} and the nodes have the labels below nodeLabels "
        "of index.json; where on a device a partition lies is its own choice"
    )
    by_modes = vendors()[vendor].partition_layout_style is LayoutStyle.CONFIG_MANAGER
    if by_modes and any(len({parts for _, parts in layout.devices}) > 1 for layout in layouts):
        yield "some of its nodes have devices of several modes, which its operator does not promise to set"
