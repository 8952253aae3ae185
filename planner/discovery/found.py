"""What one back end tells of a cluster: its nodes, who may use it, what runs on it, and what cannot be expressed.

Times are seconds since 1970 UTC. Texts come from users of the cluster: they are shown and written, never run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.discovery.facts import HostFacts

FILE_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The output of one command of a back end, or a file that holds it; `name` is for messages."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A node on which something runs, with the indices of its devices there; `count` where only that is told."""

    node: str
    devices: tuple[int, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Something that runs. `address` and `spec` are set on what the planner started; `cpus` and `memory_mib` are per
    node, `until` is when it ends at the latest, `parts` is what meters call its parts: `namespace/pod`, `job 9`,
    and `replicas` are those of a service.
    """

    name: str
    owner: str
    seats: tuple[Seat, ...]
    address: str = ""
    spec: str = ""
    started_at: int | None = None
    until: int | None = None
    cpus: int | None = None
    memory_mib: int | None = None
    parts: tuple[str, ...] = ()
    replicas: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run of the planner's that ended."""

    address: str
    spec: str
    succeeded: bool
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A node that takes no work, why, and until when; None is unknown."""

    node: str
    reason: str = ""
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A Slurm account or a Kubernetes namespace, by the back end's own name."""

    name: str
    parent: str = ""
    members: tuple[str, ...] = ()
    namespace: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Devices that a tenant may use: of one model, else of one vendor, else of the whole cluster."""

    tenant: str
    model: str = ""
    vendor: str = ""
    guaranteed: int | None = None
    limit: int | None = None
    lend: int | None = None
    weight: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Everything that was found. `options` are those of the back end beside its version, `waiting` counts jobs that do
    not run yet, and `untold` says, object by object, what specs cannot say or what could not be read.
    """

    back_end: str
    version: str = ""
    options: tuple[tuple[str, str], ...] = ()
    hosts: tuple[HostFacts, ...] = ()
    tenants: tuple[Tenant, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    uses: tuple[Use, ...] = ()
    ended: tuple[Ended, ...] = ()
    broken: tuple[Broken, ...] = ()
    waiting: int = 0
    untold: tuple[str, ...] = ()
