"""Kubernetes nodes as hosts: what their labels and their device plugins say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from planner.catalog import Vendor, VendorFacts, vendors
from planner.discovery.facts import Device, Driver, HostFacts, Scheduled
from planner.discovery.found import Broken
from planner.discovery.kubernetes.devices import Held, Meaning, held
from planner.discovery.kubernetes.objects import Thing, mappings, mebibytes, text_of, whole
from planner.discovery.kubernetes.slices import Offered
from planner.discovery.models import Models
from planner.discovery.resolve import resolved
from planner.hosts import is_node_name

_CONTROL: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_RACKS: Final = ("topology.kubernetes.io/rack", "topology.k8s.io/rack")
_HOSTNAME: Final = "kubernetes.io/hostname"
_PASSING: Final = re.compile(r"(.*\.)?(kubernetes\.io|k8s\.io|cloudprovider\.kubernetes\.io)")
_SHARING: Final = {"time-slicing": "time_slicing", "mps": "mps"}
_MOST_DEVICES: Final = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The nodes of a cluster, those that take no work, and what could not be expressed."""

    hosts: tuple[HostFacts, ...]
    broken: tuple[Broken, ...]
    untold: tuple[str, ...]


def inventory(
    found: Sequence[Thing], models: Models, offers: Mapping[str, Offered] = MappingProxyType({})
) -> Inventory:
    """Read Nodes, and the Topology of Kueue for the label of racks. `UsageError` where cards have no name at all.

    `offers` are devices that drivers offer by node; they are known better than those that a device plugin counts.
    """
    nodes = [each for each in found if (each.group, each.kind) == ("", "Node") and is_node_name(each.name)]
    workers = [node for node in nodes if not any(key in node.labels for key in _CONTROL)]
    untold = [f"node {node.name} is of the control plane; it is left out" for node in nodes if node not in workers]
    models.require(word for node in workers for word in _nameless(node, models))
    untold += (sentence for node in workers for sentence in offers.get(node.name, Offered()).untold)
    racks = _rack_labels(found)
    hosts = [_host(node, models, racks, untold, offers.get(node.name, Offered())) for node in workers]
    return Inventory(
        hosts=tuple(hosts), broken=tuple(each for node in workers for each in _broken(node)), untold=tuple(untold)
    )


def _nameless(node: Thing, models: Models) -> Iterator[str]:
    """Resources of cards that no label names."""
    for amount in held(_allocatable(node)):
        if not _label(node, amount.facts) and models.of(amount.name, amount.vendor) is None:
            yield amount.name


def _allocatable(node: Thing) -> Mapping[str, object]:
    there = node.status.get("allocatable") or node.status.get("capacity")
    return there if isinstance(there, dict) else {}


def _label(node: Thing, facts: VendorFacts) -> str:
    """The product that a vendor's labels name, without what they add for sharing and partitions."""
    label = node.labels.get(facts.product_label_key or "", "")
    for suffix in (facts.shared_label_suffix, facts.partition_label_suffix):
        if suffix:
            pattern = re.escape(suffix).replace(re.escape("{profile}"), r"[0-9a-z.+]+")
            label = re.sub(f"{pattern}$", "", label)
    return label


def _host(node: Thing, models: Models, racks: Sequence[str], untold: list[str], offer: Offered) -> HostFacts:
    there, claimable = _allocatable(node), {device.vendor for device in offer.devices}
    amounts = [amount for amount in held(there) if amount.vendor not in claimable]
    counted = [device for amount in amounts for device in _devices(node, amount, models, untold)]
    devices = [*offer.devices, *counted][:_MOST_DEVICES]
    present = {device.vendor for device in counted}
    host = HostFacts(
        name=node.name,
        architecture=text_of(_info(node).get("architecture")) or None,
        cpus=whole(there.get("cpu")) or None,
        memory_mib=mebibytes(there.get("memory")) or None,
        drivers=offer.drivers
        + tuple(
            driver
            for facts in vendors().values()
            if facts.vendor in present and (driver := _driver(node, facts)) is not None
        ),
        devices=tuple(replace(device, index=index) for index, device in enumerate(devices)),
        nvlink_domain=next(filter(None, (_of(node, facts, "clique") for facts in vendors().values())), None),
        back_ends=("kubernetes",),
        scheduled=Scheduled(
            taints=tuple(sorted(_taints(node))),
            sharing=next((found for amount in amounts if (found := _sharing(node, amount))), None),
            rack=next((node.labels[key] for key in racks if node.labels.get(key)), None),
        ),
    )
    return host if all(device.model for device in devices) else resolved(host, models.catalog)


def _info(node: Thing) -> Mapping[str, object]:
    info = node.status.get("nodeInfo")
    return info if isinstance(info, dict) else {}


def _of(node: Thing, facts: VendorFacts, key: str) -> str:
    """A label beside the product's: `nvidia.com/gpu.memory`, `amd.com/gpu.vram`."""
    return node.labels.get(f"{facts.resource}.{key}", "")


