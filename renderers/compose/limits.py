"""What Compose cannot be told or held to, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plan import Degraded
from planner.spec.backend import BackendType, Engine
from renderers.compose.devices import DEFAULT_RENDER_GID, guesses_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.spec.cluster import Cluster
    from renderers.payload import Payload

OF_JOBS: tuple[tuple[Callable[[Payload], bool], str], ...] = (
    (
        lambda payload: bool(payload.later),
        "only its first run is written; a later one is written after the plan has been made again",
    ),
    (
        guesses_group,
        f"the pool says no render_gid: {DEFAULT_RENDER_GID} is assumed; find it with `getent group render` on the host",
    ),
    (
        lambda payload: any(device.share for device in payload.devices),
        "Compose hands out whole devices: nothing holds it to its share, and memory and faults are not kept apart",
    ),
    (
        lambda payload: any(item.secret for item in payload.env),
        "Compose knows no keys of secrets: the host has the variables that come from one in secrets.env",
    ),
    (
        lambda payload: bool(payload.job.gres),
        "Compose counts no other resources than CPUs and memory",
    ),
    (
        lambda payload: bool(payload.job.pull_secrets),
        "the credentials for its image are those of the host's engine",
    ),
    (
        lambda payload: payload.job.service_account is not None,
        "Compose has no service accounts",
    ),
    (
        lambda payload: payload.job.template is not None,
        "its own file is not read: what it adds goes into compose.override.yaml of the host",
    ),
)
"""When a sentence holds for a job."""

OF_NATIVE: tuple[tuple[Callable[[Payload], bool], str], ...] = (
    (
        lambda payload: True,
        "Apptainer shows it all devices of the host: only a variable says which are its own",
    ),
    (
        lambda payload: payload.cpus is not None or payload.memory_mib is not None,
        "Apptainer is told no limits of CPUs and memory",
    ),
    (
        lambda payload: any(mount.host is None for mount in payload.job.mounts),
        "volumes and empty directories have no counterpart: only directories of the host are mounted",
    ),
    (
        lambda payload: payload.job.user is not None,
        "it runs as whoever runs the schedule, not as the user that the spec names",
    ),
)
"""The same where Apptainer runs containers."""


OF_REPLICAS: tuple[tuple[Callable[[Payload], bool], str], ...] = (
    (
        lambda payload: payload.cluster.backend.engine is not Engine.APPTAINER,
        "its health is asked with curl, which its image must have; nothing distributes requests over its replicas",
    ),
    (
        lambda payload: payload.cluster.backend.engine is Engine.APPTAINER,
        "nothing asks for its health or distributes requests over its replicas, which all listen on its one port",
    ),
)
"""The same for the replicas of a service, in place of `OF_JOBS` where these speak of runs."""


def is_native(payload: Payload) -> bool:
    """Whether no engine stands between a job and its host."""
    return payload.cluster.backend.engine is Engine.APPTAINER


def degraded(address: str, message: str) -> Degraded:
    """One entry of this back end."""
    return Degraded(address=address, backend=str(BackendType.COMPOSE), message=message)


def of_cluster(cluster: Cluster) -> Iterator[Degraded]:
    """What holds for all work of a cluster."""
    for message in (
        "Compose has no clock: install.sh must have been run on each host, and starts are as exact as its own clock",
        "Compose has no queues, quotas or priorities: they are held by the plan alone",
    ):
        yield degraded(f"cluster/{cluster.name}", message)


def of_replica(payload: Payload) -> Iterator[Degraded]:
    """What holds for the replicas of a service."""
    for holds, message in (*OF_REPLICAS, *OF_JOBS, *(OF_NATIVE if is_native(payload) else ())):
        if holds(payload):
            yield degraded(payload.address.partition("#")[0], message)


def of_job(payload: Payload, elsewhere: tuple[str, ...] = ()) -> Iterator[Degraded]:
    """What holds for one job; `elsewhere` are the jobs that it waits for and that its host does not run."""
    for holds, message in (*OF_JOBS, *(OF_NATIVE if is_native(payload) else ())):
        if holds(payload):
            yield degraded(payload.address, message)
    for parent in elsewhere:
        yield degraded(payload.address, f"{parent} does not run on its host: only the planned start makes it wait")
