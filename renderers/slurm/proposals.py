"""Site files as the specs would have them, to be compared with the site's own: nothing reads or overwrites them.

CLUSTER/proposals/slurm.conf       what the plan relies on, and the nodes of the pools
CLUSTER/proposals/gres.conf        their devices, with the variables of the right vendor
CLUSTER/proposals/topology.conf    racks as switches, or NVLink domains as blocks
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.catalog import vendors
from planner.catalog.vendor import filled
from planner.hosts import fold
from renderers.compose.devices import render_node
from renderers.manifest import Manifest
from renderers.slurm import words
from renderers.slurm.features import Feature, has, parse
from renderers.slurm.shares import UNTYPED, tres_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.catalog import VendorFacts
    from planner.spec.cluster import Cluster, NodePool
    from planner.specset import SpecSet

_HEAD: Final = "# A proposal from the specs: compare it with the site's own file. Nothing reads it.\n"
_SETTINGS: Final = (
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_Core_Memory",
    "AccountingStorageEnforce=associations,limits,qos",
    "PreemptType=preempt/qos",
    "PreemptMode=REQUEUE",
    "PriorityType=priority/multifactor",
    "PriorityWeightQOS=100000",
)
"""What the plan relies on, whatever the nodes."""


def proposals(specset: SpecSet, cluster: Cluster) -> Iterator[Manifest]:
    """The files; raises `Unsupported` where a name of the specs cannot stand in them."""
    pools = tuple(pool for pool in cluster.pools if pool.nodes.names)
    if not pools:
        return
    texts = {
        "slurm.conf": _slurm_conf(specset, cluster, pools),
        "gres.conf": (line for pool in pools for line in _gres(specset, cluster, pool)),
        "topology.conf": _topology(cluster, pools),
    }
    for name, lines in texts.items():
        if text := "".join(f"{line}\n" for line in lines):
            yield Manifest(
                path=f"{cluster.name}/proposals/{name}", text=_HEAD + text, addresses=(f"cluster/{cluster.name}",)
            )


def _slurm_conf(specset: SpecSet, cluster: Cluster, pools: Sequence[NodePool]) -> Iterator[str]:
    kinds = sorted({tres_of(specset, cluster, pool, group.model) for pool in pools for group in pool.gpus} | {UNTYPED})
    yield from (*_SETTINGS, "GresTypes=gpu", f"AccountingStorageTRES={','.join(kinds)}")
    members: dict[str, list[str]] = {}
    for pool in pools:
        yield _node(specset, cluster, pool)
        for name in words.plain_list(pool.partition or pool.name, "partition").split(","):
            members.setdefault(name, []).extend(pool.nodes.names)
    for name, nodes in sorted(members.items()):
        yield f"PartitionName={name} Nodes={fold(nodes)} State=UP"


def _node(specset: SpecSet, cluster: Cluster, pool: NodePool) -> str:
    gpus = ",".join(
        f"{tres_of(specset, cluster, pool, group.model).removeprefix('gres/')}:{group.count}" for group in pool.gpus
    )
    parts = (
        f"NodeName={fold(pool.nodes.names)}",
        f"CPUs={pool.cpus}" if pool.cpus else "",
        f"RealMemory={pool.memory.mib}" if pool.memory else "",
        f"Gres={gpus}" if gpus else "",
        f"Feature={','.join(words.plain(item, 'feature') for item in pool.features)}" if pool.features else "",
    )
    return " ".join(filter(None, parts))


def _gres(specset: SpecSet, cluster: Cluster, pool: NodePool) -> Iterator[str]:
    """A line for each model of a pool; where no source tells the files of devices, Slurm is to find them itself."""
    for group, indices in zip(pool.gpus, pool.device_indices(), strict=True):
        facts = vendors()[specset.accelerator(group.model).vendor]
        kind = tres_of(specset, cluster, pool, group.model).removeprefix(UNTYPED).removeprefix(":")
        if facts.slurm_device_file is None:
            detect = facts.slurm_autodetect or "off"
            yield f"NodeName={fold(pool.nodes.names)} AutoDetect={detect}"
            continue
        parts = (
            f"NodeName={fold(pool.nodes.names)} Name=gpu",
            f"Type={kind}" if kind else "",
            f"File={_files(pool, facts, facts.slurm_device_file, tuple(indices))}",
            f"Flags={facts.slurm_env_flag}" if facts.slurm_env_flag else "",
        )
        yield " ".join(filter(None, parts))


def _files(pool: NodePool, facts: VendorFacts, text: str, indices: Sequence[int]) -> str:
    paths = [filled(text, index=index, render=render_node(pool, facts, index)) for index in indices]
    folder = paths[0].rpartition("/")[0]
    return f"{folder}/{fold([path.rpartition('/')[2] for path in paths])}"


def _topology(cluster: Cluster, pools: Sequence[NodePool]) -> Iterator[str]:
    """Blocks where the version has them and every pool has NVLink domains, else racks; a site has one or the other."""
    blocks = [_domains(pool, pool.nvlink_domains, pool.nodes_per_nvlink_domain, "domain") for pool in pools]
    racks = [_domains(pool, pool.racks, pool.nodes_per_rack, "rack") for pool in pools]
    if all(blocks) and has(parse(cluster.backend.version), Feature.BLOCK_SIZES):
        found = [block for each in blocks for block in each]
        yield from (f"BlockName={words.plain(name, 'domain')} Nodes={fold(nodes)}" for name, nodes in found)
        yield f"BlockSizes={min(len(nodes) for _, nodes in found)}"
    elif all(racks):
        names = [words.plain(name, "rack") for each in racks for name, _ in each]
        for each in racks:
            yield from (f"SwitchName={name} Nodes={fold(nodes)}" for name, nodes in each)
        yield f"SwitchName=top Switches={','.join(names)}"


def _domains(
    pool: NodePool, stated: Sequence[tuple[str, Sequence[str]]], size: int | None, what: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Domains by name: those that the pool states, else so many of its nodes each."""
    if stated:
        return tuple((name, tuple(nodes)) for name, nodes in stated)
    names = pool.nodes.names
    if size is None:
        return ()
    return tuple(
        (f"{pool.name}-{what}-{number}", tuple(names[start : start + size]))
        for number, start in enumerate(range(0, len(names), size))
    )
