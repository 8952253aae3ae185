"""What pods ask for and nodes offer: names and amounts of device resources, and taints."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.catalog import Naming, resource_name
from planner.spec.backend import DevicesBy, Queueing
from planner.spec.cluster import SharingBy
from planner.units import parse_share
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.catalog import Accelerator, PartitionProfile, VendorFacts
    from planner.plan import Device
    from planner.spec.backend import Backend
    from planner.spec.cluster import GpuGroup, NodePool
    from renderers.payload import Payload

Amounts = tuple[tuple[str, int], ...]

_TAINT: Final = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^:]*))?(:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute))?")
_DEFAULT_MEMORY_MODE: Final = "nps1"
_WHOLE_PERCENT: Final = 100
_DECIMALS: Final = 10_000
"""As many parts as four decimals tell apart."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Taint:
    """A taint, or what tolerates it; without an effect it means every effect."""

    key: str
    value: str = ""
    effect: str = ""

    @property
    def operator(self) -> str:
        """How a toleration compares: by value where there is one."""
        return "Equal" if self.value else "Exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the devices of a pool appear to Kubernetes.

    `profile` is the one partition that every device is cut into, where there is one; `shared_units` are the slots of
    each device where all are shared, else 0.
    """

    naming: Naming
    profile: str = ""
    memory_mode: str = _DEFAULT_MEMORY_MODE
    shared_units: int = 0


def parse_taint(text: str) -> Taint:
    """Read `key=value:Effect`, `key:Effect` or `key`."""
    match = _TAINT.fullmatch(text)
    return Taint(key=text) if match is None else Taint(**match.groupdict(default=""))


def layout_of(pool: NodePool, backend: Backend) -> Layout:
    """How a pool's devices appear.

    Without a word about naming, devices that are cut into partitions are named by profile, and whole ones as a device
    plugin does out of the box.
    """
    cut = bool(pool.partitions.allowed or pool.partitions.fixed or pool.partitions.compute)
    declared = "partition_naming" in backend.model_fields_set
    naming = Naming(str(backend.partition_naming)) if declared else Naming.MIXED if cut else Naming.SINGLE
    every = pool.sharing is not None and pool.sharing.by in {SharingBy.TIME_SLICING, SharingBy.MPS}
    return Layout(
        naming=naming,
        profile=_only_profile(pool),
        memory_mode=(pool.partitions.memory or _DEFAULT_MEMORY_MODE).lower(),
        shared_units=pool.sharing.units if pool.sharing and every else 0,
    )


def _only_profile(pool: NodePool) -> str:
    if pool.partitions.compute:
        return pool.partitions.compute.lower()
    fixed = {item.profile for _, devices in pool.partitions.fixed for _, items in devices for item in items}
    return next(iter(fixed)) if len(fixed) == 1 else ""


def pool_resources(pool: NodePool, backend: Backend, models: tuple[Accelerator, ...], facts: VendorFacts) -> Amounts:
    """How much of each device resource all nodes of a pool offer, by name."""
    if backend.devices is DevicesBy.DRA:
        return _claimable(pool, models)
    layout, found = layout_of(pool, backend), Counter[str]()
    for group in pool.gpus:
        for accelerator in models:
            if accelerator.slug == group.model:
                found += _of_group(pool, group, layout, accelerator, facts)
    return tuple(sorted(found.items()))


def _claimable(pool: NodePool, models: tuple[Accelerator, ...]) -> Amounts:
    """What claims can take of a pool: each model and each partition of it is a class of its own."""
    found = Counter[str]()
    for group in pool.gpus:
        accelerator = next((item for item in models if item.slug == group.model), None)
        if accelerator is None:
            continue
        devices = pool.node_count * group.count
        if pool.partitions.compute:
            profile = _profile(accelerator, pool.partitions.compute)
            found[class_resource(accelerator, profile.name)] += devices * profile.max_instances
            continue
        for _, cut in pool.partitions.fixed:
            devices -= len(cut)
            found.update(class_resource(accelerator, item.profile) for _, items in cut for item in items)
        found[class_resource(accelerator, "")] += devices
    return tuple(sorted((name, amount) for name, amount in found.items() if amount))


def class_resource(accelerator: Accelerator, profile: str) -> str:
    """The name by which a quota counts the devices of one class."""
    return f"planner.dev/{'-'.join(filter(None, (accelerator.slug, profile.lower().replace('+', '.'))))}"


def _of_group(
    pool: NodePool, group: GpuGroup, layout: Layout, accelerator: Accelerator, facts: VendorFacts
) -> Counter[str]:
    devices = pool.node_count * group.count
    if layout.shared_units:
        return Counter({_named(facts.resource, facts): devices * layout.shared_units})
    if pool.partitions.compute:
        profile = _profile(accelerator, pool.partitions.compute)
        return Counter({_partition_name(profile, accelerator, facts, layout): devices * profile.max_instances})
    return _fixed(pool, devices, layout, accelerator, facts)


def _fixed(pool: NodePool, devices: int, layout: Layout, accelerator: Accelerator, facts: VendorFacts) -> Counter[str]:
    """Instances of the profiles that are there for good, and the devices that are not cut."""
    found = Counter[str]()
    for _, cut in pool.partitions.fixed:
        devices -= len(cut)
        for _, items in cut:
            for item in items:
                found[_partition_name(_profile(accelerator, item.profile), accelerator, facts, layout)] += 1
    whole = _named(resource_name(facts, accelerator, naming=layout.naming), facts)
    return found + Counter({whole: devices})


def requests_of(payload: Payload) -> Amounts:
    """The device resources that each pod of a job asks for, by name; `Unsupported` where no pod can ask for them."""
    facts, accelerator = payload.facts, payload.accelerator
    if facts is None or accelerator is None:
        return ()
    if not payload.is_even:
        raise Unsupported(
            "the parts of the gang are not alike; one Indexed Job has one pod template. "
            "Ask for the same devices on every node"
        )
    if payload.cluster.backend.devices is DevicesBy.DRA:
        return _claimed(payload, accelerator)
    _check_one_model(payload)
    if kai_fraction(payload):
        return ()
    layout, found = layout_of(payload.pool, payload.cluster.backend), Counter[str]()
    for device in payload.devices:
        found += _of_device(device, payload.pool, layout, accelerator, facts)
    return tuple(sorted(found.items()))


def _claimed(payload: Payload, accelerator: Accelerator) -> Amounts:
    if (
        any(device.share is not None for device in payload.devices)
        or layout_of(payload.pool, payload.cluster.backend).shared_units
    ):
        raise Unsupported("a claim takes whole devices or partitions only. Ask for those, or use a device plugin")
    found = Counter(class_resource(accelerator, device.profile or "") for device in payload.devices)
    return tuple(sorted(found.items()))


def _check_one_model(payload: Payload) -> None:
    """Refuse what would be a lottery: the device plugin counts the models of a node together (UC-02)."""
    if len(payload.groups) > 1 and not payload.takes_whole_nodes:
        models = " and ".join(sorted({group.model for group in payload.groups}))
        raise Unsupported(
            f"the device plugin cannot select a model within a node, and the nodes of pool {payload.pool.name} hold "
            f"{models}. Take whole nodes, or run this on a Slurm or Compose cluster"
        )


def _of_device(
    device: Device, pool: NodePool, layout: Layout, accelerator: Accelerator, facts: VendorFacts
) -> Counter[str]:
    if device.share is not None:
        return _of_share(device.share, pool, facts)
    if layout.shared_units:
        raise Unsupported(
            f"every device of pool {pool.name} is shared, so that {layout.shared_units} slots may come from several "
            "devices. Ask for a share, or for a pool that shares nothing"
        )
    if device.profile is not None:
        profile = _profile(accelerator, device.profile)
        return Counter({_partition_name(profile, accelerator, facts, layout): 1})
    return Counter({_named(resource_name(facts, accelerator, naming=layout.naming), facts): 1})


def kai_fraction(payload: Payload) -> str:
    """The part of one device that KAI hands out by an annotation, such as `0.125`; empty where it is not asked for.

    Only where the vendor has a runtime class: the pods that hold the device for its sharers run in it.
    """
    pool, backend, facts = payload.pool, payload.cluster.backend, payload.facts
    shares = [device.share for device in payload.devices if device.share is not None]
    by_kai = pool.sharing is not None and pool.sharing.by is SharingBy.KAI and backend.queueing is Queueing.KAI
    if not shares or not by_kai or facts is None or facts.runtime_class is None:
        return ""
    digits = parse_share(shares[0]) * _DECIMALS
    if len(payload.devices) > 1 or digits.denominator != 1:
        raise Unsupported(
            f"KAI hands out one part of one device in decimals, not {' and '.join(shares)}. "
            "Divide the pool into 2, 4, 5, 8 or 10 units"
        )
    return f"0.{int(digits):04}".rstrip("0")


def _of_share(share: str, pool: NodePool, facts: VendorFacts) -> Counter[str]:
    part = parse_share(share)
    match pool.sharing.by if pool.sharing else None:
        case SharingBy.TIME_SLICING | SharingBy.MPS if pool.sharing and facts.shared_resource:
            return Counter({_named(facts.resource, facts): int(part * pool.sharing.units)})
        case SharingBy.HAMI if facts.memory_percent_resource and facts.core_percent_resource:
            percent = int(part * _WHOLE_PERCENT)
            return Counter(
                {
                    _named(facts.resource, facts): 1,
                    facts.memory_percent_resource: percent,
                    facts.core_percent_resource: percent,
                }
            )
        case _:
            raise Unsupported(
                f"a plain device plugin hands out whole devices only, not {share} of one. "
                "Share the pool by time_slicing, mps or hami where the vendor has it, or use partitions"
            )


def _profile(accelerator: Accelerator, name: str) -> PartitionProfile:
    if (profile := accelerator.partition(name)) is None:
        raise Unsupported(f"{accelerator.slug} has no partition {name}")
    return profile


def _partition_name(profile: PartitionProfile, accelerator: Accelerator, facts: VendorFacts, layout: Layout) -> str:
    name = resource_name(facts, accelerator, naming=layout.naming, profile=profile, memory_mode=layout.memory_mode)
    return _named(name, facts)


def _named(name: str | None, facts: VendorFacts) -> str:
    if name is None:
        raise Unsupported(f"no source tells how a device plugin names such devices of {facts.title}")
    return name
