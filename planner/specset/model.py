"""SpecSet: all specs of one tree, resolved and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar

from planner.catalog import Accelerator, Catalog
from planner.diagnostics import Diagnostic, Place
from planner.names import Address, address, without_index
from planner.spec.accelerator import AcceleratorSpec
from planner.spec.cluster import Cluster, GpuGroup, NodePool
from planner.spec.envelope import Envelope
from planner.spec.job import Job
from planner.spec.policy import Policy
from planner.spec.service import Service
from planner.spec.snapshot import Snapshot
from planner.spec.team import Quota, Team
from planner.specset.faults import address_of

T = TypeVar("T")

_WORDS_ONLY: Final = frozenset({"title", "description", "formerly", "labels"})
_WISHES: Final = frozenset({
    "priority", "submitted", "duration", "window", "after", "checkpoint", "preemptible", "movable", "min_run",
    "retries", "market", "max_cost", "place", "data", "egress", "required", "pin", "topology", "load", "service_time",
    "latency_target", "headroom", "milliqps_per_replica", "spread", "name",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class PoolRef:
    """A pool together with its cluster."""

    cluster: Cluster
    pool: NodePool

    @property
    def key(self) -> str:
        """`dc1/h100`, as specs refer to it."""
        return f"{self.cluster.name}/{self.pool.name}"

    @property
    def address(self) -> Address:
        """`pool/dc1/h100`."""
        return address("pool", self.cluster.name, self.pool.name)


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """The devices of one model in one pool: the smallest thing that a quota can cover."""

    where: PoolRef
    group: GpuGroup
    accelerator: Accelerator

    @property
    def memory_mib(self) -> int | None:
        """Memory of one device; None when unknown."""
        return self.group.memory.mib if self.group.memory else self.accelerator.memory_mib

    @property
    def devices(self) -> int:
        """How many there are, or can be rented at most."""
        return self.where.pool.node_count * self.group.count


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSet:
    """All specs of one tree: names resolved to catalogue slugs, references checked, Team.defaults applied.

    Every tuple is sorted by address. Equal specs make equal sets, whatever files they were read from.
    """

    policy: Policy
    clusters: tuple[Cluster, ...] = ()
    teams: tuple[Team, ...] = ()
    quotas: tuple[Quota, ...] = ()
    jobs: tuple[Job, ...] = ()
    services: tuple[Service, ...] = ()
    accelerators: tuple[AcceleratorSpec, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    catalog: Catalog = field(repr=False)
    digest: str
    attachments: tuple[tuple[str, bytes], ...] = field(default=(), repr=False, compare=False)
    _places: Mapping[Address, Place] = field(default_factory=dict, repr=False, compare=False)
    _index: Mapping[Address, Envelope] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the specs by address."""
        object.__setattr__(self, "_index", MappingProxyType({address_of_spec(spec): spec for spec in self.specs()}))

    def specs(self) -> Iterator[Envelope]:
        """Every spec, kind by kind."""
        for group in (
            (self.policy,), self.accelerators, self.clusters, self.teams, self.quotas, self.jobs, self.services,
            self.snapshots,
        ):  # fmt: skip
            yield from group

    def get(self, where: str) -> Envelope | None:
        """The spec at an address; of an array element, the array's."""
        return self._index.get(Address(without_index(where)))

    def pools(self) -> Iterator[PoolRef]:
        """Every pool with its cluster, in the order of the clusters and of their pools."""
        return (PoolRef(cluster, pool) for cluster in self.clusters for pool in cluster.pools)

    def device_classes(self) -> Iterator[DeviceClass]:
        """The devices of every pool, model by model."""
        for where in self.pools():
            for group in where.pool.gpus:
                yield DeviceClass(where, group, self.accelerator(group.model))

    def pool(self, key: str) -> NodePool:
        """The pool `dc1/h100`; raises `KeyError` when there is none."""
        cluster, _, name = key.partition("/")
        return self.cluster(cluster).pool(name)

    def cluster(self, name: str) -> Cluster:
        """The cluster of that name; raises `KeyError` when there is none."""
        return self._typed(address("cluster", name), Cluster)

    def team(self, name: str) -> Team:
        """The team of that name; raises `KeyError` when there is none."""
        return self._typed(address("team", name), Team)

    def quota(self, name: str) -> Quota:
        """The quota of that name; raises `KeyError` when there is none."""
        return self._typed(address("quota", name), Quota)

    def job(self, key: str) -> Job:
        """The job `vision/resnet`; raises `KeyError` when there is none."""
        return self._typed(Address(without_index(f"job/{key}")), Job)

    def service(self, key: str) -> Service:
        """The service `nlp/chat`; raises `KeyError` when there is none."""
        return self._typed(Address(f"service/{key}"), Service)

    def accelerator(self, slug: str) -> Accelerator:
        """The catalogue's entry for a slug; raises `KeyError` when there is none."""
        found = self.catalog.get(slug)
        if found is None:
            raise KeyError(slug)
        return found

    def ancestors(self, team: str) -> tuple[str, ...]:
        """The team and those above it, nearest first."""
        line = [team]
        while (parent := self.team(line[-1]).parent) is not None:
            line.append(parent)
        return tuple(line)

    def place(self, where: str) -> Place:
        """Where the spec at an address begins; raises `KeyError` when it was not read from a file."""
        return self._places[Address(without_index(where))]

    def attachment(self, where: str, name: str) -> bytes:
        """The bytes of a file that the spec at an address names, such as its template; `KeyError` when absent."""
        directory = self.place(where).file.rpartition("/")[0]
        return dict(self.attachments)[f"{directory}/{name}" if directory else name]

    def spec_hash(self, where: str) -> str:
        """`sha256:…` over what the work at an address runs.

        Names, titles, labels and all that only says when, where or how gladly it should run are left out, so that
        changing them does not make a new run of finished work. Of anything but work all but its free text counts.
        """
        spec = self._index[Address(without_index(where))]
        without = _WORDS_ONLY | _WISHES if isinstance(spec, Job | Service) else _WORDS_ONLY
        return f"sha256:{hashlib.sha256(content(spec, without)).hexdigest()}"

    def _typed(self, where: Address, kind: type[T]) -> T:
        spec = self._index.get(where)
        if not isinstance(spec, kind):
            raise KeyError(where)
        return spec


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What loading gave: the specs unless there are errors, and all diagnostics in order of place."""

    specset: SpecSet | None
    diagnostics: tuple[Diagnostic, ...] = ()


def address_of_spec(spec: Envelope) -> Address:
    """The address of a spec."""
    return address_of(spec.kind, spec.name, getattr(spec, "team", None))


def content(spec: Envelope, without: frozenset[str]) -> bytes:
    """What a spec says, without what equals the default, as canonical JSON."""
    exclude: dict[str, Any] = dict.fromkeys(without, True)
    if "duration" in without:
        exclude["variants"] = {"__all__": {"duration": True}}
    return spec.model_dump_json(exclude_defaults=True, exclude=exclude).encode()


def digest_of(specs: list[Envelope], attachments: tuple[tuple[str, bytes], ...]) -> str:
    """`sha256:…` over the meaning of specs and the files that they name, independent of order and of files' names."""
    parts = sorted([(address_of_spec(spec), content(spec, frozenset({"title", "description"}))) for spec in specs])
    total = hashlib.sha256()
    for where, text in parts:
        total.update(f"{where}\n{len(text)}\n".encode() + text)
    for digest in sorted(hashlib.sha256(data).digest() for _, data in attachments):
        total.update(digest)
    return f"sha256:{total.hexdigest()}"
