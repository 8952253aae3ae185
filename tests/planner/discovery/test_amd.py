"""The AMD probe on packages whose numbers and imports differ."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest

from planner.discovery import amd
from planner.discovery.probe import Reading


class OldIoLink(IntEnum):
    """How releases before 7 number links in this call."""

    UNDEFINED, PCIEXPRESS, XGMI = 0, 1, 2


class OldLink(IntEnum):
    """How release 6.2 numbers links elsewhere."""

    AMDSMI_LINK_TYPE_PCIE, AMDSMI_LINK_TYPE_XGMI = 0, 1


class NewLink(IntEnum):
    """How release 7 numbers links."""

    AMDSMI_LINK_TYPE_INTERNAL, AMDSMI_LINK_TYPE_PCIE, AMDSMI_LINK_TYPE_XGMI = 0, 1, 2


class Package(ModuleType):
    """As much of the package as is asked, answering from a table; what is not in it does not exist."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__("amdsmi")
        for name, answer in answers.items():
            setattr(self, name, _call(name, answer) if name.startswith("amdsmi") else answer)


def _call(name: str, answer: Any) -> Any:
    def call(*given: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    call.__name__ = name
    return call


ASIC = {"market_name": "AMD Instinct MI210", "vendor_id": "0x1002", "device_id": "0x740f",
        "target_graphics_version": "gfx90a"}  # fmt: skip
CARD: dict[str, Any] = {
    "amdsmi_init": None,
    "amdsmi_shut_down": None,
    "amdsmi_get_processor_handles": ["one", "two"],
    "amdsmi_get_gpu_asic_info": ASIC,
    "amdsmi_get_gpu_device_bdf": KeyError("bdf"),
    "amdsmi_get_gpu_device_uuid": "u",
    "amdsmi_get_gpu_memory_total": 65_520 << 20,
    "amdsmi_topo_get_numa_node_number": 1,
    "amdsmi_get_gpu_total_ecc_count": {"uncorrectable_count": 0},
    "amdsmi_get_gpu_process_list": [{"memory_usage": {"vram_mem": 3 << 20}}],
    "amdsmi_get_gpu_driver_info": {"driver_version": "6.10.5"},
    "amdsmi_topo_get_link_type": {"hops": 1, "type": 2},
}


def found(monkeypatch: pytest.MonkeyPatch, **answers: Any) -> Reading:
    monkeypatch.setitem(sys.modules, "amdsmi", Package({**CARD, **answers}))
    return amd.read()


@pytest.mark.parametrize(
    ("types", "number", "linked"),
    [
        ({"AmdSmiIoLinkType": OldIoLink, "AmdSmiLinkType": OldLink}, 2, True),
        ({"AmdSmiIoLinkType": OldIoLink, "AmdSmiLinkType": OldLink}, 1, False),
        ({"AmdSmiLinkType": NewLink}, 2, True),
        ({"AmdSmiLinkType": NewLink}, 1, False),
    ],
)
def test_a_link_is_told_by_the_packages_own_name_for_it(
    monkeypatch: pytest.MonkeyPatch, types: dict[str, Any], number: int, linked: bool
) -> None:
    answer = {"hops": 1, "type": number}
    assert found(monkeypatch, amdsmi_topo_get_link_type=answer, **types).pairs[0].linked is linked


def test_cards_without_an_address_are_cards_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch)
    assert [device.index for device in reading.devices] == [0, 1]
    assert reading.devices[0].instances == () and reading.devices[0].divided is False
    assert "AMD processor 0: amdsmi_get_gpu_device_bdf: 'bdf'" in reading.warnings


def test_old_packages_lack_calls_and_that_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    device = found(monkeypatch).devices[0]
    assert (device.render_node, device.compute_mode, device.memory_mode) == (None, None, None)
    assert (device.pci_id, device.architecture, device.memory_mib) == ("1002:740f", "gfx90a", 65_520)
    assert (device.processes, device.used_mib, device.ecc) == (1, 3, True)


def test_a_number_instead_of_a_market_name_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, amdsmi_get_gpu_asic_info={**ASIC, "market_name": "0x740f", "device_id": "N/A"})
    assert (reading.devices[0].name, reading.devices[0].pci_id) == (None, None)


def test_a_card_that_tells_nothing_is_in_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, amdsmi_get_gpu_asic_info=RuntimeError("no data"))
    assert reading.devices[0].trouble == "amdsmi_get_gpu_asic_info: no data"
    assert reading.pairs == ()


@pytest.mark.parametrize(
    "error", [KeyError("libamd_smi.so"), AttributeError("undefined symbol"), OSError("cannot open"), ImportError("no")]
)
def test_whatever_the_package_raises_is_a_missing_library(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    reading = found(monkeypatch, amdsmi_init=error)
    assert reading.devices == () and type(error).__name__ in reading.missing


def test_what_the_package_prints_goes_into_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def amdsmi_init() -> None:
        print("Unable to find libamd_smi.so")
        raise KeyError("libamd_smi.so")

    package = Package({})
    monkeypatch.setattr(package, "amdsmi_init", amdsmi_init, raising=False)
    monkeypatch.setitem(sys.modules, "amdsmi", package)
    assert "Unable to find libamd_smi.so" in amd.read().missing
    assert capsys.readouterr().out == ""


def test_a_package_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    assert "gpu-fleet-planner[amd]" in amd.read().missing


def test_uncorrectable_errors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, amdsmi_get_gpu_total_ecc_count={"uncorrectable_count": 4})
    assert "AMD processor 0: amdsmi_get_gpu_total_ecc_count: 4 uncorrectable errors" in reading.warnings


def test_an_answer_of_another_shape_concerns_its_card_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch, amdsmi_get_gpu_process_list=["python"])
    assert [device.trouble for device in reading.devices] == [
        "AMD SMI answers oddly: 'str' object has no attribute 'get'"
    ] * 2


@pytest.mark.parametrize(
    ("cap", "milliwatts"),
    [(300_000_000, 300_000), (10_000, 10), (9_999, 9_999_000), (300, 300_000), (0, None), ("N/A", None)],
)
def test_the_power_cap_is_read_in_microwatts_or_in_watts(
    monkeypatch: pytest.MonkeyPatch, cap: object, milliwatts: int | None
) -> None:
    reading = found(monkeypatch, amdsmi_get_power_cap_info={"power_cap": cap})
    assert reading.devices[0].power_milliwatts == milliwatts


def test_a_card_without_a_power_cap_leaves_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = found(monkeypatch)
    assert reading.devices[0].power_milliwatts is None
    assert not any("power_cap" in warning for warning in reading.warnings)
