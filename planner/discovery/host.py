"""What the operating system tells of a host: from /proc and /sys, under a root that tests can choose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner.discovery.facts import Link

_ARCHITECTURES: Final = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
# PCI classes of what computes or shows: VGA, 3D and other display controllers, and processing accelerators.
_ACCELERATING: Final = ("0x0300", "0x0302", "0x0380", "0x1200")
_RATE: Final = re.compile(r"([0-9]+)(?:\.([0-9]))? Gb/sec")
_FABRICS: Final = {"infiniband": "infiniband", "ethernet": "roce"}
_BACK_ENDS: Final = (
    ("kubernetes", "var/lib/kubelet"),
    ("slurm", "etc/slurm/slurm.conf"),
    ("slurm", "var/spool/slurmd"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PciCard:
    """A card on the PCI bus, whether or not a driver knows it."""

    address: str
    vendor: str
    device: str
    numa_node: int | None

    @property
    def pci_id(self) -> str:
        """Vendor and device, as catalogues write them: `10de:2330`."""
        return f"{self.vendor}:{self.device}"


def hostname(root: Path) -> str:
    """The name of the host as the kernel has it; empty where it cannot be read."""
    return _line(root / "proc/sys/kernel/hostname") or ""


def architecture(root: Path, machine: str) -> str | None:
    """The architecture as image platforms spell it, amd64 or arm64; `machine` where the kernel is too old to say it."""
    return _ARCHITECTURES.get((_line(root / "proc/sys/kernel/arch") or machine).lower())


def cpus(root: Path) -> int | None:
    """How many CPUs the scheduler of the kernel counts."""
    online = _line(root / "sys/devices/system/cpu/online")
    if online and re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", online):
        ranges = [part.split("-") for part in online.split(",")]
        return sum(int(part[-1]) - int(part[0]) + 1 for part in ranges)
    listed = re.findall(r"(?m)^processor\s*:", _text(root / "proc/cpuinfo"))
    return len(listed) or None


def memory_mib(root: Path) -> int | None:
    """The memory that the kernel has to give, in MiB."""
    match = re.search(r"(?m)^MemTotal:\s*([0-9]+) kB", _text(root / "proc/meminfo"))
    return int(match[1]) >> 10 if match else None


def rocm(root: Path) -> str | None:
    """The version of ROCm installed in its usual place."""
    match = re.match(r"[0-9]+(\.[0-9]+)+", _line(root / "opt/rocm/.info/version") or "")
    return match[0] if match else None


def render_gid(root: Path) -> int | None:
    """The number of the group that may use render devices."""
    match = re.search(r"(?m)^render:[^:]*:([0-9]+):", _text(root / "etc/group"))
    return int(match[1]) if match else None


def back_ends(root: Path) -> tuple[str, ...]:
    """The back ends whose traces are on the host."""
    return tuple(sorted({name for name, path in _BACK_ENDS if (root / path).exists()}))


def pci_cards(root: Path) -> tuple[PciCard, ...]:
    """All accelerators and display devices on the PCI bus, by address."""
    found = []
    for folder in _folders(root / "sys/bus/pci/devices"):
        kind, vendor, device = (_line(folder / name) or "" for name in ("class", "vendor", "device"))
        if kind.startswith(_ACCELERATING):
            node = _line(folder / "numa_node") or ""
            known = int(node) if node.isdecimal() else None
            found.append(PciCard(address=folder.name, vendor=vendor[2:], device=device[2:], numa_node=known))
    return tuple(found)


def network(root: Path) -> Link | None:
    """The fabric of the host: RDMA ports where there are any, else its fastest Ethernet port."""
    return _fabric(root / "sys/class/infiniband") or _ethernet(root / "sys/class/net")


def _fabric(root: Path) -> Link | None:
    ports = [port for device in _folders(root) for port in _folders(device / "ports")]
    active = [port for port in ports if "ACTIVE" in (_line(port / "state") or "")]
    if not active:
        return None
    layers = sorted({(_line(port / "link_layer") or "").lower() for port in active})
    layer = "infiniband" if "infiniband" in layers else layers[0]
    rates = [_port_rate(port) for port in active if (_line(port / "link_layer") or "").lower() == layer]
    total = sum(filter(None, rates)) if None not in rates else None
    return Link(fabric=_FABRICS.get(layer, layer or "rdma"), bits_per_second=total or None, rdma=True)


def _port_rate(port: Path) -> int | None:
    match = _RATE.match(_line(port / "rate") or "")
    return (int(match[1]) * 10 + int(match[2] or 0)) * 10**8 if match else None


def _ethernet(root: Path) -> Link | None:
    """The fastest port with hardware behind it; the kernel gives Mb/s, and -1 for a port without a carrier."""
    speeds = [_line(port / "speed") or "" for port in _folders(root) if (port / "device").exists()]
    known = [int(speed) for speed in speeds if speed.isdecimal() and int(speed)]
    return Link(fabric="ethernet", bits_per_second=max(known) * 10**6) if known else None


def _folders(path: Path) -> Iterator[Path]:
    try:
        yield from sorted(path.iterdir(), key=lambda entry: entry.name)
    except OSError:
        return


def _line(path: Path) -> str | None:
    return _text(path).strip() or None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
