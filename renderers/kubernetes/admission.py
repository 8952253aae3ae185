"""How a job is put before its queue: labels and annotations of the object and its pods, for each kind of queueing."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, assert_never

from planner.spec.backend import Queueing, Workload
from renderers.kubernetes import kai, topology, versions, volcano
from renderers.kubernetes.priorities import priority_class
from renderers.kubernetes.resources import kai_fraction
from renderers.kubernetes.scene import queue_of
from renderers.kubernetes.team_queues import queue_name

if TYPE_CHECKING:
    from renderers.kubernetes.flavors import Flavor
    from renderers.payload import Payload

Pairs = tuple[tuple[str, str], ...]

GATE: Final = "planner.dev/planned-start"
SCHEDULERS: Final = MappingProxyType({Queueing.KAI: kai.SCHEDULER, Queueing.VOLCANO: volcano.SCHEDULER})
"""Who places pods, where it is not the scheduler of the cluster itself."""
_SPLIT: Final = frozenset({Workload.PYTORCHJOB, Workload.MPIJOB, Workload.RAYJOB})
"""Kinds whose gang is of two sets of pods, which have to be placed as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What admits a job says of it; `group` is an object that stands for all its pods."""

    labels: Pairs = ()
    annotations: Pairs = ()
    pod_labels: Pairs = ()
    pod_annotations: Pairs = ()
    scheduler: str = ""
    priority_class: str = ""
    group: dict[str, Any] | None = None


def admission_of(payload: Payload, flavor: Flavor, namespace: str, workload: str) -> Admission:
    """How `payload` is admitted in its cluster."""
    match payload.cluster.backend.queueing:
        case Queueing.KUEUE:
            return _kueue(payload, flavor, workload)
        case Queueing.KAI:
            return _kai(payload)
        case Queueing.VOLCANO:
            return Admission(
                pod_annotations=((volcano.GROUP, workload),),
                scheduler=volcano.SCHEDULER,
                priority_class=priority_class(payload.placement.priority),
                group=volcano.pod_group(payload, namespace, workload),
            )
        case Queueing.NONE:
            return Admission()
        case never:
            assert_never(never)


def _kueue(payload: Payload, flavor: Flavor, workload: str) -> Admission:
    """Kueue waits for a gate to go; where it knows none, the job joins its queue when it is released."""
    queue = queue_of(payload.job.team, flavor)
    labels = (("kueue.x-k8s.io/priority-class", priority_class(payload.placement.priority)),)
    if versions.parse(payload.cluster.backend.kueue_version) < versions.ADMISSION_GATES:
        return Admission(
            labels=labels,
            annotations=(("planner.dev/queue", queue),),
            pod_annotations=_kueue_topology(payload, flavor, workload),
        )
    return Admission(
        labels=(*labels, ("kueue.x-k8s.io/queue-name", queue)),
        annotations=(("kueue.x-k8s.io/admission-gated-by", GATE),),
        pod_annotations=_kueue_topology(payload, flavor, workload),
    )


def _kueue_topology(payload: Payload, flavor: Flavor, workload: str) -> Pairs:
    level = topology.wanted(payload)
    if level is None or not flavor.levels:
        return ()
    label, required = level
    found = ((f"kueue.x-k8s.io/podset-{'required' if required else 'preferred'}-topology", label),)
    if payload.cluster.backend.workload in _SPLIT:
        return (*found, ("kueue.x-k8s.io/podset-group-name", workload))
    return found


def _kai(payload: Payload) -> Admission:
    """KAI takes the object's own word on whether its work yields: what never does runs inside the guarantee only."""
    job = payload.job
    annotations: list[tuple[str, str]] = []
    if payload.is_gang and payload.cluster.backend.workload is Workload.JOB:
        annotations.append(("kai.scheduler/batch-min-member", str(len(payload.nodes))))
    if (level := topology.wanted(payload)) is not None:
        label, required = level
        word = "required" if required else "preferred"
        annotations.append(("kai.scheduler/topology", topology.name_of(topology.levels_of(payload.pool))))
        annotations.append((f"kai.scheduler/topology-{word}-placement", label))
    fraction = kai_fraction(payload)
    return Admission(
        annotations=tuple(annotations),
        pod_annotations=(("gpu-fraction", fraction),) if fraction else (),
        pod_labels=(
            ("kai.scheduler/queue", queue_name(job.team)),
            ("kai.scheduler/preemptibility", "preemptible" if job.preemptible else "non-preemptible"),
        ),
        scheduler=kai.SCHEDULER,
        priority_class=priority_class(payload.placement.priority),
    )
