"""Services of the plan: replicas that are alike as one Deployment, or as one LeaderWorkerSet where each has nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.specset.manifests import manifest_template
from planner.units import parse_time
from renderers.kubernetes.limits import is_manifest
from renderers.kubernetes.serving_overlay import SERVED
from renderers.replicas import apart, payload_of_one, shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.diagnostics import Place
    from planner.plan import NodeUse, Plan, Segment, ServicePlan
    from planner.spec.cluster import Cluster
    from planner.spec.service import Service
    from planner.specset import SpecSet
    from planner.specset.manifests import ManifestTemplate
    from renderers.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Some replicas of one step: how many, and what one of them is (the nodes and devices of the first)."""

    replicas: int
    segment: Segment
    nodes: tuple[NodeUse, ...]

    @property
    def one(self) -> Segment:
        """The segment with the nodes and devices of the first replica only."""
        return self.segment.model_copy(update={"nodes": self.nodes})

    @property
    def key(self) -> tuple[Any, ...]:
        """What replicas of one object have in common."""
        shapes = tuple(
            tuple(sorted((device.profile or "", device.share or "") for device in node.devices)) for node in self.nodes
        )
        return self.segment.pool, self.segment.variant, shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSet:
    """Replicas that are alike: one of them as a payload, where any of them ever is, and how many from when on.

    `steps` are pairs of a moment (seconds since 1970 UTC) and a number; before the first there are none. `template` is
    an object over which the plan is laid, for the spec at `spec_place`.
    """

    service: Service
    name: str
    one: Payload
    nodes: tuple[str, ...]
    steps: tuple[tuple[int, int], ...]
    spec_place: Place
    template: ManifestTemplate | None = None

    def at(self, moment: int) -> int:
        """How many replicas there are at a moment."""
        return next((count for start, count in reversed(self.steps) if start <= moment), 0)


def replica_sets(plan: Plan, specset: SpecSet, cluster: Cluster) -> tuple[ReplicaSet, ...]:
    """All replicas in a cluster, service by service."""
    return tuple(made for planned in plan.services for made in _sets(planned, specset, cluster))


def _sets(planned: ServicePlan, specset: SpecSet, cluster: Cluster) -> Iterator[ReplicaSet]:
    service = specset.service(planned.address.partition("/")[2])
    first: dict[tuple[Any, ...], Share] = {}
    nodes: dict[tuple[Any, ...], set[str]] = {}
    counts: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for step in planned.steps:
        here: dict[tuple[Any, ...], int] = {}
        for segment, replicas in shares(step, service.replicas.step):
            share = Share(replicas=replicas, segment=segment, nodes=apart(segment, replicas)[0])
            if share.segment.cluster == cluster.name:
                first.setdefault(share.key, share)
                nodes.setdefault(share.key, set()).update(node.name for node in share.segment.nodes)
                here[share.key] = here.get(share.key, 0) + share.replicas
        begin = parse_time(step.start, "UTC")
        for key in sorted({*counts, *here}):
            counts.setdefault(key, []).append((begin, here.get(key, 0)))
    for number, key in enumerate(sorted(first), start=1):
        yield ReplicaSet(
            service=service,
            name=service.name if len(first) == 1 else f"{service.name}-{number}",
            one=payload_of_one(service, planned, first[key].one, specset, cluster),
            nodes=tuple(sorted(nodes[key])),
            steps=tuple(counts[key]),
            spec_place=specset.place(planned.address),
            template=_template(service, planned.address, specset),
        )


def _template(service: Service, address: str, specset: SpecSet) -> ManifestTemplate | None:
    name = service.template
    if name is None or not is_manifest(name):
        return None
    return manifest_template(specset, address, name, frozenset(SERVED))
