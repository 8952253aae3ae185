"""One host as the fields of a node pool, spelled as specs spell them."""

from __future__ import annotations

import json
from typing import Any, Final

from planner.catalog import Catalog, vendors
from planner.discovery import layout
from planner.discovery.facts import Device, HostFacts, Scheduled
from planner.discovery.resolve import differs
from planner.names import suggest_name
from planner.units import Duration, Memory, Power, Rate

PER_NODE: Final = ("memory",)
"""Fields in which nodes of one pool may differ a little."""
_MODES: Final = frozenset({"spx", None})
_GIB: Final = 1 << 10


def fields(host: HostFacts, catalog: Catalog) -> dict[str, Any]:
    """What a pool says of each of its nodes, if this host is one; what is unknown is left out."""
    stated: dict[str, Any] = {
        "gpus": groups(host, catalog),
        "cpus": host.cpus,
        "memory": str(Memory(host.memory_mib // _GIB * _GIB)) if host.memory_mib and host.memory_mib >= _GIB else None,
        **_hanging_together(host, catalog),
        "network": _network(host),
        "software": _software(host),
        "partitions": _modes(host),
        "power": _power(host, catalog),
        **_rendering(host),
        **_scheduled(host.scheduled),
    }
    return {key: value for key, value in stated.items() if value not in (None, [], {}, ())}


def identity(stated: dict[str, Any]) -> str:
    """What two nodes must have in common to be in one pool."""
    return json.dumps({key: value for key, value in stated.items() if key not in PER_NODE}, sort_keys=True)


def model_of(device: Device) -> str:
    """The slug of a card's model, or the one that is proposed for it."""
    return device.model or proposed_name(device)


def proposed_name(device: Device) -> str:
    """A name for a model that the catalogue does not know, from its own name or from its PCI number."""
    number = (device.pci_id or "unknown").replace(":", "-")
    words = suggest_name(device.name or "").removeprefix(f"{device.vendor}-")
    return words or suggest_name(f"{device.vendor}-{number}")


def groups(host: HostFacts, catalog: Catalog) -> list[dict[str, Any]]:
    """The cards of a host by model; indices are given where they are not simply the next ones."""
    by_model: dict[str, list[Device]] = {}
    for device in host.usable:
        by_model.setdefault(model_of(device), []).append(device)
    plain = len(by_model) < 2 and [device.index for device in host.usable] == list(range(len(host.usable)))
    return [
        {
            "model": model,
            "count": len(devices),
            **_memory(devices, model, catalog),
            **({} if plain else {"devices": [device.index for device in devices]}),
        }
        for model, devices in by_model.items()
    ]


def _memory(devices: list[Device], model: str, catalog: Catalog) -> dict[str, str]:
    """The memory of a card where it is another than the catalogue's; the least of the group."""
    accelerator = catalog.get(model)
    seen = [device.memory_mib for device in devices if device.memory_mib is not None]
    if accelerator is None or not seen or not differs(min(seen), accelerator.memory_mib):
        return {}
    return {"memory": str(Memory(min(seen)))}


def _hanging_together(host: HostFacts, catalog: Catalog) -> dict[str, Any]:
    """How cards are joined, which a scheduler does not tell: from it alone the catalogue's word stands."""
    if host.scheduled is not None and not host.pairs:
        return {}
    found = {"links": layout.links(host, catalog), "sockets": layout.sockets(host)}
    return {key: [list(group) for group in value] for key, value in found.items() if value}


def _network(host: HostFacts) -> dict[str, Any] | None:
    link = host.network
    if link is None:
        return None
    rate = {"rate": str(Rate(link.bits_per_second))} if link.bits_per_second else {}
    return {"fabric": link.fabric, **rate, **({"rdma": True} if link.rdma else {})}


def _software(host: HostFacts) -> dict[str, str]:
    """Versions under the names that each vendor's facts give them; two vendors' drivers cannot both be written."""
    stated: dict[str, str] = {}
    for driver in host.drivers:
        facts = vendors()[driver.vendor]
        if facts.driver_key and driver.version and len(host.drivers) == 1:
            stated[facts.driver_key] = driver.version
        if facts.software_key and driver.toolkit:
            stated[facts.software_key] = driver.toolkit
    return stated | ({"arch": host.architecture} if host.architecture else {})


def _modes(host: HostFacts) -> dict[str, str] | None:
    """The one mode that all cards of a node have; whole cards need no word, and unlike ones are told card by card."""
    if not host.usable or any(device.compute_mode is None for device in host.usable):
        return None
    modes = {(device.compute_mode, device.memory_mode) for device in host.usable}
    compute, memory = modes.pop()
    if modes or compute is None or compute.lower() in _MODES:
        return None
    return {"compute": compute.upper()} | ({"memory": memory.upper()} if memory else {})


def _power(host: HostFacts, catalog: Catalog) -> str | None:
    """What the cards may draw where it is set below or above what the catalogue says of the one model."""
    limits = {device.power_milliwatts for device in host.usable}
    models = {device.model for device in host.usable}
    limit, model = (limits.pop() if len(limits) == 1 else None), (models.pop() if len(models) == 1 else None)
    accelerator = catalog.get(model) if model else None
    usual = accelerator.tdp_milliwatts if accelerator else None
    return str(Power(limit)) if limit and usual and limit != usual else None


def _rendering(host: HostFacts) -> dict[str, Any]:
    """Render devices, which only some vendors' containers need by number."""
    nodes = [device.render_node for device in host.usable]
    if not nodes or any(number is None for number in nodes):
        return {}
    return {"render_nodes": nodes} | ({"render_gid": host.render_gid} if host.render_gid is not None else {})


def _scheduled(words: Scheduled | None) -> dict[str, Any]:
    """What the scheduler says of a node. A rack is told node by node, and so belongs to the pool."""
    if words is None:
        return {}
    longest = words.max_run_seconds
    return {
        "partition": words.partition,
        "features": list(words.features),
        "gres_type": words.gres_type,
        "gres": dict(words.gres),
        "labels": dict(words.labels),
        "taints": list(words.taints),
        "sharing": {"by": words.sharing[0], "units": words.sharing[1]} if words.sharing else None,
        "max_duration": str(Duration.of_seconds(longest)) if longest else None,
    }


def layouts(host: HostFacts) -> dict[int, list[dict[str, Any]]]:
    """The partitions that exist, card by card, where a mode of the whole node does not tell them already."""
    if _modes(host):
        return {}
    return {
        device.index: [{"profile": one.profile, "at": one.at} for one in device.instances if one.placed]
        for device in host.usable
        if device.divided
    }
