"""The files of one Compose cluster.

CLUSTER/HOST/compose.yaml    one project a host, with a service for each job that the plan puts there
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from renderers import environment
from renderers.compose import limits, words
from renderers.compose.service import Service, named_volumes, service_of
from renderers.manifest import Manifest, Rendered
from renderers.payload import jobs_of
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A job with its host and service, or why there is none."""

    payload: Payload
    host: str = ""
    service: Service | None = None
    refusal: str = ""


def render(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The projects of a cluster's hosts; nothing for a host that the plan leaves idle."""
    made = tuple(map(_made, jobs_of(plan, specset, cluster)))
    hosts = sorted({item.host for item in made if item.service})
    notes = tuple(note for item in made for note in _notes(item))
    return Rendered(
        manifests=tuple(_project(cluster, host, tuple(item for item in made if item.host == host)) for host in hosts),
        degraded=(*(limits.of_cluster(cluster) if made else ()), *notes),
    )


def _made(payload: Payload) -> _Made:
    try:
        return _Made(payload=payload, host=words.host_of(payload), service=service_of(payload))
    except Unsupported as error:
        return _Made(payload=payload, refusal=str(error))


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
    addresses = tuple(sorted(service.address for service in services))
    return Manifest(path=f"{cluster.name}/{host}/compose.yaml", text=text, addresses=addresses)


def _notes(item: _Made) -> tuple[Degraded, ...]:
    if item.refusal:
        return (limits.degraded(item.payload.address, f"not written: {item.refusal}"),)
    return tuple(limits.of_job(item.payload))
