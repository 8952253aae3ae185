"""The files of one Compose cluster.

CLUSTER/HOST/compose.yaml    one project a host, with a service for each job and each replica that the plan puts there
CLUSTER/HOST/jobs/JOB.sh     instead of it, where Apptainer runs containers: a script for each
CLUSTER/HOST/schedule.sh     starts and stops them when it is time
CLUSTER/HOST/install.sh      makes a scheduler of the host run that every minute, by the units beside it or by cron
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.names import without_index
from planner.spec.backend import Engine
from renderers import environment
from renderers.compose import limits, native, schedule, words
from renderers.compose.service import Service, named_volumes, replica_of, service_of
from renderers.manifest import Manifest, Rendered
from renderers.payload import jobs_of
from renderers.refusal import Unsupported
from renderers.replicas import replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.payload import Payload
    from renderers.replicas import Replica


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A job, or a replica, with its host and its service or script, or why there is none."""

    payload: Payload
    replica: Replica | None = None
    host: str = ""
    service: Service | None = None
    script: str = ""
    refusal: str = ""


def render(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The files of a cluster's hosts; nothing for a host that the plan leaves idle."""
    made = (
        *(_made(payload) for payload in jobs_of(plan, specset, cluster)),
        *(_made(replica.payload, replica) for replica in replicas_of(plan, specset, cluster)),
    )
    written = tuple(item for item in made if not item.refusal)
    hosts = sorted({item.host for item in written})
    notes = tuple(dict.fromkeys(note for item in made for note in _notes(item, written)))
    manifests = (
        manifest
        for host in hosts
        for manifest in _of_host(cluster, host, tuple(item for item in written if item.host == host))
    )
    return Rendered(
        manifests=tuple(sorted(manifests)),
        degraded=(*(limits.of_cluster(cluster) if made else ()), *notes),
    )


def _made(payload: Payload, replica: Replica | None = None) -> _Made:
    try:
        host = words.host_of(payload)
        if payload.cluster.backend.engine is Engine.APPTAINER:
            return _Made(payload=payload, replica=replica, host=host, script=native.script_of(payload))
        service = service_of(payload) if replica is None else replica_of(replica)
        return _Made(payload=payload, replica=replica, host=host, service=service)
    except Unsupported as error:
        return _Made(payload=payload, replica=replica, refusal=str(error))


def _of_host(cluster: Cluster, host: str, made: tuple[_Made, ...]) -> Iterator[Manifest]:
    if any(item.service for item in made):
        yield _project(cluster, host, made)
    for item in made:
        if item.script:
            yield native.manifest(cluster, host, item.payload, item.script, item.replica)
    yield from schedule.files(
        cluster, host,
        schedule.entries_of(item.payload for item in made if item.replica is None),
        tuple(schedule.Serving(replica=item.replica) for item in made if item.replica is not None),
    )  # fmt: skip


def _project(cluster: Cluster, host: str, made: tuple[_Made, ...]) -> Manifest:
    services = tuple(item.service for item in made if item.service)
    text = environment.render(
        "compose/project.compose.j2",
        name=words.project_name(cluster.name, host),
        cluster=cluster.name,
        host=host,
        services=services,
        volumes=named_volumes(services),
    )
    addresses = tuple(sorted({service.address.partition("#")[0] for service in services}))
    return Manifest(path=f"{cluster.name}/{host}/compose.yaml", text=text, addresses=addresses)


def _notes(item: _Made, written: tuple[_Made, ...]) -> tuple[Degraded, ...]:
    if item.refusal:
        return (limits.degraded(item.payload.address.partition("#")[0], f"not written: {item.refusal}"),)
    if item.replica is not None:
        return tuple(limits.of_replica(item.payload))
    here = {without_index(other.payload.address) for other in written if other.host == item.host}
    elsewhere = tuple(parent for parent in schedule.parents_of(item.payload) if parent not in here)
    return tuple(limits.of_job(item.payload, elsewhere))
