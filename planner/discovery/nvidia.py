"""The NVIDIA probe: asks NVML through nvidia-ml-py, which imports as pynvml."""

from __future__ import annotations

import re
from ctypes import byref
from itertools import combinations
from typing import Any, Final

from planner.catalog import Vendor
from planner.discovery.asking import Asking, number_of, text_of, told
from planner.discovery.facts import Device, Driver, Instance, Pair
from planner.discovery.probe import Reading

_MIB: Final = 1 << 20
_PROFILE: Final = re.compile(r"MIG (?:[0-9]+c\.)?([0-9]+g\.[0-9]+gb[a-z0-9.+-]*)")
# How near two cards are, by NVML's topology level.
_NEARNESS: Final = {0: "board", 10: "switch", 20: "switches", 30: "bridge", 40: "socket", 50: "system"}
_P2P_NVLINK: Final = 2
_FABRIC_COMPLETED: Final = 3


def read() -> Reading:
    """Ask NVML for every card; a card or a fact that fails is left out and told."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception as error:  # an old namesake of the package may raise anything
        return Reading(missing=f"nvmlInit: {told(error)}")
    try:
        return _read(pynvml)
    finally:
        Asking(pynvml, lambda _: True).ask("NVML", "nvmlShutdown")


def _read(nvml: Any) -> Reading:
    unsupported = {nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND}
    asking = Asking(nvml, lambda error: _code(error) in unsupported)
    count = asking.ask("NVML", "nvmlDeviceGetCount") or 0
    handles = {index: _handle(nvml, index) for index in range(count)}
    devices = tuple(_told(asking, nvml, index, handle) for index, handle in handles.items())
    alive = {device.index: handles[device.index] for device in devices if device.usable}
    return Reading(
        devices=devices,
        pairs=_pairs(asking, nvml, alive),
        driver=_driver(asking, nvml),
        nvlink_domain=_domain(asking, nvml, alive),
        warnings=tuple(asking.warnings),
    )


def _code(error: Exception) -> object:
    return getattr(error, "value", None)


def _driver(asking: Asking, nvml: Any) -> Driver:
    version = text_of(asking.ask("NVML", "nvmlSystemGetDriverVersion"))
    cuda = number_of(asking.ask("NVML", "nvmlSystemGetCudaDriverVersion"))
    toolkit = f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None
    return Driver(vendor=Vendor.NVIDIA, version=version, toolkit=toolkit)


def _handle(nvml: Any, index: int) -> Any:
    """The handle of a card; of one that has none the error, which becomes its trouble."""
    try:
        return nvml.nvmlDeviceGetHandleByIndex(index)
    except Exception as error:  # whatever it is, it concerns this card alone
        return error


def _told(asking: Asking, nvml: Any, index: int, handle: Any) -> Device:
    """Ask one card; an answer of a shape that nobody expects concerns this card alone."""
    try:
        return _device(asking, nvml, index, handle)
    except Exception as error:  # such as a structure that lacks a field
        return Device(index=index, vendor=Vendor.NVIDIA, trouble=f"NVML answers oddly: {told(error)}")


def _device(asking: Asking, nvml: Any, index: int, handle: Any) -> Device:
    """Ask one card everything; a card that is lost answers nothing and is kept with its trouble."""
    subject = f"GPU {index}"
    if isinstance(handle, Exception):
        return Device(index=index, vendor=Vendor.NVIDIA, trouble=f"nvmlDeviceGetHandleByIndex: {told(handle)}")
    pci = asking.ask(subject, "nvmlDeviceGetPciInfo", handle)
    if asking.last is not None and _code(asking.last) == nvml.NVML_ERROR_GPU_IS_LOST:
        return Device(index=index, vendor=Vendor.NVIDIA, trouble=f"nvmlDeviceGetPciInfo: {told(asking.last)}")
    divided = _divided(asking, nvml, subject, handle)
    return Device(
        index=index,
        vendor=Vendor.NVIDIA,
        name=_name(asking, nvml, subject, handle),
        uuid=text_of(asking.ask(subject, "nvmlDeviceGetUUID", handle)),
        pci_address=_address(text_of(pci.busId)) if pci else None,
        pci_id=_pci_id(pci.pciDeviceId) if pci else None,
        architecture=_architecture(asking, nvml, subject, handle),
        memory_mib=_memory(asking, nvml, subject, handle),
        power_milliwatts=number_of(asking.ask(subject, "nvmlDeviceGetEnforcedPowerLimit", handle, optional=True)),
        ecc=_ecc(asking, nvml, subject, handle),
        divided=divided,
        instances=_instances(asking, nvml, subject, handle) if divided else (),
        **_use(asking, nvml, subject, handle),
    )


def _name(asking: Asking, nvml: Any, subject: str, handle: Any) -> str | None:
    answer = asking.ask(subject, "nvmlDeviceGetName", handle)
    name = text_of(answer)
    if answer is not None and name is None:
        asking.warn(f"{subject}: nvmlDeviceGetName: the name is no readable text")
    return name


def _address(bus: str | None) -> str | None:
    """A PCI address as Linux writes it: NVML's domain has eight digits."""
    return bus.lower()[-12:] if bus else None


