"""One job of the plan as a suspended batch Job, and for a gang the Service by which its parts meet."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from renderers import environment
from renderers.kubernetes.flavors import CPU, MEMORY, Flavor
from renderers.kubernetes.kueue import priority_class
from renderers.kubernetes.naming import dns_label, is_label, k8s_literal, label_value, object_name
from renderers.kubernetes.resources import Taint, parse_taint, requests_of
from renderers.payload import MASTER_PORT, EnvVar
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from renderers.payload import Payload

GATE: Final = "planner.dev/planned-start"
JOB_NAME: Final = "metadata.labels['batch.kubernetes.io/job-name']"
JOB_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
_OWN_PREFIX: Final = re.compile(r"(^|\.)(kubernetes\.io|k8s\.io|planner\.dev)$")
_USER: Final = re.compile(r"([0-9]{1,10})(?::([0-9]{1,10}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a job is put: its namespace, its queue (empty where nothing queues), and how its planned start is held.

    `is_gated` says that the queue itself waits for `GATE` to go; otherwise the job joins its queue when it is released.
    """

    namespace: str
    team_is_namespace: bool
    queue: str
    is_gated: bool
    flavor: Flavor


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The objects of one job with their names; only a gang has a Service, which all versions of the Job share."""

    name: str
    job: str
    service_name: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """An environment variable as a container takes it: text, a key of a secret, or a field of its pod."""

    name: str
    value: str = ""
    secret: str = ""
    key: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedVolume:
    """A volume and where it appears."""

    name: str
    path: str
    claim: str
    host: str
    read_only: bool


def job_of(payload: Payload, setting: Setting) -> Written:
    """The Job of `payload`, and the Service of a gang; `Unsupported` where no Job would do what the plan says."""
    workload = dns_label(payload.name if setting.team_is_namespace else f"{payload.job.team}/{payload.name}")
    pod = _pod(payload, setting, workload)
    name = object_name(workload, f"{payload.address}\n{len(payload.nodes)}\n{pod}")
    head = environment.render(
        "kubernetes/job.yaml.j2",
        name=name,
        namespace=setting.namespace,
        labels=_labels(payload, setting, workload),
        annotations=_annotations(payload, setting),
        nodes=len(payload.nodes),
        retries=payload.job.retries,
        limit_seconds=payload.placement.limit_seconds,
    )
    if not payload.is_gang:
        return Written(name=name, job=head + pod)
    return Written(name=name, job=head + pod, service_name=workload, service=_service(payload, setting, workload))


def _service(payload: Payload, setting: Setting, workload: str) -> str:
    return environment.render(
        "kubernetes/service.yaml.j2",
        name=workload,
        namespace=setting.namespace,
        address=payload.address,
        workload=workload,
        port=MASTER_PORT,
    )


def _pod(payload: Payload, setting: Setting, workload: str) -> str:
    """The pod template: what Kubernetes does not let change, so nothing that changes from plan to plan."""
    job = payload.job
    if not payload.image:
        raise Unsupported("a Job needs an image. Name one in the job or in the chosen variant")
    user, group = _user(job.user)
    requests, limits = _resources(payload)
    return environment.render(
        "kubernetes/pod.yaml.j2",
        workload=workload,
        address=payload.address,
        service_account=job.service_account,
        subdomain=workload if payload.is_gang else "",
        pull_secrets=job.pull_secrets,
        user=user,
        group=group,
        selector=setting.flavor.labels,
        node_names=node_names(payload),
        is_gang=payload.is_gang,
        tolerations=tolerations_of(payload),
        image=payload.image,
        command=tuple(map(k8s_literal, payload.command)),
        env=_environment(payload, workload),
        requests=requests,
        limits=limits,
        shm=f"{_shm_mib(payload)}Mi",
        mounts=_mounts(payload),
    )


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


def _labels(payload: Payload, setting: Setting, workload: str) -> tuple[tuple[str, str], ...]:
    labels = {key: value for key, value in payload.job.labels if _is_free(key) and is_label(key, value)}
    labels |= {
        "app.kubernetes.io/managed-by": "gpu-fleet-planner",
        "planner.dev/team": label_value(payload.job.team),
        "planner.dev/workload": workload,
    }
    if setting.queue:
        labels["kueue.x-k8s.io/priority-class"] = priority_class(payload.placement.priority)
    if setting.queue and setting.is_gated:
        labels["kueue.x-k8s.io/queue-name"] = setting.queue
    return tuple(sorted(labels.items()))


def _is_free(key: str) -> bool:
    """Whether a user may set this label: those of Kubernetes and of the planner decide what happens to the job."""
    prefix, slash, _ = key.rpartition("/")
    return not slash or _OWN_PREFIX.search(prefix) is None


def _annotations(payload: Payload, setting: Setting) -> tuple[tuple[str, str], ...]:
    job, labels = payload.job, dict(payload.job.labels)
    annotations = {
        "planner.dev/address": payload.address,
        "planner.dev/spec-hash": payload.placement.spec,
        "planner.dev/start": payload.segment.start,
        "planner.dev/end": payload.segment.end,
        "planner.dev/title": job.title,
        "planner.dev/description": job.description,
    }
    if not all(_is_free(key) and is_label(key, value) for key, value in labels.items()):
        annotations["planner.dev/labels"] = json.dumps(labels, sort_keys=True, ensure_ascii=False)
    if setting.queue:
        annotations |= (
            {"kueue.x-k8s.io/admission-gated-by": GATE} if setting.is_gated else {"planner.dev/queue": setting.queue}
        )
    return tuple(sorted((key, value) for key, value in annotations.items() if value))


def _environment(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """What torchrun needs to know, then the job's own variables, which win; the kubelet expands none of these."""
    own = tuple(map(_variable, payload.env))
    taken = {variable.name for variable in own}
    return tuple(item for item in _rendezvous(payload, workload) if item.name not in taken) + own


