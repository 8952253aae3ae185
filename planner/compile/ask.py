"""What one variant of a job asks of a pool, reduced to what decides: equal asks get equal answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner.spec.work import LIMIT, Isolation, Link
from planner.units import Duration, ceil_div, ceil_fraction

if TYPE_CHECKING:
    from planner.catalog import Catalog, Vendor, VendorFacts
    from planner.spec.envelope import Priority
    from planner.spec.job import Job
    from planner.spec.work import GpuRequest, Market, TimeByModel, Variant, Within, WorkPlace
    from planner.units import Memory

_SECOND_MS = 1_000
MOST_SIZES = 12
"""An elastic job is weighed in at most so many sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """`replicas` alike parts of a gang with `devices` each, spread evenly over `nodes` (None: as few as possible).

    Each node has a multiple of `unit` devices.
    """

    role: str | None
    replicas: int
    devices: int
    nodes: int | None
    unit: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """A part of a device, the same of each: a share, the share that holds so much memory, or a partition.

    `least` is the least of a device that it can be anywhere in the catalogue, for what the work is worth; `hard`: those
    who share the device must be kept apart.
    """

    share: Fraction | None = None
    memory_mib: int | None = None
    profile: str | None = None
    hard: bool = False
    least: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNeed:
    """What a part needs of a node besides devices; None where the node's fair share per device is taken."""

    cpus: int | None = None
    memory_mib: int | None = None
    cpus_per_device: int | None = None
    memory_mib_per_device: int | None = None
    gres: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long it is expected to run and may run at most on a model; `estimated`: scaled by the catalogue's speed."""

    expected_seconds: int
    limit_seconds: int
    limit_is_given: bool
    estimated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One variant of a job; `vendor` is None for work on CPUs only, `toolkit` is the release its image names.

    It must stay `within`, and would like to lie `near` each other.
    Equal asks are judged once, so nothing of a job's name or time is in it.
    """

    team: str
    variant: str
    vendor: Vendor | None
    models: tuple[str, ...]
    device_memory_mib: int
    portion: Portion | None
    pieces: tuple[Piece, ...]
    host: HostNeed
    linked: bool
    within: Within | None
    near: Within | None
    timed_models: tuple[str, ...]
    place: WorkPlace
    pin_pool: str | None
    pin_nodes: tuple[str, ...]
    rdma: bool
    features: tuple[str, ...]
    tolerations: tuple[str, ...]
    toolkit: tuple[int, ...]
    interruptible: bool
    priority: Priority
    checkpointed: bool
    spot: Market

    @property
    def devices(self) -> int:
        """Devices of the whole gang."""
        return sum(piece.replicas * piece.devices for piece in self.pieces)

    @property
    def least_amount(self) -> Fraction:
        """The least that these are in whole devices."""
        return self.devices * (self.portion.least if self.portion else Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An ask with what its answer depends on job by job: how long it runs, how much cash it may cost, and how much data
    it fetches from where.
    """

    ask: Ask
    duration: TimeByModel
    most_micros: int | None
    most_micros_per_hour: int | None
    data: str | None = None
    egress: Memory | None = None


def wishes(job: Job, facts: Mapping[Vendor, VendorFacts], catalog: Catalog) -> tuple[Wish, ...]:
    """Each variant of a job in the order written, an elastic one in each of its sizes, the largest first."""
    cost = job.max_cost
    return tuple(
        Wish(
            ask=_ask(job, way, facts, catalog, size),
            duration=_longer(way.duration, Fraction(job.replicas.max, size)) if job.replicas and size else way.duration,
            most_micros=cost.total.micros if cost and cost.total else None,
            most_micros_per_hour=cost.per_hour.micros if cost and cost.per_hour else None,
            data=job.data,
            egress=job.egress,
        )
        for way in job.ways()
        for size in _sizes(job)
    )


