"""The reference stage: models become catalogue slugs, Team.defaults are applied, every name is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from planner.catalog import Accelerator, Catalog, Partitioning, PartitionProfile, vendors
from planner.spec.accelerator import AcceleratorSpec, PartitionSpec
from planner.spec.cluster import Cluster, NodePool, Place
from planner.spec.job import Job
from planner.spec.policy import Policy
from planner.spec.service import Service
from planner.spec.team import Quota, TeamDefaults
from planner.spec.work import GpuRequest, TimeByModel, Variant
from planner.specset import defaults, references
from planner.specset.faults import Faults, Item
from planner.specset.modelnames import ModelNames
from planner.specset.tree import Tree
from planner.yamlio import Path

W = TypeVar("W", Job, Service)


def resolve(tree: Tree, faults: Faults, paths: frozenset[str]) -> Tree:
    """The tree with all names resolved; `paths` are those of all files, to look up what specs name beside them."""
    tree = replace(tree, catalog=_extended(tree, faults))
    policy = _policy(tree, faults) if tree.policy_item else None
    tree = replace(tree, policy_item=policy)
    fleet = ModelNames(tree.catalog, ())
    tree = replace(tree, clusters=tuple(_cluster(item, tree.policy.timezone, fleet, faults) for item in tree.clusters))
    names = ModelNames(tree.catalog, tuple(_fleet(tree)))
    tree = replace(tree, quotas=tuple(_quota(item, names, faults) for item in tree.quotas))
    references.check(tree, faults, paths)
    if faults.stop and not names.fleet:
        return tree
    teams = {item.spec.name: item.spec.defaults for item in tree.teams}
    jobs = tuple(_job(_work(item, teams, names, faults)) for item in tree.jobs)
    return replace(
        tree,
        jobs=jobs,
        services=tuple(_service(_work(item, teams, names, faults), names, faults) for item in tree.services),
    )


def _policy(tree: Tree, faults: Faults) -> Item[Policy] | None:
    item = tree.policy_item
    if item is None:
        return None
    slug = ModelNames(tree.catalog, ()).one(item.spec.reference, item, ("reference",), faults)
    return defaults.in_currency(item.changed({"reference": slug} if slug else {}))


def _extended(tree: Tree, faults: Faults) -> Catalog:
    """The shipped catalogue and the models that the tree declares."""
    catalog = tree.catalog
    for item in tree.accelerators:
        try:
            catalog = catalog.extended((_accelerator(item.spec),))
        except ValueError as error:
            sentence = str(error).rstrip(".")
            faults.add(
                "SPEC401",
                item,
                ("name",),
                sentence[0].lower() + sentence[1:],
                help="choose another name, or use the model as it is",
            )
    return catalog


def _accelerator(spec: AcceleratorSpec) -> Accelerator:
    memory = spec.memory.mib if spec.memory else None
    label = vendors()[spec.vendor].product_label_key
    return Accelerator(
        slug=spec.name,
        vendor=spec.vendor,
        title=spec.title or spec.name,
        family=spec.family or "",
        unit=spec.unit,
        memory_mib=memory,
        tdp_milliwatts=spec.power.milliwatts if spec.power else None,
        link=spec.link,
        island=spec.island if spec.island is not None or spec.link else 1,
        speed_ppm=spec.speed_ppm,
        partitioning=_partitioning(spec),
        memory_slots=spec.memory_slots,
        partitions=tuple(_profile(spec, partition, memory) for partition in spec.partitions),
        kubernetes_labels=spec.labels,
        product_label=dict(spec.labels).get(label) if label else None,
        gres_types=spec.gres_types,
        aliases=spec.aliases,
    )


def _partitioning(spec: AcceleratorSpec) -> Partitioning:
    if not spec.partitions:
        return Partitioning.NONE
    placed = any(partition.placements is not None for partition in spec.partitions)
    return Partitioning.INSTANCES if placed else Partitioning.WHOLE_CARD_MODE


def _profile(spec: AcceleratorSpec, partition: PartitionSpec, memory: int | None) -> PartitionProfile:
    slots, slices = spec.memory_slots, partition.memory_slices
    derived = memory * slices // slots if memory and slots and slices else None
    return PartitionProfile(
        name=partition.name.lower(),
        max_instances=partition.max_instances,
        memory_slices=slices,
        memory_slots=slots,
        compute_slices=partition.compute_slices,
        placements=partition.placements,
        memory_modes=tuple(mode.lower() for mode in partition.memory_modes),
        memory_mib=partition.memory.mib if partition.memory else derived,
    )


def _cluster(item: Item[Cluster], zone: str, names: ModelNames, faults: Faults) -> Item[Cluster]:
    spec = item.spec
    pools = tuple(_pool(item, ("pools", index), pool, names, faults) for index, pool in enumerate(spec.pools))
    update: dict[str, Any] = {"pools": pools, "timezone": spec.timezone or zone}
    if "place" not in spec.model_fields_set:
        update["place"] = Place(site=spec.name)
    return item.changed(update)


def _pool(item: Item[Cluster], path: Path, pool: NodePool, names: ModelNames, faults: Faults) -> NodePool:
    groups = []
    for index, group in enumerate(pool.gpus):
        slug = names.one(group.model, item, (*path, "gpus", index, "model"), faults)
        groups.append(group.model_copy(update={"model": slug}) if slug else group)
    return pool.model_copy(update={"gpus": tuple(groups)})


def _fleet(tree: Tree) -> Iterable[tuple[Accelerator, int | None]]:
    for item in tree.clusters:
        for pool in item.spec.pools:
            for group in pool.gpus:
                found = tree.catalog.get(group.model)
                if found:
                    yield found, group.memory.mib if group.memory else found.memory_mib


def _quota(item: Item[Quota], names: ModelNames, faults: Faults) -> Item[Quota]:
    gpus = item.spec.gpus
    if not gpus.models:
        return item
    return item.changed(
        {"gpus": gpus.model_copy(update={"models": _models(gpus.models, item, ("gpus", "model"), names, faults)})}
    )


def _models(texts: tuple[str, ...], item: Item[Any], path: Path, names: ModelNames, faults: Faults) -> tuple[str, ...]:
    single = len(texts) == 1
    slugs = {
        slug
        for index, text in enumerate(texts)
        for slug in names.of_fleet(text, item, path if single else (*path, index), faults)
    }
    return tuple(sorted(slugs))


def _work(item: Item[W], teams: Mapping[str, TeamDefaults], names: ModelNames, faults: Faults) -> Item[W]:
    team = teams.get(item.spec.team)
    if team is not None and team.model_fields_set:
        item = defaults.applied(item, team, faults)
    update: dict[str, Any] = {}
    if item.spec.gpus is not None and item.spec.gpus.models:
        update["gpus"] = _request(item.spec.gpus, item, ("gpus",), names, faults)
    if item.spec.variants:
        update["variants"] = tuple(
            _variant(item, ("variants", index), variant, names, faults)
            for index, variant in enumerate(item.spec.variants)
        )
    if isinstance(item.spec, Job) and item.spec.duration.by_model:
        update["duration"] = _times(item.spec.duration, item, ("duration",), names, faults)
    return item.changed(update)


def _request(gpus: GpuRequest, item: Item[Any], path: Path, names: ModelNames, faults: Faults) -> GpuRequest:
    models = _models(gpus.models, item, (*path, "model"), names, faults)
    return gpus.model_copy(update={"models": models, "vendor": gpus.vendor or _vendor(models, names)})


def _vendor(models: tuple[str, ...], names: ModelNames) -> Any:
    found = {member.vendor for slug in models for member in names.members(slug)}
    return found.pop() if len(found) == 1 else None


def _variant(item: Item[Any], path: Path, variant: Variant, names: ModelNames, faults: Faults) -> Variant:
    update: dict[str, Any] = {}
    if variant.models:
        models = _models(variant.models, item, (*path, "model"), names, faults)
        update = {"models": models, "vendor": variant.vendor or _vendor(models, names)}
    if variant.gpus is not None and variant.gpus.models:
        update["gpus"] = _request(variant.gpus, item, (*path, "gpus"), names, faults)
        update.setdefault("vendor", variant.vendor or update["gpus"].vendor)
    if variant.duration.by_model:
        update["duration"] = _times(variant.duration, item, (*path, "duration"), names, faults)
    return variant.model_copy(update=update) if update else variant


def _times(times: TimeByModel, item: Item[Any], path: Path, names: ModelNames, faults: Faults) -> TimeByModel:
    pairs = {slug: time for text, time in times.by_model for slug in names.known(text, item, (*path, text), faults)}
    return times.model_copy(update={"by_model": tuple(sorted(pairs.items()))})


def _job(item: Item[Job]) -> Item[Job]:
    """A job whose `after` always names the team: `vision/prep`."""
    after = tuple(name if "/" in name else f"{item.spec.team}/{name}" for name in item.spec.after)
    return item.changed({"after": after} if item.spec.after else {})


def _service(item: Item[Service], names: ModelNames, faults: Faults) -> Item[Service]:
    times = item.spec.service_time
    return item.changed(
        {"service_time": _times(times, item, ("service_time",), names, faults)} if times.by_model else {}
    )
