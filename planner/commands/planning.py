"""From checked specs to a plan, as `plan` and `diff` both need it: the start, the watch, and the pipeline between."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner import pipeline
from planner.commands import inputs
from planner.commands.watch import watching
from planner.diagnostics import UsageError
from planner.names import address, without_index

if TYPE_CHECKING:
    from planner.commands.trees import Given
    from planner.plan import Plan
    from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line asks of a plan beside its specs; `any_effort` takes a recorded plan however it was made."""

    at: str | None
    effort: str
    budget: int | None
    colour: str
    any_effort: bool = False


def previous_plan(lock: Path | None, beside: Path) -> Plan | None:
    """The plan in `lock`; without one, that in the lock beside the specs, if there is any."""
    if lock is None and not beside.exists():
        return None
    return inputs.lock(lock or beside)


def planned(given: Given, wish: Wish, previous: Plan | None) -> tuple[Plan, bool]:
    """Plan what is given, and say whether Ctrl-C cut it short; the warnings of its specs become part of the plan."""
    start = started(given, wish)
    with watching(given.specset.policy.currency, wish.colour) as watch:
        result = pipeline.plan(
            given.waiting(previous, start),
            start=start,
            snapshot=given.snapshot,
            previous=previous,
            effort=wish.effort,
            budget=wish.budget,
            progress=watch.tell,
            stop=watch.stop,
            warnings=given.warnings,
            origin=given.origin,
        )
    return result.plan, watch.stopped


def recorded(given: Given, wish: Wish, previous: Plan | None) -> tuple[Plan, bool]:
    """As `planned`, but `previous` itself where it is the plan of these specs, start and effort already."""
    if previous is not None and _is_plan_of(previous, given, wish):
        return previous, False
    return planned(given, wish, previous)


def _is_plan_of(plan: Plan, given: Given, wish: Wish) -> bool:
    from planner.units import parse_time

    inputs = plan.inputs
    rounded_by = parse_time(inputs.start, "UTC") - started(given, wish)
    return (
        inputs.specs_digest == given.specset.digest
        and 0 <= rounded_by < inputs.slot_seconds
        and (wish.any_effort or (inputs.parameters.effort, inputs.parameters.budget) == (wish.effort, wish.budget))
        and given.snapshot is None
        and inputs.snapshot_digest is None
    )


def started(given: Given, wish: Wish) -> int:
    """When the plan starts, in epoch seconds; `--at now` is the only way by which a clock gets into a plan."""
    from planner.units import parse_time

    if wish.at == "now":
        return int(time.time())
    try:
        at = None if wish.at is None else parse_time(wish.at, given.specset.policy.timezone)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None
    return pipeline.start_of(given.specset, at=at, snapshot=given.snapshot, commit_time=given.committed_at)


def emitted(what: str, given: Given, wish: Wish, previous: Plan | None) -> str:
    """The problem that the solver would be given, or its solution, as JSON."""
    start = started(given, wish)
    specset = given.waiting(previous, start)
    if what == "problem":
        return pipeline.problem_json(specset, start=start, snapshot=given.snapshot, previous=previous)
    return pipeline.solution_json(
        specset, start=start, snapshot=given.snapshot, previous=previous, effort=wish.effort, budget=wish.budget
    )


def renamed(specset: SpecSet, before: Plan) -> dict[str, str]:
    """From an address of the earlier plan to the one that the same job has now, by `formerly`."""
    now = {former: str(address("job", job.team, job.name)) for job in specset.jobs for former in job.formerly}
    found = {}
    addresses = [item.address for item in before.placements] + [item.address for item in before.unplaced]
    for address_before in addresses:
        array = without_index(address_before)
        if array in now:
            found[address_before] = now[array] + address_before[len(array) :]
    return found
