"""Machines as one table of facts: what their cards are, how they hang together, and which questions they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

NOT_SUPPORTED, NO_PERMISSION, UNKNOWN_ERROR, GPU_IS_LOST = 3, 4, 999, 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Mig:
    """A MIG instance: its number among the MIG devices of its card, and where it lies."""

    number: int
    profile: str
    start: int
    size: int
    memory_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvidia:
    """A card as NVML tells it. `refuses` pairs NVML functions with the status they return for it."""

    name: bytes
    memory_mib: int | None
    bus: str
    pci_id: str = "10de:2330"
    capability: tuple[int, int] = (9, 0)
    numa: int = 0
    migs: tuple[Mig, ...] | None = None
    processes_mib: tuple[int, ...] = ()
    refuses: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Amd:
    """A processor as AMD SMI tells it: a card, or one partition, that claims `memory_mib`."""

    name: str
    memory_mib: int
    bus: str
    device: int = 0x74A1
    gfx: int = 0x942
    numa: int = 0
    compute: str | None = "SPX"
    memory_mode: str | None = "NPS1"
    partition: int = 0
    render: int = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A host: its cards, which of them are linked, and what its operating system says."""

    name: str
    nvidia: tuple[Nvidia, ...] | None = None
    nvlinks: frozenset[tuple[int, int]] | None = frozenset()
    clique: tuple[str, int] | None = None
    amd: tuple[Amd, ...] | None = None
    xgmi: frozenset[tuple[int, int]] = frozenset()
    silent_on_bus: tuple[tuple[str, str], ...] = ()
    machine: str = "x86_64"
    cpus: int = 192
    memory_kb: int = 2_113_462_340
    infiniband: tuple[str, ...] = ()
    ethernet_mbs: int = 0
    back_end: str = ""
    driver: str = "570.86.15"
    cuda: int = 12080
    rocm: str = "6.3.1"
    files: Mapping[str, str] = field(default_factory=dict)

    def write_root(self, root: Path) -> None:
        """Write the /proc and /sys that this machine has."""
        tree = {
            "proc/sys/kernel/hostname": f"{self.name}\n",
            "proc/sys/kernel/arch": f"{self.machine}\n",
            "proc/meminfo": f"MemTotal:       {self.memory_kb} kB\nMemFree: 1 kB\n",
            "sys/devices/system/cpu/online": f"0-{self.cpus - 1}\n",
            "etc/group": "root:x:0:\nrender:x:105:\n",
            **self.files,
        }
        for address, pci_id, numa in self._on_bus():
            device = f"sys/bus/pci/devices/{address}"
            vendor, number = pci_id.split(":")
            tree |= {f"{device}/class": "0x030200\n", f"{device}/vendor": f"0x{vendor}\n"}
            tree |= {f"{device}/device": f"0x{number}\n", f"{device}/numa_node": f"{numa}\n"}
        for index, rate in enumerate(self.infiniband):
            port = f"sys/class/infiniband/mlx5_{index}/ports/1"
            tree |= {f"{port}/state": "4: ACTIVE\n", f"{port}/rate": f"{rate}\n", f"{port}/link_layer": "InfiniBand\n"}
        if self.ethernet_mbs:
            tree |= {
                "sys/class/net/eth0/speed": f"{self.ethernet_mbs}\n",
                "sys/class/net/eth0/device/vendor": "0x8086\n",
            }
            tree |= {"sys/class/net/lo/speed": "-1\n"}
        if self.back_end == "slurm":
            tree["etc/slurm/slurm.conf"] = "ClusterName=lab\n"
        if self.back_end == "kubernetes":
            tree["var/lib/kubelet/config.yaml"] = "kind: KubeletConfiguration\n"
        if self.amd is not None:
            tree["opt/rocm/.info/version"] = f"{self.rocm}-48\n"
        for path, text in tree.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def _on_bus(self) -> list[tuple[str, str, int]]:
        cards = [(card.bus, card.pci_id, card.numa) for card in self.nvidia or ()]
        parts = [(part.bus, f"1002:{part.device:04x}", part.numa) for part in self.amd or () if part.partition == 0]
        return [*cards, *parts, *((bus, pci_id, -1) for bus, pci_id in self.silent_on_bus)]