def _sizes(job: Job) -> tuple[int | None, ...]:
    """The numbers of replicas that are weighed, the largest first.

    Of a wide range these are both ends and, of each stretch between, the number that divides by two most often.
    """
    if job.replicas is None:
        return (None,)
    least, most = job.replicas.min, job.replicas.max
    if most - least < MOST_SIZES:
        return tuple(range(most, least - 1, -1))
    cuts = [least + (most - least) * step // (MOST_SIZES - 1) for step in range(1, MOST_SIZES)]
    inner = (max(range(low, high), key=lambda size: (size & -size, size)) for low, high in pairwise(cuts))
    return (most, *sorted(inner, reverse=True), least)


def _longer(times: TimeByModel, factor: Fraction) -> TimeByModel:
    """What takes so much longer, since fewer share the work: all lengths in proportion, rounded up."""

    def scaled(length: Duration) -> Duration:
        return Duration(ceil_fraction(length.milliseconds * factor))

    return times.model_copy(
        update={
            "expected": scaled(times.expected) if times.expected else None,
            "by_model": tuple((model, scaled(length)) for model, length in times.by_model),
            "limit": scaled(times.limit) if times.limit else None,
        }
    )


def _ask(job: Job, way: Variant, facts: Mapping[Vendor, VendorFacts], catalog: Catalog, size: int | None) -> Ask:
    gpus = way.gpus
    assert gpus is not None, "ways() fills in the devices"
    requests = (gpus, *(role.gpus for role in job.roles))
    pieces = _pieces(job, gpus, size)
    vendor = way.vendor if any(piece.devices for piece in pieces) else None
    return Ask(
        team=job.team,
        variant=way.name,
        vendor=vendor,
        models=tuple(way.models) if vendor is not None else (),
        device_memory_mib=max((each.memory.mib for each in requests if each.memory), default=0),
        portion=_portion(gpus, way.models, catalog),
        pieces=pieces,
        host=_host(job, way),
        linked=any(each.link is Link.REQUIRED for each in requests),
        within=job.topology.within if job.topology and job.topology.required else None,
        near=job.topology.within if job.topology and not job.topology.required else None,
        timed_models=tuple(model for model, _ in way.duration.by_model),
        place=job.place,
        pin_pool=job.pin.pool if job.pin else None,
        pin_nodes=tuple(job.pin.nodes) if job.pin else (),
        rdma=job.needs.rdma,
        features=tuple(sorted(job.needs.features)),
        tolerations=tuple(sorted(job.needs.tolerations)),
        toolkit=toolkit(way.image or "", facts[vendor]) if vendor is not None else (),
        interruptible=job.preemptible,
        priority=job.priority,
        checkpointed=job.checkpoint is not None,
        spot=job.market.spot,
    )


def _portion(gpus: GpuRequest, models: Sequence[str], catalog: Catalog) -> Portion | None:
    hard = gpus.isolation is Isolation.HARD
    if gpus.share is not None:
        return Portion(share=gpus.share, hard=hard, least=gpus.share)
    known = [each for each in catalog.accelerators if not models or each.slug in models]
    if gpus.share_memory is not None:
        most = max((each.memory_mib or 0 for each in known), default=0)
        least = min(Fraction(1), Fraction(gpus.share_memory.mib, max(1, most)))
        return Portion(memory_mib=gpus.share_memory.mib, hard=hard, least=least)
    if gpus.partition is not None:
        profiles = (each.partition(gpus.partition) for each in known)
        sizes = (profile.size for profile in profiles if profile is not None)
        return Portion(profile=gpus.partition, hard=hard, least=min(sizes, default=Fraction(1)))
    return None


def _pieces(job: Job, gpus: GpuRequest, size: int | None) -> tuple[Piece, ...]:
    """The parts of a gang; all replicas of an elastic job are one, whose nodes have whole replicas."""
    if not job.roles:
        if size is None:
            return (Piece(role=None, replicas=1, devices=gpus.count, nodes=gpus.nodes),)
        nodes = None if gpus.nodes is None else gpus.nodes * size
        return (Piece(role=None, replicas=1, devices=gpus.count * size, nodes=nodes, unit=max(1, gpus.count)),)
    return tuple(
        Piece(role=role.name, replicas=role.replicas, devices=role.gpus.count, nodes=role.gpus.nodes)
        for role in job.roles
    )


def _host(job: Job, way: Variant) -> HostNeed:
    return HostNeed(
        cpus=way.cpus,
        memory_mib=way.memory.mib if way.memory else None,
        cpus_per_device=job.cpus_per_gpu,
        memory_mib_per_device=job.memory_per_gpu.mib if job.memory_per_gpu else None,
        gres=tuple(job.gres),
    )


def toolkit(image: str, facts: VendorFacts) -> tuple[int, ...]:
    """The release of CUDA or ROCm that an image's last part names (`cu13`, `cuda12.8`, `cu128`, `rocm6.3`), or `()`.

    Three digits without a point, as PyTorch writes them, are a major of two and a minor of one digit.
    """
    words = "|".join(sorted(map(re.escape, facts.image_words), key=len, reverse=True))
    if not words:
        return ()
    found = re.search(
        rf"(?<![a-z])(?:{words})[-_]?([0-9]+)((?:\.[0-9]+)*)", image.rsplit("/", 1)[-1].partition("@")[0].lower()
    )
    if found is None:
        return ()
    whole, rest = found[1], [int(part) for part in found[2].split(".") if part]
    if len(whole) == 3 and not rest:
        return int(whole[:2]), int(whole[2])
    return int(whole), *rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """How fast models are against the policy's reference; those of which no measurement tells are absent."""

    reference: str
    by_model: Mapping[str, Fraction]

    def of(self, model: str) -> Fraction:
        """The speed of a model; one of unknown speed counts as fast as the reference."""
        return self.by_model.get(model, Fraction(1))


def speeds(catalog: Catalog, reference: str) -> Speeds:
    """The known speeds of all models of the catalogue."""
    base = catalog.get(reference)
    known = {reference: Fraction(1)}
    if base is not None and base.speed_ppm:
        measured = ((each.slug, each.speed_ppm) for each in catalog.accelerators)
        known |= {slug: Fraction(ppm, base.speed_ppm) for slug, ppm in measured if ppm}
    return Speeds(reference=reference, by_model=MappingProxyType(known))


def timing(wish: Wish, model: str | None, known: Speeds) -> Timing | None:
    """How long the wish runs on a model (None: on CPUs), None where nothing tells.

    One length holds on the models that the work names, else on the policy's reference; on others it scales with speed.
    """
    times = wish.duration
    if times.by_model:
        written = dict(times.by_model).get(model or "")
        return None if written is None else _timing(written.milliseconds, times, Fraction(1), estimated=False)
    if times.expected is None:
        return None
    if model is None or wish.ask.models or model == known.reference:
        return _timing(times.expected.milliseconds, times, Fraction(1), estimated=False)
    pace = known.by_model.get(model)
    return None if pace is None else _timing(times.expected.milliseconds, times, pace, estimated=True)


def _timing(milliseconds: int, times: TimeByModel, pace: Fraction, *, estimated: bool) -> Timing:
    slowed, parts = milliseconds * pace.denominator, pace.numerator * _SECOND_MS
    expected = max(1, ceil_div(slowed, parts))
    written = times.limit.milliseconds * pace.denominator if times.limit else None
    usual = ceil_div(slowed * LIMIT.numerator, parts * LIMIT.denominator)
    limit = usual if written is None else ceil_div(written, parts)
    return Timing(
        expected_seconds=expected,
        limit_seconds=max(expected, limit),
        limit_is_given=written is not None,
        estimated=estimated,
    )


def work_milliseconds(wish: Wish, known: Speeds) -> Fraction | None:
    """The wish's work in GPU-milliseconds of the reference model: the least over the models whose time is written."""
    times, ask = wish.duration, wish.ask
    weight = ask.least_amount if ask.devices else Fraction(_cpus(ask), CPUS_A_DEVICE)
    if times.by_model:
        return weight * min(length.milliseconds * known.of(model) for model, length in times.by_model)
    if times.expected is None:
        return None
    models = (ask.models if ask.devices else ()) or (known.reference,)
    return weight * times.expected.milliseconds * min(known.of(model) for model in models)


CPUS_A_DEVICE = 100
"""Work without devices counts as one device per so many CPUs: what clouds ask for a CPU core is about a hundredth."""


def _cpus(ask: Ask) -> int:
    nodes = sum(piece.replicas * (piece.nodes or 1) for piece in ask.pieces)
    return nodes * (ask.host.cpus or 1)


def fair_share(capacity: int, devices: int | Fraction, devices_per_node: int) -> int:
    """The part of a node's resource that goes with so many of its devices, rounded down; nothing without devices."""
    return int(capacity * devices // devices_per_node) if devices else 0


def even_split(devices: int, nodes: int) -> int | None:
    """Devices on each of so many nodes, None when they do not divide."""
    return devices // nodes if devices % nodes == 0 else None


def divisors(devices: int) -> Iterator[int]:
    """Numbers of nodes over which so many devices divide evenly, fewest first."""
    yield from (nodes for nodes in range(1, devices + 1) if devices % nodes == 0)
