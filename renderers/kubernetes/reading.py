"""Workload objects read back: which pods each makes, how many, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from renderers.kubernetes.gangs import gang_of

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """The pods of one object: how many in all and at once, the pod specs of its parts, and its time limit."""

    count: int
    at_once: int
    pods: tuple[Tree, ...]
    limit_seconds: int


def pods_in(item: Tree) -> Pods:
    """The pods of a workload object of any kind."""
    return _READERS[item["kind"]](item["spec"])


def pods_over(item: Tree) -> Pods:
    """The pods that hold devices of an object that is laid over a template, with the container that does the work."""
    if item["kind"] == "TrainJob":
        return _trainjob(item["spec"])
    gang, pods = gang_of(item), []
    for part in gang.parts:
        pod = _at(item, (*part.path, "spec"))
        pods.append({**pod, "containers": [pod["containers"][part.container]]})
    count = sum(part.count for part in gang.parts)
    limit = _at(item, gang.limit) if gang.limit is not None else 0
    return Pods(count=count, at_once=count, pods=tuple(pods), limit_seconds=limit)


def _at(item: Tree, path: Sequence[str | int]) -> Any:
    node: Any = item
    for step in path:
        node = node[step]
    return node


def _batch(spec: Tree) -> Pods:
    return Pods(
        count=spec["completions"],
        at_once=spec["parallelism"],
        pods=(spec["template"]["spec"],),
        limit_seconds=spec["activeDeadlineSeconds"],
    )


def _jobset(spec: Tree) -> Pods:
    (job,) = spec["replicatedJobs"]
    return _batch(job["template"]["spec"])


def _trainjob(spec: Tree) -> Pods:
    """The pod as the controller puts it together: its container from the trainer, the rest from the patch."""
    trainer, patch = spec["trainer"], spec["runtimePatches"][-1]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    pod = job["template"]["spec"]["template"]["spec"]
    container = {"image": trainer["image"], "resources": trainer["resourcesPerNode"]}
    return Pods(
        count=trainer["numNodes"],
        at_once=trainer["numNodes"],
        pods=({**pod, "containers": [container]},),
        limit_seconds=spec["activeDeadlineSeconds"],
    )


def _replicas(replicas: Tree, limit_seconds: int) -> Pods:
    count = sum(each["replicas"] for each in replicas.values())
    pods = tuple(each["template"]["spec"] for each in replicas.values())
    return Pods(count=count, at_once=count, pods=pods, limit_seconds=limit_seconds)


def _pytorchjob(spec: Tree) -> Pods:
    return _replicas(spec["pytorchReplicaSpecs"], spec["runPolicy"]["activeDeadlineSeconds"])


def _mpijob(spec: Tree) -> Pods:
    return _replicas(spec["mpiReplicaSpecs"], spec["runPolicy"]["activeDeadlineSeconds"])


def _rayjob(spec: Tree) -> Pods:
    cluster = spec["rayClusterSpec"]
    parts = {"head": {**cluster["headGroupSpec"], "replicas": 1}}
    parts |= {group["groupName"]: group for group in cluster.get("workerGroupSpecs", [])}
    return _replicas(parts, spec["activeDeadlineSeconds"])


_READERS: Final[Mapping[str, Callable[[Tree], Pods]]] = MappingProxyType(
    {
        "Job": _batch,
        "JobSet": _jobset,
        "TrainJob": _trainjob,
        "PyTorchJob": _pytorchjob,
        "MPIJob": _mpijob,
        "RayJob": _rayjob,
    }
)
