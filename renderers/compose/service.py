"""One job as a service of its host's project."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.units import format_time
from renderers.compose import words
from renderers.compose.devices import Access, access_of
from renderers.payload import EnvVar
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.spec.service import Service as Served
    from planner.spec.work import Mount
    from renderers.payload import Payload
    from renderers.replicas import Replica

GRACE: Final = "2m"
"""How long a job that checkpoints has between SIGTERM and SIGKILL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """Something mounted: a directory of the host, a named volume, or with no source an empty one."""

    type: str
    source: str
    target: str
    read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The values of a service in the project's template; what is empty or None is left out."""

    name: str
    image: str
    command: tuple[str, ...]
    user: str
    env: tuple[EnvVar, ...]
    access: Access
    cpus: str
    memory: str
    shm: str
    grace: str
    volumes: tuple[Volume, ...]
    labels: tuple[tuple[str, str], ...]
    address: str
    start: str
    end: str
    limit_seconds: int
    after: tuple[str, ...]
    restart: str = "no"
    port: int | None = None
    health: tuple[str, ...] = ()


def replica_of(replica: Replica) -> Service:
    """What runs a replica: the engine starts it again when it ends, and asks for its health."""
    served, (begin, end) = replica.service, (replica.windows[0][0], replica.windows[-1][1])
    return replace(
        service_of(replica.payload),
        name=words.replica_name(replica.payload.address, replica.number, replica.turn),
        start=format_time(begin),
        end=format_time(end) if end else "",
        restart="unless-stopped",
        port=served.port,
        health=(
            "CMD",
            "curl",
            "--fail",
            "--silent",
            "--max-time",
            "5",
            f"http://127.0.0.1:{served.port}{_path(served)}",
        ),
    )


def _path(service: Served) -> str:
    path = service.health.path
    return path if path.startswith("/") else f"/{path}"


def service_of(payload: Payload) -> Service:
    """What runs a job; raises `Unsupported` where no service would do what the plan says."""
    if not payload.image:
        raise Unsupported("a service needs an image. Name one in the job or in the chosen variant")
    return Service(
        name=words.service_name(payload.address),
        image=payload.image,
        command=payload.command,
        user=payload.job.user or "",
        env=_environment(payload),
        access=access_of(payload),
        cpus="" if payload.cpus is None else str(payload.cpus),
        memory="" if payload.memory_mib is None else words.mebibytes(payload.memory_mib),
        shm=words.mebibytes(payload.shm_mib),
        grace=GRACE if payload.job.checkpoint else "",
        volumes=tuple(map(_volume, payload.job.mounts)),
        labels=_labels(payload),
        address=payload.address,
        start=payload.segment.start,
        end=payload.segment.end,
        limit_seconds=payload.placement.limit_seconds,
        after=tuple(sorted(payload.job.after)),
    )


def _environment(payload: Payload) -> tuple[EnvVar, ...]:
    """The job's own variables, and how many processes torchrun starts where it is not told otherwise."""
    own = payload.env
    if not payload.devices or any(item.name == "PET_NPROC_PER_NODE" for item in own):
        return own
    return (EnvVar(name="PET_NPROC_PER_NODE", value=str(len(payload.devices))), *own)


def _labels(payload: Payload) -> tuple[tuple[str, str], ...]:
    """The job's labels and ours, which win. A key is not interpolated: those with `$` go into one label as JSON."""
    own, job = dict(payload.job.labels), payload.job
    ours = {
        "planner.dev/address": payload.address,
        "planner.dev/spec-hash": payload.placement.spec,
        "planner.dev/team": job.team,
        "planner.dev/priority": payload.placement.priority,
        "planner.dev/title": job.title,
        "planner.dev/description": job.description,
    }
    if any("$" in key for key in own):
        ours["planner.dev/labels"] = json.dumps(own, sort_keys=True, ensure_ascii=False)
        own = {key: value for key, value in own.items() if "$" not in key}
    return tuple(sorted({**own, **{key: value for key, value in ours.items() if value}}.items()))


def _volume(mount: Mount) -> Volume:
    source = words.volume_name(mount.claim) if mount.claim else mount.host or ""
    return Volume(type="bind" if mount.host else "volume", source=source, target=mount.path, read_only=mount.read_only)


def named_volumes(services: tuple[Service, ...]) -> tuple[str, ...]:
    """The volumes that must exist before the services do."""
    found = {item.source for service in services for item in service.volumes if item.type == "volume" and item.source}
    return tuple(sorted(found))
