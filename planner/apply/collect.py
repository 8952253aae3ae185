"""From rendered files to objects: what each back end calls them, how they rank, and which are protected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from planner.apply import compose, kubernetes, slurm
from planner.apply.item import Item, Rank, Record, digest_of
from planner.apply.steps import in_order
from planner.names import without_index
from planner.spec.backend import BackendType
from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """One rendered file: its path with the cluster's name first, its text, and for what it exists."""

    path: str
    text: str
    addresses: tuple[str, ...] = ()
    executable: bool = False


def items_of(files: Iterable[Rendering], specset: SpecSet) -> tuple[Item, ...]:
    """Every object that the files describe, sorted by key.

    Where Kubernetes has a list of what holds now, only that counts: other files are for later moments.
    """
    every = tuple(files)
    backends = {cluster.name: cluster.backend.type for cluster in specset.clusters}
    later = _later(every)
    made = [
        item
        for file in every
        if file.path not in later and (item := _item(file, backends[file.path.partition("/")[0]], specset))
    ]
    return tuple(sorted(_with_programs(made)))


def _later(files: Sequence[Rendering]) -> frozenset[str]:
    """Files of clusters with a list that the list does not name."""
    lists = {
        file.path.partition("/")[0]: kubernetes.listed(file.text)
        for file in files
        if file.path == f"{file.path.partition('/')[0]}/{kubernetes.LIST}"
    }
    return frozenset(
        file.path
        for file in files
        for cluster, _, path in (file.path.partition("/"),)
        if cluster in lists and path not in lists[cluster]
    )


def _item(file: Rendering, backend: BackendType, specset: SpecSet) -> Item | None:
    found = _names(file, backend)
    if found is None:
        return None
    refs, rank = found
    record = Record(
        key=file.path,
        cluster=file.path.partition("/")[0],
        backend=backend,
        rank=rank,
        refs=refs,
        addresses=file.addresses,
        protected=any(_protected(address, specset) for address in file.addresses),
        digest=digest_of(file.text),
    )
    return Item(record=record, text=file.text, executable=file.executable)


def _names(file: Rendering, backend: BackendType) -> tuple[tuple[str, ...], Rank] | None:
    match backend:
        case BackendType.KUBERNETES:
            return kubernetes.names_of(file.path, file.text)
        case BackendType.SLURM:
            return slurm.names_of(file.path, file.text)
        case BackendType.COMPOSE:
            return compose.names_of(file.path, file.text)
        case never:
            assert_never(never)


def _protected(address: str, specset: SpecSet) -> bool:
    spec = specset.get(without_index(address))
    return spec is not None and spec.protected


def _with_programs(items: Sequence[Item]) -> Iterator[Item]:
    """Programs count as changed whenever a file changes that they work on, so that they run again."""
    for item in items:
        if item.record.rank is Rank.PROGRAM:
            all_of_it = "\n".join(
                other.record.digest for other in sorted(items) if other.record.cluster == item.record.cluster
            )
            yield replace(item, record=replace(item.record, digest=digest_of(all_of_it)))
        else:
            yield item


def clusters_in_order(specset: SpecSet, items: Iterable[Item]) -> tuple[str, ...]:
    """Clusters, each after those whose work its own work waits for."""
    homes: dict[str, set[str]] = {}
    for item in items:
        for address in item.record.addresses:
            homes.setdefault(without_index(address), set()).add(item.record.cluster)
    needs = [
        (cluster, other)
        for job in specset.jobs
        for name in job.after
        for cluster in homes.get(f"job/{job.team}/{job.name}", ())
        for other in homes.get(_reference(name, job.team), ())
    ]
    return in_order((cluster.name for cluster in specset.clusters), needs)


def _reference(name: str, team: str) -> str:
    key = name.removeprefix("job/")
    return f"job/{key}" if "/" in key else f"job/{team}/{key}"
