"""What Compose cannot be told or held to, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plan import Degraded
from planner.spec.backend import BackendType
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
        "Compose knows no keys of secrets: whoever starts the service has the variables that come from one",
    ),
    (
        lambda payload: bool(payload.job.after),
        "what it waits for is not enforced: only the planned start comes after it",
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
        "its own file is not overlaid yet: the service written here stands alone",
    ),
)
"""When a sentence holds for a job."""


def degraded(address: str, message: str) -> Degraded:
    """One entry of this back end."""
    return Degraded(address=address, backend=str(BackendType.COMPOSE), message=message)


def of_cluster(cluster: Cluster) -> Iterator[Degraded]:
    """What holds for all work of a cluster."""
    for message in (
        "Compose has no clock: x-planner says when a service starts and how long it may run, and something must do so",
        "Compose has no queues, quotas or priorities: they are held by the plan alone",
    ):
        yield degraded(f"cluster/{cluster.name}", message)


def of_job(payload: Payload) -> Iterator[Degraded]:
    """What holds for one job."""
    for holds, message in OF_JOBS:
        if holds(payload):
            yield degraded(payload.address, message)
