"""What /proc and /sys say, also when they say little."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.discovery import host
from planner.discovery.facts import Link


def write(root: Path, tree: dict[str, str]) -> Path:
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize(
    ("online", "count"), [("0-191", 192), ("0", 1), ("0-3,8-11", 8), ("0-1,5", 3), ("", None), ("odd", None)]
)
def test_cpus_are_those_that_are_online(tmp_path: Path, online: str, count: int | None) -> None:
    assert host.cpus(write(tmp_path, {"sys/devices/system/cpu/online": online})) == count


def test_cpus_are_counted_in_cpuinfo_where_sys_is_hidden(tmp_path: Path) -> None:
    assert host.cpus(write(tmp_path, {"proc/cpuinfo": "processor\t: 0\nmodel\nprocessor\t: 1\n"})) == 2


def test_an_empty_root_tells_nothing(tmp_path: Path) -> None:
    assert (host.hostname(tmp_path), host.cpus(tmp_path), host.memory_mib(tmp_path)) == ("", None, None)
    assert (host.network(tmp_path), host.pci_cards(tmp_path), host.render_gid(tmp_path)) == (None, (), None)
    assert (host.back_ends(tmp_path), host.rocm(tmp_path)) == ((), None)


def test_memory_is_rounded_down(tmp_path: Path) -> None:
    assert host.memory_mib(write(tmp_path, {"proc/meminfo": "MemTotal: 2047 kB\n"})) == 1


@pytest.mark.parametrize(
    ("kernel", "machine", "architecture"),
    [("", "x86_64", "amd64"), ("", "AMD64", "amd64"), ("aarch64", "x86_64", "arm64"), ("", "riscv64", None)],
)
def test_architectures_are_those_of_images(tmp_path: Path, kernel: str, machine: str, architecture: str | None) -> None:
    root = write(tmp_path, {"proc/sys/kernel/arch": kernel}) if kernel else tmp_path
    assert host.architecture(root, machine) == architecture


def port(number: int, rate: str, layer: str, state: str = "4: ACTIVE") -> dict[str, str]:
    folder = f"sys/class/infiniband/mlx5_{number}/ports/1"
    return {f"{folder}/rate": rate, f"{folder}/link_layer": layer, f"{folder}/state": state}


@pytest.mark.parametrize(
    ("ports", "link"),
    [
        ([("400 Gb/sec (4X)", "InfiniBand")] * 2, Link(fabric="infiniband", bits_per_second=800 * 10**9, rdma=True)),
        ([("100 Gb/sec (4X EDR)", "Ethernet")], Link(fabric="roce", bits_per_second=100 * 10**9, rdma=True)),
        ([("2.5 Gb/sec (1X SDR)", "InfiniBand")], Link(fabric="infiniband", bits_per_second=2_500 * 10**6, rdma=True)),
        ([("odd", "InfiniBand")], Link(fabric="infiniband", bits_per_second=None, rdma=True)),
        ([("400 Gb/sec", "InfiniBand"), ("100 Gb/sec", "Ethernet")],
         Link(fabric="infiniband", bits_per_second=400 * 10**9, rdma=True)),
    ],
)  # fmt: skip
def test_active_ports_of_the_best_fabric_add_up(tmp_path: Path, ports: list[tuple[str, str]], link: Link) -> None:
    for number, (rate, layer) in enumerate(ports):
        write(tmp_path, port(number, rate, layer))
    assert host.network(tmp_path) == link


def test_a_port_that_is_down_is_no_fabric(tmp_path: Path) -> None:
    write(tmp_path, port(0, "400 Gb/sec", "InfiniBand", "1: DOWN"))
    assert host.network(tmp_path) is None


def test_the_fastest_ethernet_port_with_hardware_counts(tmp_path: Path) -> None:
    net = "sys/class/net"
    write(tmp_path, {f"{net}/eth0/speed": "1000", f"{net}/eth0/device/x": "", f"{net}/eth1/speed": "25000",
                     f"{net}/eth1/device/x": "", f"{net}/veth/speed": "99999", f"{net}/eth2/speed": "-1",
                     f"{net}/eth2/device/x": ""})  # fmt: skip
    assert host.network(tmp_path) == Link(fabric="ethernet", bits_per_second=25 * 10**9)


def card(address: str, kind: str, numa: str) -> dict[str, str]:
    folder = f"sys/bus/pci/devices/{address}"
    return {
        f"{folder}/class": kind,
        f"{folder}/vendor": "0x10de",
        f"{folder}/device": "0x2330",
        f"{folder}/numa_node": numa,
    }


def test_only_what_computes_or_shows_is_a_card(tmp_path: Path) -> None:
    for address, kind in (("0000:01:00.0", "0x030200"), ("0000:02:00.0", "0x120000"), ("0000:03:00.0", "0x020000")):
        write(tmp_path, card(address, kind, "-1"))
    cards = host.pci_cards(tmp_path)
    assert [(each.address, each.pci_id, each.numa_node) for each in cards] == [
        ("0000:01:00.0", "10de:2330", None),
        ("0000:02:00.0", "10de:2330", None),
    ]


@pytest.mark.parametrize(("text", "version"), [("6.3.1-48\n", "6.3.1"), ("7.14.0", "7.14.0"), ("odd", None)])
def test_rocm_is_read_from_its_usual_place(tmp_path: Path, text: str, version: str | None) -> None:
    assert host.rocm(write(tmp_path, {"opt/rocm/.info/version": text})) == version


def test_text_that_is_not_utf8_does_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "proc/sys/kernel/hostname"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\n")
    assert host.hostname(tmp_path) == "\ufffd"
