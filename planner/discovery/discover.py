"""Discovery of one host: what its operating system tells, and what each vendor's probe tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from planner.catalog import Catalog, Vendor
from planner.discovery import amd, host, nvidia
from planner.discovery.asking import told
from planner.discovery.facts import Device, Driver, HostFacts, Pair
from planner.discovery.probe import Probe, Reading
from planner.discovery.resolve import resolved
from planner.hosts import is_node_name

PROBES: Final = (
    Probe(vendor=Vendor.NVIDIA, pci_vendor="10de", library="NVML", read=nvidia.read),
    Probe(vendor=Vendor.AMD, pci_vendor="1002", library="AMD SMI", read=amd.read, installed=host.rocm),
)


def discover(
    root: Path, machine: str, catalog: Catalog, *, node: str = "", probes: Sequence[Probe] = PROBES
) -> HostFacts:
    """Find out what this host holds. Nothing raises: what cannot be found is unknown, and told in the warnings.

    `root` is where /proc and /sys are, `machine` what the kernel calls the processor, `node` the name to use instead of
    the host's own.
    """
    cards = host.pci_cards(root)
    readings = [(probe, _asked(probe)) for probe in probes]
    devices, pairs, warnings = _joined(readings, cards)
    name, doubt = _name(node or host.hostname(root))
    facts = HostFacts(
        name=name,
        architecture=host.architecture(root, machine),
        cpus=host.cpus(root),
        memory_mib=host.memory_mib(root),
        network=host.network(root),
        drivers=tuple(_driver(probe, reading.driver, root) for probe, reading in readings if reading.driver),
        devices=devices,
        pairs=pairs,
        nvlink_domain=next((reading.nvlink_domain for _, reading in readings if reading.nvlink_domain), None),
        render_gid=host.render_gid(root),
        back_ends=host.back_ends(root),
        warnings=(*doubt, *warnings),
    )
    return resolved(replace(facts, warnings=(*facts.warnings, *_unread(facts))), catalog)


def _asked(probe: Probe) -> Reading:
    """Ask one vendor's probe; whatever breaks in it costs that vendor's cards and nothing else."""
    try:
        return probe.read()
    except Exception as error:
        return Reading(missing=told(error))


def _name(text: str) -> tuple[str, tuple[str, ...]]:
    if is_node_name(text):
        return text, ()
    return "localhost", ("the host's name cannot be used as a node's; give one with --node",)


def _driver(probe: Probe, driver: Driver, root: Path) -> Driver:
    """The driver, with the toolkit that is installed where the library does not tell one."""
    if driver.toolkit is not None or probe.installed is None:
        return driver
    return replace(driver, toolkit=probe.installed(root))


def _joined(
    readings: Sequence[tuple[Probe, Reading]], cards: Sequence[host.PciCard]
) -> tuple[tuple[Device, ...], tuple[Pair, ...], tuple[str, ...]]:
    """The cards of all vendors, counted on from vendor to vendor, with what the PCI bus knows of them."""
    devices: list[Device] = []
    pairs: list[Pair] = []
    warnings: list[str] = []
    for probe, reading in readings:
        on_bus = [card for card in cards if card.vendor == probe.pci_vendor]
        warnings += [*reading.warnings, *_missing(probe, reading, on_bus)]
        before = len(devices)
        devices += [replace(_placed(device, on_bus), index=before + device.index) for device in reading.devices]
        pairs += [replace(pair, first=before + pair.first, second=before + pair.second) for pair in reading.pairs]
    return tuple(devices), tuple(pairs), tuple(warnings)


def _placed(device: Device, on_bus: Sequence[host.PciCard]) -> Device:
    """The NUMA node of a card as the kernel has it; the PCI number where the driver tells none."""
    card = next((card for card in on_bus if card.address == device.pci_address), None)
    if card is None:
        return device
    numa = device.numa_node if card.numa_node is None else card.numa_node
    return replace(device, numa_node=numa, pci_id=device.pci_id or card.pci_id)


def _missing(probe: Probe, reading: Reading, on_bus: Sequence[host.PciCard]) -> list[str]:
    """What to say of cards on the bus that the library does not tell; without any a missing library is no news."""
    if reading.missing:
        places = ", ".join(f"{card.address} ({card.pci_id})" for card in on_bus)
        return [f"{probe.library} cannot be asked about {places}: {reading.missing}"] if on_bus else []
    told = {device.pci_address.rpartition(".")[0] for device in reading.devices if device.pci_address}
    lost = sum(not device.pci_address for device in reading.devices)
    silent = [card for card in on_bus if card.address.rpartition(".")[0] not in told]
    if not told or len(silent) <= lost:
        return []
    return [f"{probe.library} does not tell of the card on PCI at {card.address} ({card.pci_id})" for card in silent]


def _unread(facts: HostFacts) -> list[str]:
    """Facts of the operating system that could not be read, and cards that do not answer."""
    unknown = [
        (facts.architecture, "the processor's architecture is none that images are built for"),
        (facts.cpus, "/sys/devices/system/cpu/online and /proc/cpuinfo: the number of CPUs stays unknown"),
        (facts.memory_mib, "/proc/meminfo: the host's memory stays unknown"),
    ]
    warnings = [sentence for value, sentence in unknown if value is None]
    lost = [device for device in facts.devices if not device.usable]
    return warnings + [f"{device.vendor} device {device.index} is left out: {device.trouble}" for device in lost]
