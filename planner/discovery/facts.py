"""What is known of one host, as values and as JSON that a fleet's hosts can send to one place.

None means unknown, and unknown stays unknown: nothing is filled in from what is usual.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from planner.catalog import Vendor
from planner.hosts import is_node_name

FORMAT: Final = "planner/host/v1"
HOST_BYTES: Final = 4 << 20
DEVICES: Final = 1_024

Text = Annotated[str, StringConstraints(max_length=1_024, pattern=r"^[^\x00-\x1f\x7f]*$")]
Number = Annotated[int, Field(ge=0, lt=2**53)]
_STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One partition that exists on a card: a MIG instance, or one part of an AMD card in a compute mode.

    `at` is the memory slot of the card where it begins, `number` the one of its card's partitions that it is.
    `reported_mib` is what the driver claims for it, `memory_mib` what a plan may count on: the parts of a card never
    add up to more than the card.
    """

    __pydantic_config__ = _STRICT

    profile: Text | None = None
    number: Number | None = None
    at: Number | None = None
    memory_slices: Number | None = None
    memory_mib: Number | None = None
    reported_mib: Number | None = None
    uuid: Text | None = None

    @property
    def placed(self) -> bool:
        """Whether it is known what it is and where on its card."""
        return self.profile is not None and self.at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One card as its host counts cards, whole or divided.

    `model` is the catalogue's slug where the name is known there. `divided`: it is in a mode in which only its
    instances can be used. `unified`: its memory is the host's. `trouble` says why it cannot be used, if it cannot.
    """

    __pydantic_config__ = _STRICT

    index: Number
    vendor: Vendor
    model: Text | None = None
    name: Text | None = None
    uuid: Text | None = None
    pci_address: Text | None = None
    pci_id: Text | None = None
    architecture: Text | None = None
    memory_mib: Number | None = None
    unified: bool | None = None
    numa_node: Number | None = None
    power_milliwatts: Number | None = None
    ecc: bool | None = None
    render_node: Number | None = None
    compute_mode: Text | None = None
    memory_mode: Text | None = None
    divided: bool | None = None
    instances: tuple[Instance, ...] = ()
    processes: Number | None = None
    used_mib: Number | None = None
    trouble: Text = ""

    @property
    def usable(self) -> bool:
        """Whether it answers."""
        return not self.trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two cards of a host by index: whether NVLink or xGMI joins them, and how near they are on PCIe."""

    __pydantic_config__ = _STRICT

    first: Number
    second: Number
    linked: bool | None = None
    pcie: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A vendor's driver: its version, and the newest toolkit that it runs."""

    __pydantic_config__ = _STRICT

    vendor: Vendor
    version: Text | None = None
    toolkit: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The network of a host: all active ports of its best fabric together."""

    __pydantic_config__ = _STRICT

    fabric: Text
    bits_per_second: Number | None = None
    rdma: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """What a cluster's scheduler, and no host by itself, says of a node.

    `partition`, `features` and `gres_type` are Slurm's words, `labels` and `taints` those of Kubernetes. `gres` counts
    things other than devices. `sharing` is how devices are shared, and into how many units.
    """

    __pydantic_config__ = _STRICT

    partition: Text | None = None
    features: tuple[Text, ...] = ()
    gres: tuple[tuple[Text, Number], ...] = ()
    gres_type: Text | None = None
    labels: tuple[tuple[Text, Text], ...] = ()
    taints: tuple[Text, ...] = ()
    sharing: tuple[Text, Number] | None = None
    rack: Text | None = None
    max_run_seconds: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Everything that was found on one host, and in `warnings` what could not be found, call by call."""

    __pydantic_config__ = _STRICT

    name: Text
    format: Literal["planner/host/v1"] = "planner/host/v1"
    architecture: Text | None = None
    cpus: Number | None = None
    memory_mib: Number | None = None
    network: Link | None = None
    drivers: tuple[Driver, ...] = ()
    devices: Annotated[tuple[Device, ...], Field(max_length=DEVICES)] = ()
    pairs: tuple[Pair, ...] = ()
    nvlink_domain: Text | None = None
    render_gid: Number | None = None
    back_ends: tuple[Text, ...] = ()
    scheduled: Scheduled | None = None
    warnings: tuple[Text, ...] = ()

    @property
    def usable(self) -> tuple[Device, ...]:
        """The cards that answer, by index."""
        return tuple(device for device in self.devices if device.usable)


@cache
def _adapter() -> TypeAdapter[HostFacts]:
    return TypeAdapter(HostFacts)


def as_json(host: HostFacts) -> str:
    """The facts of a host as one JSON document: two-space indent, unknown values left out."""
    return _adapter().dump_json(host, indent=2, exclude_none=True).decode() + "\n"


def from_json(text: bytes) -> HostFacts:
    """Read what `as_json` wrote; raises `ValueError` with a sentence for anything else."""
    if len(text) > HOST_BYTES:
        raise ValueError(f"it is larger than {HOST_BYTES >> 20} MiB")
    try:
        host = _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise _refusal(".".join(map(str, first["loc"])) or "the document", first["msg"]) from None
    indices = [device.index for device in host.devices]
    if not is_node_name(host.name):
        raise _refusal("name", "a node cannot be called that")
    if indices != list(range(len(indices))):
        raise _refusal("devices", "cards are numbered from zero in their order")
    if any(pair.first >= pair.second or pair.second >= len(indices) for pair in host.pairs):
        raise _refusal("pairs", "a pair is two cards of the host, the lesser first")
    return host


def _refusal(where: str, why: str) -> ValueError:
    return ValueError(f"it is not the output of 'planner discover --format json': {where}: {why}")
