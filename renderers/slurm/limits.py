"""What a Slurm cluster cannot be told or held to, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plan import Degraded
from planner.spec.backend import Containers
from planner.spec.work import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.spec.cluster import Cluster
    from planner.spec.job import Job
    from renderers.payload import Payload

BACKEND = "slurm"

OF_JOBS: tuple[tuple[Callable[[Payload], bool], str], ...] = (
    (
        lambda payload: bool(payload.later),
        "only its first run is written; a later one is submitted after the plan has been made again",
    ),
    (
        lambda payload: not payload.pool.nodes.names,
        "the nodes of its pool have no names in the specs, so that Slurm chooses among them",
    ),
    (
        lambda payload: _asks_for_link(payload) and not payload.takes_whole_nodes,
        "Slurm chooses which devices of a node it gets: that they are linked is best effort",
    ),
    (
        lambda payload: payload.memory_mib is None and not payload.cluster.backend.exclusive,
        "no memory is stated: Slurm gives it what DefMemPerNode says, and without that all memory of its nodes",
    ),
    (
        lambda payload: any(device.share for device in payload.devices),
        "gres/shard counts shares and fences nothing: memory and faults are not kept apart",
    ),
    (
        lambda payload: any(item.secret for item in payload.env),
        "Slurm holds no secrets: the variables that come from one must be set in the user's login environment",
    ),
    (
        lambda payload: any(mount.host is None for mount in payload.job.mounts),
        "claims and empty directories have no counterpart: only directories of the host are mounted",
    ),
    (
        lambda payload: bool(payload.job.mounts) and payload.cluster.backend.containers is Containers.NONE,
        "without containers nothing is mounted: the paths of the host are what it sees",
    ),
    (
        lambda payload: bool(payload.image) and payload.cluster.backend.containers is Containers.NONE,
        "the cluster runs no containers: its image is not used",
    ),
    (
        lambda payload: payload.job.user is not None,
        "it runs as whoever submits it, not as the user that the spec names",
    ),
    (
        lambda payload: bool(payload.job.pull_secrets),
        "the credentials for its image are those of the nodes' container tools",
    ),
    (
        lambda payload: payload.job.service_account is not None,
        "Slurm has no service accounts",
    ),
    (
        lambda payload: payload.job.template is not None,
        "its own script is not laid over yet: the one written here stands alone",
    ),
)
"""When a sentence holds for a job."""


def of_cluster(cluster: Cluster) -> Iterator[Degraded]:
    """What holds for all work of a cluster."""
    address = f"cluster/{cluster.name}"
    for message in (
        "a start is a job's earliest: what else is queued there may delay it",
        "accounts and the QOS p0 to p3 are taken as they are; quotas over time are not written for Slurm yet",
    ):
        yield Degraded(address=address, backend=BACKEND, message=message)


def of_job(payload: Payload, missing: tuple[str, ...]) -> Iterator[Degraded]:
    """What holds for one job; `missing` are the jobs that it waits for and that this cluster does not run."""
    for holds, message in OF_JOBS:
        if holds(payload):
            yield Degraded(address=payload.address, backend=BACKEND, message=message)
    for parent in missing:
        message = f"{parent} does not run in this cluster: only the planned start makes it wait for that job"
        yield Degraded(address=payload.address, backend=BACKEND, message=message)


def refused(payload: Payload, why: str) -> Degraded:
    """A job for which nothing is written."""
    return Degraded(address=payload.address, backend=BACKEND, message=f"not written: {why}")


def _asks_for_link(payload: Payload) -> bool:
    job: Job = payload.job
    way = next(way for way in job.ways() if way.name == payload.segment.variant)
    return way.gpus is not None and way.gpus.link is Link.REQUIRED