def _pci_id(combined: int) -> str:
    return f"{combined & 0xFFFF:04x}:{combined >> 16 & 0xFFFF:04x}"


def _architecture(asking: Asking, nvml: Any, subject: str, handle: Any) -> str | None:
    capability = asking.ask(subject, "nvmlDeviceGetCudaComputeCapability", handle, optional=True)
    return f"sm_{capability[0]}{capability[1]}" if capability else None


def _memory(asking: Asking, nvml: Any, subject: str, handle: Any) -> int | None:
    """The memory of a card. Zero is no answer: chips that use the host's memory either refuse or say 0."""
    info = asking.ask(subject, "nvmlDeviceGetMemoryInfo", handle)
    total = number_of(info.total) if info is not None else None
    return total // _MIB if total else None


def _ecc(asking: Asking, nvml: Any, subject: str, handle: Any) -> bool | None:
    mode = asking.ask(subject, "nvmlDeviceGetEccMode", handle, optional=True)
    failed = asking.ask(subject, "nvmlDeviceGetRemappedRows", handle, optional=True)
    if failed and failed[3]:
        asking.warn(f"{subject}: nvmlDeviceGetRemappedRows: a row of its memory could not be replaced; have it checked")
    return bool(mode[0]) if mode else None


def _use(asking: Asking, nvml: Any, subject: str, handle: Any) -> dict[str, Any]:
    running = asking.ask(subject, "nvmlDeviceGetComputeRunningProcesses", handle, optional=True)
    if running is None:
        return {}
    used = [number_of(process.usedGpuMemory) for process in running]
    known = [each for each in used if each is not None]
    return {"processes": len(running), "used_mib": sum(known) // _MIB if len(known) == len(used) else None}


def _divided(asking: Asking, nvml: Any, subject: str, handle: Any) -> bool | None:
    mode = asking.ask(subject, "nvmlDeviceGetMigMode", handle, optional=True)
    if mode is None:
        return False if asking.last is not None and _code(asking.last) == nvml.NVML_ERROR_NOT_SUPPORTED else None
    return bool(mode[0])


def _instances(asking: Asking, nvml: Any, subject: str, handle: Any) -> tuple[Instance, ...]:
    """The instances of a card in MIG mode. Their numbers have gaps; several compute instances share one of them."""
    found: dict[int, Instance] = {}
    most = asking.ask(subject, "nvmlDeviceGetMaxMigDeviceCount", handle) or 0
    for number in range(most):
        part = _part(asking, nvml, f"{subject}, MIG device {number}", handle, number)
        if part is None:
            continue
        instance_id = asking.ask(f"{subject}, MIG device {number}", "nvmlDeviceGetGpuInstanceId", part)
        key = -1 - number if instance_id is None else instance_id
        if key not in found:
            found[key] = _instance(asking, nvml, f"{subject}, MIG device {number}", handle, part, instance_id)
    return tuple(sorted(found.values(), key=lambda one: (one.at is None, one.at or 0, one.uuid or "")))


def _part(asking: Asking, nvml: Any, subject: str, handle: Any, number: int) -> Any:
    part = None
    try:
        part = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
    except Exception as error:  # a gap in the numbers is NOT_FOUND and no news
        if _code(error) not in {nvml.NVML_ERROR_NOT_FOUND, nvml.NVML_ERROR_INVALID_ARGUMENT}:
            asking.warn(f"{subject}: nvmlDeviceGetMigDeviceHandleByIndex: {told(error)}")
    return part


def _instance(asking: Asking, nvml: Any, subject: str, parent: Any, part: Any, number: int | None) -> Instance:
    match = _PROFILE.search(_name(asking, nvml, subject, part) or "")
    memory = _memory(asking, nvml, subject, part)
    whole = None if number is None else asking.ask(subject, "nvmlDeviceGetGpuInstanceById", parent, number)
    info = None if whole is None else asking.ask(subject, "nvmlGpuInstanceGetInfo", whole)
    if match is None:
        asking.warn(f"{subject}: nvmlDeviceGetName: the name tells no MIG profile")
    return Instance(
        profile=match[1] if match else None,
        at=number_of(info.placement.start) if info else None,
        memory_slices=number_of(info.placement.size) if info else None,
        memory_mib=memory,
        reported_mib=memory,
        uuid=text_of(asking.ask(subject, "nvmlDeviceGetUUID", part)),
    )


def _pairs(asking: Asking, nvml: Any, handles: dict[int, Any]) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            first=first,
            second=second,
            linked=_linked(asking, nvml, handles, first, second),
            pcie=_nearness(asking, nvml, handles, first, second),
        )
        for first, second in combinations(sorted(handles), 2)
    )


