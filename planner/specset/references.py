"""References between documents: each must lead to something that exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.diagnostics import did_you_mean, nearest, one_of, quoted
from planner.spec.envelope import Envelope
from planner.spec.job import Job
from planner.spec.policy import Policy
from planner.spec.service import Service
from planner.spec.work import Pin, WorkPlace
from planner.specset.faults import Faults, Item
from planner.specset.tree import Tree
from planner.yamlio import Path


class _Known:
    """The names that references may use."""

    def __init__(self, tree: Tree, paths: frozenset[str]) -> None:
        self.paths = paths
        self.teams = {item.spec.name for item in tree.teams}
        self.jobs = {f"{item.spec.team}/{item.spec.name}" for item in tree.jobs}
        self.clusters = {item.spec.name for item in tree.clusters}
        self.pools = {f"{item.spec.name}/{pool.name}": pool for item in tree.clusters for pool in item.spec.pools}
        self.places = {item.spec.place.name for item in tree.clusters}


def check(tree: Tree, faults: Faults, paths: frozenset[str]) -> None:
    """Report every reference of the tree that leads nowhere."""
    known = _Known(tree, paths)
    for team in tree.teams:
        if team.spec.parent is not None:
            _team(team, ("parent",), team.spec.parent, known, faults)
    for quota in tree.quotas:
        _team(quota, ("team",), quota.spec.team, known, faults)
        _scope(quota, quota.spec.gpus, known, faults)
    for work in tree.work():
        _work(work, known, faults)
    if tree.policy_item:
        _rules(tree.policy_item, known, faults)


def _rules(item: Item[Policy], known: _Known, faults: Faults) -> None:
    for index, rule in enumerate(item.spec.deny):
        path = ("deny", index, "where")
        for position, name in enumerate(rule.where.team):
            _team(item, (*path, "team", position), name, known, faults)
        for position, name in enumerate(rule.where.pool):
            _pool(item, (*path, "pool", position), name, known, faults)


def _work(item: Item[Job] | Item[Service], known: _Known, faults: Faults) -> None:
    spec = item.spec
    _team(item, ("team",), spec.team, known, faults)
    if spec.place.model_fields_set:
        _place(item, spec.place, known, faults)
    if spec.data is not None and spec.data not in known.places:
        _report("SPEC307", (item, ("data",)), f"no cluster is at {quoted(spec.data)}", spec.data, known.places, faults)
    if spec.pin is not None:
        _pin(item, spec.pin, known, faults)
    for path, name in _files(spec):
        _file(item, path, name, known, faults)
    if isinstance(spec, Job):
        for index, name in enumerate(spec.after):
            _job(item, ("after", index), name, spec.team, known, faults)


def _team(item: Item[Envelope], path: Path, name: str, known: _Known, faults: Faults) -> None:
    if name not in known.teams:
        _report("SPEC301", (item, path), f"there is no team {quoted(name)}", name, known.teams, faults)


def _job(item: Item[Envelope], path: Path, name: str, team: str, known: _Known, faults: Faults) -> None:
    full = name if "/" in name else f"{team}/{name}"
    if full in known.jobs:
        return
    own = {job.partition("/")[2] for job in known.jobs if job.startswith(f"{team}/")} - {item.spec.name}
    _report(
        "SPEC302", (item, path), f"there is no job {quoted(full)}", name, own if "/" not in name else known.jobs, faults
    )


def _scope(item: Item[Envelope], gpus: Any, known: _Known, faults: Faults) -> None:
    if gpus.pool is not None:
        _pool(item, ("gpus", "pool"), gpus.pool, known, faults)
    if gpus.cluster is not None and gpus.cluster not in known.clusters:
        _report(
            "SPEC303",
            (item, ("gpus", "cluster")),
            f"there is no cluster {quoted(gpus.cluster)}",
            gpus.cluster,
            known.clusters,
            faults,
        )


def _pool(item: Item[Envelope], path: Path, name: str, known: _Known, faults: Faults) -> None:
    if name not in known.pools:
        _report("SPEC303", (item, path), f"there is no pool {quoted(name)}", name, set(known.pools), faults)


def _place(item: Item[Envelope], place: WorkPlace, known: _Known, faults: Faults) -> None:
    for index, name in enumerate(place.clusters):
        if name not in known.clusters:
            _report(
                "SPEC303",
                (item, ("place", "clusters", index)),
                f"there is no cluster {quoted(name)}",
                name,
                known.clusters,
                faults,
            )
    for index, name in enumerate(place.pools):
        _pool(item, ("place", "pools", index), name, known, faults)
    for index, name in enumerate(place.regions):
        if name not in known.places:
            _report(
                "SPEC307",
                (item, ("place", "regions", index)),
                f"no cluster is at {quoted(name)}",
                name,
                known.places,
                faults,
            )
    anywhere = known.clusters | set(known.pools) | known.places
    for index, name in enumerate(place.exclude):
        if name not in anywhere:
            summary = f"{quoted(name)} is no cluster, pool or region"
            _report("SPEC307", (item, ("place", "not", index)), summary, name, anywhere, faults)


def _pin(item: Item[Envelope], pin: Pin, known: _Known, faults: Faults) -> None:
    if pin.pool is None:
        return
    _pool(item, ("pin", "pool"), pin.pool, known, faults)
    pool = known.pools.get(pin.pool)
    if pool is None:
        return
    names = set(pool.node_names())
    for name in pin.nodes:
        if name not in names:
            _report(
                "SPEC306",
                (item, ("pin", "nodes")),
                f"the pool {pin.pool} has no node {quoted(name)}",
                name,
                names,
                faults,
            )
    for index, device in enumerate(pin.devices):
        if device >= pool.devices_per_node:
            faults.add(
                "SPEC306", item, ("pin", "devices", index), f"nodes of {pin.pool} have no device {device}",
                help=f"devices are counted from 0 to {pool.devices_per_node - 1}",
            )  # fmt: skip


def _files(spec: Job | Service) -> Iterator[tuple[Path, str]]:
    if spec.template is not None:
        yield ("template",), spec.template
    if isinstance(spec, Service) and spec.load.file is not None:
        yield ("load", "file"), spec.load.file


def _file(item: Item[Envelope], path: Path, name: str, known: _Known, faults: Faults) -> None:
    directory = item.document.file.rpartition("/")[0]
    wanted = f"{directory}/{name}" if directory else name
    if wanted not in known.paths:
        near = nearest(
            name, [other.removeprefix(f"{directory}/") for other in known.paths if other.startswith(directory)]
        )
        help_text = f"did you mean {one_of(near)}?" if near else "put the file beside the spec, or correct its name"
        faults.add("SPEC310", item, path, f"there is no file {quoted(name)} beside this one", help=help_text)


def _report(
    code: str, where: tuple[Item[Envelope], Path], summary: str, name: str, known: set[str], faults: Faults
) -> None:
    help_text = did_you_mean(name, sorted(known)) or "declare it, or correct the reference"
    faults.add(code, *where, summary, help=help_text)
