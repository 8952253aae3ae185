"""Files to import, told apart by what is in them: scripts of sbatch, manifests in YAML, lists in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from planner import yamlio
from planner.diagnostics import SpecError, UsageError
from planner.discovery.found import Text
from planner.discovery.imports.batch import is_script, script
from planner.discovery.imports.imported import ImportWish, Result, named_apart
from planner.discovery.imports.manifests import cleaned, key_of, manifests
from planner.discovery.kubernetes.objects import Thing, mappings, things
from planner.discovery.models import Models
from planner.source import SourceFile

_LIVE = ("status", "resourceVersion", "managedFields")


def imported(files: Iterable[Text], wish: ImportWish, models: Models) -> tuple[Result, ...]:
    """Import every workload in some files, in the order of the files' names; their own order does not matter."""
    ordered = sorted(files, key=lambda each: each.name)
    results: list[Result] = [script(each.name, each.data, wish, models) for each in ordered if is_script(each.data)]
    found: dict[str, Thing] = {}
    originals: dict[str, bytes] = {}
    for text in (each for each in ordered if not is_script(each.data)):
        mine = list(_objects(text))
        found |= {key_of(thing): thing for thing in mine}
        if len(mine) == 1 and _is_as_written(mine[0]) and not text.data.lstrip().startswith(b"{"):
            originals[key_of(mine[0])] = text.data
    return named_apart([*results, *manifests((found[key] for key in sorted(found)), wish, models, originals)])


def _is_as_written(thing: Thing) -> bool:
    """Whether an object holds nothing that must not be copied: what a cluster added, and values of variables."""
    return cleaned(thing.tree) == thing.tree and not any(key in thing.tree for key in _LIVE)


def _objects(text: Text) -> Iterator[Thing]:
    if text.data.lstrip().startswith(b"{"):
        yield from things([text])
        return
    documents, faults = yamlio.read(SourceFile(text.name, text.data), every_key=True)
    if faults:
        raise SpecError(faults)
    for document in documents:
        if document.value is None:
            continue
        if not isinstance(document.value, dict) or "apiVersion" not in document.value:
            raise UsageError(f"'{text.name}' is neither a manifest of Kubernetes nor a script with #SBATCH lines")
        items = [document.value] if "items" not in document.value else mappings(document.value["items"])
        for item in items:
            yield from things([Text(name=text.name, data=json.dumps(item).encode())])