def _linked(asking: Asking, nvml: Any, handles: dict[int, Any], first: int, second: int) -> bool | None:
    # The number itself: in some releases a neighbouring constant of the package is a tuple by mistake.
    status = asking.ask("GPUs", "nvmlDeviceGetP2PStatus", handles[first], handles[second], _P2P_NVLINK)
    return None if status is None else status == nvml.NVML_P2P_STATUS_OK


def _nearness(asking: Asking, nvml: Any, handles: dict[int, Any], first: int, second: int) -> str | None:
    level = asking.ask("GPUs", "nvmlDeviceGetTopologyCommonAncestor", handles[first], handles[second])
    return None if level is None else _NEARNESS.get(level)


def _domain(asking: Asking, nvml: Any, handles: dict[int, Any]) -> str | None:
    """The NVLink domain that reaches beyond the host: cluster and clique of the fabric, alike on all its cards."""
    names = {_clique(asking, nvml, f"GPU {index}", handle) for index, handle in handles.items()}
    if len(names) > 1:
        asking.warn("GPUs: nvmlDeviceGetGpuFabricInfoV: cards of this host are in different NVLink domains")
    return names.pop() if len(names) == 1 else None


def _clique(asking: Asking, nvml: Any, subject: str, handle: Any) -> str | None:
    kind = getattr(nvml, "c_nvmlGpuFabricInfoV_t", None)
    if kind is None:
        return None
    info = kind()
    asking.ask(subject, "nvmlDeviceGetGpuFabricInfoV", handle, byref(info), optional=True)
    cluster = bytes(info.clusterUuid)
    if asking.last is not None or info.state != _FABRIC_COMPLETED or not any(cluster):
        return None
    return f"{cluster.hex()}.{info.cliqueId}"
