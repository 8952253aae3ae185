"""What the driver libraries of a machine answer, from its table of facts, laid out as the real packages expect it."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pynvml

from tests.planner.discovery.machines import NOT_SUPPORTED, Amd, Machine, Mig, Nvidia
from tests.planner.discovery.stubs import Answer, build

MIB = 1 << 20
CARD, PART, INSTANCE, SOCKET = 0x1000, 0x2000, 0x3000, 0x4000
NOT_FOUND, INSUFFICIENT_SIZE = 6, 7
AMD_NOT_SUPPORTED = 2


def number(value: int) -> bytes:
    return struct.pack("<I", value)


def long_number(value: int) -> bytes:
    return struct.pack("<Q", value)


def nvml(machine: Machine) -> list[Answer]:
    """Every answer of the machine's NVML."""
    cards = machine.nvidia or ()
    rows = [
        Answer(function="nvmlInitWithFlags"),
        Answer(function="nvmlShutdown"),
        Answer(function="nvmlSystemGetDriverVersion", outs=((0, machine.driver.encode() + b"\0"),)),
        Answer(function="nvmlSystemGetCudaDriverVersion", outs=((0, number(machine.cuda)),)),
        Answer(function="nvmlDeviceGetCount_v2", outs=((0, number(len(cards))),)),
    ]
    for index, card in enumerate(cards):
        rows += [Answer(function=name, keys=((0, _who(name, index)),), code=code) for name, code in card.refuses]
        rows += _card(index, card)
        if machine.clique is not None:
            rows.append(_of(CARD + index, "nvmlDeviceGetGpuFabricInfoV", (1, _fabric(*machine.clique))))
    return rows + list(_pairs(machine))


def _who(function: str, index: int) -> int:
    """The first argument by which a function knows the card: its index, else its handle."""
    return index if function == "nvmlDeviceGetHandleByIndex_v2" else CARD + index


def _card(index: int, card: Nvidia) -> Iterator[Answer]:
    handle = CARD + index
    yield Answer(function="nvmlDeviceGetHandleByIndex_v2", keys=((0, index),), outs=((1, long_number(handle)),))
    yield _of(handle, "nvmlDeviceGetName", (1, card.name + b"\0"))
    yield _of(handle, "nvmlDeviceGetUUID", (1, f"GPU-{index:08d}\0".encode()))
    yield _of(handle, "nvmlDeviceGetPciInfo_v3", (1, _pci(card)))
    major, minor = card.capability
    yield _of(handle, "nvmlDeviceGetCudaComputeCapability", (1, number(major)), (2, number(minor)))
    if card.memory_mib is not None:
        yield _of(handle, "nvmlDeviceGetMemoryInfo", (1, _memory(card.memory_mib)))
    yield _of(handle, "nvmlDeviceGetEccMode", (1, number(1)), (2, number(1)))
    yield from _processes(handle, card)
    if card.migs is not None:
        yield _of(handle, "nvmlDeviceGetMigMode", (1, number(bool(card.migs))), (2, number(bool(card.migs))))
        yield _of(handle, "nvmlDeviceGetMaxMigDeviceCount", (1, number(7)))
        for mig in card.migs:
            yield from _mig(index, card, mig)
        yield Answer(function="nvmlDeviceGetMigDeviceHandleByIndex", keys=((0, handle),), code=NOT_FOUND)


def _of(handle: int, function: str, *outs: tuple[int, bytes]) -> Answer:
    return Answer(function=function, keys=((0, handle),), outs=outs)


def _pci(card: Nvidia) -> bytes:
    vendor, device = (int(part, 16) for part in card.pci_id.split(":"))
    info = pynvml.nvmlPciInfo_t()
    info.busId = f"0000{card.bus}".upper().encode()
    info.pciDeviceId = device << 16 | vendor
    return bytes(info)


