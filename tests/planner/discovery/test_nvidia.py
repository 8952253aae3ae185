"""The NVIDIA probe on packages and drivers that are not as one would wish."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from planner.discovery import nvidia
from planner.discovery.probe import Reading


class NVMLError(Exception):
    """An error of NVML with its status."""

    def __init__(self, value: int) -> None:
        super().__init__(f"status {value}")
        self.value = value


class OldPackage(ModuleType):
    """The package of the same import name that gives bytes, on a driver that knows few functions."""

    NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_FUNCTION_NOT_FOUND, NVML_ERROR_GPU_IS_LOST = 3, 13, 15
    NVML_P2P_STATUS_OK = 0

    def __init__(self, refuses: dict[str, int] | None = None) -> None:
        super().__init__("pynvml")
        self._refuses = refuses or {}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def call(*given: object) -> object:
            if name in self._refuses:
                raise NVMLError(self._refuses[name])
            return ANSWERS[name]

        call.__name__ = name
        return call


PCI = SimpleNamespace(busId=b"00000000:1B:00.0", pciDeviceId=0x233010DE)
ANSWERS: dict[str, object] = {
    "nvmlInit": None,
    "nvmlShutdown": None,
    "nvmlDeviceGetCount": 1,
    "nvmlDeviceGetHandleByIndex": "handle",
    "nvmlDeviceGetName": b"NVIDIA H100 80GB HBM3",
    "nvmlDeviceGetUUID": b"GPU-1",
    "nvmlDeviceGetPciInfo": PCI,
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=81_559 << 20),
    "nvmlDeviceGetCudaComputeCapability": (9, 0),
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetEccMode": [1, 1],
    "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetComputeRunningProcesses": [],
    "nvmlSystemGetDriverVersion": b"470.57.02",
    "nvmlSystemGetCudaDriverVersion": 11040,
}


def found(monkeypatch: pytest.MonkeyPatch, **refuses: int) -> Reading:
    monkeypatch.setitem(sys.modules, "pynvml", OldPackage(refuses))
    return nvidia.read()


def test_names_in_bytes_are_read_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    device = found(monkeypatch).devices[0]
    assert (device.name, device.uuid, device.pci_address) == ("NVIDIA H100 80GB HBM3", "GPU-1", "0000:1b:00.0")
    assert (device.pci_id, device.architecture, device.memory_mib) == ("10de:2330", "sm_90", 81_559)


def test_versions_are_read_as_toolkits_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = found(monkeypatch).driver
    assert driver is not None and (driver.version, driver.toolkit) == ("470.57.02", "11.4")


def test_zero_is_no_amount_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "nvmlDeviceGetMemoryInfo", SimpleNamespace(total=0))
    assert found(monkeypatch).devices[0].memory_mib is None


@pytest.mark.parametrize(("status", "divided"), [(3, False), (13, None), (999, None)])
def test_a_card_without_mig_is_whole_and_an_old_driver_does_not_know(
    monkeypatch: pytest.MonkeyPatch, status: int, divided: bool | None
) -> None:
    assert found(monkeypatch, nvmlDeviceGetMigMode=status).devices[0].divided is divided


def test_optional_facts_that_a_card_lacks_leave_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, nvmlDeviceGetEccMode=3, nvmlDeviceGetRemappedRows=13).warnings == ()


def test_a_fact_that_fails_is_unknown_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, nvmlDeviceGetUUID=999)
    assert reading.devices[0].uuid is None
    assert reading.warnings == ("GPU 0: nvmlDeviceGetUUID: status 999",)


def test_a_card_that_is_lost_between_two_calls_is_in_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    device = found(monkeypatch, nvmlDeviceGetPciInfo=15).devices[0]
    assert not device.usable and device.trouble == "nvmlDeviceGetPciInfo: status 15"


def test_memory_rows_that_could_not_be_replaced_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "nvmlDeviceGetRemappedRows", (0, 9, 0, 1))
    assert "nvmlDeviceGetRemappedRows" in found(monkeypatch).warnings[0]


def test_a_library_that_cannot_start_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, nvmlInit=18)
    assert (reading.devices, reading.missing) == ((), "nvmlInit: status 18")


def test_use_is_unknown_where_the_driver_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    running = [SimpleNamespace(usedGpuMemory=5 << 20), SimpleNamespace(usedGpuMemory=None)]
    monkeypatch.setitem(ANSWERS, "nvmlDeviceGetComputeRunningProcesses", running)
    device = found(monkeypatch).devices[0]
    assert (device.processes, device.used_mib) == (2, None)


def test_an_answer_of_another_shape_concerns_its_card_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "nvmlDeviceGetMemoryInfo", (1, 2, 3))
    device = found(monkeypatch).devices[0]
    assert device.trouble == "NVML answers oddly: 'tuple' object has no attribute 'total'"


class MigPackage(OldPackage):
    """One card in MIG mode with these MIG devices: names, and the number of the GPU instance each belongs to."""

    def __init__(self, parts: dict[int, tuple[str, int]], refuses: dict[str, int] | None = None) -> None:
        super().__init__(refuses)
        self.parts = parts

    NVML_ERROR_NOT_FOUND, NVML_ERROR_INVALID_ARGUMENT = 6, 2

    def nvmlDeviceGetMigMode(self, handle: object) -> list[int]:
        return [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: object) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: object, number: int) -> int:
        if number not in self.parts:
            raise NVMLError(6)
        return number

    def nvmlDeviceGetName(self, handle: object) -> str:
        return self.parts[handle][0] if isinstance(handle, int) else "NVIDIA H100 80GB HBM3"

    def nvmlDeviceGetGpuInstanceId(self, handle: int) -> int:
        return self.parts[handle][1]

    def nvmlDeviceGetGpuInstanceById(self, handle: object, number: int) -> int:
        if "nvmlDeviceGetGpuInstanceById" in self._refuses:
            raise NVMLError(self._refuses["nvmlDeviceGetGpuInstanceById"])
        return number

    def nvmlGpuInstanceGetInfo(self, number: int) -> SimpleNamespace:
        return SimpleNamespace(placement=SimpleNamespace(start=number, size=1))


def instances(monkeypatch: pytest.MonkeyPatch, package: MigPackage) -> tuple[list[object], tuple[str, ...]]:
    monkeypatch.setitem(sys.modules, "pynvml", package)
    reading = nvidia.read()
    return [(one.profile, one.at) for one in reading.devices[0].instances], reading.warnings


def test_compute_instances_of_one_gpu_instance_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {0: ("H100 MIG 1c.3g.40gb", 4), 1: ("H100 MIG 1c.3g.40gb", 4), 3: ("H100 MIG 1g.10gb+me", 0)}
    assert instances(monkeypatch, MigPackage(parts)) == ([("1g.10gb+me", 0), ("3g.40gb", 4)], ())


def test_an_instance_whose_place_is_refused_is_kept_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    package = MigPackage({2: ("H100 MIG 1g.10gb", 9)}, {"nvmlDeviceGetGpuInstanceById": 4})
    found_, warnings = instances(monkeypatch, package)
    assert found_ == [("1g.10gb", None)]
    assert warnings == ("GPU 0, MIG device 2: nvmlDeviceGetGpuInstanceById: status 4",)


def test_a_name_without_a_profile_leaves_the_profile_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found_, warnings = instances(monkeypatch, MigPackage({0: ("NVIDIA H100", 0)}))
    assert found_ == [(None, 0)]
    assert warnings == ("GPU 0, MIG device 0: nvmlDeviceGetName: the name tells no MIG profile",)
