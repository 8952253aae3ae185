"""Files to import, told apart by what is in them: scripts of sbatch, manifests, compose projects; YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from planner import yamlio
from planner.diagnostics import SpecError, UsageError
from planner.discovery.found import Text
from planner.discovery.imports.batch import is_script, script
from planner.discovery.imports.compose import is_project, project
from planner.discovery.imports.imported import ImportWish, Result, named_apart
from planner.discovery.imports.manifests import cleaned, key_of, manifests
from planner.discovery.kubernetes.objects import Thing, things
from planner.discovery.models import Models
from planner.source import SourceFile

_LIVE: Final = ("status", "resourceVersion", "managedFields")


def imported(files: Iterable[Text], wish: ImportWish, models: Models) -> tuple[Result, ...]:
    """Import every workload in some files, in the order of the files' names; their own order does not matter."""
    ordered = sorted(files, key=lambda each: each.name)
    results: list[Result] = [script(each.name, each.data, wish, models) for each in ordered if is_script(each.data)]
    found: dict[str, Thing] = {}
    originals: dict[str, bytes] = {}
    for text in (each for each in ordered if not is_script(each.data)):
        trees = _trees(text)
        results += [one for tree in trees if is_project(tree) for one in project(text.name, tree, wish)]
        mine = [thing for tree in trees if not is_project(tree) for thing in _objects(text.name, tree)]
        found |= {key_of(thing): thing for thing in mine}
        if len(mine) == len(trees) == 1 and _is_as_written(mine[0]) and not _is_json(text):
            originals[key_of(mine[0])] = text.data
    return named_apart([*results, *manifests((found[key] for key in sorted(found)), wish, models, originals)])


def _is_as_written(thing: Thing) -> bool:
    """Whether an object holds nothing that must not be copied: what a cluster added, and values of variables."""
    return cleaned(thing.tree) == thing.tree and not any(key in thing.tree for key in _LIVE)


def _is_json(text: Text) -> bool:
    return text.data.lstrip().startswith(b"{")


def _trees(text: Text) -> list[Any]:
    """The documents of a file."""
    if _is_json(text):
        try:
            return [json.loads(text.data)]
        except (ValueError, RecursionError) as error:
            raise UsageError(f"'{text.name}' is not JSON: {error}") from None
    documents, faults = yamlio.read(SourceFile(text.name, text.data), every_key=True)
    if faults:
        raise SpecError(faults)
    return [document.value for document in documents if document.value is not None]


def _objects(name: str, tree: Any) -> tuple[Thing, ...]:
    if not isinstance(tree, dict) or "apiVersion" not in tree:
        raise UsageError(f"'{name}' is neither a manifest of Kubernetes, nor a compose file, nor a script for sbatch")
    return things([Text(name=name, data=json.dumps(tree).encode())])
