"""The AMD probe: asks AMD SMI through the amdsmi package, which is an optional extra."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from planner.catalog import Vendor
from planner.discovery.asking import Asking, number_of, text_of, told
from planner.discovery.facts import Device, Driver, Instance, Pair
from planner.discovery.probe import Reading

_MIB: Final = 1 << 20
_NOT_SUPPORTED: Final = 2
_WHOLE: Final = "SPX"
_MICROWATTS: Final = 10_000


def read() -> Reading:
    """Ask AMD SMI for every card; partitions are grouped by the card that they belong to.

    Importing the package without its library prints to stdout and raises KeyError; an older library lacks symbols.
    """
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            import amdsmi

            amdsmi.amdsmi_init()
    except ModuleNotFoundError:
        return Reading(missing="the package amdsmi is not installed (pip install 'gpu-fleet-planner[amd]')")
    except Exception as error:  # whatever the package raises for a missing, older or failing library
        return Reading(missing=f"amdsmi: {_reason(error, said.getvalue())}")
    try:
        with contextlib.redirect_stdout(said):
            return _read(amdsmi)
    finally:
        Asking(amdsmi, lambda _: True).ask("AMD SMI", "amdsmi_shut_down")


def _reason(error: Exception, said: str) -> str:
    printed = " ".join(said.split())[:200]
    return f"{type(error).__name__} {told(error)}" + (f" ({printed})" if printed else "")


def _read(smi: Any) -> Reading:
    asking = Asking(smi, lambda error: _code(error) == _NOT_SUPPORTED)
    handles = asking.ask("AMD SMI", "amdsmi_get_processor_handles") or []
    parts = [_told(asking, smi, number, handle) for number, handle in enumerate(handles)]
    cards = _cards(parts)
    devices = tuple(_card(index, [parts[number] for number in card]) for index, card in enumerate(cards))
    firsts = [handles[card[0]] for card in cards]
    return Reading(
        devices=devices,
        pairs=_pairs(asking, smi, [(d.index, h) for d, h in zip(devices, firsts, strict=True) if d.usable]),
        driver=_driver(asking, smi, handles),
        warnings=tuple(asking.warnings),
    )


def _code(error: Exception) -> object:
    """The status of an AMD SMI error; the package keeps it as a number, or as text with the number in it."""
    code = getattr(error, "err_code", None)
    return abs(code) if isinstance(code, int) else code


def _driver(asking: Asking, smi: Any, handles: list[Any]) -> Driver | None:
    if not handles:
        return None
    info = asking.ask("AMD SMI", "amdsmi_get_gpu_driver_info", handles[0], optional=True) or {}
    return Driver(vendor=Vendor.AMD, version=text_of(info.get("driver_version")), toolkit=_rocm(asking, smi))


def _rocm(asking: Asking, smi: Any) -> str | None:
    """The version of ROCm, which only newer packages tell, with whether it could be found."""
    found, version = asking.ask("AMD SMI", "amdsmi_get_rocm_version", optional=True) or (False, None)
    match = re.match(r"[0-9]+(\.[0-9]+)+", text_of(version) or "") if found else None
    return match[0] if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one processor of AMD SMI is: a card, or one partition of it on the card's bus address."""

    device: Device
    bus: str | None
    number: int | None


def _told(asking: Asking, smi: Any, number: int, handle: Any) -> _Part:
    """Ask one processor; an answer of a shape that nobody expects concerns this one alone."""
    try:
        return _part(asking, smi, number, handle)
    except Exception as error:  # such as a table that is a text
        device = Device(index=number, vendor=Vendor.AMD, trouble=f"AMD SMI answers oddly: {told(error)}")
        return _Part(device=device, bus=None, number=None)


def _part(asking: Asking, smi: Any, number: int, handle: Any) -> _Part:
    subject = f"AMD processor {number}"
    asic = asking.ask(subject, "amdsmi_get_gpu_asic_info", handle)
    trouble = f"amdsmi_get_gpu_asic_info: {told(asking.last)}" if asking.last is not None else ""
    asic = asic or {}
    address = text_of(asking.ask(subject, "amdsmi_get_gpu_device_bdf", handle))
    device = Device(
        index=number,
        vendor=Vendor.AMD,
        name=_name(asic),
        uuid=text_of(asking.ask(subject, "amdsmi_get_gpu_device_uuid", handle)),
        pci_address=address.lower() if address else None,
        pci_id=_pci_id(asic),
        architecture=text_of(asic.get("target_graphics_version")),
        memory_mib=_memory(asking, smi, subject, handle),
        numa_node=number_of(asking.ask(subject, "amdsmi_topo_get_numa_node_number", handle, optional=True)),
        compute_mode=_mode(asking, smi, subject, "amdsmi_get_gpu_compute_partition", handle),
        memory_mode=_mode(asking, smi, subject, "amdsmi_get_gpu_memory_partition", handle),
        power_milliwatts=_power_cap(asking, subject, handle),
        trouble=trouble,
        **_numbers(asking, smi, subject, handle),
    )
    bus = device.pci_address.rpartition(".")[0] if device.pci_address else None
    return _Part(device=device, bus=bus, number=_partition_number(asking, smi, subject, handle))


def _name(asic: dict[str, Any]) -> str | None:
    """The market name; where the library knows none it gives the device's number, which is no name."""
    name = text_of(asic.get("market_name"))
    return None if name is None or re.fullmatch(r"0x[0-9a-fA-F]+", name) else name


