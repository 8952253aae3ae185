"""UC-45: memory "Not Supported", a name in bytes: one odd card must not kill the whole listing."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from planner.discovery import nvidia
from planner.source import SourceFile
from planner.specset import load
from tests.planner.discovery import machines
from tests.planner.discovery.bench import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("uc45"))


def test_all_four_cards_are_listed_and_the_exit_code_is_0(bench: Bench) -> None:
    host = bench.facts(machines.ODD)
    assert [device.model for device in host.devices] == ["gb10", "h100-sxm5-80gb", None, "h100-sxm5-80gb"]


def test_unknown_memory_stays_unknown_and_is_marked_unified(bench: Bench) -> None:
    device = bench.facts(machines.ODD).devices[0]
    assert (device.memory_mib, device.unified) == (None, True)
    warnings = " ".join(bench.facts(machines.ODD).warnings)
    assert "GPU 0: nvmlDeviceGetMemoryInfo: Not Supported" in warnings
    assert "gpus.memory" in warnings  # the field that overrides it


def test_the_override_field_is_honoured(bench: Bench) -> None:
    text = bench.spec(machines.GB10).replace("model: gb10,", "model: gb10, memory: 100Gi,")
    specset = load([SourceFile("cluster.yaml", text.encode())]).specset
    assert specset is not None
    memory = specset.clusters[0].pools[0].gpus[0].memory
    assert memory is not None and memory.mib == 100 * 1024


def test_a_bad_name_gives_the_pci_number_and_a_warning(bench: Bench) -> None:
    host = bench.facts(machines.ODD)
    assert (host.devices[1].name, host.devices[1].pci_id) == (None, "10de:2330")
    assert any("GPU 1: nvmlDeviceGetName" in warning for warning in host.warnings)
    assert any("h100-sxm5-80gb was told by its PCI number 10de:2330" in warning for warning in host.warnings)


def test_the_package_that_gives_bytes_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bytes(ModuleType):
        NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_FUNCTION_NOT_FOUND, NVML_ERROR_GPU_IS_LOST = 3, 13, 15

        def __getattr__(self, name: str) -> Any:
            answers: dict[str, object] = {
                "nvmlInit": None,
                "nvmlShutdown": None,
                "nvmlDeviceGetCount": 1,
                "nvmlDeviceGetHandleByIndex": 1,
                "nvmlDeviceGetName": b"NVIDIA H100 80GB HBM3",
                "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=81_559 << 20),
            }
            if name not in answers:
                raise AttributeError(name)
            return lambda *given: answers[name]

    monkeypatch.setitem(sys.modules, "pynvml", Bytes("pynvml"))
    device = nvidia.read().devices[0]
    assert (device.name, device.memory_mib) == ("NVIDIA H100 80GB HBM3", 81_559)


def test_a_host_with_odd_cards_can_be_planned(bench: Bench) -> None:
    result = load([SourceFile("cluster.yaml", bench.spec(machines.ODD).encode())])
    assert result.specset is not None and not [item for item in result.diagnostics if item.is_error]
