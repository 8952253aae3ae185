"""What a job asks of each node in generic resources, spelled as the site does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.spec.backend import GpuOption
from planner.spec.cluster import SharingBy
from planner.units import ceil_fraction, parse_share
from renderers.refusal import Unsupported
from renderers.slurm import words
from renderers.slurm.features import Feature, has, parse

if TYPE_CHECKING:
    from planner.catalog import Accelerator
    from planner.plan import Device, NodeUse
    from planner.spec.cluster import NodePool
    from renderers.payload import Payload

Amount = tuple[str, str | None, int]
"""A resource, its type where the site writes one, and how many of it a node gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Nodes of a job that give alike: one component of a heterogeneous job, or all of a plain one."""

    role: str | None
    nodes: tuple[str, ...]
    devices: tuple[Device, ...]


def blocks_of(payload: Payload) -> tuple[Block, ...]:
    """The nodes of a job by role and devices, in the order of the plan's nodes."""
    groups: dict[tuple[object, ...], list[NodeUse]] = {}
    for node in payload.nodes:
        kinds = sorted((device.profile or "", device.share or "") for device in node.devices)
        groups.setdefault((node.role, *kinds), []).append(node)
    return tuple(
        Block(role=found[0].role, nodes=tuple(node.name for node in found), devices=found[0].devices)
        for found in groups.values()
    )


def device_options(payload: Payload, block: Block) -> tuple[tuple[str, str], ...]:
    """The options, name and value, that ask for the devices and other countable things of one node."""
    asked = amounts(payload, block)
    gpus = tuple(item for item in asked if item[0] == "gpu")
    others = tuple(item for item in asked if item[0] != "gpu")
    if gpus and _asks_per_node(payload):
        per_node = ",".join(":".join([*([kind] if kind else []), str(count)]) for _, kind, count in gpus)
        rest = (("gres", words.gres(others)),) if others else ()
        return (("gpus-per-node", per_node), *rest)
    return (("gres", words.gres(asked)),) if asked else ()


def _asks_per_node(payload: Payload) -> bool:
    backend = payload.cluster.backend
    return backend.gpu_option is GpuOption.GPUS_PER_NODE and has(parse(backend.version), Feature.GPUS_PER_NODE)


def amounts(payload: Payload, block: Block) -> tuple[Amount, ...]:
    """What each node of a block gives: devices first, then the job's other resources by name."""
    found = Counter[tuple[str, str | None]]()
    for device in block.devices:
        found += _of_device(payload, device)
    others = tuple((words.plain(name, "resource"), None, count) for name, count in payload.job.gres if count)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    return (*((name, kind, count) for (name, kind), count in ordered), *others)


def _of_device(payload: Payload, device: Device) -> Counter[tuple[str, str | None]]:
    if device.share is not None:
        return Counter({("shard", None): _shards(payload, device.share)})
    return Counter({("gpu", _type_of(payload, device)): 1})


def _shards(payload: Payload, share: str) -> int:
    sharing = payload.pool.sharing
    if sharing is None or sharing.by is not SharingBy.SHARD:
        raise Unsupported(f"Slurm hands out {share} of a device only where the pool is shared by shard")
    return ceil_fraction(parse_share(share) * sharing.units)


def _type_of(payload: Payload, device: Device) -> str | None:
    """How the site calls such a device; None where it writes no types.

    Without a type a node of several models gives any of them, which is right only for who takes them all.
    """
    if not payload.cluster.backend.typed:
        _check_untyped(payload)
        return None
    kind = _partition_type(payload, device.profile) if device.profile else whole_type(payload.pool, payload.accelerator)
    if kind is None:
        _check_untyped(payload)
        return None
    return words.plain(kind, "type of device")


def whole_type(pool: NodePool, accelerator: Accelerator | None) -> str | None:
    """How the site calls whole devices of a model in a pool; None where neither the pool nor the catalogue tells."""
    if pool.gres_type and len(pool.gpus) == 1:
        return pool.gres_type
    spellings = accelerator.gres_types if accelerator else ()
    return spellings[0] if spellings else None


def _partition_type(payload: Payload, name: str) -> str:
    accelerator = payload.accelerator
    profile = accelerator.partition(name) if accelerator else None
    kind = accelerator.gres_partition_type(profile) if accelerator and profile else None
    kind = kind or (payload.pool.gres_type if payload.pool.partitions.compute else None)
    if kind is None:
        raise Unsupported(f"no source tells how Slurm calls the partition {name}; give the pool's gres_type")
    return kind


def _check_untyped(payload: Payload) -> None:
    if len(payload.pool.gpus) > 1 and not payload.takes_whole_nodes:
        models = " and ".join(sorted(group.model for group in payload.pool.gpus))
        raise Unsupported(
            f"without types Slurm cannot tell {models} apart in the nodes of pool {payload.pool.name}. "
            "Set typed: true for the cluster, or take whole nodes"
        )
