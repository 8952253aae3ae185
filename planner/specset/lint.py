"""Lints: specs that are legal but probably not what is meant, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from planner import units
from planner.catalog import Vendor, vendors, vendors_named_in
from planner.diagnostics import quoted
from planner.spec.job import Job
from planner.spec.service import Service
from planner.spec.work import Link, Market
from planner.specset import fit
from planner.specset.faults import Faults, Item
from planner.specset.tree import Tree
from planner.units import ceil_div
from planner.yamlio import Path

HOST_MEMORY_FACTOR = 4
LONGEST_CHECKPOINT = units.Duration(30 * 60_000)


def lint(tree: Tree, faults: Faults) -> None:
    """Warn about what is legal in a tree but probably not meant."""
    _pools(tree, faults)
    fleet = fit.classes(tree)
    _precision(tree, faults)
    for item in tree.work():
        for path, image, vendor in _images(item.spec):
            _image(item, path, image, vendor, faults)
        _host_memory(item, fleet, faults)
        _link(item, fleet, faults)
        if isinstance(item.spec, Job):
            _checkpoint(item, item.spec, faults)


def _images(spec: Job | Service) -> Iterator[tuple[Path, str, Vendor]]:
    """Every image with its vendor, and the path to what names the image."""
    own = (spec.gpus.vendor if spec.gpus else None) or Vendor.NVIDIA
    if not spec.variants and spec.image is not None:
        yield ("image",), spec.image, own
    for index, variant in enumerate(spec.variants):
        image = variant.image or spec.image
        if image is not None:
            path: Path = ("variants", index, "image") if variant.image else ("image",)
            yield path, image, variant.vendor or (variant.gpus.vendor if variant.gpus else None) or own


def _pools(tree: Tree, faults: Faults) -> None:
    for item in tree.clusters:
        for index, pool in enumerate(item.spec.pools):
            absent = [name for name in ("cpus", "memory") if getattr(pool, name) is None]
            if absent:
                faults.warn(
                    "LINT507", item, ("pools", index), f"the pool {pool.name!r} does not state {' and '.join(absent)}",
                    help=f"add {' and '.join(f'{name}:' for name in absent)} per node, else plans do not check it",
                )  # fmt: skip


def _image(item: Item[Job] | Item[Service], path: Path, image: str, vendor: Vendor, faults: Faults) -> None:
    named = vendors_named_in(image, tuple(vendors().values()))
    if named and vendor not in named:
        words = ", ".join(vendors()[vendor].image_words)
        tags = f" (its tags say {words})" if words else ""
        summary = f"the image {quoted(image)} looks made for {' and '.join(named)}, but runs on {vendor}"
        help_text = f"use an image for {vendor}{tags}, or correct the vendor"
        faults.warn("LINT506", item, path, summary, help=help_text)


def _host_memory(item: Item[Job] | Item[Service], fleet: tuple[fit.Class, ...], faults: Faults) -> None:
    """Loaders and checkpoints of training pass through host memory: four times that of the devices is what serves."""
    spec = item.spec
    if not isinstance(spec, Job) or (spec.memory is None and spec.memory_per_gpu is None):
        return
    for variant in spec.ways():
        wish = fit.wish_of(spec, variant)
        sized = [one for one in fit.candidates(wish, fleet) if one.memory_mib]
        if not sized or not wish.count or wish.share or wish.partition or wish.share_memory_mib:
            continue
        one = min(sized, key=lambda one: one.memory_mib or 0)
        per_node = ceil_div(wish.count, wish.nodes or ceil_div(wish.count, one.per_node))
        per_device = spec.memory_per_gpu.mib * per_node if spec.memory_per_gpu else 0
        given = variant.memory.mib if variant.memory else per_device
        device = (one.memory_mib or 0) * per_node
        if given and given < HOST_MEMORY_FACTOR * device:
            _tell_host_memory(item, given, device, f"{per_node} x {one.accelerator.slug}", faults)
            return


def _tell_host_memory(item: Item[Job] | Item[Service], given: int, device: int, what: str, faults: Faults) -> None:
    has, least = units.Memory(given), units.Memory(HOST_MEMORY_FACTOR * device)
    summary = f"host memory {has} per node is below {HOST_MEMORY_FACTOR} x {units.Memory(device)}, the memory of {what}"
    help_text = f"data loaders and checkpoints need room: write at least {least} per node, or leave it out"
    path = ("memory",) if item.spec.memory else ("memory_per_gpu",)
    faults.warn("LINT502", item, path, summary, help=help_text)


def _checkpoint(item: Item[Job], spec: Job, faults: Faults) -> None:
    if spec.checkpoint is None:
        if spec.market.spot is not Market.NEVER:
            spot = f"market: {{spot: {spec.market.spot}}}"
            summary = f"{spot}, but no checkpoint: all work is lost when the machine is taken back"
            help_text = "add checkpoint: {every: 20m}, or write market: {spot: never}"
            faults.warn("LINT508", item, ("market", "spot"), summary, help=help_text)
    elif spec.preemptible and spec.checkpoint.every > LONGEST_CHECKPOINT:
        summary = f"the job may be interrupted, but checkpoints only every {spec.checkpoint.every}"
        help_text = f"up to that much work is lost each time: write at most {LONGEST_CHECKPOINT}, or preemptible: false"
        faults.warn("LINT503", item, ("checkpoint", "every"), summary, help=help_text)


def _link(item: Item[Job] | Item[Service], fleet: tuple[fit.Class, ...], faults: Faults) -> None:
    requests = [(("gpus",), item.spec.gpus)] if item.spec.gpus else []
    requests += [(("variants", index, "gpus"), one.gpus) for index, one in enumerate(item.spec.variants) if one.gpus]  # type: ignore[misc]
    for path, gpus in requests:
        if gpus.link is Link.NONE or gpus.count < 2 or (gpus.nodes is not None and gpus.nodes == gpus.count):
            continue
        index = path[1] if len(path) > 1 else None
        variant = item.spec.variants[index] if isinstance(index, int) else None
        candidates = fit.candidates(fit.wish_of(item.spec, variant), fleet)
        if candidates and all(one.accelerator.linked is False and not one.pool.links for one in candidates):
            models = ", ".join(sorted({one.accelerator.slug for one in candidates}))
            faults.warn(
                "LINT504", item, (*path, "link"), f"the job asks for linked devices, but {models} only have PCIe",
                help="remove link, choose another model, or declare links: in the pool if they are bridged",
            )  # fmt: skip


def _precision(tree: Tree, faults: Faults) -> None:
    """Told once for each model that jobs name: what the catalogue does not know is not told."""
    told: set[str] = set()
    for item in tree.jobs:
        for path, slug in _named_models(item.spec):
            found = tree.catalog.get(slug)
            if found is None or slug in told or found.bf16 is not False:
                continue
            told.add(slug)
            none = "and no fp16 tensor cores either: expect fp32 speed"
            halves = none if found.fp16_tensor is False else "only fp16: scale the loss"
            help_text = "check the precision that the training code uses, or choose a newer model"
            faults.warn("LINT505", item, path, f"{slug} has no bf16, {halves}", help=help_text)


def _named_models(spec: Job) -> Iterator[tuple[Path, str]]:
    if spec.gpus is not None:
        yield from ((("gpus", "model"), slug) for slug in spec.gpus.models)
    for index, variant in enumerate(spec.variants):
        yield from ((("variants", index, "model"), slug) for slug in variant.models)
