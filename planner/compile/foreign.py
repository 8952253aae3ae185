"""Use that the planner does not manage: which devices of a node it keeps from plans, and until when.

A device with foreign use is never planned over. Of CPUs and memory it takes what the snapshot states, else the fair
share of its devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from planner.compile.ask import fair_share
from planner.compile.fleet import CPUS, MEMORY
from solvers.problem import Taken

if TYPE_CHECKING:
    from planner.compile.fleet import FleetPool
    from planner.compile.horizon import Horizon
    from planner.spec.snapshot import Foreign, SeenNode, Snapshot

FOR_EVER: Final = 1_000_000
"""The slot at which what lasts for an unknown time is over: past every horizon and limit."""

Busy = tuple[tuple[int, int], ...]
"""Indices of devices in use, each with the slot until which it is."""


def busy(pool: FleetPool, snapshots: Iterable[Snapshot], horizon: Horizon) -> tuple[Busy, ...]:
    """The devices of each node of a pool that others use."""
    everything = tuple(index for group in pool.groups for index in group.indices)
    found: dict[str, dict[int, int]] = {name: {} for name in pool.nodes}
    for use, node in _uses(pool, snapshots):
        end = _until(use, horizon)
        for index in _devices(node, everything):
            found[node.name][index] = max(end, found[node.name].get(index, 0))
    return tuple(tuple(sorted((index, end) for index, end in held.items() if end > 0)) for held in found.values())


def taken(
    pool: FleetPool, held: Sequence[Busy], snapshots: Iterable[Snapshot], horizon: Horizon
) -> tuple[tuple[Taken, ...], ...]:
    """What others use of each node of a pool: its devices by `held`, and CPUs and memory use by use."""
    by_node = {name: list(_of_devices(pool, each)) for name, each in zip(pool.nodes, held, strict=True)}
    everything = tuple(index for group in pool.groups for index in group.indices)
    for use, node in _uses(pool, snapshots):
        if (end := _until(use, horizon)) > 0:
            host = _of_host(pool, use, len(_devices(node, everything)))
            by_node[node.name].append(Taken(start=0, end=end, use=host))
    return tuple(tuple(each) for each in by_node.values())


def _uses(pool: FleetPool, snapshots: Iterable[Snapshot]) -> Iterator[tuple[Foreign, SeenNode]]:
    for use in (use for snapshot in snapshots for use in snapshot.foreign):
        if use.pool == pool.name:
            yield from ((use, node) for node in use.nodes if node.name in pool.nodes)


def _devices(node: SeenNode, everything: Sequence[int]) -> tuple[int, ...]:
    """The devices that are meant; all of the node's when none is named."""
    return tuple({device.index for device in node.devices if device.index in everything}) or tuple(everything)


def _until(use: Foreign, horizon: Horizon) -> int:
    return FOR_EVER if use.until is None else horizon.ceil(use.until)


def _of_devices(pool: FleetPool, held: Busy) -> Iterator[Taken]:
    """How many devices are in use, in stretches that end when one of them is free again."""
    start = 0
    for end in sorted({end for _, end in held}):
        indices = {index for index, until in held if until > start}
        counts = [len(indices), *([0] * (len(pool.resources) - 1))]
        for group in pool.groups:
            counts[group.resource] = len(indices & set(group.indices)) if group.resource else counts[0]
        yield Taken(start=start, end=end, use=tuple(counts))
        start = end


def _of_host(pool: FleetPool, use: Foreign, devices: int) -> tuple[int, ...]:
    stated = {CPUS: use.cpus, MEMORY: use.memory.mib if use.memory else None}
    return tuple(
        _part(pool, capacity, devices, stated[name]) if name in stated else 0
        for name, capacity in zip(pool.resources, pool.capacity, strict=True)
    )


def _part(pool: FleetPool, capacity: int, devices: int, stated: int | None) -> int:
    """What is stated, else the fair share of the devices; all of it where a node has no devices to go by."""
    if stated is not None:
        return min(stated, capacity)
    return fair_share(capacity, devices, pool.devices_per_node) if pool.devices_per_node else capacity
