"""Where replicas of a service may run, how many devices each needs there, and what each of them serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner import sizing
from planner.compile.ask import Ask, Piece, Wish, wishes
from planner.compile.candidate import Candidate, Fit, Grounds, fits, seated
from planner.compile.refusal import Code, Refusal, one_a_subject
from planner.spec.job import Job
from planner.spec.work import TimeByModel, Work
from planner.units import Duration, Memory, ceil_div

if TYPE_CHECKING:
    from planner.compile.ask import Speeds
    from planner.compile.site import Site
    from planner.spec.service import Service
    from solvers.problem import Node


_MANY: Final = 1_000_000
"""More replicas than anything holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """The ways to run so many replicas together, and a reason for each pool that has none."""

    asks: tuple[Ask, ...]
    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]


def stand_in(service: Service) -> Job:
    """The service as a job that never ends: what both kinds of work have in common."""
    return Job.model_construct(**{name: getattr(service, name) for name in Work.model_fields})


def offers(service: Service, grounds: Grounds, replicas: int) -> Offers:
    """Try every pool for `replicas` replicas that come and go together."""
    asks = tuple(_asks(service, grounds, replicas))
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for ask in asks:
        found = fits(ask, grounds)
        refusals += found.refusals
        for fit in found.fits:
            made = _candidate(service, ask, fit, grounds, replicas)
            if isinstance(made, Candidate):
                candidates.append(made)
            elif made is not None:
                refusals.append(made)
    candidates.sort(key=lambda each: 0 if each.devices else each.site.pool.devices_per_node)
    taken = {each.site.subject for each in candidates}
    return Offers(
        asks=asks,
        candidates=tuple(candidates),
        refusals=one_a_subject(each for each in refusals if each.subject not in taken),
    )


def always(services: Iterable[Service], grounds: Grounds, seconds: int) -> Iterator[tuple[Wish, int]]:
    """What the replicas that services always have ask for, as long as the horizon is."""
    for service in services:
        for ask in _asks(service, grounds, 1):
            yield from ((lasting(ask, seconds), seconds) for _ in range(service.replicas.min))


def lasting(ask: Ask, seconds: int) -> Wish:
    """An ask that is held for so long."""
    length = TimeByModel(expected=Duration(seconds * 1_000))
    return Wish(ask=ask, duration=length, most_micros=None, most_micros_per_hour=None)


def _asks(service: Service, grounds: Grounds, replicas: int) -> Iterator[Ask]:
    for wish in wishes(stand_in(service), grounds.facts, grounds.catalog):
        if service.model is None:
            yield replace(wish.ask, pieces=tuple(replace(piece, replicas=replicas) for piece in wish.ask.pieces))
            continue
        vendor = next(way.vendor for way in service.ways() if way.name == wish.ask.variant)
        for degree in sorted(set(service.model.parallel)):
            piece = Piece(role=None, replicas=replicas, devices=degree, nodes=None)
            yield replace(wish.ask, vendor=vendor, pieces=(piece,))


def _candidate(service: Service, ask: Ask, fit: Fit, grounds: Grounds, replicas: int) -> Candidate | Refusal | None:
    """The ask on a site; None where another number of devices for each replica is the right one."""
    degree = _degree(service, fit.site)
    if isinstance(degree, Refusal):
        return degree
    if degree is not None and degree != ask.pieces[0].devices:
        return None
    server = server_on(service, ask, fit.site, grounds.speeds)
    if isinstance(server, Refusal):
        return server
    try:
        serves = sizing.capacity(server) if server.service_milliseconds or server.capacity_milliqps else Fraction(0)
    except sizing.Unsizable as error:
        return fit.site.refuse(Code.LATENCY, str(error).split(":")[0], "raise latency_target, or serve faster")
    return replace(seated(ask, fit), milliqps=serves)


def _degree(service: Service, site: Site) -> int | Refusal | None:
    """Devices that hold the model on a site's cards; None for a service that says how many it takes."""
    model = service.model
    if model is None:
        return None
    have = site.group.memory_mib if site.group else None
    if have is None:
        return site.refuse(
            Code.DEVICE_MEMORY, "the memory of its devices is not known", "state gpus.memory in the pool"
        )
    need, reserve = model.weights.mib + model.kv_cache.mib, service.memory_reserve.ppm
    found = sizing.degree(need, have, reserve, model.parallel)
    if found is None:
        usable = Memory(sizing.usable_mib(have, reserve))
        message = f"weights and cache need {Memory(need)}, {max(model.parallel)} x {usable} usable are the most"
        return site.refuse(Code.DEVICE_MEMORY, message, "offer a higher degree in model.parallel")
    return found


def server_on(service: Service, ask: Ask, site: Site, speeds: Speeds) -> sizing.Server | Refusal:
    """What one replica is on a site; its time scales with speed as durations do."""
    times, model = service.service_time, site.group.model if site.group else None
    milliseconds = None
    if times.by_model:
        written = dict(times.by_model).get(model or "")
        if written is None:
            return site.refuse(Code.MODEL, f"service_time names no {model}", f"give it a service_time for {model}")
        milliseconds = written.milliseconds
    elif times.expected is not None:
        known = model is None or ask.models or model == speeds.reference
        pace = Fraction(1) if known else speeds.by_model.get(model or "")
        if pace is None:
            message = f"how fast {model} is against {speeds.reference} is not known"
            return site.refuse(Code.SPEED_UNKNOWN, message, f"give it a service_time for {model}")
        milliseconds = ceil_div(times.expected.milliseconds * pace.denominator, pace.numerator)
    return sizing.Server(
        service_milliseconds=milliseconds,
        concurrency=service.concurrency,
        capacity_milliqps=service.milliqps_per_replica,
        target_milliseconds=service.latency_target.milliseconds if service.latency_target else None,
        headroom_ppm=service.headroom.ppm,
    )


def room(candidates: Sequence[Candidate], nodes: Sequence[tuple[Node, ...]]) -> int:
    """How many replicas an empty fleet holds; `candidates` are those of one replica."""
    by_pool: dict[int, int] = {}
    for each in candidates:
        members = nodes[each.site.at]
        eligible = range(len(members)) if each.nodes is None else each.nodes
        parts = sum(min(_times(each, members[at]), _cells(each, at)) for at in eligible)
        by_pool[each.site.at] = max(by_pool.get(each.site.at, 0), parts // each.node_count)
    return sum(by_pool.values())


def _times(candidate: Candidate, node: Node) -> int:
    """How often the largest part of a replica fits on a node; a rented node holds one, divided devices are no matter
    here.
    """
    use = candidate.shapes[0].use if candidate.site.pool.is_own else node.capacity
    first = 1 if candidate.site.pool.cells and candidate.devices else 0
    fits = [have // need for have, need in zip(node.capacity[first:], use[first:], strict=True) if need]
    return min(fits, default=_MANY if first else 1)


def _cells(candidate: Candidate, node: int) -> int:
    """How often the largest part of a replica finds its devices among the divided ones of a node."""
    pool = candidate.site.pool
    if not pool.cells or not candidate.devices:
        return _MANY
    parts = sum(int(cell.part // candidate.size) for cell in pool.cells[node] if cell.profile == candidate.profile)
    return parts // candidate.shapes[0].devices
