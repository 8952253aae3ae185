"""Checks of partitions: profiles and modes that the pool's models have, at placements that are legal."""

from __future__ import annotations

from collections.abc import Sequence

from planner.catalog import Accelerator, PartitionProfile
from planner.diagnostics import did_you_mean, quoted
from planner.hosts import fold
from planner.spec.cluster import Cluster, FixedPartition, NodePool
from planner.specset.faults import Faults, Item
from planner.yamlio import Path


def check(item: Item[Cluster], path: Path, pool: NodePool, accelerators: Sequence[Accelerator], faults: Faults) -> None:
    """Report partitions of a pool that its devices cannot have."""
    partitions = pool.partitions
    if not partitions.model_fields_set:
        return
    here = (*path, "partitions")
    if not accelerators:
        faults.add(
            "SPEC212", item, here, "the pool has partitions but no devices", help="add gpus:, or remove partitions:"
        )
        return
    for index, name in enumerate(partitions.allowed):
        _profile(item, (*here, index), name, accelerators, faults)
    if partitions.compute is not None:
        _profile(item, (*here, "compute"), partitions.compute, accelerators, faults)
    if partitions.memory is not None:
        _memory_mode(item, (*here, "memory"), partitions.memory, partitions.compute, accelerators, faults)
    _fixed(item, here, pool, accelerators, faults)
    for accelerator in accelerators:
        _uniform(item, here, pool, accelerator, faults)


def _uniform(item: Item[Cluster], path: Path, pool: NodePool, accelerator: Accelerator, faults: Faults) -> None:
    """Under some memory modes all cards of a node must have the same compute mode."""
    memory, compute = pool.partitions.memory, pool.partitions.compute
    if memory is None or memory.lower() not in accelerator.uniform_memory_modes:
        return
    cards = [index for group in pool.device_indices() for index in group]
    for node, devices in pool.partitions.fixed:
        stated = {card: layout[0].profile.lower() for card, layout in devices if layout}
        modes = {stated.get(card, (compute or accelerator.partitions[0].name).lower()) for card in cards}
        if len(modes) > 1:
            faults.add(
                "SPEC309", item, (*path, "fixed", node),
                f"cards of {quoted(node)} are in {' and '.join(sorted(map(str.upper, modes)))}, "
                f"and {memory.upper()} holds for cards in one mode only",
                help="give all cards of the node one compute mode, or choose another memory mode", key=True,
            )  # fmt: skip


def _profile(
    item: Item[Cluster], path: Path, name: str, accelerators: Sequence[Accelerator], faults: Faults
) -> PartitionProfile | None:
    for accelerator in accelerators:
        if found := accelerator.partition(name):
            return found
    slugs = ", ".join(accelerator.slug for accelerator in accelerators)
    known = [profile.name for accelerator in accelerators for profile in accelerator.partitions]
    help_text = (
        did_you_mean(name, known)
        if known
        else f"the catalogue knows no partitions of {slugs}; remove this, or declare them in an Accelerator"
    )
    faults.add("SPEC309", item, path, f"{slugs} has no partition {quoted(name)}", help=help_text)
    return None


def _memory_mode(
    item: Item[Cluster], path: Path, name: str, compute: str | None, accelerators: Sequence[Accelerator], faults: Faults
) -> None:
    for accelerator in accelerators:
        profile = accelerator.partition(compute) if compute else None
        known = accelerator.allowed_memory_modes(profile) if profile else accelerator.memory_modes
        if known and name.lower() not in known:
            with_mode = f" in the mode {compute}" if profile else ""
            faults.add(
                "SPEC309", item, path, f"{accelerator.slug} has no memory mode {quoted(name)}{with_mode}",
                help=f"known: {', '.join(mode.upper() for mode in known)}",
            )  # fmt: skip


def _fixed(
    item: Item[Cluster], path: Path, pool: NodePool, accelerators: Sequence[Accelerator], faults: Faults
) -> None:
    names = set(pool.node_names())
    known = {index for group in pool.device_indices() for index in group}
    for node, devices in pool.partitions.fixed:
        where = (*path, "fixed", node)
        if node not in names:
            faults.add(
                "SPEC306",
                item,
                where,
                f"the pool has no node {quoted(node)}",
                help=f"its nodes are {fold(names)}",
                key=True,
            )
        for device, layout in devices:
            if device not in known:
                faults.add(
                    "SPEC306", item, (*where, device), f"nodes of the pool have no device {device}",
                    help=f"devices are counted from 0 to {max(known, default=0)}", key=True,
                )  # fmt: skip
            _layout(item, (*where, device), layout, accelerators, faults)


def _layout(
    item: Item[Cluster],
    path: Path,
    layout: Sequence[FixedPartition],
    accelerators: Sequence[Accelerator],
    faults: Faults,
) -> None:
    taken: dict[int, str] = {}
    for index, partition in enumerate(layout):
        profile = _profile(item, (*path, index, "profile"), partition.profile, accelerators, faults)
        if profile is None or profile.placements is None or profile.memory_slices is None:
            continue
        if partition.at not in profile.placements:
            faults.add(
                "SPEC309", item, (*path, index, "at"), f"{profile.name} cannot begin at memory slice {partition.at}",
                help=f"it can begin at {', '.join(map(str, profile.placements))}",
            )  # fmt: skip
            continue
        slots = profile.slots_from(partition.at)
        clash = next((slot for slot in slots if slot in taken), None)
        if clash is not None:
            faults.add(
                "SPEC309", item, (*path, index), f"memory slice {clash} belongs to {taken[clash]} already",
                help="leave each memory slice to one partition",
            )  # fmt: skip
        taken.update(dict.fromkeys(slots, profile.name))
