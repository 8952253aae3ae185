"""Services as objects: replicas at a moment, the Service before them, and how many may be away at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from planner.spec.backend import DevicesBy, Queueing, Scaling, Serving
from planner.spec.service import SpreadOver
from planner.units import ceil_div
from renderers.kubernetes import scaling, topology
from renderers.kubernetes.admission import admission_of
from renderers.kubernetes.emit import document
from renderers.kubernetes.naming import HOSTNAME, dns_label, label_value
from renderers.kubernetes.pod import ADDRESS, PodStyle, affinity_of, pod_of
from renderers.kubernetes.priorities import priority_class
from renderers.kubernetes.scene import namespace_of, queue_of
from renderers.kubernetes.serving import ReplicaSet
from renderers.kubernetes.serving_overlay import SERVED, STOP, served_over
from renderers.manifest import Manifest
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.spec.service import Service
    from planner.spec.team import Team
    from renderers.kubernetes.flavors import Flavor

Tree = dict[str, Any]

SERVICE: Final = "planner.dev/service"
_OWN: Final = {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}
_PROBE_SECONDS: Final = 10
_PORT: Final = "http"
_ROLL_OUT: Final = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
"""There are no devices to spare for a replica more while an old one still runs."""


def replicas_object(made: ReplicaSet, team: Team, flavor: Flavor, count: int) -> Manifest:
    """The Deployment or LeaderWorkerSet of a set with `count` replicas; `Unsupported` where no object would do."""
    payload, namespace = made.one, namespace_of(team)
    if payload.cluster.backend.devices is DevicesBy.DRA:
        raise Unsupported("services claim no devices yet. Run them in a cluster with a device plugin")
    name = _name(made.name, team)
    pod = _pod(made, flavor, team, name)
    tree: Tree = {
        **_API[kind := kind_of(made)],
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**_OWN, "planner.dev/team": label_value(team.name), **_queued(made, flavor)},
            "annotations": {ADDRESS: payload.address, "planner.dev/spec-hash": payload.placement.spec},
        },
        "spec": _BODIES[kind](made, name, pod, count),
    }
    if kind == "InferenceService":
        tree["metadata"]["annotations"] |= {_MODE: "RawDeployment", STOP: str(count == 0).lower()}
    if by_clock(made):
        del tree["spec"]["replicas"]
    changes: Sequence[str] = ()
    if made.template is not None:
        overlay = served_over(made.template, made.spec_place, tree, pod)
        tree, changes = overlay.tree, overlay.changes
    path = f"{payload.cluster.name}/{namespace}/{tree['kind'].lower()}-{name}.yaml"
    return Manifest(path=path, text=document(tree, changes=changes), addresses=(payload.address,))


def _name(text: str, team: Team) -> str:
    """A name in the namespace of a team, which several teams may share."""
    return dns_label(text if namespace_of(team) == team.name else f"{team.name}/{text}")


def kind_of(made: ReplicaSet) -> str:
    """The kind that replicas are written as, before any template."""
    if made.one.is_gang:
        return "LeaderWorkerSet"
    by_kserve = made.template is None and made.one.cluster.backend.serving is Serving.KSERVE
    return "InferenceService" if by_kserve else "Deployment"


def by_clock(made: ReplicaSet) -> bool:
    """Whether an autoscaler keeps the replicas; of objects of users, and of KServe, they are written."""
    wanted = made.one.cluster.backend.scaling is Scaling.KEDA
    return wanted and made.template is None and kind_of(made) != "InferenceService"


def scaled(made: ReplicaSet, team: Team, flavor: Flavor, begin: int) -> Manifest:
    """What keeps the replicas by the clock."""
    target = replicas_object(made, team, flavor, 0)
    metadata = {
        "name": _name(made.name, team),
        "namespace": namespace_of(team),
        "labels": dict(_OWN),
        "annotations": {ADDRESS: made.one.address},
    }
    tree = scaling.scaled_object(made, {**_API[kind_of(made)], "metadata": metadata}, begin)
    folder = target.path.rpartition("/")[0]
    return Manifest(
        path=f"{folder}/{scaling.KIND.lower()}-{metadata['name']}.yaml",
        text=document(tree),
        addresses=(made.one.address,),
    )


def notes_of(made: ReplicaSet, begin: int) -> Iterator[str]:
    """What an autoscaler that was asked for does not do."""
    if made.one.cluster.backend.scaling is not Scaling.KEDA:
        return
    if not by_clock(made):
        yield "its replicas change with the phases: KEDA is not given objects of users or of KServe"
    elif scaling.overlooked(made, begin):
        yield "an autoscaler leaves alone what is wrong by a tenth or less: a small step of its replicas is not made"


_MODE: Final = "serving.kserve.io/deploymentMode"


def _queued(made: ReplicaSet, flavor: Flavor) -> dict[str, str]:
    """A service is before its queue from the start: what it may have is said by its replicas."""
    if made.one.cluster.backend.queueing is not Queueing.KUEUE:
        return {}
    return {
        "kueue.x-k8s.io/priority-class": priority_class(made.one.placement.priority),
        "kueue.x-k8s.io/queue-name": queue_of(made.service.team, flavor),
    }


def _deployment(made: ReplicaSet, name: str, pod: Tree, count: int) -> Tree:
    return {
        "replicas": count,
        "strategy": _ROLL_OUT,
        "selector": {"matchLabels": {"planner.dev/workload": name}},
        "template": pod,
    }


def _groups(made: ReplicaSet, name: str, pod: Tree, count: int) -> Tree:
    return {
        "replicas": count,
        "leaderWorkerTemplate": {
            "size": len(made.one.nodes),
            "restartPolicy": "RecreateGroupOnPodRestart",
            "workerTemplate": pod,
        },
    }


def _predictor(made: ReplicaSet, name: str, pod: Tree, count: int) -> Tree:
    """A predictor is a pod with the bounds of its replicas in it."""
    return {
        "predictor": {
            "minReplicas": count,
            "maxReplicas": max(1, count),
            "deploymentStrategy": _ROLL_OUT,
            **pod["metadata"],
            **pod["spec"],
        }
    }


_API: Final[Mapping[str, Tree]] = MappingProxyType(
    {kind: {"apiVersion": served.api, "kind": kind} for kind, served in SERVED.items()}
)
_BODIES: Final[Mapping[str, Callable[[ReplicaSet, str, Tree, int], Tree]]] = MappingProxyType(
    {"Deployment": _deployment, "LeaderWorkerSet": _groups, "InferenceService": _predictor}
)


def _pod(made: ReplicaSet, flavor: Flavor, team: Team, name: str) -> Tree:
    payload, service = made.one, made.service
    admission = admission_of(payload, flavor, namespace_of(team), name)
    if admission.group is not None:
        raise Unsupported("services are not queued by Volcano. Run them in a cluster with Kueue, KAI or no queueing")
    style = PodStyle(
        container="kserve-container" if kind_of(made) == "InferenceService" else "main",
        flavor=flavor,
        scheduler=admission.scheduler,
        priority_class=admission.priority_class,
        labels=((SERVICE, _name(service.name, team)), *admission.pod_labels),
        annotations=admission.pod_annotations,
        needs_image=made.template is None,
    )
    pod = pod_of(payload, name, style)
    spec = pod["spec"]
    spec["restartPolicy"] = "Always"
    spec.pop("affinity", None)
    if affinity := affinity_of(made.nodes if payload.pool.nodes.names else (), ""):
        spec["affinity"] = affinity
    if service.spread is not None and service.spread.over in _SPREAD_LABELS:
        spec["topologySpreadConstraints"] = [_spread(service, _name(service.name, team))]
    spec["containers"][0] |= _probes(service, is_group=payload.is_gang)
    return pod


_SPREAD_LABELS: Final = {SpreadOver.NODE: HOSTNAME, SpreadOver.RACK: topology.RACK}


def _spread(service: Service, label: str) -> Tree:
    assert service.spread is not None, "only services with a spread ask for it"
    return {
        "maxSkew": service.spread.max_skew,
        "topologyKey": _SPREAD_LABELS[service.spread.over],
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {SERVICE: label}},
    }


def _probes(service: Service, *, is_group: bool) -> Tree:
    """Where the server answers, and how it says that it is ready; of a group only the leader answers."""
    found: Tree = {"ports": [{"name": _PORT, "containerPort": service.port}]}
    if is_group:
        return found
    get = {"httpGet": {"path": service.health.path, "port": _PORT}, "periodSeconds": _PROBE_SECONDS}
    tries = ceil_div(service.health.start_period.milliseconds, _PROBE_SECONDS * 1_000)
    return {**found, "startupProbe": {**get, "failureThreshold": max(1, tries)}, "readinessProbe": get}


def fixed_objects(sets: Sequence[ReplicaSet], teams: dict[str, Team]) -> Iterator[Manifest]:
    """For each service the Service before its replicas, and how many of them may be away at once."""
    by_service: dict[str, list[ReplicaSet]] = {}
    for made in sets:
        by_service.setdefault(made.one.address, []).append(made)
    for address, members in sorted(by_service.items()):
        service = members[0].service
        team = teams[service.team]
        namespace = namespace_of(team)
        folder = f"{members[0].one.cluster.name}/{namespace}"
        label, name = _name(service.name, team), _name(f"{service.name}-svc", team)
        metadata = {"namespace": namespace, "labels": dict(_OWN), "annotations": {ADDRESS: address}}
        front = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, **metadata},
            "spec": {"selector": _front(label, members), "ports": [_port(service)]},
        }
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, **metadata},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {SERVICE: label}}},
        }
        if not _has_front(members[0]):
            yield Manifest(path=f"{folder}/service-{name}.yaml", text=document(front), addresses=(address,))
        yield Manifest(path=f"{folder}/poddisruptionbudget-{name}.yaml", text=document(budget), addresses=(address,))


def _has_front(made: ReplicaSet) -> bool:
    """Whether somebody else makes the Service before the replicas."""
    kind = kind_of(made) if made.template is None else made.template.tree["kind"]
    return SERVED[kind].has_front


def _front(label: str, members: Sequence[ReplicaSet]) -> dict[str, str]:
    """Whom requests go to: every replica, and of groups the leader alone."""
    found = {SERVICE: label}
    if all(member.one.is_gang for member in members):
        found["leaderworkerset.sigs.k8s.io/worker-index"] = "0"
    return found


def _port(service: Service) -> Tree:
    """The port by its name; in an object of a user it may have another, and has its number in any case."""
    return {"name": _PORT, "port": service.port, "targetPort": service.port if service.template else _PORT}
