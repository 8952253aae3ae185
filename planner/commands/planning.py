"""From checked specs to a plan, as `plan` and `diff` both need it: the start, the watch, and the pipeline between."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner import pipeline
from planner.commands import inputs
from planner.commands.watch import watching
from planner.diagnostics import Diagnostic, SpecError, UsageError

if TYPE_CHECKING:
    from planner.plan import Plan
    from planner.spec.snapshot import Snapshot
    from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line asks of a plan beside its specs."""

    at: str | None
    effort: str
    budget: int | None
    colour: str
    snapshot: Snapshot | None = None


def tree_with(path: Path, snapshot: Path | None) -> tuple[SpecSet, Snapshot | None, tuple[Diagnostic, ...]]:
    """The specs at `path` with their warnings, and the snapshot in the file of that name, checked against them."""
    from planner.specset import load, read_tree

    result = inputs.load(path)
    if result.specset is None:
        raise SpecError(result.diagnostics)
    if snapshot is None:
        return result.specset, None, result.diagnostics
    try:
        both = load((*read_tree(path), *read_tree(snapshot)))
    except FileNotFoundError:
        raise UsageError(f"there is no snapshot '{snapshot}'") from None
    if both.specset is None:
        raise SpecError(both.diagnostics)
    found = [item for item in both.specset.snapshots if item not in result.specset.snapshots]
    if len(found) != 1:
        raise UsageError(f"'{snapshot}' holds {len(found)} documents of kind Snapshot; one is expected")
    return result.specset, found[0], result.diagnostics


def previous_plan(lock: Path | None, beside: Path) -> Plan | None:
    """The plan in `lock`; without one, that in the lock beside the specs, if there is any."""
    if lock is None and not beside.exists():
        return None
    return inputs.lock(lock or beside)


def planned(
    specset: SpecSet, wish: Wish, previous: Plan | None, warnings: Iterable[Diagnostic] = ()
) -> tuple[Plan, bool]:
    """Plan `specset`, and say whether Ctrl-C cut it short; `warnings` of its specs become part of the plan."""
    with watching(specset.policy.currency, wish.colour) as watch:
        result = pipeline.plan(
            specset,
            start=started(specset, wish),
            snapshot=wish.snapshot,
            previous=previous,
            effort=wish.effort,
            budget=wish.budget,
            progress=watch.tell,
            stop=watch.stop,
            warnings=warnings,
        )
    return result.plan, watch.stopped


def started(specset: SpecSet, wish: Wish) -> int:
    """When the plan starts, in epoch seconds; `--at now` is the only way by which a clock gets into a plan."""
    from planner.units import parse_time

    if wish.at == "now":
        return int(time.time())
    try:
        at = None if wish.at is None else parse_time(wish.at, specset.policy.timezone)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None
    return pipeline.start_of(specset, at=at, snapshot=wish.snapshot)


def emitted(what: str, specset: SpecSet, wish: Wish, previous: Plan | None) -> str:
    """The problem that the solver would be given, or its solution, as JSON."""
    start = started(specset, wish)
    if what == "problem":
        return pipeline.problem_json(specset, start=start, snapshot=wish.snapshot, previous=previous)
    return pipeline.solution_json(
        specset, start=start, snapshot=wish.snapshot, previous=previous, effort=wish.effort, budget=wish.budget
    )
