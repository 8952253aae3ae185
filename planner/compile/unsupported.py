"""What specs can say and plans cannot do yet: refused by name, never left out in silence."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.compile.fleet import is_divided
from planner.compile.reserve import is_kept
from planner.diagnostics import Diagnostic, Place, Severity
from planner.spec.cluster import Cluster
from planner.spec.job import Job
from planner.spec.service import Service
from planner.spec.snapshot import Running, RunningService, Snapshot
from planner.spec.work import Market, Within, Work
from planner.specset.model import address_of_spec

if TYPE_CHECKING:
    from planner.spec.cluster import NodePool
    from planner.spec.envelope import Envelope
    from planner.spec.work import GpuRequest
    from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """A feature that is not planned yet: how to find it in specs of `kind`, and what to do instead."""

    code: str
    kind: type[Envelope]
    what: str
    instead: str
    found: Callable[[Envelope], bool]


def _rule(code: str, kind: type[Envelope], what: str, instead: str, found: Callable[..., bool]) -> Unsupported:
    return Unsupported(code=code, kind=kind, what=what, instead=instead, found=found)


def _requests(service: Service) -> Iterator[GpuRequest]:
    asked = (service.gpus, *(variant.gpus for variant in service.variants))
    yield from (gpus for gpus in asked if gpus is not None)


def _is_part(gpus: GpuRequest) -> bool:
    return gpus.is_fraction or gpus.partition is not None


def _in_roles(job: Job, asks: Callable[[GpuRequest], bool]) -> bool:
    return any(asks(role.gpus) for role in job.roles)


def _is_rented(pool: NodePool) -> bool:
    return pool.max_nodes is not None or pool.price.on_demand is not None or pool.price.spot is not None


def _within(job: Work, *places: Within, required: bool | None = None) -> bool:
    return job.topology is not None and job.topology.within in places and required in {None, job.topology.required}


ON_UNKNOWN_PARTS: Final = _rule(
    "PLAN614", Snapshot, "running work on shared or partitioned devices that are not named",
    "name the devices of each node, or plan without it", lambda shot: False,
)  # fmt: skip
"""Only the pools say which snapshots these are."""

FEATURES: Final[tuple[Unsupported, ...]] = (
    _rule("PLAN617", Service, "steps of several replicas that are spread evenly", "leave replicas.step or spread out",
          lambda service: service.spread is not None and service.replicas.step > 1),
    _rule("PLAN617", Service, "services on the spot market", "leave market out",
          lambda service: service.market.spot is not Market.NEVER),
    _rule("PLAN617", Service, "a pinned start of a service", "leave pin.start out",
          lambda service: service.pin is not None and service.pin.start is not None),
    _rule("PLAN602", Job, "roles with shares of a device", "ask for whole devices",
          lambda job: _in_roles(job, lambda ask: ask.is_fraction)),
    _rule("PLAN603", Job, "roles on partitions", "ask for whole devices",
          lambda job: _in_roles(job, lambda ask: ask.partition is not None)),
    _rule("PLAN602", Service, "a model's degree on parts of devices", "leave model out, and say what a replica takes",
          lambda service: service.model is not None and any(map(_is_part, _requests(service)))),
    _rule("PLAN602", Cluster, "shared or partitioned devices of rented nodes or of nodes with several models",
          "leave sharing and partitions out, or make it a pool of its own",
          lambda cluster: any(is_divided(pool) and (_is_rented(pool) or len(pool.gpus) > 1) for pool in cluster.pools)),
    _rule("PLAN610", Work, "topology within a cluster", "ask within node or pool, or leave topology out",
          lambda job: _within(job, Within.CLUSTER)),
    _rule("PLAN610", Service, "replicas within a rack or NVLink domain", "ask within node, or leave topology out",
          lambda service: _within(service, Within.RACK, Within.NVLINK_DOMAIN)),
    _rule("PLAN618", Cluster, "a reserve of rented nodes, or by racks or NVLink domains that the pool does not state",
          "state the domains, count it per pool, or leave reserve out",
          lambda cluster: any(pool.reserve is not None and not is_kept(pool) for pool in cluster.pools)),
    _rule("PLAN611", Work, "pinned device indices", "pin the nodes only",
          lambda job: job.pin is not None and bool(job.pin.devices)),
    _rule("PLAN612", Service, "the cost of moving a service's data", "leave data and egress out; state place.regions",
          lambda service: service.data is not None or service.egress is not None),
    _rule("PLAN616", Snapshot, "single devices that are down", "name the whole node",
          lambda shot: any(node.devices for down in shot.down for node in down.nodes)),
)  # fmt: skip
"""One row for each feature; what a row finds is an error with its code."""


def refused(specset: SpecSet, snapshots: Iterable[Snapshot]) -> tuple[Diagnostic, ...]:
    """An error for each spec that needs what is not planned yet."""
    specs = [*specset.specs(), *(snapshot for snapshot in snapshots if snapshot not in specset.snapshots)]
    divided = {where.key for where in specset.pools() if is_divided(where.pool)}
    found = [_diagnostic(feature, spec, specset) for spec in specs for feature in FEATURES if _applies(feature, spec)]
    shots = (spec for spec in specs if isinstance(spec, Snapshot))
    unclear = (shot for shot in shots if any(_is_unclear(run, divided) for run in _runs(shot)))
    return (*found, *(_diagnostic(ON_UNKNOWN_PARTS, shot, specset) for shot in unclear))


def _runs(shot: Snapshot) -> tuple[Running | RunningService, ...]:
    return (*shot.running, *shot.services)


def _is_unclear(run: Running | RunningService, divided: Container[str | None]) -> bool:
    return run.pool in divided and any(not node.devices for node in run.nodes)


def _applies(feature: Unsupported, spec: Envelope) -> bool:
    return isinstance(spec, feature.kind) and feature.found(spec)


def _diagnostic(feature: Unsupported, spec: Envelope, specset: SpecSet) -> Diagnostic:
    where = address_of_spec(spec)
    return Diagnostic(
        code=feature.code,
        severity=Severity.ERROR,
        summary=f"{where} needs {feature.what}, which this version does not plan yet",
        place=place_of(specset, where),
        address=where,
        help=feature.instead,
    )


def place_of(specset: SpecSet, where: str) -> Place | None:
    """Where a spec stands, None for one that was not read from a file."""
    try:
        return specset.place(where)
    except KeyError:
        return None