def _variable(item: EnvVar) -> Variable:
    return Variable(name=item.name, value=k8s_literal(item.value), secret=item.secret, key=item.key)


def _rendezvous(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """Who the parts of a gang are: the plain variables of PyTorch's `env://`, and the defaults that torchrun reads.

    The name of the Job is taken from the pod's label, since it depends on all that is written here.
    """
    processes = (Variable(name="PET_NPROC_PER_NODE", value=str(len(payload.devices))),) if payload.devices else ()
    if not payload.is_gang:
        return processes
    nodes, port = str(len(payload.nodes)), str(MASTER_PORT)
    master = f"$(PLANNER_JOB_NAME)-0.{workload}"
    fixed = {
        "MASTER_ADDR": master,
        "MASTER_PORT": port,
        "NNODES": nodes,
        "PET_MASTER_ADDR": master,
        "PET_MASTER_PORT": port,
        "PET_NNODES": nodes,
    }
    return (
        Variable(name="PLANNER_JOB_NAME", field=JOB_NAME),
        Variable(name="NODE_RANK", field=JOB_INDEX),
        Variable(name="PET_NODE_RANK", field=JOB_INDEX),
        *(Variable(name=name, value=value) for name, value in sorted(fixed.items())),
        *processes,
    )


def _resources(payload: Payload) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Requests and limits. Devices and memory are the same in both, as Kubernetes wants it of what cannot be shared;
    CPU has no limit, since an idle core is of no use to anybody.
    """
    limits = {name: str(amount) for name, amount in requests_of(payload)}
    if payload.memory_mib is not None:
        limits[MEMORY] = f"{payload.memory_mib}Mi"
    requests = limits if payload.cpus is None else {**limits, CPU: str(payload.cpus)}
    return tuple(sorted(requests.items())), tuple(sorted(limits.items()))


def _shm_mib(payload: Payload) -> int:
    """Shared memory counts as the pod's own, so that it never exceeds it."""
    return payload.shm_mib if payload.memory_mib is None else min(payload.shm_mib, payload.memory_mib)


def _user(text: str | None) -> tuple[int | None, int | None]:
    """User and group as numbers; a name means nothing outside the image."""
    match = _USER.fullmatch(text or "")
    if match is None:
        return None, None
    return int(match[1]), int(match[2]) if match[2] else None


def _mounts(payload: Payload) -> tuple[MountedVolume, ...]:
    return tuple(
        MountedVolume(
            name=f"volume-{index}",
            path=mount.path,
            claim=mount.claim or "",
            host=mount.host or "",
            read_only=mount.read_only,
        )
        for index, mount in enumerate(payload.job.mounts)
    )