def _fabric(cluster: str, clique: int) -> bytes:
    info = pynvml.c_nvmlGpuFabricInfoV_t()
    info.clusterUuid[:] = list(bytes.fromhex(cluster))
    info.cliqueId, info.state = clique, pynvml.NVML_GPU_FABRIC_STATE_COMPLETED
    return bytes(info)


def _memory(mib: int) -> bytes:
    return bytes(pynvml.c_nvmlMemory_t(total=mib * MIB, free=mib * MIB, used=0))


def _processes(handle: int, card: Nvidia) -> Iterator[Answer]:
    """Asked without room for an answer NVML tells how many there are, asked again it tells which."""
    function = "nvmlDeviceGetComputeRunningProcesses_v3"
    infos = b"".join(
        bytes(pynvml.c_nvmlProcessInfo_v3_t(pid=100 + n, usedGpuMemory=mib * MIB))
        for n, mib in enumerate(card.processes_mib)
    )
    count = number(len(card.processes_mib))
    status = INSUFFICIENT_SIZE if infos else 0
    yield Answer(function=function, keys=((0, handle), (2, 0)), code=status, outs=((1, count),))
    if infos:
        yield Answer(function=function, keys=((0, handle),), outs=((1, count), (2, infos)))


def _mig(index: int, card: Nvidia, mig: Mig) -> Iterator[Answer]:
    part, instance = PART + 16 * index + mig.number, INSTANCE + 16 * index + mig.number
    function = "nvmlDeviceGetMigDeviceHandleByIndex"
    keys = ((0, CARD + index), (1, mig.number))
    yield Answer(function=function, keys=keys, outs=((2, long_number(part)),))
    yield _of(part, "nvmlDeviceGetName", (1, card.name + f" MIG {mig.profile}\0".encode()))
    yield _of(part, "nvmlDeviceGetUUID", (1, f"MIG-{index}-{mig.number}\0".encode()))
    yield _of(part, "nvmlDeviceGetMemoryInfo", (1, _memory(mig.memory_mib)))
    yield _of(part, "nvmlDeviceGetGpuInstanceId", (1, number(mig.number + 7)))
    keys = ((0, CARD + index), (1, mig.number + 7))
    yield Answer(function="nvmlDeviceGetGpuInstanceById", keys=keys, outs=((2, long_number(instance)),))
    info = pynvml.c_nvmlGpuInstanceInfo_t()
    info.placement.start, info.placement.size = mig.start, mig.size
    yield _of(instance, "nvmlGpuInstanceGetInfo", (1, bytes(info)))


def _pairs(machine: Machine) -> Iterator[Answer]:
    for function, position in (("nvmlDeviceGetP2PStatus", 3), ("nvmlDeviceGetTopologyCommonAncestor", 2)):
        if machine.nvlinks is None:
            yield Answer(function=function, code=NOT_SUPPORTED)
            continue
        for first in range(len(machine.nvidia or ())):
            for second in range(first + 1, len(machine.nvidia or ())):
                linked = (first, second) in machine.nvlinks
                value = (0 if linked else 5) if position == 3 else 40
                keys = ((0, CARD + first), (1, CARD + second))
                yield Answer(function=function, keys=keys, outs=((position, number(value)),))


def amd(machine: Machine, wrapper: Any) -> list[Answer]:
    """Every answer of the machine's AMD SMI; `wrapper` is the package's own module of layouts."""
    parts = machine.amd or ()
    handles = b"".join(long_number(CARD + index) for index in range(len(parts)))
    rows = [
        Answer(function="amdsmi_init"),
        Answer(function="amdsmi_shut_down"),
        Answer(function="amdsmi_get_socket_handles", keys=((1, 0),), outs=((0, number(1)),)),
        Answer(function="amdsmi_get_socket_handles", outs=((0, number(1)), (1, long_number(SOCKET)))),
        Answer(function="amdsmi_get_processor_handles", keys=((2, 0),), outs=((1, number(len(parts))),)),
        Answer(function="amdsmi_get_processor_handles", outs=((1, number(len(parts))), (2, handles))),
    ]
    for index, part in enumerate(parts):
        rows += _processor(index, part, wrapper)
    kinds = {True: wrapper.AMDSMI_LINK_TYPE_XGMI, False: wrapper.AMDSMI_LINK_TYPE_PCIE}
    for first in range(len(parts)):
        for second in range(first + 1, len(parts)):
            kind = kinds[(first, second) in machine.xgmi]
            keys = ((0, CARD + first), (1, CARD + second))
            outs = ((2, long_number(1)), (3, number(kind)))
            rows.append(Answer(function="amdsmi_topo_get_link_type", keys=keys, outs=outs))
    return rows


