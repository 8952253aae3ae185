"""Pools of hosts as documents: a Cluster, and an Accelerator for every card that the catalogue does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from planner.catalog import Catalog, ComposeStyle, vendors
from planner.diagnostics import UsageError
from planner.discovery import describe
from planner.discovery.facts import Device, HostFacts
from planner.discovery.merge import Fleet, Pool
from planner.hosts import fold
from planner.spec.envelope import API_VERSION
from planner.units import Memory

ORDER: Final = (
    "name", "nodes", "gpus", "cpus", "memory", "gres", "sockets", "links", "racks", "nvlink_domains", "network",
    "software", "partitions", "sharing", "power", "partition", "features", "gres_type", "labels", "taints",
    "max_duration", "render_gid", "render_nodes",
)  # fmt: skip
"""The fields of a pool in the order in which they are written."""
_BY_DEVICE: Final = frozenset({"compose"})
"""Back ends that hand out devices by what identifies them, and not by count."""


def cluster(
    fleet: Fleet, name: str, back_end: str, catalog: Catalog, options: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """The Cluster document of a fleet, as plain values; with the back end's options that are known."""
    pools = [pool_fields(pool, back_end, catalog) for pool in fleet.pools]
    stated = {"type": back_end, **options} if options else back_end
    return {"apiVersion": API_VERSION, "kind": "Cluster", "name": name, "backend": stated, "pools": pools}


def pool_fields(pool: Pool, back_end: str, catalog: Catalog) -> dict[str, Any]:
    """The fields of one pool in their order; the least memory of its nodes is the pool's."""
    least = min(pool.hosts, key=lambda host: (host.memory_mib or 0, host.name))
    stated = {"name": pool.name, "nodes": node_list(pool.nodes), **describe.fields(least, catalog)}
    if fixed := _fixed(pool.hosts):
        stated["partitions"] = {"fixed": fixed}
    if domains := _domains(pool.hosts):
        stated["nvlink_domains"] = domains
    if racks := _racks(pool.hosts):
        stated["racks"] = racks
    if stated.get("partition") == pool.name:
        del stated["partition"]
    stated["gpus"] = _groups(pool.hosts, stated.get("gpus", []), back_end)
    return {key: stated[key] for key in ORDER if stated.get(key)}


def node_list(nodes: Sequence[str]) -> str:
    """Some nodes as a host list: zeros are kept, and only names that differ in one number share a range."""
    return fold(nodes)


def _groups(hosts: Sequence[HostFacts], groups: list[dict[str, Any]], back_end: str) -> Any:
    """One group alone needs no list. Cards have UUIDs where the back end chooses them by those."""
    if back_end in _BY_DEVICE:
        groups = [group | _uuids(hosts, group["model"]) for group in groups]
    return groups[0] if len(groups) == 1 else groups


def _uuids(hosts: Sequence[HostFacts], model: str) -> dict[str, Any]:
    cards = {host.name: [d for d in host.usable if describe.model_of(d) == model] for host in hosts}
    every = [device for devices in cards.values() for device in devices]
    if not all(device.uuid and _by_id(device) for device in every):
        return {}
    return {"uuids": {node: [device.uuid for device in devices] for node, devices in cards.items()}}


def _by_id(device: Device) -> bool:
    return vendors()[device.vendor].compose_style is ComposeStyle.DEVICE_IDS


def _fixed(hosts: Sequence[HostFacts]) -> dict[str, Any]:
    """The partitions that exist by node and card."""
    found = {host.name: describe.layouts(host) for host in hosts}
    return {node: cards for node, cards in found.items() if cards}


def _domains(hosts: Sequence[HostFacts]) -> dict[str, str]:
    nodes: dict[str, list[str]] = {}
    for host in hosts:
        if host.nvlink_domain:
            cluster_id, _, clique = host.nvlink_domain.partition(".")
            nodes.setdefault(f"{cluster_id[:8]}-{clique}", []).append(host.name)
    return {domain: node_list(members) for domain, members in sorted(nodes.items())}


def _racks(hosts: Sequence[HostFacts]) -> dict[str, str]:
    """Racks by name, told only where every node is in one."""
    nodes: dict[str, list[str]] = {}
    for host in hosts:
        nodes.setdefault((host.scheduled.rack if host.scheduled else None) or "", []).append(host.name)
    return {} if "" in nodes else {rack: node_list(members) for rack, members in sorted(nodes.items())}


def accelerators(fleet: Fleet) -> list[dict[str, Any]]:
    """A proposed Accelerator for every model that the catalogue does not know, with what the driver told of it."""
    return [_accelerator(device) for device in fleet.unknown]


def _accelerator(device: Device) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "Accelerator",
        "name": describe.proposed_name(device),
        "title": device.name or f"{device.vendor} card with PCI number {device.pci_id or 'unknown'}",
        "vendor": str(device.vendor),
        "memory": str(Memory(device.memory_mib)) if device.memory_mib else None,
        "aliases": [device.name] if device.name else None,
    }
    return {key: value for key, value in stated.items() if value is not None}


def back_end_of(hosts: Sequence[HostFacts]) -> str:
    """The back end that hosts have traces of, else compose; `UsageError` where there are traces of several."""
    found = {name for host in hosts for name in host.back_ends}
    if len(found) > 1:
        listed = " and ".join(sorted(found))
        raise UsageError(f"there are traces of {listed} on these hosts; say which one runs them with --backend")
    return found.pop() if found else "compose"