def _devices(node: Thing, amount: Held, models: Models, untold: list[str]) -> Iterator[Device]:
    """The cards behind an amount. Partitions cut out of cards are only told: of which cards is not known."""
    if amount.meaning is Meaning.PARTITION or _is_sliced(node, amount):
        untold.append(f"node {node.name}: {amount.count} {amount.name} are partitions; on which cards is not told")
        return
    label = _label(node, amount.facts)
    said = models.of(label, amount.vendor) or models.of(amount.name, amount.vendor)
    compute, memory_mode = _mode(node, amount)
    profile = said.partition(compute) if said and compute else None
    parts = profile.max_instances if profile else _units(node, amount)
    if amount.count % parts:
        untold.append(f"node {node.name}: {amount.count} {amount.name} are not whole cards of {parts} parts each")
    for index in range(min(amount.count // parts, _MOST_DEVICES)):
        yield Device(
            index=index,
            vendor=Vendor(amount.vendor),
            model=said.slug if said else None,
            name=said.slug if said else label,
            memory_mib=None if compute else _memory(node, amount.facts),
            compute_mode=compute or None,
            memory_mode=memory_mode or None,
        )


def _is_sliced(node: Thing, amount: Held) -> bool:
    """Whether what is called a whole device is a partition, as the naming strategy `single` has it."""
    suffix = (amount.facts.partition_label_suffix or "").partition("{")[0]
    return bool(suffix) and suffix in node.labels.get(amount.facts.product_label_key or "", "")


def _mode(node: Thing, amount: Held) -> tuple[str, str]:
    """The mode of whole cards: from the resource, else from the label that its labeller writes."""
    if amount.meaning is Meaning.MODE:
        return amount.profile, amount.memory_mode
    domain = (amount.facts.resource or "").partition("/")[0]
    labels = (
        _of(node, amount.facts, "compute-memory-partition"),
        node.labels.get(f"{domain}/compute-memory-partition"),
    )
    match = re.fullmatch(r"([a-z]+)_(nps[0-9]+)", (labels[0] or labels[1] or "").lower())
    return (match[1], match[2]) if match and match[1] != "spx" else ("", "")


def _sharing(node: Thing, amount: Held) -> tuple[str, int] | None:
    by = _SHARING.get(_of(node, amount.facts, "sharing-strategy"))
    units = _units(node, amount)
    return (by, units) if by and units > 1 else None


def _units(node: Thing, amount: Held) -> int:
    """Into how many units each card is shared: the plugin counts units, not cards."""
    replicas = whole(_of(node, amount.facts, "replicas")) or 1
    return replicas if _of(node, amount.facts, "sharing-strategy") in _SHARING else 1


def _memory(node: Thing, facts: VendorFacts) -> int | None:
    """Memory of a card that the catalogue does not know, as its vendor's labels tell it: in MiB, or as `192G`."""
    mib = whole(_of(node, facts, "memory"))
    match = re.fullmatch(r"([0-9]{1,6})G", _of(node, facts, "vram"))
    return mib or (int(match[1]) << 10 if match else None)


def _driver(node: Thing, facts: VendorFacts) -> Driver | None:
    """Driver and toolkit from the labels in which either is written, whole or in parts; None where neither is."""
    domain = (facts.resource or "").partition("/")[0]
    labels = {key.removeprefix(f"{domain}/"): value for key, value in node.labels.items() if key.startswith(domain)}
    parts = [labels.get(f"cuda.driver.{part}", "") for part in ("major", "minor", "rev")]
    runtime = [labels.get(f"cuda.runtime.{part}", "") for part in ("major", "minor")]
    version = labels.get("cuda.driver-version.full") or labels.get("gpu.driver-version") or _dotted(parts)
    toolkit = labels.get("cuda.runtime-version.full") or _dotted(runtime)
    if not version and not toolkit:
        return None
    return Driver(vendor=facts.vendor, version=version or None, toolkit=toolkit or None)


def _dotted(parts: Sequence[str]) -> str:
    known = [part for part in parts if part]
    return ".".join(known) if parts[0] else ""


def _taints(node: Thing) -> Iterator[str]:
    """Taints that stay; those that Kubernetes itself puts on and takes off are states."""
    for taint in mappings(node.spec.get("taints")):
        key, effect, value = (text_of(taint.get(part)) for part in ("key", "effect", "value"))
        if key and effect and not _PASSING.fullmatch(key.partition("/")[0]):
            yield f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _rack_labels(found: Iterable[Thing]) -> tuple[str, ...]:
    """Labels that name a node's rack: the last above the node in Kueue's topologies, and the usual ones."""
    told: list[str] = []
    for thing in found:
        if thing.kind == "Topology" and thing.group == "kueue.x-k8s.io":
            levels = [text_of(level.get("nodeLabel")) for level in mappings(thing.spec.get("levels"))]
            told += [level for level in levels if level and level != _HOSTNAME and not level.endswith(".clique")][-1:]
    return (*told, *_RACKS)


def _broken(node: Thing) -> Iterator[Broken]:
    if node.spec.get("unschedulable") is True:
        yield Broken(node=node.name, reason="cordoned")
    conditions = mappings(node.status.get("conditions"))
    ready = next((each for each in conditions if each.get("type") == "Ready"), None)
    if ready is not None and ready.get("status") != "True":
        yield Broken(node=node.name, reason=text_of(ready.get("reason")) or "not ready")
