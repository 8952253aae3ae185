"""The pod of a job: one template that all kinds of workload put into their objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes.flavors import CPU, MEMORY
from renderers.kubernetes.naming import HOSTNAME, k8s_literal
from renderers.kubernetes.resources import Taint, parse_taint, requests_of
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from renderers.kubernetes.flavors import Flavor
    from renderers.payload import EnvVar, Payload

Tree = dict[str, Any]

ADDRESS: Final = "planner.dev/address"
WORKLOAD: Final = "planner.dev/workload"
_USER: Final = re.compile(r"([0-9]{1,10})(?::([0-9]{1,10}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """An environment variable as a container takes it: text, a key of a secret, or a field of its pod."""

    name: str
    value: str = ""
    secret: str = ""
    key: str = ""
    field: str = ""

    def tree(self) -> Tree:
        """As an item of `env`."""
        if self.field:
            return {"name": self.name, "valueFrom": {"fieldRef": {"fieldPath": self.field}}}
        if self.secret:
            return {"name": self.name, "valueFrom": {"secretKeyRef": {"name": self.secret, "key": self.key}}}
        return {"name": self.name, "value": self.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStyle:
    """What kinds of workload want of their pods.

    `labels` and `annotations` are those of the queueing, which say nothing of times. `claims` are the resource claims
    that take the place of device resources, by their names in the pod.
    """

    container: str
    flavor: Flavor
    environment: tuple[Variable, ...] = ()
    subdomain: str = ""
    scheduler: str = ""
    priority_class: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    claim_template: str = ""
    needs_image: bool = True


def pod_of(payload: Payload, workload: str, style: PodStyle) -> Tree:
    """The pod template: what Kubernetes does not let change, so nothing that changes from plan to plan."""
    if style.needs_image and not payload.image:
        raise Unsupported("a Job needs an image. Name one in the job or in the chosen variant")
    job = payload.job
    spec: Tree = {"restartPolicy": "Never", "enableServiceLinks": False}
    if style.scheduler:
        spec["schedulerName"] = style.scheduler
    if style.priority_class:
        spec["priorityClassName"] = style.priority_class
    spec |= (
        {"serviceAccountName": job.service_account} if job.service_account else {"automountServiceAccountToken": False}
    )
    if style.subdomain:
        spec["subdomain"] = style.subdomain
    if job.pull_secrets:
        spec["imagePullSecrets"] = [{"name": secret} for secret in job.pull_secrets]
    spec |= _security(job.user)
    spec |= placement_of(payload, workload, style.flavor)
    spec["containers"] = [_container(payload, style)]
    if style.claim_template:
        spec["resourceClaims"] = [{"name": "devices", "resourceClaimTemplateName": style.claim_template}]
    spec["volumes"] = _volumes(payload)
    return {
        "metadata": {
            "labels": {WORKLOAD: workload, **dict(style.labels)},
            "annotations": {ADDRESS: payload.address, **dict(style.annotations)},
        },
        "spec": spec,
    }


def placement_of(payload: Payload, workload: str, flavor: Flavor) -> Tree:
    """What binds a pod to the planned nodes: labels of the flavor, names of nodes, one part a node, tolerations."""
    found: Tree = {"nodeSelector": dict(flavor.labels)} if flavor.labels else {}
    affinity = affinity_of(node_names(payload), workload if payload.is_gang else "")
    if affinity:
        found["affinity"] = affinity
    if tolerations := tolerations_of(payload):
        found["tolerations"] = [_toleration(taint) for taint in tolerations]
    return found


def affinity_of(nodes: Sequence[str], workload: str) -> Tree:
    """Only on these nodes, and of one gang's parts one a node; empty where neither is wanted."""
    found: Tree = {}
    if nodes:
        expression = {"key": HOSTNAME, "operator": "In", "values": list(nodes)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        found["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if workload:
        term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {WORKLOAD: workload}}}
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return found