def _all_pairs(count: int) -> frozenset[tuple[int, int]]:
    return frozenset(combinations(range(count), 2))


def _h100s(**lost: int) -> tuple[Nvidia, ...]:
    return tuple(
        Nvidia(
            name=b"NVIDIA H100 80GB HBM3",
            memory_mib=81_559,
            bus=f"0000:{16 * (index + 1) + 11:02x}:00.0",
            numa=index // 4,
            processes_mib=(30_000, 4_000) if index == 0 else (),
            refuses=(("nvmlDeviceGetHandleByIndex_v2", GPU_IS_LOST),) if index in lost.values() else (),
        )
        for index in range(8)
    )


def _mi300x(count: int, mode: str, memory_mode: str, parts: int, first_card: int = 0) -> tuple[Amd, ...]:
    """Cards in one mode; in CPX every partition claims the memory of the whole card, as some releases tell it."""
    return tuple(
        Amd(
            name="AMD Instinct MI300X",
            memory_mib=196_592,
            bus=f"0000:{16 * (card + 1) + 5:02x}:00.{part}",
            numa=card // 4,
            compute=mode,
            memory_mode=memory_mode,
            partition=part,
            render=128 + 8 * card + part,
        )
        for card in range(first_card, first_card + count)
        for part in range(parts)
    )


def _mi100s() -> tuple[Amd, ...]:
    return tuple(
        Amd(name="AMD Instinct MI100", memory_mib=32_752, bus=f"0000:{16 * card + 3:02x}:00.0", device=0x738C,
            gfx=0x908, compute=None, memory_mode=None, render=128 + card)
        for card in range(8)
    )  # fmt: skip


