"""What a job's placement means to every back end: one value that says what runs, on what, with how much of each node.

Renderers differ only in how they spell a `Payload`; what the chosen variant, pool and vendor imply is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.catalog import Vendor, vendors
from planner.names import without_index
from planner.units import ceil_fraction, parse_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.catalog import Accelerator, VendorFacts
    from planner.plan import Device, NodeUse, Placement, Plan, Segment
    from planner.spec.cluster import Cluster, GpuGroup, NodePool
    from planner.spec.job import Job
    from planner.spec.work import Variant
    from planner.specset import SpecSet

MASTER_PORT: Final = 29500
"""Where the parts of a gang meet on its first node; torchrun's own default."""
FREE_PART: Final = Fraction(1, 8)
"""What is left of a node's fair share where a job does not say how much it needs: the system's agents need some."""
SHM_MIB_PER_DEVICE: Final = 8_192
"""Shared memory where nothing is known of a node's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvVar:
    """One environment variable: a text, or a key of a secret that the back end holds."""

    name: str
    value: str = ""
    secret: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """One job, or one element of an array, as it runs in one cluster from `segment` on.

    `later` are further segments in the same cluster. `cpus`, `memory_mib` and `shm_mib` are per node, `shm_mib` lies
    inside `memory_mib`; None where neither the job nor the pool says. `image` is empty where none is named. `groups`
    are the vendor's devices in each node, several where a node holds several models of it.
    """

    job: Job
    placement: Placement
    segment: Segment
    later: tuple[Segment, ...] = ()
    cluster: Cluster
    pool: NodePool
    groups: tuple[GpuGroup, ...] = ()
    accelerator: Accelerator | None
    facts: VendorFacts | None
    image: str
    command: tuple[str, ...]
    env: tuple[EnvVar, ...]
    cpus: int | None
    memory_mib: int | None
    shm_mib: int

    @property
    def address(self) -> str:
        """The address of the job or of the element of an array."""
        return self.placement.address

    @property
    def name(self) -> str:
        """The job's name, with the index of the element for an array: `resnet[3]`."""
        return self.address.rpartition("/")[2]

    @property
    def nodes(self) -> tuple[NodeUse, ...]:
        """The nodes of the gang, rank by rank."""
        return self.segment.nodes

    @property
    def is_gang(self) -> bool:
        """Whether it runs on several nodes at once."""
        return len(self.nodes) > 1

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices on its first node; every other node has as many where `is_even`."""
        return self.nodes[0].devices

    @property
    def is_even(self) -> bool:
        """Whether all nodes give the same number of the same kind of devices, and play the same role."""
        return len({(node.role, _shape(node.devices)) for node in self.nodes}) == 1

    @property
    def takes_whole_nodes(self) -> bool:
        """Whether no device of the vendor is left to others on its nodes."""
        count = sum(group.count for group in self.groups)
        return all(
            len({device.index for device in node.devices}) == count
            and all(device.share is None and device.profile is None for device in node.devices)
            for node in self.nodes
        )


def jobs_of(plan: Plan, specset: SpecSet, cluster: Cluster) -> tuple[Payload, ...]:
    """What runs in `cluster`, by address: each placement once, from its first segment there."""
    return tuple(_payloads(plan, specset, cluster))


def _payloads(plan: Plan, specset: SpecSet, cluster: Cluster) -> Iterator[Payload]:
    for placement in sorted(plan.placements, key=lambda item: item.address):
        here = tuple(segment for segment in placement.segments if segment.cluster == cluster.name)
        if here and placement.address.startswith("job/"):
            job = specset.job(without_index(placement.address).partition("/")[2])
            yield payload_of(job, placement, here, specset, cluster)


def payload_of(
    job: Job, placement: Placement, here: tuple[Segment, ...], specset: SpecSet, cluster: Cluster
) -> Payload:
    """`job` as it runs in one cluster by these segments of its placement."""
    segment = here[0]
    pool = cluster.pool(segment.pool.rpartition("/")[2])
    variant = next(way for way in job.ways() if way.name == segment.variant)
    accelerator = specset.catalog.get(segment.model) if segment.model else None
    devices = _most_devices(segment, accelerator)
    memory_mib = _memory_mib(job, variant, pool, devices)
    return Payload(
        job=job,
        placement=placement,
        segment=segment,
        later=here[1:],
        cluster=cluster,
        pool=pool,
        groups=_groups(pool, segment, specset),
        accelerator=accelerator,
        facts=vendors()[Vendor(segment.vendor)] if segment.vendor else None,
        image=variant.image or "",
        command=variant.command,
        env=_env(variant, placement.address),
        cpus=_cpus(job, variant, pool, devices),
        memory_mib=memory_mib,
        shm_mib=_shm_mib(job, memory_mib, devices),
    )


def _groups(pool: NodePool, segment: Segment, specset: SpecSet) -> tuple[GpuGroup, ...]:
    return tuple(group for group in pool.gpus if specset.accelerator(group.model).vendor == segment.vendor)


def _env(variant: Variant, address: str) -> tuple[EnvVar, ...]:
    own = tuple(
        EnvVar(name=name, value=item.value or "", secret=item.secret or "", key=item.key or "")
        for name, item in variant.env
    )
    index = address.partition("[")[2].rstrip("]")
    extra = [EnvVar(name="PLANNER_ADDRESS", value=address)]
    if index:
        extra.append(EnvVar(name="PLANNER_ARRAY_INDEX", value=index))
    taken = {item.name for item in own}
    return tuple(item for item in extra if item.name not in taken) + own


def _cpus(job: Job, variant: Variant, pool: NodePool, devices: Fraction) -> int | None:
    if variant.cpus is not None:
        return variant.cpus
    if job.cpus_per_gpu is not None and devices:
        return ceil_fraction(job.cpus_per_gpu * devices)
    return _fair_share(pool.cpus, pool, devices)


def _memory_mib(job: Job, variant: Variant, pool: NodePool, devices: Fraction) -> int | None:
    if variant.memory is not None:
        return variant.memory.mib
    if job.memory_per_gpu is not None and devices:
        return ceil_fraction(job.memory_per_gpu.mib * devices)
    return _fair_share(pool.memory.mib if pool.memory else None, pool, devices)


def _shm_mib(job: Job, memory_mib: int | None, devices: Fraction) -> int:
    """What the job asks for, else half of its memory; PyTorch's loaders fail with the 64 MiB that containers get."""
    if job.shm is not None:
        return job.shm.mib
    return SHM_MIB_PER_DEVICE * max(1, ceil_fraction(devices)) if memory_mib is None else max(1, memory_mib // 2)


def _fair_share(whole: int | None, pool: NodePool, devices: Fraction) -> int | None:
    """What a job gets of a node unasked: as its devices are to the node's, less `FREE_PART`."""
    if whole is None or not devices:
        return None
    return max(1, int(whole * devices / pool.devices_per_node * (1 - FREE_PART)))


def _most_devices(segment: Segment, accelerator: Accelerator | None) -> Fraction:
    """Devices on the node that gives most of them; a part of a device counts as that part."""
    return max(sum((_part(item, accelerator) for item in node.devices), Fraction()) for node in segment.nodes)


def _part(device: Device, accelerator: Accelerator | None) -> Fraction:
    if device.share:
        return parse_share(device.share)
    profile = accelerator.partition(device.profile) if accelerator and device.profile else None
    return Fraction(1) if profile is None or profile.part is None else profile.part


def _shape(devices: tuple[Device, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((device.profile or "", device.share or "") for device in devices))
