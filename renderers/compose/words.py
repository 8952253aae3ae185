"""How Compose spells names and amounts."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from planner.hosts import is_node_name
from planner.names import without_index
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from renderers.payload import Payload
    from renderers.replicas import Replica

_VOLUME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def service_name(address: str) -> str:
    """`vision.resnet` of `job/vision/resnet`, `vision.sweep.3` of an array's element: unique, as names hold no dot."""
    array = without_index(address)
    index = address[len(array) :].strip("[]")
    return ".".join([*array.split("/")[1:], *([index] if index else [])])


def replica_name(address: str, number: int, turn: int) -> str:
    """`nlp.chat.svc-2` of the second replica of `service/nlp/chat`, `nlp.chat.svc-2-3` on its third devices."""
    return ".".join([*address.partition("#")[0].split("/")[1:], f"svc-{number}" + (f"-{turn}" if turn > 1 else "")])


def service_of_replica(replica: Replica) -> str:
    """The address of the service that a replica is of."""
    return replica.payload.address.partition("#")[0]


def project_name(cluster: str, host: str) -> str:
    """The project of a host, one of its own for each so that two never share a network or a container.

    A host whose name a project cannot have is spelled in lower case with `-`, then a hash of it.
    """
    clean = re.sub(r"[^a-z0-9_-]+", "-", host.lower())
    return (
        f"{cluster}-{clean}" if clean == host else f"{cluster}-{clean}-{hashlib.sha256(host.encode()).hexdigest()[:8]}"
    )


def host_of(payload: Payload) -> str:
    """The one host of a job; raises `Unsupported` for a gang, and for a name that no host has."""
    if payload.is_gang:
        raise Unsupported(f"a Compose project has one host, and the gang needs {len(payload.nodes)}")
    host = payload.nodes[0].name
    if not is_node_name(host):
        raise Unsupported(f"'{host}' is not the name of a host")
    return host


def volume_name(claim: str) -> str:
    """`claim` as the name of a volume that exists already."""
    if _VOLUME.fullmatch(claim) is None:
        raise Unsupported(f"'{claim}' is not the name of a volume: it takes letters, digits, '_', '.' and '-'")
    return claim


def mebibytes(amount: int) -> str:
    """An amount of memory: Compose's `m` is a binary one."""
    return f"{amount}m"