def node_names(payload: Payload) -> tuple[str, ...]:
    """The nodes to which the plan binds the job, sorted; none where the pool only says how many there are.

    Without them the scheduler would be free to put a small job on the node that the plan keeps for a whole gang. The
    flavor's labels alone do not hold a plan.
    """
    if not payload.pool.nodes.names:
        return ()
    return tuple(sorted(node.name for node in payload.nodes))


def tolerations_of(payload: Payload) -> tuple[Taint, ...]:
    """The vendor's own device taint where the pool declares it, and what the job names; no other taint is tolerated."""
    own = payload.facts.taint_key if payload.facts else None
    declared = (taint for taint in map(parse_taint, payload.pool.taints) if taint.key == own)
    return tuple(sorted({*declared, *map(parse_taint, payload.job.needs.tolerations)}))


def _toleration(taint: Taint) -> Tree:
    found = {"key": taint.key, "operator": taint.operator, "value": taint.value, "effect": taint.effect}
    return {key: value for key, value in found.items() if value}


def _container(payload: Payload, style: PodStyle) -> Tree:
    found: Tree = {"name": style.container, **({"image": payload.image} if payload.image else {})}
    if payload.command:
        found["command"] = list(map(k8s_literal, payload.command))
    found["env"] = [variable.tree() for variable in environment_of(payload, style.environment)]
    found["resources"] = resources_of(payload, claimed=bool(style.claim_template))
    found["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}, *_mounts(payload)]
    return found


def environment_of(payload: Payload, given: Sequence[Variable]) -> tuple[Variable, ...]:
    """What is given to every part, then the job's own variables, which win; the kubelet expands none of these."""
    own = tuple(map(_variable, payload.env))
    taken = {variable.name for variable in own}
    return tuple(item for item in given if item.name not in taken) + own


def _variable(item: EnvVar) -> Variable:
    return Variable(name=item.name, value=k8s_literal(item.value), secret=item.secret, key=item.key)


def resources_of(payload: Payload, *, claimed: bool = False) -> Tree:
    """Requests and limits. Devices and memory are the same in both, as Kubernetes wants it of what cannot be shared;
    CPU has no limit, since an idle core is of no use to anybody. Claimed devices are no resources of the container.
    """
    asked = requests_of(payload)
    limits = {} if claimed else {name: str(amount) for name, amount in asked}
    if payload.memory_mib is not None:
        limits[MEMORY] = f"{payload.memory_mib}Mi"
    requests = limits if payload.cpus is None else {**limits, CPU: str(payload.cpus)}
    found: Tree = {"requests": dict(sorted(requests.items())), "limits": dict(sorted(limits.items()))}
    return found | ({"claims": [{"name": "devices"}]} if claimed else {})


def _security(user: str | None) -> Mapping[str, Tree]:
    """User and group as numbers; a name means nothing outside the image."""
    match = _USER.fullmatch(user or "")
    if match is None:
        return {}
    group = {"runAsGroup": int(match[2])} if match[2] else {}
    return {"securityContext": {"runAsUser": int(match[1]), **group}}


def _mounts(payload: Payload) -> list[Tree]:
    return [
        {"name": f"volume-{index}", "mountPath": mount.path, **({"readOnly": True} if mount.read_only else {})}
        for index, mount in enumerate(payload.job.mounts)
    ]


def _volumes(payload: Payload) -> list[Tree]:
    """Shared memory counts as the pod's own, so that it never exceeds it."""
    shm = payload.shm_mib if payload.memory_mib is None else min(payload.shm_mib, payload.memory_mib)
    found: list[Tree] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{shm}Mi"}}]
    for index, mount in enumerate(payload.job.mounts):
        name = {"name": f"volume-{index}"}
        if mount.claim:
            found.append({**name, "persistentVolumeClaim": {"claimName": mount.claim}})
        elif mount.host:
            found.append({**name, "hostPath": {"path": mount.host}})
        else:
            found.append({**name, "emptyDir": {}})
    return found