H100 = Machine(
    name="h100-001", nvidia=_h100s(), nvlinks=_all_pairs(8), infiniband=("400 Gb/sec (4X NDR)",) * 8, back_end="slurm"
)
A100_MIG = Machine(
    name="a100-07",
    nvidia=(
        Nvidia(
            name=b"NVIDIA A100-SXM4-40GB", memory_mib=None, bus="0000:07:00.0", pci_id="10de:20b0", capability=(8, 0),
            migs=(
                Mig(number=0, profile="1g.5gb", start=0, size=1, memory_mib=4_864),
                Mig(number=2, profile="2g.10gb", start=2, size=2, memory_mib=9_984),
                Mig(number=5, profile="3g.20gb", start=4, size=4, memory_mib=20_096),
            ),
            refuses=(("nvmlDeviceGetMemoryInfo", NO_PERMISSION),),
        ),
        Nvidia(name=b"NVIDIA A100-SXM4-40GB", memory_mib=40_960, bus="0000:0f:00.0", pci_id="10de:20b0",
               capability=(8, 0), migs=()),
    ),
    nvlinks=frozenset(),
    back_end="kubernetes",
)  # fmt: skip
MIXED = Machine(
    name="mix01",
    nvidia=(
        Nvidia(name=b"NVIDIA GeForce RTX 3090", memory_mib=24_576, bus="0000:01:00.0", pci_id="10de:2204",
               capability=(8, 6)),
        Nvidia(name=b"NVIDIA GeForce RTX 4090", memory_mib=24_564, bus="0000:02:00.0", pci_id="10de:2684",
               capability=(8, 9)),
    ),
    ethernet_mbs=10_000,
    cpus=32,
    memory_kb=131_923_000,
)  # fmt: skip
PAIRS = Machine(
    name="pcie-1",
    nvidia=tuple(
        Nvidia(name=b"NVIDIA A100 80GB PCIe", memory_mib=81_920, bus=f"0000:{index + 1}1:00.0", pci_id="10de:20b5",
               capability=(8, 0), numa=index % 2)
        for index in range(4)
    ),
    nvlinks=frozenset({(0, 2), (1, 3)}),
)  # fmt: skip
GB10 = Machine(
    name="spark-3f2a",
    nvidia=(
        Nvidia(name=b"NVIDIA GB10", memory_mib=None, bus="000f:01:00.0", pci_id="10de:2e12", capability=(12, 1),
               numa=-1, refuses=(("nvmlDeviceGetMemoryInfo", NOT_SUPPORTED),)),
    ),
    machine="aarch64",
    cpus=20,
    memory_kb=125_513_000,
)  # fmt: skip
SPX = Machine(
    name="mi300-01", amd=_mi300x(8, "SPX", "NPS1", 1), xgmi=_all_pairs(8), infiniband=("400 Gb/sec (4X NDR)",)
)
CPX = Machine(name="mi300-02", amd=_mi300x(8, "CPX", "NPS4", 8), xgmi=_all_pairs(64))
MIXED_MODES = Machine(
    name="mi300-03",
    amd=(*_mi300x(5, "SPX", "NPS1", 1), *_mi300x(3, "CPX", "NPS1", 8, first_card=5)),
    xgmi=_all_pairs(29),
)
MI100 = Machine(
    name="mi100-1", amd=_mi100s(), xgmi=frozenset(pair for pair in _all_pairs(8) if pair[0] % 2 == pair[1] % 2)
)
BOTH = Machine(
    name="lab-both",
    nvidia=(Nvidia(name=b"NVIDIA H100 PCIe", memory_mib=81_559, bus="0000:21:00.0", pci_id="10de:2331"),),
    amd=(Amd(name="AMD Instinct MI210", memory_mib=65_520, bus="0000:e3:00.0", device=0x740F, gfx=0x90A, numa=1,
             compute=None, memory_mode=None),),
)  # fmt: skip
WSL = Machine(
    name="DESKTOP-7Q",
    nvidia=(
        Nvidia(name=b"NVIDIA \xff\xfeGeForce", memory_mib=24_564, bus="0000:01:00.0", pci_id="10de:2684",
               capability=(8, 9), numa=-1),
    ),
    nvlinks=None,
    cpus=16,
    memory_kb=32_768_000,
)  # fmt: skip
NO_DRIVER = Machine(name="fresh-1", silent_on_bus=(("0000:17:00.0", "10de:2330"), ("0000:65:00.0", "1002:74a1")))
LOST = Machine(name="h100-002", nvidia=_h100s(card=3), nvlinks=_all_pairs(8), back_end="slurm")
# Odd cards beside a healthy one: an undecodable name, a chip that refuses the memory question, an unknown model.
ODD = Machine(
    name="odd-1",
    nvidia=(
        *(GB10.nvidia or ()),
        Nvidia(name=b"\xff\xff", memory_mib=81_559, bus="0000:1b:00.0"),
        Nvidia(name=b"NVIDIA Z9000 Prototype", memory_mib=200_000, bus="0000:2b:00.0", pci_id="10de:ffff"),
        Nvidia(name=b"NVIDIA H100 80GB HBM3", memory_mib=81_559, bus="0000:3b:00.0"),
    ),
    nvlinks=None,
)
TPX = Machine(
    name="mi300a-1",
    amd=tuple(
        Amd(name="AMD Instinct MI300A", memory_mib=128 * 1024, bus=f"0000:{card + 1:02x}:00.{part}", device=0x74A0,
            compute="N/A", memory_mode="N/A", partition=part, render=128 + 3 * card + part)
        for card in range(2)
        for part in range(3)
    ),
)  # fmt: skip

GB200 = Machine(
    name="gb200-01",
    nvidia=tuple(
        Nvidia(name=b"NVIDIA GB200", memory_mib=189_471, bus=f"000{8 + index}:01:00.0", pci_id="10de:2941",
               capability=(10, 0), numa=index // 2)
        for index in range(4)
    ),
    nvlinks=_all_pairs(4),
    clique=("0123456789abcdef" * 2, 7),
    machine="aarch64",
    cpus=144,
)  # fmt: skip

MACHINES = {
    "8 x H100 SXM": H100,
    "A100 with MIG and gaps": A100_MIG,
    "3090 and 4090": MIXED,
    "PCIe pairs": PAIRS,
    "GB10": GB10,
    "MI300X in SPX": SPX,
    "MI300X in CPX/NPS4": CPX,
    "MI300X in two modes": MIXED_MODES,
    "MI100": MI100,
    "both vendors": BOTH,
    "WSL": WSL,
    "no driver": NO_DRIVER,
    "a card fell off the bus": LOST,
}
