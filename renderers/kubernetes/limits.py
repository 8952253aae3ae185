"""What Kubernetes cannot be told, or does not hold to: sentences for `degraded[]`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from planner.plan import Degraded
from planner.spec.backend import BackendType, DevicesBy, Queueing, Workload
from renderers.kubernetes.claims import class_name, is_claimed
from renderers.kubernetes.flavors import OWN_LABEL
from renderers.kubernetes.pod import node_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.quota import Part
    from renderers.payload import Payload


_OF_QUEUEING: Final = MappingProxyType(
    {
        Queueing.KAI: "KAI counts all devices of a team as one number: quotas by model, vendor or pool are held by the "
        "plan alone",
        Queueing.VOLCANO: "Volcano holds quotas only with its capacity plugin and reclaim action switched on, and the "
        "proportion plugin off",
        Queueing.NONE: "no queueing: quotas are held by the plan alone",
    }
)
_OF_KIND: Final = MappingProxyType(
    {
        Workload.JOBSET: "the time limit of a JobSet counts anew for each retry",
        Workload.TRAINJOB: "a TrainJob is placed by runtimePatches: it needs Kubeflow Trainer 2.2 or newer",
        Workload.PYTORCHJOB: "Kueue takes PyTorchJobs only with its integration kubeflow.org/pytorchjob switched on",
        Workload.MPIJOB: "the launcher of an MPIJob is a part of the gang: it needs MPI Operator 0.6 or newer",
        Workload.RAYJOB: "a RayJob gets its command over HTTP: the operator must reach the head of its cluster",
    }
)


def degraded(address: str, message: str) -> Degraded:
    """One entry of this back end."""
    return Degraded(address=address, backend=str(BackendType.KUBERNETES), message=message)


def of_cluster(cluster: Cluster, flavors: Sequence[Flavor]) -> Iterator[Degraded]:
    """What holds for a cluster and its pools."""
    address = f"cluster/{cluster.name}"
    backend = cluster.backend
    yield degraded(address, _of_due(cluster))
    if backend.queueing is Queueing.KUEUE and backend.kueue_version is None:
        yield degraded(
            address, "no kueue_version is stated: before 0.19 nothing may hold jobs back until their release"
        )
    if text := _OF_QUEUEING.get(backend.queueing):
        yield degraded(address, text)
    if any(flavor.levels for flavor in flavors):
        yield degraded(
            address, "put the labels below nodeLabels of index.json on the nodes: its topology is read there"
        )
    if backend.devices is DevicesBy.DRA:
        yield degraded(address, _of_claims(backend.queueing, flavors))
    if text := _OF_KIND.get(backend.workload):
        yield degraded(address, text)
    for flavor in flavors:
        yield from _of_flavor(flavor, f"pool/{cluster.name}/{flavor.pools[0]}")


def _of_due(cluster: Cluster) -> str:
    if cluster.backend.due is None:
        return "jobs wait for a release: nothing in the cluster starts them at the planned time"
    return "jobs wait for a release: its CronJob begins what has come due, up to a quarter of an hour late"


def _of_claims(queueing: Queueing, flavors: Sequence[Flavor]) -> str:
    if queueing is not Queueing.KUEUE:
        return "claimed devices count in no quota of the cluster"
    resources = sorted({name for flavor in flavors for name, _ in flavor.capacity if "/" in name})
    pairs = ", ".join(f"{name} = {class_name(name)}" for name in resources)
    return f"Kueue counts claimed devices only with the deviceClassMappings {pairs} in its configuration"


def _of_flavor(flavor: Flavor, pool: str) -> Iterator[Degraded]:
    if flavor.needs_label:
        yield degraded(pool, f"put the label {OWN_LABEL}={flavor.name} on its nodes: no other tells them apart")
    elif not flavor.labels_seen:
        yield degraded(pool, "its product label was never seen on a node: check it, or set labels of the pool")
    if flavor.unusable:
        yield degraded(pool, f"no labels of Kubernetes, and left out: {', '.join(flavor.unusable)}")
    if len(flavor.pools) > 1:
        pools = ", ".join(flavor.pools)
        yield degraded(pool, f"pools {pools} have the same models and labels: their quotas are counted together")


def of_team(team: Team, parts: Sequence[Part], queueing: Queueing, *, in_trees: bool) -> Iterator[Degraded]:
    """What holds for the quotas of a team; `in_trees` says that queues know the limits of teams above theirs."""
    if queueing is Queueing.NONE:
        return
    if parts and team.parent is not None and not in_trees:
        yield degraded(f"team/{team.name}", f"limits of its parent {team.parent} are held by the plan alone")
    if queueing is not Queueing.KUEUE:
        return
    for quota in sorted({part.quota for part in parts if part.divided}):
        yield degraded(
            f"quota/{quota}",
            "it covers several pools or models, which Kueue counts apart: its guarantee is divided among them as there "
            "are devices, and its limit holds for each",
        )
    if any(part.weight != 1 for part in parts):
        yield degraded(f"team/{team.name}", "its weight counts only where fairSharing is switched on in Kueue")


def of_phases(cluster: Cluster) -> Degraded:
    """What holds where quotas change within the plan."""
    return degraded(
        f"cluster/{cluster.name}",
        "quotas or replicas change within the plan: apply each folder below phases/ when it begins; that takes nothing "
        "from running jobs where it lowers a quota below its use",
    )


def is_manifest(name: str) -> bool:
    """Whether a template is for this back end; scripts are for others."""
    return name.endswith((".yaml", ".yml"))


def of_job(payload: Payload) -> tuple[str, ...]:
    """What holds for a job."""
    job, queued = payload.job, payload.cluster.backend.queueing is Queueing.KUEUE
    floors = bool(job.checkpoint or job.min_run.milliseconds)
    named_user = job.user is not None and not job.user.replace(":", "").isdigit()
    gres = ", ".join(name for name, _ in job.gres)
    workload = payload.cluster.backend.workload
    facts = (
        (workload is Workload.TRAINJOB and bool(job.retries), "a TrainJob is not tried again: retries are left out"),
        (bool(payload.later), "its interruption and later segments are carried out by apply, not by the cluster"),
        (queued and floors, "Kueue knows neither checkpoints nor a minimum run: it may evict earlier than planned"),
        (queued and not job.preemptible, "Kueue cannot be told never to interrupt it: only its guarantee protects it"),
        (not node_names(payload), "the pool names no nodes: the scheduler chooses among those of the flavor"),
        (
            bool(payload.devices) and not payload.takes_whole_nodes and not is_claimed(payload),
            "which devices of a node it gets is the device plugin's choice",
        ),
        (payload.segment.market != "own", f"no label selects nodes of the market {payload.segment.market}"),
        (
            any(device.share for device in payload.devices) and payload.cluster.backend.queueing is Queueing.KAI,
            "KAI counts parts of a device and keeps nobody to theirs",
        ),
        (bool(gres), f"{gres} cannot be asked for in a pod"),
        (job.needs.rdma, "no resource name of an RDMA device is known: the pods use the nodes' network as it is"),
        (named_user, f"user {job.user} is not a number: the image's own user runs it"),
        (
            job.template is not None and not is_manifest(job.template),
            f"its template {job.template} is not laid under what is written",
        ),
    )
    return tuple(text for holds, text in facts if holds)
