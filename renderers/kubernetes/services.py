"""Services as objects: replicas at a moment, the Service before them, and how many may be away at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from planner.spec.backend import DevicesBy, Queueing
from planner.spec.service import SpreadOver
from planner.units import ceil_div
from renderers.kubernetes import topology
from renderers.kubernetes.admission import admission_of
from renderers.kubernetes.emit import document
from renderers.kubernetes.naming import HOSTNAME, dns_label, label_value
from renderers.kubernetes.pod import ADDRESS, PodStyle, affinity_of, pod_of
from renderers.kubernetes.priorities import priority_class
from renderers.kubernetes.scene import namespace_of, queue_of
from renderers.kubernetes.serving_overlay import SERVED, served_over
from renderers.manifest import Manifest
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.spec.service import Service
    from planner.spec.team import Team
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.serving import ReplicaSet

Tree = dict[str, Any]

SERVICE: Final = "planner.dev/service"
_OWN: Final = {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}
_PROBE_SECONDS: Final = 10
_PORT: Final = "http"


def replicas_object(made: ReplicaSet, team: Team, flavor: Flavor, count: int) -> Manifest:
    """The Deployment or LeaderWorkerSet of a set with `count` replicas; `Unsupported` where no object would do."""
    payload, namespace = made.one, namespace_of(team)
    if payload.cluster.backend.devices is DevicesBy.DRA:
        raise Unsupported("services claim no devices yet. Run them in a cluster with a device plugin")
    name = _name(made.name, team)
    pod = _pod(made, flavor, team, name)
    tree: Tree = {
        **(
            {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"} if payload.is_gang else _DEPLOYMENT
        ),
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**_OWN, "planner.dev/team": label_value(team.name), **_queued(made, flavor)},
            "annotations": {ADDRESS: payload.address, "planner.dev/spec-hash": payload.placement.spec},
        },
        "spec": _groups(made, pod, count) if payload.is_gang else _deployment(name, pod, count),
    }
    changes: Sequence[str] = ()
    if made.template is not None:
        overlay = served_over(made.template, made.spec_place, tree, pod)
        tree, changes = overlay.tree, overlay.changes
    path = f"{payload.cluster.name}/{namespace}/{tree['kind'].lower()}-{name}.yaml"
    return Manifest(path=path, text=document(tree, changes=changes), addresses=(payload.address,))


def _name(text: str, team: Team) -> str:
    """A name in the namespace of a team, which several teams may share."""
    return dns_label(text if namespace_of(team) == team.name else f"{team.name}/{text}")


_DEPLOYMENT: Final = {"apiVersion": "apps/v1", "kind": "Deployment"}


def _queued(made: ReplicaSet, flavor: Flavor) -> dict[str, str]:
    """A service is before its queue from the start: what it may have is said by its replicas."""
    if made.one.cluster.backend.queueing is not Queueing.KUEUE:
        return {}
    return {
        "kueue.x-k8s.io/priority-class": priority_class(made.one.placement.priority),
        "kueue.x-k8s.io/queue-name": queue_of(made.service.team, flavor),
    }


def _deployment(name: str, pod: Tree, count: int) -> Tree:
    return {
        "replicas": count,
        # There are no devices to spare for a replica more while an old one still runs.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "selector": {"matchLabels": {"planner.dev/workload": name}},
        "template": pod,
    }


def _groups(made: ReplicaSet, pod: Tree, count: int) -> Tree:
    return {
        "replicas": count,
        "leaderWorkerTemplate": {
            "size": len(made.one.nodes),
            "restartPolicy": "RecreateGroupOnPodRestart",
            "workerTemplate": pod,
        },
    }


def _pod(made: ReplicaSet, flavor: Flavor, team: Team, name: str) -> Tree:
    payload, service = made.one, made.service
    admission = admission_of(payload, flavor, namespace_of(team), name)
    if admission.group is not None:
        raise Unsupported("services are not queued by Volcano. Run them in a cluster with Kueue, KAI or no queueing")
    style = PodStyle(
        container="main",
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
    return made.template is not None and SERVED[made.template.tree["kind"]].has_front


def _front(label: str, members: Sequence[ReplicaSet]) -> dict[str, str]:
    """Whom requests go to: every replica, and of groups the leader alone."""
    found = {SERVICE: label}
    if all(member.one.is_gang for member in members):
        found["leaderworkerset.sigs.k8s.io/worker-index"] = "0"
    return found


def _port(service: Service) -> Tree:
    """The port by its name; in an object of a user it may have another, and has its number in any case."""
    return {"name": _PORT, "port": service.port, "targetPort": service.port if service.template else _PORT}
