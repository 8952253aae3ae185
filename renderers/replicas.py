"""Replicas of services, one by one: which nodes and devices each has, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.plan import NodeUse, Placement
from planner.spec.job import Job
from planner.spec.work import Work
from planner.units import parse_time
from renderers.payload import payload_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.plan import Plan, Segment, ServicePlan, ServiceStep
    from planner.spec.cluster import Cluster
    from planner.spec.service import Service
    from planner.specset import SpecSet
    from renderers.payload import Payload

_FOR_EVER: Final = 0
"""A service has no time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One replica of a service while it has the same devices.

    `number` counts the replicas of the service from 1 on, `turn` the devices that this one has one after the other.
    `windows` are pairs of moments in seconds since 1970 UTC; the end is 0 where the plan ends and the replica does not.
    """

    service: Service
    number: int
    turn: int
    payload: Payload
    windows: tuple[tuple[int, int], ...]


def shares(step: ServiceStep, together: int) -> Iterator[tuple[Segment, int]]:
    """The segments of a step with their replicas: one each, and in the last ones `together`, as their sum says."""
    extra = step.replicas - len(step.segments)
    several = extra // (together - 1) if together > 1 else 0
    for index, segment in enumerate(step.segments):
        yield segment, together if index >= len(step.segments) - several else 1


def apart(segment: Segment, replicas: int) -> tuple[tuple[NodeUse, ...], ...]:
    """The nodes and devices of each of several replicas that are placed together, alike as they are."""
    held = [(at, device) for at, node in enumerate(segment.nodes) for device in node.devices]
    if not held:
        size = max(1, len(segment.nodes) // replicas)
        return tuple(segment.nodes[at * size : at * size + size] for at in range(replicas))
    size = len(held) // replicas
    parts = (held[at * size : at * size + size] for at in range(replicas))
    return tuple(
        tuple(
            segment.nodes[at].model_copy(update={"devices": tuple(device for where, device in part if where == at)})
            for at in sorted({where for where, _ in part})
        )
        for part in parts
    )


def replicas_of(plan: Plan, specset: SpecSet, cluster: Cluster) -> tuple[Replica, ...]:
    """Every replica in a cluster, service by service and in order of number."""
    return tuple(made for planned in plan.services for made in _of_service(plan, planned, specset, cluster))


def _of_service(plan: Plan, planned: ServicePlan, specset: SpecSet, cluster: Cluster) -> Iterator[Replica]:
    service = specset.service(planned.address.partition("/")[2])
    last = parse_time(planned.steps[-1].end, "UTC") if planned.steps else 0
    turns: dict[int, list[tuple[Segment, list[tuple[int, int]]]]] = {}
    for step in planned.steps:
        begin, end = parse_time(step.start, "UTC"), parse_time(step.end, "UTC")
        for number, segment in enumerate(_one_by_one(step, service), start=1):
            mine = turns.setdefault(number, [])
            windows = next((windows for seen, windows in mine if _alike(seen, segment)), None)
            if windows is None:
                mine.append((segment, [(begin, end)]))
            elif windows[-1][1] == begin:
                windows[-1] = (windows[-1][0], end)
            else:
                windows.append((begin, end))
    for number, mine in sorted(turns.items()):
        for turn, (segment, windows) in enumerate(mine, start=1):
            if segment.cluster == cluster.name:
                yield Replica(
                    service=service, number=number, turn=turn,
                    payload=payload_of_one(
                        service, planned, segment, specset, cluster, f"#{number}" + (f".{turn}" if turn > 1 else "")
                    ),
                    windows=tuple((begin, 0 if end == last else end) for begin, end in windows),
                )  # fmt: skip


def _one_by_one(step: ServiceStep, service: Service) -> Iterator[Segment]:
    for segment, replicas in shares(step, service.replicas.step):
        for nodes in apart(segment, replicas):
            yield segment.model_copy(update={"nodes": nodes})


def _alike(one: Segment, other: Segment) -> bool:
    return (one.pool, one.variant, one.market, one.nodes) == (other.pool, other.variant, other.market, other.nodes)


def payload_of_one(
    service: Service, planned: ServicePlan, segment: Segment, specset: SpecSet, cluster: Cluster, suffix: str = ""
) -> Payload:
    """One replica, as a job that never ends; `suffix` tells it from the others."""
    fields = {name: getattr(service, name) for name in Work.model_fields if name != "kind"}
    placement = Placement(
        address=f"{planned.address}{suffix}",
        spec=planned.spec,
        team=planned.team,
        priority=planned.priority,
        submitted=segment.start,
        gpus=sum(len(node.devices) for node in segment.nodes),
        finish=segment.end,
        limit_seconds=_FOR_EVER,
        segments=(segment,),
    )
    return payload_of(Job.model_construct(**fields), placement, (segment,), specset, cluster)
