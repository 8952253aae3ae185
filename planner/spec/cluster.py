"""Cluster: the node pools that one back end runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner.spec.backend import BACKEND_SCHEMAS, Backend, expand_backend
from planner.spec.envelope import Envelope
from planner.spec.fields import (
    HOSTS_SCHEMAS,
    AsPairs,
    Count,
    Counts,
    DataPrice,
    Duration,
    Flag,
    Hosts,
    Labels,
    Line,
    Memory,
    Name,
    Positive,
    Power,
    Price,
    Rate,
    Short,
    SpecModel,
    Taint,
    Time,
    Word,
    Zone,
    refused,
)

_INT: Final = {"type": "integer", "minimum": 1}
_TEXT: Final = {"type": "string"}


class Place(SpecModel):
    """Where a cluster is: a site with own racks, a region of a cloud provider, or an edge location."""

    site: Annotated[Word | None, Field(description="Own racks: the name of the site.")] = None
    provider: Annotated[Word | None, Field(description="Cloud: the provider, together with region.")] = None
    region: Annotated[Word | None, Field(description="Cloud: the region, together with provider.")] = None
    edge: Annotated[Word | None, Field(description="Edge: the name of the location.")] = None

    @property
    def is_cloud(self) -> bool:
        """Whether a cloud provider bills for the nodes."""
        return self.provider is not None

    @property
    def name(self) -> str:
        """The one name by which `place.regions` and `data` mean this place."""
        return self.site or self.region or self.edge or ""


class GpuGroup(SpecModel):
    """Devices of one model in each node of a pool."""

    model: Annotated[Word, Field(description="The catalogue's slug, an alias, or a family with a single member.")]
    count: Annotated[Positive, Field(description="Devices of this model per node.")]
    memory: Annotated[
        Memory | None, Field(description="Memory of one device, where it differs from the catalogue's.")
    ] = None
    devices: Annotated[
        tuple[Count, ...], Field(description="Indices of these devices within the node; by default the next free ones.")
    ] = ()
    uuids: Annotated[
        tuple[tuple[Word, tuple[Word, ...]], ...], AsPairs(), Field(description="UUIDs of the devices by node.")
    ] = ()


def _groups(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _nodes(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        raise refused("written", "Nodes are needed here; write a host list, a list of names, or how many there are.")
    if isinstance(value, int):
        return {"count": value}
    if isinstance(value, str) and value.isdecimal():
        raise refused("written", f"'{value}' would be one node of that name; write {int(value)} for so many nodes.")
    if isinstance(value, str | list):
        return {"names": value}
    return value


class Nodes(SpecModel):
    """The nodes of a pool: by name, or only how many."""

    names: Annotated[Hosts, Field(description="A host list or a list of names.")] = ()
    count: Annotated[Positive | None, Field(description="How many nodes; they are named after the pool.")] = None


class Network(SpecModel):
    """What connects the nodes of a pool."""

    fabric: Annotated[Word | None, Field(description="For example infiniband, roce, efa or ethernet.")] = None
    rate: Annotated[Rate | None, Field(description="Rate of one node, for example 400Gb/s.")] = None
    rdma: Annotated[Flag, Field(description="Whether devices of different nodes reach each other by RDMA.")] = False


class Software(SpecModel):
    """Versions that images must agree with. Write them in quotes."""

    driver: Annotated[Word | None, Field(description="Driver of the devices.")] = None
    cuda: Annotated[Word | None, Field(description="Newest CUDA that the driver runs.")] = None
    rocm: Annotated[Word | None, Field(description="ROCm of the driver.")] = None
    arch: Annotated[Word | None, Field(description="Architecture of the host: amd64 or arm64.")] = None


class FixedPartition(SpecModel):
    """One partition that exists on a device."""

    profile: Annotated[Word, Field(description="The profile, for example 1g.10gb.")]
    at: Annotated[Count, Field(description="The memory slice at which it begins.")] = 0


def _partitions(value: Any) -> Any:
    return {"allowed": value} if isinstance(value, list) else value


class Partitions(SpecModel):
    """Partitions of devices: those that the planner may choose, or those that are there."""

    allowed: Annotated[
        tuple[Word, ...], Field(description="MIG profiles or AMD modes that the planner may choose.")
    ] = ()
    fixed: Annotated[
        tuple[tuple[Word, Annotated[tuple[tuple[Count, tuple[FixedPartition, ...]], ...], AsPairs()]], ...],
        AsPairs(),
        Field(description="Partitions that exist and stay: by node, then by device."),
    ] = ()
    compute: Annotated[Word | None, Field(description="AMD: the compute mode, for example CPX.")] = None
    memory: Annotated[Word | None, Field(description="AMD: the memory mode, for example NPS4.")] = None


class SharingBy(StrEnum):
    """How several jobs share one device."""

    TIME_SLICING = "time_slicing"
    MPS = "mps"
    HAMI = "hami"
    KAI = "kai"
    SHARD = "shard"


class Sharing(SpecModel):
    """Devices that several jobs may share."""

    by: Annotated[
        SharingBy,
        Field(
            description="time_slicing and mps share every device of the pool; otherwise a device is whole or shared."
        ),
    ]
    units: Annotated[Positive, Field(description="Into how many units a device is divided.")]


class PoolPrice(SpecModel):
    """What the cloud bills for one node."""

    on_demand: Annotated[Price | None, Field(description="Per node and hour.")] = None
    spot: Annotated[Price | None, Field(description="Per node and hour on the spot market.")] = None


class MaxNodes(SpecModel):
    """How many nodes may be created."""

    on_demand: Annotated[Count, Field(description="On demand.")] = 0
    spot: Annotated[Count, Field(description="On the spot market.")] = 0


class Unavailable(SpecModel):
    """A time in which nodes of a pool cannot be used."""

    start: Annotated[Time, Field(alias="from", description="From when.")]
    end: Annotated[Time, Field(alias="to", description="Until when, exclusive.")]
    nodes: Annotated[Hosts, Field(description="Which nodes; all of the pool when absent.")] = ()
    reason: Annotated[Line, Field(description="Why; shown to whoever waits for them.")] = ""


class ReservePer(StrEnum):
    """Over what a reserve is counted."""

    POOL = "pool"
    RACK = "rack"
    NVLINK_DOMAIN = "nvlink_domain"


class Reserve(SpecModel):
    """Nodes kept free for failures."""

    nodes: Annotated[Count, Field(description="How many.")]
    per: Annotated[ReservePer, Field(description="In each pool, rack or nvlink_domain.")] = ReservePer.POOL


class NodePool(SpecModel):
    """Nodes that are alike."""

    name: Annotated[Name, Field(description="The name, unique in the cluster.")]
    nodes: Annotated[
        Nodes,
        Short(_nodes, (_INT, *HOSTS_SCHEMAS, {"type": "array", "items": _TEXT})),
        Field(description="A host list, a list of names, or how many nodes. Absent where nodes are created on demand."),
    ] = Nodes()
    gpus: Annotated[
        tuple[GpuGroup, ...],
        Short(_groups, or_item=True),
        Field(description="Devices per node; a list when a node holds several models, none for CPU-only nodes."),
    ] = ()
    cpus: Annotated[Positive | None, Field(description="CPU cores per node; not checked when absent.")] = None
    memory: Annotated[Memory | None, Field(description="Host memory per node; not checked when absent.")] = None
    gres: Annotated[Counts, Field(description="Other countable things per node.")] = ()
    nodes_per_rack: Annotated[Positive | None, Field(description="Racks of so many nodes each, in order.")] = None
    racks: Annotated[tuple[tuple[Word, Hosts], ...], AsPairs(), Field(description="Racks and their nodes.")] = ()
    nodes_per_nvlink_domain: Annotated[
        Positive | None, Field(description="NVLink domains of so many nodes each, in order.")
    ] = None
    nvlink_domains: Annotated[
        tuple[tuple[Word, Hosts], ...],
        AsPairs(),
        Field(description="NVLink domains and their nodes; others belong to none."),
    ] = ()
    links: Annotated[
        tuple[tuple[Count, ...], ...],
        Field(description="Groups of device indices that are linked, only where the catalogue's island is wrong."),
    ] = ()
    sockets: Annotated[tuple[tuple[Count, ...], ...], Field(description="Device indices by CPU socket.")] = ()
    network: Annotated[Network, Field(description="What connects the nodes.")] = Network()
    software: Annotated[Software, Field(description="Versions on the nodes.")] = Software()
    partitions: Annotated[
        Partitions,
        Short(_partitions, ({"type": "array", "items": _TEXT},)),
        Field(description="Partitions that the planner may choose, or those that are there."),
    ] = Partitions()
    sharing: Annotated[Sharing | None, Field(description="How devices are shared; not at all when absent.")] = None
    price: Annotated[PoolPrice, Field(description="What the cloud bills per node; absent for own hardware.")] = (
        PoolPrice()
    )
    chargeback: Annotated[Price | None, Field(description="Charge per device and hour; reported, never optimised.")] = (
        None
    )
    power: Annotated[Power | None, Field(description="Power of one device, where it differs from the catalogue's.")] = (
        None
    )
    max_nodes: Annotated[MaxNodes | None, Field(description="Cloud: how many nodes may be created on demand.")] = None
    max_duration: Annotated[Duration | None, Field(description="Longest run that the back end allows.")] = None
    labels: Annotated[Labels, Field(description="kubernetes: further node labels to select by.")] = ()
    taints: Annotated[tuple[Taint, ...], Field(description="kubernetes: taints of the nodes, key=value:Effect.")] = ()
    partition: Annotated[Word | None, Field(description="slurm: the partition; by default the name of the pool.")] = (
        None
    )
    features: Annotated[
        tuple[Word, ...], Field(description="slurm: features of the nodes; elsewhere what needs.features means.")
    ] = ()
    gres_type: Annotated[Word | None, Field(description="slurm: the spelling of the device type.")] = None
    render_gid: Annotated[Count | None, Field(description="compose with AMD: the numeric render group.")] = None
    render_nodes: Annotated[
        tuple[Count, ...], Field(description="compose with AMD: numbers of the render devices by index.")
    ] = ()
    unavailable: Annotated[tuple[Unavailable, ...], Field(description="Maintenance and other absences.")] = ()
    reserve: Annotated[Reserve | None, Field(description="Nodes kept free for failures.")] = None

    @property
    def created_on_demand(self) -> bool:
        """Whether nodes exist only while they are rented."""
        return self.max_nodes is not None

    @property
    def node_count(self) -> int:
        """How many nodes there are, or can be rented at most."""
        if self.max_nodes is not None and not self.nodes.names and self.nodes.count is None:
            return self.max_nodes.on_demand + self.max_nodes.spot
        return len(self.nodes.names) or self.nodes.count or 0

    @property
    def devices_per_node(self) -> int:
        """Devices of all models in one node."""
        return sum(group.count for group in self.gpus)

    def node_names(self) -> tuple[str, ...]:
        """The names of the nodes in order; `h100-0001` and so on where only their number is given."""
        return self.nodes.names or tuple(f"{self.name}-{number:04}" for number in range(1, self.node_count + 1))

    def device_indices(self) -> tuple[tuple[int, ...], ...]:
        """For each group of `gpus`, the indices of its devices within a node."""
        taken = {index for group in self.gpus for index in group.devices}
        free = (index for index in range(len(taken) + self.devices_per_node) if index not in taken)
        return tuple(group.devices or tuple(next(free) for _ in range(group.count)) for group in self.gpus)


class Cluster(Envelope):
    """Node pools that one back end runs, at one place."""

    kind: Annotated[Literal["Cluster"], Field(description="Cluster")] = "Cluster"
    backend: Annotated[
        Backend,
        Short(expand_backend, BACKEND_SCHEMAS),
        Field(description="The back end: its name, or a mapping with type and options."),
    ]
    timezone: Annotated[
        Zone | None, Field(description="Zone of the times in this document; by default the Policy's.")
    ] = None
    place: Annotated[
        Place, Field(description="{site}, {provider, region} or {edge}; by default a site named after the cluster.")
    ] = Place()
    egress: Annotated[
        DataPrice | None,
        Field(description="What data costs that leaves its place, USD 90/TB; absent for own networks."),
    ] = None
    pools: Annotated[tuple[NodePool, ...], Field(min_length=1, description="The node pools.")]

    def pool(self, name: str) -> NodePool:
        """The pool of that name; raises `KeyError` when there is none."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)
