"""Services as fixed-time tasks: layers of replicas, each for every stretch of time in which the load needs it.

A layer is one replica up to `replicas.min`, and `replicas.step` of them above. It is needed in the slots in which the
load wants as many replicas as stand below it and in it; each longest stretch of such slots is a task that starts then
and lasts so long, or does not run at all. A layer has the same number of replicas in each of its modes, and this number
is sized for the card that serves least among all that the service may run on: whichever modes are chosen, what is
placed in full bears the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from planner import sizing
from planner.compile import load
from planner.compile.horizon import length_text
from planner.compile.impossible import impossible
from planner.compile.past import seat
from planner.compile.refusal import Code, Refusal, one_a_subject
from planner.compile.replicas import Offers, lasting, offers, room, server_on, stand_in
from planner.compile.spreading import spread
from planner.compile.tasks import Layer, Work, least_work, modes, move_micros, worth
from planner.compile.unsupported import place_of
from planner.diagnostics import Diagnostic, Severity, SpecError
from planner.names import address
from planner.spec.policy import OnInvalid
from planner.units import parse_time
from solvers.problem import Previous, Row, Task

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate, Grounds
    from planner.compile.tasks import Ground
    from planner.plan import Plan, ServicePlan
    from planner.spec.job import Job
    from planner.spec.service import Service
    from planner.specset import SpecSet
    from solvers.problem import Node

LEAST_FIRST: Final = Fraction(11, 10)
"""What the replicas of `replicas.min` are worth against those above: more, and less than one priority more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One service: in each slot what is asked of it, how many replicas that needs, and how many there may be.

    `room` replicas fit into the empty fleet; `refusals` are of the pools that take none.
    """

    address: str
    service: Service
    demand: tuple[load.Demand, ...]
    needed: tuple[int, ...]
    allowed: tuple[int, ...]
    room: int
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """All services, the works that their layers are, and the rows that keep replicas evenly spread."""

    servings: tuple[Serving, ...] = ()
    works: tuple[Work, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What services are compiled from besides themselves."""

    specset: SpecSet
    grounds: Grounds
    ground: Ground
    nodes: tuple[tuple[Node, ...], ...]
    previous: Plan | None


def services(scope: Scope) -> Services:
    """Every service in order of address; raises `SpecError` for one that nothing can ever run, unless it is skipped."""
    servings: list[Serving] = []
    works: list[Work] = []
    rows: list[Row] = []
    faults: list[Diagnostic] = []
    skips = scope.specset.policy.on_invalid is OnInvalid.SKIP
    for service in scope.specset.services:
        one = offers(service, scope.grounds, 1)
        serving = _serving(service, one, scope) if one.candidates or skips else None
        if serving is not None and service.spread is not None:
            one, more = spread(service, one, serving.allowed, len(scope.ground.rows.rows) + len(rows))
            serving = replace(serving, refusals=one.refusals)
            rows += more
        if serving is None or not (one.candidates or skips):
            where = address("service", service.team, service.name)
            reasons = (_reason(refusal) for refusal in one.refusals)
            faults.append(impossible(scope.specset, where, reasons))
            continue
        servings.append(serving)
        works += _works(serving, one, scope) if one.candidates else ()
    if faults:
        raise SpecError(faults)
    return Services(servings=tuple(servings), works=tuple(works), rows=tuple(rows))


def _reason(refusal: Refusal) -> str:
    return f"{refusal.subject}: {refusal.message}"


def _serving(service: Service, one: Offers, scope: Scope) -> Serving:
    demand = _demand(service, scope)
    bounds = service.replicas
    allowed = sizing.Replicas(least=bounds.min, most=bounds.max, step=bounds.step)
    server = _weakest(service, one, scope)
    sized = {each: sizing.size(each[0], server, allowed, concurrent=each[1]) for each in set(demand)} if server else {}
    return Serving(
        address=address("service", service.team, service.name),
        service=service,
        demand=demand,
        needed=tuple(sized[each].needed if sized else bounds.min for each in demand),
        allowed=tuple(sized[each].replicas if sized else bounds.min for each in demand),
        room=room(one.candidates, scope.nodes),
        refusals=one.refusals,
    )


def _weakest(service: Service, one: Offers, scope: Scope) -> sizing.Server | None:
    """What a replica is on the card that serves least of all that it may run on."""
    asks = {ask.variant: ask for ask in one.asks}
    found = (
        (each.milliqps, server_on(service, asks[each.variant], each.site, scope.grounds.speeds))
        for each in one.candidates
    )
    servers = [(serves, server) for serves, server in found if isinstance(server, sizing.Server)]
    return min(servers, key=lambda each: each[0])[1] if servers else None


def _demand(service: Service, scope: Scope) -> tuple[load.Demand, ...]:
    horizon, zone = scope.ground.horizon, scope.specset.policy.timezone
    if service.load.file is None:
        return load.of_steps(service.load.steps, horizon, zone)
    where = address("service", service.team, service.name)
    try:
        return load.of_file(scope.specset.attachment(where, service.load.file), horizon, zone)
    except load.BadLoad as error:
        raise SpecError([_unreadable(scope.specset, where, service.load.file, str(error))]) from None


