"""The kinds of object that a job becomes: what each needs of its pods, and where it keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from planner.spec.backend import Workload
from renderers.environment import shell_value
from renderers.kubernetes import rendezvous
from renderers.kubernetes.admission import SCHEDULERS
from renderers.kubernetes.naming import DNS_LABEL, OBJECT_NAME
from renderers.kubernetes.priorities import priority_class
from renderers.kubernetes.rendezvous import NODE
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from renderers.kubernetes.pod import Variable
    from renderers.payload import Payload

Tree = dict[str, Any]
Body = Callable[["Payload", Tree], Tree]

TRAINER_API: Final = "trainer.kubeflow.org/v1alpha1"
PATCHER: Final = "planner.dev/placement"
_PATCHED: Final = ("imagePullSecrets", "nodeSelector", "affinity", "tolerations", "securityContext", "volumes")
_RESERVED: Final = frozenset(
    {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object.

    `budget` is how long its name may be, so that what its controller appends still fits a DNS label. `container` is the
    name that the controller looks for. `body` gives `spec` for a payload and its pod template.
    """

    api: str
    kind: str
    container: str
    budget: int
    environment: Callable[[Payload, str], tuple[Variable, ...]]
    body: Body

    @property
    def prefix(self) -> str:
        """What its files are called before the name."""
        return self.kind.lower()


def _batch(payload: Payload, pod: Tree) -> Tree:
    nodes = len(payload.nodes)
    return {
        "suspend": True,
        **({"completionMode": "Indexed"} if payload.is_gang else {}),
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimit": payload.job.retries,
        "activeDeadlineSeconds": payload.placement.limit_seconds,
        "template": pod,
    }


def _jobset(payload: Payload, pod: Tree) -> Tree:
    """A set of one Indexed Job: when a part fails, all start again together, as often as there are retries."""
    nodes = len(payload.nodes)
    job = {
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimit": 0,
        "activeDeadlineSeconds": payload.placement.limit_seconds,
        "template": pod,
    }
    return {
        "suspend": True,
        "failurePolicy": {"maxRestarts": payload.job.retries},
        "replicatedJobs": [{"name": NODE, "replicas": 1, "template": {"spec": job}}],
    }


def _trainjob(payload: Payload, pod: Tree) -> Tree:
    """The trainer says what runs, a patch of the runtime where: the two that the API has for it."""
    container, spec = pod["spec"]["containers"][0], pod["spec"]
    if "resourceClaims" in spec:
        raise Unsupported("a TrainJob has no place for claims of devices. Take another kind, or a device plugin")
    if taken := sorted(_RESERVED & {item["name"] for item in container["env"]}):
        raise Unsupported(f"a TrainJob sets {', '.join(taken)} itself. Leave them out of env")
    patched = {key: spec[key] for key in _PATCHED if key in spec}
    if payload.job.service_account:
        patched["serviceAccountName"] = payload.job.service_account
    patched["containers"] = [{"name": NODE, "volumeMounts": container["volumeMounts"]}]
    patch = {
        "name": NODE,
        "template": {"spec": {"template": {"metadata": pod["metadata"], "spec": patched}}},
    }
    trainer = {"image": container.get("image"), "command": container.get("command"), "env": container["env"]}
    return {
        "suspend": True,
        "runtimeRef": {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "ClusterTrainingRuntime",
            "name": runtime_name(payload),
        },
        "activeDeadlineSeconds": payload.placement.limit_seconds,
        "trainer": {
            **{key: value for key, value in trainer.items() if value},
            "numNodes": len(payload.nodes),
            # The controller would count devices by the names of resources, and gets partitions wrong.
            "numProcPerNode": max(1, len(payload.devices)),
            "resourcesPerNode": {key: container["resources"][key] for key in ("requests", "limits")},
        },
        "runtimePatches": [
            {"manager": PATCHER, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [patch]}}}}
        ],
    }


def runtime_name(payload: Payload) -> str:
    """The training runtime of a job: one for each vendor, and another for jobs with an account of their own."""
    words = ("planner", "torch", str(payload.facts.vendor) if payload.facts else "cpu")
    account = ("account",) if payload.job.service_account else ()
    # Where a job's pods are queued is not the job's to say, so that each priority has its own.
    queued = (payload.placement.priority.lower(),) if _scheduler(payload) else ()
    return "-".join((*words, *account, *queued))


def _scheduler(payload: Payload) -> str:
    return SCHEDULERS.get(payload.cluster.backend.queueing, "")


def runtime_of(payload: Payload) -> Tree:
    """A training runtime: as little as a TrainJob needs, since image, devices and nodes come with the job."""
    token = {} if payload.job.service_account else {"automountServiceAccountToken": False}
    container = {"name": NODE}
    queued = (
        {"schedulerName": scheduler, "priorityClassName": priority_class(payload.placement.priority)}
        if (scheduler := _scheduler(payload))
        else {}
    )
    spec = {"restartPolicy": "Never", "enableServiceLinks": False, **token, **queued, "containers": [container]}
    pod = {"spec": spec}
    job = {
        "name": NODE,
        "replicas": 1,
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": pod},
        },
    }
    return {
        "apiVersion": TRAINER_API,
        "kind": "ClusterTrainingRuntime",
        "metadata": {
            "name": runtime_name(payload),
            "labels": {
                "app.kubernetes.io/managed-by": "gpu-fleet-planner",
                "trainer.kubeflow.org/framework": "torch",
            },
        },
        "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}},
    }


