"""Projects, parsed back and held against the plan: what was written is what was decided."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from planner.spec.backend import Engine
from planner.units import parse_time
from renderers.compose import words
from renderers.compose.devices import access_of
from renderers.payload import jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.payload import Payload

Tree = dict[str, Any]


def verify(
    documents: Mapping[str, Sequence[Any]],
    plan: Plan,
    specset: SpecSet,
    cluster: Cluster,
    degraded: Sequence[Degraded] = (),
) -> tuple[str, ...]:
    """What differs between the plan and the projects of a cluster, one sentence each; nothing when all is as planned.

    `documents` are the parsed documents of each file by its path, `degraded` says which jobs were left out on purpose.
    """
    refused = {item.address for item in degraded if item.message.startswith("not written: ")}
    jobs = tuple(job for job in jobs_of(plan, specset, cluster) if job.address not in refused)
    if cluster.backend.engine is Engine.APPTAINER:
        return tuple(overlaps(jobs))
    expected = {(path_of(cluster, job), words.service_name(job.address)): job for job in jobs}
    found = {
        (path, name): service for path, (project,) in documents.items() for name, service in project["services"].items()
    }
    faults = [f"{path} has {name}, which the plan does not" for path, name in sorted(found.keys() - expected.keys())]
    faults += [f"{path} lacks {name}" for path, name in sorted(expected.keys() - found.keys())]
    for key in sorted(expected.keys() & found.keys()):
        faults += (f"{key[0]} {key[1]}: {text}" for text in _differences(found[key], expected[key]))
    return (*faults, *overlaps(jobs))


def path_of(cluster: Cluster, payload: Payload) -> str:
    """The file of the project that a job belongs to."""
    return f"{cluster.name}/{words.host_of(payload)}/compose.yaml"


def _differences(service: Tree, payload: Payload) -> Iterator[str]:
    access = access_of(payload)
    reservations = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
    pairs = (
        ("image", service["image"].replace("$$", "$"), payload.image),
        ("start", service["x-planner"]["start"], payload.segment.start),
        ("end", service["x-planner"]["end"], payload.segment.end),
        ("device_ids", tuple(item for device in reservations for item in device["device_ids"]), access.ids),
        ("devices", tuple(service.get("devices", ())), access.device_nodes),
        ("group_add", tuple(service.get("group_add", ())), access.groups),
    )
    for what, said, planned in pairs:
        if said != planned:
            yield f"{what} is {said}, planned is {planned}"
    for device in reservations:
        if "count" in device or not device.get("capabilities"):
            yield "a reservation has ids and capabilities, and never a count"


def overlaps(jobs: Sequence[Payload]) -> Iterator[str]:
    """Jobs that hold a whole device of one host at the same time: no engine keeps them apart."""
    held: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
    for job in jobs:
        for device in _devices(job):
            held.setdefault(device, []).append((*_times(job), job.address))
    for (host, index), uses in sorted(held.items()):
        for (_, end, one), (start, _, other) in pairwise(sorted(uses)):
            if start < end:
                yield f"{one} and {other} both have device {index} of {host}"


def _devices(payload: Payload) -> frozenset[tuple[str, int]]:
    return frozenset(
        (node.name, device.index) for node in payload.nodes for device in node.devices if device.share is None
    )


def _times(payload: Payload) -> tuple[int, int]:
    return parse_time(payload.segment.start, "UTC"), parse_time(payload.segment.end, "UTC")
