"""Probes and the operating system together make one host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.catalog import Vendor
from planner.discovery.discover import discover
from planner.discovery.facts import Device, Driver, HostFacts, Pair
from planner.discovery.probe import Probe, Reading
from tests.planner.discovery.hosts import CATALOG
from tests.planner.discovery.machines import H100, NO_DRIVER


def probe(vendor: Vendor, reading: Reading | Exception, pci_vendor: str = "10de") -> Probe:
    def read() -> Reading:
        if isinstance(reading, Exception):
            raise reading
        return reading

    return Probe(vendor=vendor, pci_vendor=pci_vendor, library="the library", read=read)


def found(root: Path, *probes: Probe, node: str = "n") -> HostFacts:
    return discover(root, "x86_64", CATALOG, node=node, probes=probes)


CARD = Device(index=0, vendor=Vendor.NVIDIA, name="NVIDIA H100 80GB HBM3", memory_mib=81_559)


def test_cards_of_the_second_vendor_count_on(tmp_path: Path) -> None:
    one = Reading(devices=(CARD, replace(CARD, index=1)), pairs=(Pair(first=0, second=1, linked=True),))
    other = Reading(
        devices=tuple(Device(index=index, vendor=Vendor.AMD, name="AMD Instinct MI210") for index in range(2)),
        pairs=(Pair(first=0, second=1, linked=False),),
    )
    host = found(tmp_path, probe(Vendor.NVIDIA, one), probe(Vendor.AMD, other, "1002"))
    assert [device.index for device in host.devices] == [0, 1, 2, 3]
    assert [(pair.first, pair.second, pair.linked) for pair in host.pairs] == [(0, 1, True), (2, 3, False)]
    assert [device.model for device in host.devices] == ["h100-sxm5-80gb"] * 2 + ["mi210"] * 2


def test_a_probe_that_breaks_costs_its_own_cards(tmp_path: Path) -> None:
    NO_DRIVER.write_root(tmp_path)
    host = found(tmp_path, probe(Vendor.NVIDIA, RuntimeError("broken")), probe(Vendor.AMD, Reading(), "1002"))
    assert any("the library cannot be asked about 0000:17:00.0 (10de:2330): broken" in text for text in host.warnings)


def test_a_missing_library_is_no_news_without_cards(tmp_path: Path) -> None:
    host = found(tmp_path, probe(Vendor.NVIDIA, Reading(missing="not installed")))
    assert not any("not installed" in text for text in host.warnings)


def test_a_card_on_the_bus_that_the_library_does_not_tell_is_told(tmp_path: Path) -> None:
    H100.write_root(tmp_path)
    cards = tuple(replace(CARD, index=n, pci_address=f"0000:{16 * (n + 1) + 11:02x}:00.0") for n in range(7))
    host = found(tmp_path, probe(Vendor.NVIDIA, Reading(devices=cards)))
    assert [text for text in host.warnings if "does not tell" in text] == [
        "the library does not tell of the card on PCI at 0000:8b:00.0 (10de:2330)"
    ]
    assert [device.numa_node for device in host.devices] == [0, 0, 0, 0, 1, 1, 1]


def test_the_toolkit_is_looked_for_where_the_library_does_not_tell_it(tmp_path: Path) -> None:
    reading = Reading(driver=Driver(vendor=Vendor.AMD, version="6.10"))
    one = replace(probe(Vendor.AMD, reading, "1002"), installed=lambda root: "6.3.1")
    assert found(tmp_path, one).drivers[0].toolkit == "6.3.1"
    told = replace(probe(Vendor.AMD, replace(reading, driver=Driver(vendor=Vendor.AMD, toolkit="7.0")), "1002"))
    assert found(tmp_path, replace(told, installed=lambda root: "6.3.1")).drivers[0].toolkit == "7.0"


@pytest.mark.parametrize(("node", "name"), [("gpu-007", "gpu-007"), ("", "localhost"), ("a b", "localhost")])
def test_a_name_that_no_node_can_have_is_not_used(tmp_path: Path, node: str, name: str) -> None:
    host = found(tmp_path, node=node)
    assert host.name == name
    assert any("--node" in text for text in host.warnings) is (name == "localhost")


def test_what_the_operating_system_hides_is_unknown_and_told(tmp_path: Path) -> None:
    host = found(tmp_path)
    assert (host.cpus, host.memory_mib, host.network) == (None, None, None)
    assert [text for text in host.warnings if text.startswith("/proc/meminfo")] != []