def _processor(index: int, part: Amd, wrapper: Any) -> Iterator[Answer]:
    handle = CARD + index
    asic = wrapper.amdsmi_asic_info_t()
    asic.market_name, asic.vendor_name = part.name.encode(), b"Advanced Micro Devices Inc. [AMD/ATI]"
    asic.vendor_id, asic.device_id, asic.target_graphics_version = 0x1002, part.device, part.gfx
    asic.asic_serial = f"{index // 8 + 1:016x}".encode()
    yield _of(handle, "amdsmi_get_gpu_asic_info", (1, bytes(asic)))
    yield _of(handle, "amdsmi_get_gpu_device_bdf", (1, _bdf(part.bus, wrapper)))
    yield _of(handle, "amdsmi_get_gpu_device_uuid", (2, f"{index:08x}-0000-1000-8000-000000000000\0".encode()))
    yield _of(handle, "amdsmi_get_gpu_memory_total", (2, long_number(part.memory_mib * MIB)))
    yield _of(handle, "amdsmi_topo_get_numa_node_number", (1, number(part.numa)))
    for function, mode in (
        ("amdsmi_get_gpu_compute_partition", part.compute),
        ("amdsmi_get_gpu_memory_partition", part.memory_mode),
    ):
        if mode is not None:
            yield _of(handle, function, (1, mode.encode() + b"\0"))
    driver = wrapper.amdsmi_driver_info_t()
    driver.driver_version = b"6.10.5"
    yield _of(handle, "amdsmi_get_gpu_driver_info", (1, bytes(driver)))
    info = wrapper.amdsmi_enumeration_info_t()
    info.drm_render = part.render
    yield _of(handle, "amdsmi_get_gpu_enumeration_info", (1, bytes(info)))
    kfd = wrapper.amdsmi_kfd_info_t()
    kfd.current_partition_id = part.partition
    yield _of(handle, "amdsmi_get_gpu_kfd_info", (1, bytes(kfd)))
    yield _of(handle, "amdsmi_get_gpu_process_list", (1, number(0)))


def _bdf(bus: str, wrapper: Any) -> bytes:
    domain, number_, rest = bus.split(":")
    device, function = rest.split(".")
    bdf = wrapper.amdsmi_bdf_t()
    place = bdf.struct_amdsmi_bdf_t
    place.domain_number, place.bus_number = int(domain, 16), int(number_, 16)
    place.device_number, place.function_number = int(device, 16), int(function, 16)
    return bytes(ctypes.string_at(ctypes.addressof(bdf), ctypes.sizeof(bdf)))


def amd_functions(package: Path) -> list[str]:
    """Every function that the package binds while it is imported: a library without one of them cannot be used."""
    text = (package / "amdsmi_wrapper.py").read_text("utf-8")
    return sorted(set(re.findall(r"_libraries\['libamd_smi\.so'\]\.(\w+)", text)))


def build_nvml(machine: Machine, folder: Path) -> Path:
    return build(folder, "libnvidia-ml.so.1", nvml(machine), otherwise=NOT_SUPPORTED)


def build_amd(machine: Machine, folder: Path, package: Path, wrapper: Any) -> Path:
    rows = amd(machine, wrapper) if wrapper is not None else []
    return build(folder, "libamd_smi.so", rows, otherwise=AMD_NOT_SUPPORTED, also=amd_functions(package))