def _pci_id(asic: dict[str, Any]) -> str | None:
    try:
        return f"{int(str(asic['vendor_id']), 16):04x}:{int(str(asic['device_id']), 16):04x}"
    except (KeyError, ValueError):
        return None


def _memory(asking: Asking, smi: Any, subject: str, handle: Any) -> int | None:
    kind = getattr(getattr(smi, "AmdSmiMemoryType", None), "VRAM", None)
    total = number_of(asking.ask(subject, "amdsmi_get_gpu_memory_total", handle, kind))
    return total // _MIB if total else None


def _mode(asking: Asking, smi: Any, subject: str, call: str, handle: Any) -> str | None:
    """A compute or memory mode; cards without modes do not support the question, and `N/A` is unknown."""
    return text_of(asking.ask(subject, call, handle, optional=True))


def _power_cap(asking: Asking, subject: str, handle: Any) -> int | None:
    """What the card may draw now, in mW. Libraries tell microwatts, that of a virtualising host watts.

    No card draws 10 kW, and none as little as 10 mW.
    """
    info = asking.ask(subject, "amdsmi_get_power_cap_info", handle, optional=True) or {}
    cap = number_of(info.get("power_cap"))
    if not cap:
        return None
    return cap // 1_000 if cap >= _MICROWATTS else cap * 1_000


def _numbers(asking: Asking, smi: Any, subject: str, handle: Any) -> dict[str, Any]:
    """The render node, whether memory errors are counted and corrected, and the use of a processor."""
    numbers = asking.ask(subject, "amdsmi_get_gpu_enumeration_info", handle, optional=True) or {}
    facts: dict[str, Any] = {"render_node": number_of(numbers.get("drm_render"))}
    errors = asking.ask(subject, "amdsmi_get_gpu_total_ecc_count", handle, optional=True)
    facts["ecc"] = None if errors is None else True
    if errors and number_of(errors.get("uncorrectable_count")):
        asking.warn(f"{subject}: amdsmi_get_gpu_total_ecc_count: {errors['uncorrectable_count']} uncorrectable errors")
    running = asking.ask(subject, "amdsmi_get_gpu_process_list", handle, optional=True)
    if running is not None:
        used = [number_of(process.get("memory_usage", {}).get("vram_mem")) for process in running]
        facts["processes"] = len(running)
        facts["used_mib"] = None if None in used else sum(filter(None, used)) // _MIB
    return facts


def _partition_number(asking: Asking, smi: Any, subject: str, handle: Any) -> int | None:
    info = asking.ask(subject, "amdsmi_get_gpu_kfd_info", handle, optional=True) or {}
    return number_of(info.get("current_partition_id"))


def _cards(parts: list[_Part]) -> list[list[int]]:
    """Group processors by card: partitions share everything of the PCI address but the function."""
    groups: dict[object, list[int]] = {}
    for number, part in enumerate(parts):
        groups.setdefault(part.bus or number, []).append(number)
    return list(groups.values())


def _card(index: int, parts: list[_Part]) -> Device:
    """One card of its partitions. It is as large as the largest claim, since every partition may claim all of it."""
    first = parts[0].device
    mode = next((part.device.compute_mode for part in parts if part.device.compute_mode), None)
    divided = len(parts) > 1 or (mode is not None and mode.upper() != _WHOLE)
    claims = [part.device.memory_mib for part in parts if part.device.memory_mib is not None]
    processes = [part.device.processes for part in parts]
    used = [part.device.used_mib for part in parts]
    return replace(
        first,
        index=index,
        compute_mode=mode,
        memory_mode=next((part.device.memory_mode for part in parts if part.device.memory_mode), None),
        memory_mib=max(claims, default=None),
        divided=divided,
        instances=_instances(parts, mode) if divided else (),
        processes=None if None in processes else sum(filter(None, processes)),
        used_mib=None if None in used else sum(filter(None, used)),
    )


def _instances(parts: list[_Part], mode: str | None) -> tuple[Instance, ...]:
    """The partitions of a card in their order on it. What each may use is told by the card, not by its own claim."""
    ordered = sorted(parts, key=lambda part: (part.number is None, part.number or 0, part.device.index))
    return tuple(
        Instance(
            profile=mode.lower() if mode else None,
            number=number if part.number is None else part.number,
            reported_mib=part.device.memory_mib,
            uuid=part.device.uuid,
        )
        for number, part in enumerate(ordered)
    )


def _pairs(asking: Asking, smi: Any, cards: list[tuple[int, Any]]) -> tuple[Pair, ...]:
    return tuple(
        Pair(first=first, second=second, linked=_linked(asking, smi, one, other))
        for (first, one), (second, other) in combinations(cards, 2)
    )


def _linked(asking: Asking, smi: Any, one: Any, other: Any) -> bool | None:
    answer = asking.ask("AMD cards", "amdsmi_topo_get_link_type", one, other)
    kind = number_of(answer.get("type")) if answer else None
    return None if kind is None else kind == _xgmi(smi)


def _xgmi(smi: Any) -> int | None:
    """The number of xGMI in the package at hand: it changed from release to release, so only the name is certain.

    Packages that have a type of their own for this call count by it.
    """
    for owner, name in (
        ("AmdSmiIoLinkType", "XGMI"),
        ("AmdSmiLinkType", "AMDSMI_LINK_TYPE_XGMI"),
        ("AmdSmiLinkType", "XGMI"),
    ):
        if (member := getattr(getattr(smi, owner, None), name, None)) is not None:
            return int(member)
    return None