def _run_policy(payload: Payload) -> Tree:
    return {
        "suspend": True,
        "cleanPodPolicy": "None",
        "backoffLimit": payload.job.retries,
        "activeDeadlineSeconds": payload.placement.limit_seconds,
    }


def _pytorchjob(payload: Payload, pod: Tree) -> Tree:
    replica = {"restartPolicy": "OnFailure" if payload.job.retries else "Never", "template": pod}
    replicas = {"Master": {"replicas": 1, **replica}}
    if payload.is_gang:
        replicas["Worker"] = {"replicas": len(payload.nodes) - 1, **replica}
    return {
        "nprocPerNode": str(max(1, len(payload.devices))),
        "runPolicy": _run_policy(payload),
        "pytorchReplicaSpecs": replicas,
    }


def _mpijob(payload: Payload, pod: Tree) -> Tree:
    """The launcher is a part of the gang like the others, so that there are as many pods as planned."""
    container = pod["spec"]["containers"][0]
    without = {key: value for key, value in container.items() if key != "command"}
    worker = {**pod, "spec": {**pod["spec"], "containers": [without]}}
    replicas = {"Launcher": {"replicas": 1, "restartPolicy": "Never", "template": pod}}
    if payload.is_gang:
        replicas["Worker"] = {"replicas": len(payload.nodes) - 1, "restartPolicy": "Never", "template": worker}
    return {
        "slotsPerWorker": max(1, len(payload.devices)),
        "runLauncherAsWorker": True,
        "runPolicy": _run_policy(payload),
        "mpiReplicaSpecs": replicas,
    }


def _rayjob(payload: Payload, pod: Tree) -> Tree:
    """Head and workers are the parts of the gang; the command is given to the head over HTTP, by no further pod."""
    if not payload.command:
        raise Unsupported("a RayJob needs a command, which is given to the cluster as its entry point")
    container = pod["spec"]["containers"][0]
    without = {key: value for key, value in container.items() if key != "command"}
    node = {**pod, "spec": {**pod["spec"], "containers": [without]}}
    workers = len(payload.nodes) - 1
    group = {
        "groupName": NODE,
        "replicas": workers,
        "minReplicas": workers,
        "maxReplicas": workers,
        "rayStartParams": {},
        "template": node,
    }
    return {
        "suspend": True,
        "submissionMode": "HTTPMode",
        "entrypoint": shell_value(payload.command),
        "shutdownAfterJobFinishes": True,
        "backoffLimit": payload.job.retries,
        "activeDeadlineSeconds": payload.placement.limit_seconds,
        "rayClusterSpec": {
            "headGroupSpec": {"rayStartParams": {"dashboard-host": "0.0.0.0"}, "template": node},
            **({"workerGroupSpecs": [group]} if workers else {}),
        },
    }


_INDEXED: Final = len(f"-{NODE}-0-99999-xxxxx")
_LAUNCHER: Final = len("-launcher-xxxxx")
_RAY_NAME: Final = 47
"""The longest name that KubeRay takes."""

KINDS: Final[Mapping[Workload, Kind]] = MappingProxyType(
    {
        Workload.JOB: Kind(
            api="batch/v1", kind="Job", container="main", budget=OBJECT_NAME, environment=rendezvous.of_job, body=_batch
        ),
        Workload.JOBSET: Kind(
            api="jobset.x-k8s.io/v1alpha2",
            kind="JobSet",
            container="main",
            budget=DNS_LABEL - _INDEXED,
            environment=rendezvous.of_jobset,
            body=_jobset,
        ),
        Workload.TRAINJOB: Kind(
            api=TRAINER_API,
            kind="TrainJob",
            container=NODE,
            budget=DNS_LABEL - _INDEXED,
            environment=rendezvous.of_trainjob,
            body=_trainjob,
        ),
        Workload.PYTORCHJOB: Kind(
            api="kubeflow.org/v1",
            kind="PyTorchJob",
            container="pytorch",
            budget=DNS_LABEL - _LAUNCHER,
            environment=rendezvous.by_controller,
            body=_pytorchjob,
        ),
        Workload.MPIJOB: Kind(
            api="kubeflow.org/v2beta1",
            kind="MPIJob",
            container="main",
            budget=DNS_LABEL - _LAUNCHER,
            environment=rendezvous.by_controller,
            body=_mpijob,
        ),
        Workload.RAYJOB: Kind(
            api="ray.io/v1",
            kind="RayJob",
            container="main",
            budget=_RAY_NAME,
            environment=rendezvous.by_controller,
            body=_rayjob,
        ),
    }
)
