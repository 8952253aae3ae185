"""From files to a SpecSet, stage by stage; each stage reports all its errors before the next is not tried."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from planner import catalog, yamlio
from planner.clock import zone_of
from planner.diagnostics import Diagnostic, Place, Severity, ordered
from planner.names import Address
from planner.source import SUFFIXES, SourceFile
from planner.spec.envelope import Envelope
from planner.specset import checks
from planner.specset.faults import Faults, Item
from planner.specset.lint import lint
from planner.specset.model import LoadResult, SpecSet, digest_of
from planner.specset.resolve import resolve
from planner.specset.shape import shaped
from planner.specset.tree import Tree, gather

S = TypeVar("S", bound=Envelope)


def load(files: Iterable[SourceFile]) -> LoadResult:
    """Read, resolve and check a tree of specs.

    The order of `files` does not matter. The result has a SpecSet unless there are errors; warnings come with it. Files
    that a spec names as its template or load are kept as attachments and not read as specs.
    """
    with _quick():
        return _load(sorted(files, key=lambda file: file.path))


def _load(files: Sequence[SourceFile]) -> LoadResult:
    items, attachments, found = _read(files)
    if any(item.is_error for item in found):
        return LoadResult(None, ordered(found))
    faults = Faults()
    tree = gather(items, catalog.load(), faults)
    if not faults.stop:
        tree = resolve(tree, faults, frozenset(file.path for file in files))
    if not faults.stop:
        checks.check(tree, faults)
    if not faults.stop:
        lint(tree, faults)
    diagnostics = ordered([*found, *faults.found])
    if faults.stop:
        return LoadResult(None, diagnostics)
    return LoadResult(_specset(tree, attachments), diagnostics)


@contextmanager
def _quick() -> Iterator[None]:
    """Hundreds of thousands of nodes are made and none is garbage: do not look for it meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read(files: Sequence[SourceFile]) -> tuple[list[Item[Envelope]], tuple[tuple[str, bytes], ...], list[Diagnostic]]:
    read = {file.path: yamlio.read(file) for file in files if file.path.endswith(SUFFIXES)}
    documents = [document for found, _ in read.values() for document in found]
    named = {path for document in documents for path in _named(document)}
    diagnostics = [fault for path, (_, faults) in read.items() if path not in named for fault in faults]
    diagnostics += [_empty(path) for path, (found, faults) in read.items() if not faults and _is_empty(found)]
    documents = [document for document in documents if document.file not in named and document.value is not None]
    zone = _policy_zone(documents)
    items: list[Item[Envelope]] = []
    for document in documents:
        item, faults = shaped(document, _own_zone(document.value) or zone)
        diagnostics += faults
        if item:
            items.append(item)
    return items, tuple((file.path, file.text) for file in files if file.path in named), diagnostics


def _named(document: yamlio.Document) -> Iterator[str]:
    """Paths of the files that a document names: its template, and the file of its load."""
    value = document.value
    if not isinstance(value, dict) or value.get("kind") not in ("Job", "Service"):
        return
    directory = document.file.rpartition("/")[0]
    load_value = value.get("load")
    for name in (value.get("template"), load_value.get("file") if isinstance(load_value, dict) else None):
        if isinstance(name, str):
            yield f"{directory}/{name}" if directory else name


def _is_empty(documents: Sequence[yamlio.Document]) -> bool:
    return all(document.value is None for document in documents)


def _empty(path: str) -> Diagnostic:
    return Diagnostic(
        code="LINT501", severity=Severity.WARNING, summary="the file holds no document", place=Place(path, 1, 1, 1),
        help="remove it, or write a spec into it",
    )  # fmt: skip


def _policy_zone(documents: Sequence[yamlio.Document]) -> str:
    zones = (
        _own_zone(item.value)
        for item in documents
        if isinstance(item.value, dict) and item.value.get("kind") == "Policy"
    )
    return next((zone for zone in zones if zone), "UTC")


def _own_zone(value: Any) -> str | None:
    """The zone that a document states, if it is one: needed before the document itself is read."""
    zone = value.get("timezone") if isinstance(value, dict) and value.get("kind") in ("Policy", "Cluster") else None
    try:
        return zone_of(zone).key if isinstance(zone, str) else None
    except ValueError:
        return None


def _specset(tree: Tree, attachments: tuple[tuple[str, bytes], ...]) -> SpecSet:
    places: dict[Address, Place] = {item.address: item.place() for item in tree.items()}
    for cluster in tree.clusters:
        for index, pool in enumerate(cluster.spec.pools):
            places[Address(f"pool/{cluster.spec.name}/{pool.name}")] = cluster.place("pools", index)
    return SpecSet(
        policy=tree.policy,
        clusters=_specs(tree.clusters),
        teams=_specs(tree.teams),
        quotas=_specs(tree.quotas),
        jobs=_specs(tree.jobs),
        services=_specs(tree.services),
        accelerators=_specs(tree.accelerators),
        snapshots=_specs(tree.snapshots),
        catalog=tree.catalog,
        digest=digest_of(_meaning(tree), attachments),
        attachments=attachments,
        _places=places,
    )


def _meaning(tree: Tree) -> list[Envelope]:
    """What people write, and the policy even where it is the default one; snapshots have hashes of their own."""
    written = [item.spec for item in tree.items() if item is not tree.policy_item and item.spec.kind != "Snapshot"]
    return [tree.policy, *written]


def _specs(items: Sequence[Item[S]]) -> tuple[S, ...]:
    return tuple(item.spec for item in sorted(items, key=lambda item: item.address))
