"""Files to import, told apart by what is in them: scripts of sbatch, manifests, compose projects, accounts of jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from planner import yamlio
from planner.diagnostics import SpecError, UsageError
from planner.discovery.found import Text
from planner.discovery.imports.batch import is_script, script
from planner.discovery.imports.compose import is_project, project
from planner.discovery.imports.imported import ImportWish, Result, named_apart
from planner.discovery.imports.live import Script, queued
from planner.discovery.imports.manifests import Known, cleaned, key_of, manifests
from planner.discovery.kubernetes.objects import Thing, things
from planner.discovery.models import Models
from planner.discovery.past import Run
from planner.discovery.slurm.history import BEGINNING, history
from planner.source import SourceFile

_LIVE: Final = ("status", "resourceVersion", "managedFields")


def imported(
    files: Iterable[Text], wish: ImportWish, models: Models, in_queue: Iterable[Script] = ()
) -> tuple[Result, ...]:
    """Import every workload in some files, in the order of the files' names, and the scripts of a queue.

    Among them may be accounts of jobs that are over, as sacct prints them: they tell how long runs really took.
    """
    ordered = sorted(files, key=lambda each: each.name)
    accounts = [each for each in ordered if each.data.startswith(BEGINNING.encode())]
    wish = replace(wish, past=_past(accounts, wish.past))
    scripts = [each for each in ordered if is_script(each.data)]
    results: list[Result] = [script(each.name, each.data, wish, models) for each in scripts]
    results += queued(in_queue, wish, models)
    found: dict[str, Thing] = {}
    originals: dict[str, bytes] = {}
    for text in (each for each in ordered if each not in accounts and each not in scripts):
        trees = _trees(text)
        results += [one for tree in trees if is_project(tree) for one in project(text.name, tree, wish)]
        mine = [thing for tree in trees if not is_project(tree) for thing in _objects(text.name, tree)]
        found |= {key_of(thing): thing for thing in mine}
        if len(mine) == len(trees) == 1 and _is_as_written(mine[0]) and not _is_json(text):
            originals[key_of(mine[0])] = text.data
    known = Known(models=models, originals=originals)
    return named_apart([*results, *manifests([found[key] for key in sorted(found)], wish, known)])


def _past(accounts: Iterable[Text], metered: Sequence[Run]) -> tuple[Run, ...]:
    """Runs that were accounted for, with what meters say of the same ones, and those that meters alone know."""
    measured = {run.part: run.permille for run in metered}
    booked = [run for text in accounts for run in history(text.data.decode("utf-8", "replace")).runs]
    parts = {run.part for run in booked}
    rest = [run for run in metered if run.part not in parts]
    return (*(replace(run, permille=measured.get(run.part)) for run in booked), *rest)


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
