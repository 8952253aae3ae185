"""The catalogue's values: accelerators, their partitions and speeds. Integers with their unit; None means unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction


class Vendor(StrEnum):
    """Who makes an accelerator; one gang never spans two of them."""

    NVIDIA = "nvidia"
    AMD = "amd"
    INTEL = "intel"


class Unit(StrEnum):
    """What one counted device is: a whole GPU, one die of a module, or a card of several parts that count as one."""

    GPU = "gpu"
    DIE = "die"
    CARD = "card"


class Partitioning(StrEnum):
    """How a device can be divided in hardware.

    INSTANCES: any legal packing of profiles into its memory slots (MIG). WHOLE_CARD_MODE: one profile at a time for
    the whole card (AMD compute modes). UNKNOWN: it can be, but no source tells how.
    """

    NONE = "none"
    INSTANCES = "instances"
    WHOLE_CARD_MODE = "whole_card_mode"
    UNKNOWN = "unknown"


class Naming(StrEnum):
    """How a Kubernetes device plugin names partitions: all like whole devices, or each profile by itself."""

    SINGLE = "single"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionProfile:
    """One way to cut a piece out of a device: a MIG profile, or one partition of an AMD compute mode.

    `placements` are the memory slots where an instance may start; it then takes `memory_slices` slots from there, and
    an instance is legal when no other instance holds one of them. `max_instances` bounds how many of this profile one
    device holds. `memory_mib` is what one instance sees. `memory_modes` are the memory modes (nps1, nps4) that the
    compute mode itself allows; the board may allow fewer.
    """

    name: str
    max_instances: int
    memory_slices: int | None = None
    memory_slots: int | None = None
    compute_slices: int | None = None
    placements: tuple[int, ...] | None = None
    memory_modes: tuple[str, ...] = ()
    memory_mib: int | None = None

    @property
    def part(self) -> Fraction | None:
        """Give the part of the device that one instance counts as in quotas: its memory slices of all slots."""
        if self.memory_slices is None or self.memory_slots is None:
            return None
        return Fraction(self.memory_slices, self.memory_slots)

    @property
    def size(self) -> Fraction:
        """Give how much of the device one instance is: its part, or where that is not known an equal share."""
        return self.part or Fraction(1, self.max_instances)

    def slots_from(self, start: int) -> tuple[int, ...]:
        """Give the memory slots an instance started at `start` takes; ValueError where it may not start."""
        if self.placements is None or self.memory_slices is None:
            raise ValueError(f"Where {self.name} may be placed is not known.")
        if start not in self.placements:
            legal = ", ".join(map(str, self.placements))
            raise ValueError(f"{self.name} cannot start at memory slot {start}; it may start at {legal}.")
        return tuple(range(start, start + self.memory_slices))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakRates:
    """Dense peak rates in GFLOPS, never the sparse headline. For display: no speed is ever taken from them."""

    fp32: int | None = None
    fp16: int | None = None
    bf16: int | None = None
    fp8: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedEvidence:
    """One measured comparison behind a speed: a workload run on the same number of accelerators of both models.

    `ratio_ppm` is the throughput relative to the reference model; `via` names the model of a chained comparison. One
    that is not `counted` lies too far below the model's best ratio to speak for it in general.
    """

    source: str
    workload: str
    accelerators: int
    ratio_ppm: int
    via: str | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeSpeed:
    """A measured ratio between two families that no measurement links to the reference model."""

    family: str
    to_family: str
    ratio_ppm: int
    source: str
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One accelerator model; every figure is of one counted device (`unit`).

    `speed_ppm` is measured throughput relative to the reference model (a million is as fast). `island` is how many
    devices reach each other over `link`, 1 where there is no link; `link_gbs` sums both directions of all links.
    `memory_modes` are those the board allows; under one of `uniform_memory_modes` all cards of a node must have the
    same compute mode. `software_first` and `software_dropped` bound the vendor's toolkit: the first release that
    knows the architecture, and the first that no longer does. `gres_types` starts with the short spelling that sites
    write. `sources` pairs a group of facts with the keys of `Source`s.
    """

    slug: str
    vendor: Vendor
    title: str = ""
    arch: str | None = None
    family: str = ""
    groups: tuple[str, ...] = ()
    year: int | None = None
    unit: Unit = Unit.GPU
    units_per_card: int = 1
    form: str | None = None
    memory_mib: int | None = None
    unified_memory: bool = False
    bandwidth_mbs: int | None = None
    tdp_milliwatts: int | None = None
    card_tdp_milliwatts: int | None = None
    link: str | None = None
    link_gbs: int | None = None
    island: int | None = None
    pcie_generation: int | None = None
    fp16_tensor: bool | None = None
    bf16: bool | None = None
    fp8: bool | None = None
    peak_gflops: PeakRates = field(default_factory=PeakRates)
    host_arch: str | None = None
    software_first: str | None = None
    software_dropped: str | None = None
    partitioning: Partitioning = Partitioning.NONE
    memory_slots: int | None = None
    memory_modes: tuple[str, ...] = ()
    uniform_memory_modes: tuple[str, ...] = ()
    partitions: tuple[PartitionProfile, ...] = ()
    partition_driver: str | None = None
    speed_ppm: int | None = None
    speed_from: tuple[SpeedEvidence, ...] = ()
    kubernetes_labels: tuple[tuple[str, str], ...] = ()
    product_label: str | None = None
    product_label_seen: bool | None = None
    gres_types: tuple[str, ...] = ()
    gres_partition_prefix: str | None = None
    resource: str | None = None
    visible_devices: str | None = None
    device_names: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    pci_ids: tuple[str, ...] = ()
    note: str | None = None
    sources: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def linked(self) -> bool | None:
        """Say whether devices of a node reach each other without PCIe; None where the island is unknown."""
        return None if self.island is None else self.island > 1

    @property
    def modes(self) -> tuple[PartitionProfile, ...]:
        """Give the profiles that hold for a whole card at a time (AMD compute modes)."""
        return self.partitions if self.partitioning is Partitioning.WHOLE_CARD_MODE else ()

    def partition(self, name: str) -> PartitionProfile | None:
        """Find a profile by name, in any case; `.` for `+` is understood, as Kubernetes writes it."""
        wanted = name.lower()
        exact = (item for item in self.partitions if item.name.lower() == wanted)
        dotted = (item for item in self.partitions if item.name.lower().replace("+", ".") == wanted)
        return next(exact, None) or next(dotted, None)

    def allowed_memory_modes(self, profile: PartitionProfile) -> tuple[str, ...]:
        """Give the memory modes that both the compute mode and the board allow."""
        return tuple(mode for mode in profile.memory_modes if mode in self.memory_modes)

    def gres_partition_type(self, profile: PartitionProfile) -> str | None:
        """Give the gres type that Slurm's detection gives to a MIG profile; None where none was seen."""
        return None if self.gres_partition_prefix is None else f"{self.gres_partition_prefix}_{profile.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where facts come from and under which licence; only facts were taken, no text."""

    key: str
    title: str
    licence: str
