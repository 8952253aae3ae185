"""What the catalogue adds to a host's cards: which model they are, and how much of a card one partition may use."""

from __future__ import annotations

from dataclasses import replace

from planner.catalog import Accelerator, Catalog, PartitionProfile
from planner.discovery.facts import Device, HostFacts, Instance


def resolved(host: HostFacts, catalog: Catalog) -> HostFacts:
    """The host with its cards named by the catalogue; what the catalogue does not know stays as the driver told it."""
    warnings = list(host.warnings)
    devices = tuple(_device(device, catalog, warnings) for device in host.devices)
    return replace(host, devices=devices, warnings=tuple(dict.fromkeys(warnings)))


def _device(device: Device, catalog: Catalog, warnings: list[str]) -> Device:
    if not device.usable:
        return device
    model = accelerator_of(device, catalog)
    subject = f"{device.vendor} device {device.index}"
    if model is None:
        called = device.name or device.pci_id or "a card that tells neither name nor PCI number"
        warnings.append(f"{subject}: the catalogue does not know {called}; complete the proposed Accelerator")
        return _measured(replace(device, model=None), None)
    if device.name is None:
        warnings.append(f"{subject}: its name is unknown; {model.slug} was told by its PCI number {device.pci_id}")
    unified = model.unified_memory
    if device.memory_mib is None and not device.instances:
        whose = "has the host's memory and tells none of its own" if unified else "tells no memory"
        warnings.append(f"{subject}: {model.slug} {whose}; plans use the catalogue's unless gpus.memory is stated")
    measured = _measured(replace(device, model=model.slug, unified=unified or None), model)
    lost = sum(not one.placed for one in measured.instances)
    if lost:
        warnings.append(f"{subject}: of {lost} partitions the profile or the place is unknown; they are left out")
    return measured


def accelerator_of(device: Device, catalog: Catalog) -> Accelerator | None:
    """The one accelerator that a card's name means, else that of its PCI number, else that of both with its memory."""
    named = catalog.resolve(device.name) if device.name else ()
    numbered = catalog.resolve(device.pci_id) if device.pci_id else ()
    for found in (named, numbered, _as_large(named, device.memory_mib)):
        mine = [each for each in found if each.vendor is device.vendor]
        if len(mine) == 1:
            return mine[0]
    return None


def _as_large(found: tuple[Accelerator, ...], memory_mib: int | None) -> tuple[Accelerator, ...]:
    return tuple(each for each in found if not differs(memory_mib, each.memory_mib))


def differs(seen_mib: int | None, stated_mib: int | None) -> bool:
    """Whether memory is another than stated: drivers keep up to a tenth of a card for themselves and for ECC."""
    if seen_mib is None or stated_mib is None:
        return seen_mib is not None
    return abs(seen_mib - stated_mib) * 10 > stated_mib


def _measured(device: Device, model: Accelerator | None) -> Device:
    """Give every partition its place and what it may use, so that the parts of a card never exceed the card."""
    if not device.instances or all(one.memory_mib is not None for one in device.instances):
        return device
    known = model.memory_mib if model and model.memory_mib else device.memory_mib
    profile = model.partition(device.compute_mode) if model and device.compute_mode else None
    parts = max(len(device.instances), profile.max_instances if profile else 0)
    share = known // parts if known else None
    instances = tuple(_instance(one, share, profile) for one in device.instances)
    return replace(device, memory_mib=known, instances=instances)


def _instance(one: Instance, share_mib: int | None, profile: PartitionProfile | None) -> Instance:
    most = [mib for mib in (share_mib, one.reported_mib if share_mib is not None else None) if mib is not None]
    places = profile.placements if profile and profile.placements else ()
    at = places[one.number] if one.number is not None and one.number < len(places) else None
    slices = profile.memory_slices if profile else None
    return replace(one, at=at, memory_slices=slices, memory_mib=min(most, default=None))
