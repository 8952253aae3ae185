"""Projects, parsed back and held against the plan: what was written is what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from planner.spec.backend import Engine
from planner.units import format_time, parse_time
from renderers.compose import words
from renderers.compose.devices import access_of
from renderers.payload import jobs_of
from renderers.replicas import replicas_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.payload import Payload
    from renderers.replicas import Replica

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
    replicas = tuple(
        one for one in replicas_of(plan, specset, cluster) if one.payload.address.partition("#")[0] not in refused
    )
    held = (*map(_of_job, jobs), *(each for one in replicas for each in _of_replica(one)))
    if cluster.backend.engine is Engine.APPTAINER:
        return tuple(overlaps(held))
    expected = {(path_of(cluster, job), words.service_name(job.address)): _of_job(job) for job in jobs} | {
        (path_of(cluster, one.payload), words.replica_name(one.payload.address, one.number, one.turn)): _whole(one)
        for one in replicas
    }
    found = {
        (path, name): service for path, (project,) in documents.items() for name, service in project["services"].items()
    }
    faults = [f"{path} has {name}, which the plan does not" for path, name in sorted(found.keys() - expected.keys())]
    faults += [f"{path} lacks {name}" for path, name in sorted(expected.keys() - found.keys())]
    for key in sorted(expected.keys() & found.keys()):
        faults += (f"{key[0]} {key[1]}: {text}" for text in _differences(found[key], expected[key]))
    return (*faults, *overlaps(held))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What has its devices in `[start, end)`, in seconds since 1970 UTC; an end of 0 is none."""

    payload: Payload
    start: int
    end: int


def _of_job(payload: Payload) -> Held:
    start, end = (parse_time(text, "UTC") for text in (payload.segment.start, payload.segment.end))
    return Held(payload=payload, start=start, end=end)


def _of_replica(replica: Replica) -> Iterator[Held]:
    return (Held(payload=replica.payload, start=begin, end=end) for begin, end in replica.windows)


def _whole(replica: Replica) -> Held:
    return Held(payload=replica.payload, start=replica.windows[0][0], end=replica.windows[-1][1])


def path_of(cluster: Cluster, payload: Payload) -> str:
    """The file of the project that a job belongs to."""
    return f"{cluster.name}/{words.host_of(payload)}/compose.yaml"


def _differences(service: Tree, held: Held) -> Iterator[str]:
    payload = held.payload
    access = access_of(payload)
    reservations = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
    pairs = (
        ("image", service["image"].replace("$$", "$"), payload.image),
        ("start", service["x-planner"]["start"], format_time(held.start)),
        ("end", service["x-planner"].get("end"), format_time(held.end) if held.end else None),
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


def overlaps(every: Iterable[Held]) -> Iterator[str]:
    """Work that holds a whole device of one host at the same time: no engine keeps it apart."""
    held: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
    for one in every:
        for device in _devices(one.payload):
            held.setdefault(device, []).append((one.start, one.end, one.payload.address))
    for (host, index), uses in sorted(held.items()):
        for (_, end, one_address), (start, _, other) in pairwise(sorted(uses)):
            if start < end or not end:
                yield f"{one_address} and {other} both have device {index} of {host}"


def _devices(payload: Payload) -> frozenset[tuple[str, int]]:
    return frozenset(
        (node.name, device.index) for node in payload.nodes for device in node.devices if device.share is None
    )
