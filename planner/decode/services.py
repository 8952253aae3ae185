"""Services as they are planned: from step to step the replicas, what they serve, and where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from planner.compile.refusal import Code, Refusal, as_reasons
from planner.decode.placements import Seats, segment
from planner.plan import ServicePlan, ServiceStep
from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.problem import Compiled
    from planner.compile.services import Serving
    from planner.decode.placed import Placed


def services(
    compiled: Compiled, runs: Sequence[Placed], seats: Seats, lacking: Mapping[str, Sequence[Refusal]]
) -> tuple[ServicePlan, ...]:
    """Every service in order of address; `lacking` is why layers of it have no place."""
    by_service: dict[str, list[Placed]] = {serving.address: [] for serving in compiled.servings}
    for each in runs:
        if each.work.layer is not None:
            by_service[each.work.layer.address].append(each)
    return tuple(
        _service(compiled, serving, by_service[serving.address], seats, lacking.get(serving.address, ()))
        for serving in compiled.servings
    )


def is_borne(service: ServicePlan) -> bool:
    """Whether there are as many replicas as the load needs at every time, and together they serve it."""
    return all(
        step.replicas >= step.replicas_needed and step.capacity_milliqps >= step.load_milliqps for step in service.steps
    )


def _service(
    compiled: Compiled, serving: Serving, runs: Sequence[Placed], seats: Seats, lacking: Sequence[Refusal]
) -> ServicePlan:
    return ServicePlan(
        address=serving.address,
        spec=compiled.specset.spec_hash(serving.address),
        team=serving.service.team,
        priority=serving.service.priority.value,
        reasons=as_reasons([*_bounds(serving), *lacking, *(() if runs else serving.refusals)]),
        steps=tuple(_steps(compiled, serving, sorted(runs, key=_layer), seats)),
    )


def _layer(each: Placed) -> int:
    assert each.work.layer is not None, "only layers are sorted so"
    return each.work.layer.number


def _bounds(serving: Serving) -> Iterator[Refusal]:
    """What is wrong with the bounds that the service states: too low for the load, or above what can ever exist."""
    most, needed = serving.service.replicas.max, max(serving.needed)
    if needed > max(serving.allowed):
        message = f"the load needs {needed} replicas, replicas.max allows {max(serving.allowed)}"
        yield Refusal(
            code=Code.REPLICAS, subject=serving.address, message=message, fix=f"raise replicas.max to {needed}"
        )
    if most is not None and most > serving.room:
        message = f"replicas.max is {most}, the whole fleet has room for {serving.room}"
        yield Refusal(
            code=Code.REPLICAS, subject=serving.address, message=message,
            fix=f"write at most {serving.room}, or add nodes",
        )  # fmt: skip


def _steps(compiled: Compiled, serving: Serving, runs: Sequence[Placed], seats: Seats) -> Iterator[ServiceStep]:
    """The stretches of time in which neither the load nor the replicas change."""
    active = _active(compiled, runs)
    by_slot = zip(serving.needed, serving.demand, active, strict=True)
    slot = 0
    for (needed, demand, members), same in groupby(by_slot):
        end = slot + sum(1 for _ in same)
        placed = [runs[at] for at in members]
        yield ServiceStep(
            start=format_time(compiled.horizon.moment(slot)),
            end=format_time(compiled.horizon.moment(end)),
            replicas=sum(_replicas(each) for each in placed),
            replicas_needed=needed,
            load_milliqps=demand[0],
            capacity_milliqps=int(sum(_replicas(each) * each.candidate.milliqps for each in placed)),
            segments=tuple(segment(compiled, each, seats, start=slot, end=end) for each in placed),
        )
        slot = end


def _replicas(each: Placed) -> int:
    assert each.work.layer is not None, "only layers have replicas"
    return each.work.layer.replicas


def _active(compiled: Compiled, runs: Iterable[Placed]) -> list[tuple[int, ...]]:
    """Which runs are on in each slot."""
    active: list[list[int]] = [[] for _ in range(compiled.horizon.slots)]
    for at, each in enumerate(runs):
        for slot in range(each.run.start, min(each.run.end, compiled.horizon.slots)):
            active[slot].append(at)
    return [tuple(members) for members in active]