def _unreadable(specset: SpecSet, where: str, name: str, why: str) -> Diagnostic:
    return Diagnostic(
        code="SPEC206",
        severity=Severity.ERROR,
        summary=f"the load file {name} of {where} cannot be read: {why}",
        place=place_of(specset, where),
        address=where,
        path="load.file",
        help="write lines of time and requests a second, for example 2026-12-01T09:00:00Z,120",
    )


def _works(serving: Serving, one: Offers, scope: Scope) -> Iterator[Work]:
    """The works of all layers, lowest first and each in order of time."""
    service, job = serving.service, stand_in(serving.service)
    step = service.replicas.step
    many = one if step == 1 else offers(service, scope.grounds, step)
    before = _before(scope.previous, serving.address)
    most = max(serving.allowed)
    thresholds = [*range(1, service.replicas.min + 1), *range(service.replicas.min + step, most + 1, step)]
    for number, threshold in enumerate(thresholds):
        base = number < service.replicas.min
        offered = one if base else many
        for start, end in _stretches(serving.allowed, threshold, _cuts(offered.candidates, scope.nodes)):
            layer = Layer(
                address=serving.address, number=number, replicas=1 if base else step, start=start, end=end, least=base
            )
            yield _work(layer, job, offered, before, scope)


def _stretches(allowed: Sequence[int], threshold: int, cuts: frozenset[int]) -> Iterator[tuple[int, int]]:
    """The longest runs of slots that need so many replicas, parted where nodes close or open."""
    slot = 0
    for needed, members in groupby(allowed, key=lambda replicas: replicas >= threshold):
        end = slot + sum(1 for _ in members)
        if needed:
            yield from pairwise([slot, *sorted(cut for cut in cuts if slot < cut < end), end])
        slot = end


def _cuts(candidates: Sequence[Candidate], nodes: Sequence[tuple[Node, ...]]) -> frozenset[int]:
    """The slots in which a node that could serve closes or opens: replicas go round its absence."""
    pools = {each.site.at for each in candidates}
    closures = (closure for at in pools for node in nodes[at] for closure in node.closures)
    return frozenset(slot for closure in closures for slot in (closure.start, closure.end))


def _work(layer: Layer, job: Job, offered: Offers, before: ServicePlan | None, scope: Scope) -> Work:
    horizon = scope.ground.horizon
    seconds = (layer.end - layer.start) * horizon.slot_seconds
    kept: list[Candidate] = []
    refusals = list(offered.refusals)
    for each in offered.candidates:
        most = each.site.pool.pool.max_duration
        if most is not None and seconds > most.seconds:
            message = f"is needed for {length_text(seconds)}, the pool allows {length_text(most.seconds)}"
            refusals.append(each.site.refuse(Code.DURATION_LIMIT, message, "raise the pool's max_duration"))
        else:
            kept.append(replace(each, expected_seconds=seconds, limit_seconds=seconds))
    held = _held(before, layer, horizon.moment(layer.start), kept)
    return Work(
        address=f"{layer.address}#{layer.number + 1}@{layer.start}", job=job, submitted=horizon.start,
        candidates=tuple(kept), refusals=one_a_subject(refusals), layer=layer, held=held,
        wishes=tuple(lasting(ask, seconds) for ask in offered.asks),
    )  # fmt: skip


def _before(previous: Plan | None, where: str) -> ServicePlan | None:
    known = previous.services if previous is not None else ()
    return next((each for each in known if each.address == where), None)


def _held(before: ServicePlan | None, layer: Layer, moment: int, candidates: Sequence[Candidate]) -> Previous | None:
    """Where the previous plan had the layer's replicas at a moment: layers are listed lowest first, and alike."""
    for step in before.steps if before is not None else ():
        if parse_time(step.start, "UTC") <= moment < parse_time(step.end, "UTC") and layer.number < len(step.segments):
            found = seat(step.segments[layer.number], candidates)
            return None if found is None else Previous(mode=found[0], start=layer.start, nodes=found[1])
    return None


def layer_task(work: Work, ground: Ground, *, budgets: tuple[int, ...]) -> Task:
    """A layer's stretch as the solver sees it: at its time or not at all, without delay."""
    layer = work.layer
    assert layer is not None, "only layers of services are such tasks"
    amount = least_work(work.wishes, ground.speeds)
    value, premium = worth(amount * LEAST_FIRST if layer.least else amount, work.job, ground.policy)
    ways = modes(work, ground, amount)
    return Task(
        name=work.address,
        modes=ways,
        worth_micros=value,
        premium_micros=premium,
        since=layer.start,
        earliest=layer.start,
        latest=layer.start,
        budgets=budgets if any(each.cash_micros for each in ways) else (),
        priority=tuple(type(work.job.priority)).index(work.job.priority),
        previous=work.held,
        move_micros=move_micros(work, ground),
    )
