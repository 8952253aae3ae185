"""One apply: judge the steps, write down what may be there, then do one step after the other and tell the journal.

Killed between any two moments, the next run finds in the inventory and the journal what is certain and what is not,
does what is uncertain again, and goes on. Nothing here decides where work runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from planner.apply.backend import Backend
from planner.apply.item import Action, Item, Presence, Record, Step
from planner.apply.journal import Done
from planner.apply.lease import Held
from planner.apply.state import Known, State
from planner.apply.steps import Steps, steps_to
from planner.diagnostics import Blocked, Diagnostic, PartlyApplied, PlannerError, Severity, quoted
from planner.plan import Plan
from planner.safety import Breach, protection

_NAMED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be applied: the plan, its objects, the clusters in order, and the back end of each.

    `again` is the command that goes on after a failure, `adopts` says that objects of others may become ours.
    """

    plan: Plan
    items: tuple[Item, ...]
    clusters: tuple[str, ...]
    backends: Mapping[str, Backend]
    again: str
    adopts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done: the steps of this run, what an earlier run had done of it, and namespaces that were left."""

    steps: tuple[Step, ...] = ()
    resumed: int = 0
    left: tuple[Record, ...] = ()


def todo(request: Request, known: Known) -> Steps:
    """The steps of an apply; raises `PlannerError` for objects of clusters that no back end is known for."""
    found = steps_to(request.items, known.records, request.clusters)
    unknown = sorted({step.record.cluster for step in found.steps} - set(request.backends))
    if unknown:
        raise PlannerError(
            f"the cluster {quoted(unknown[0])} is in the inventory and no longer in the specs, so that nobody knows"
            " how to reach it; remove its pools and work first, apply, then the cluster"
        )
    return found


def removals_of_protected(found: Steps) -> tuple[Breach, ...]:
    """The steps that would remove what is protected, also where the spec that said so is gone."""
    return tuple(_breaches(found.steps))


def _breaches(steps: Sequence[Step]) -> Iterator[Breach]:
    for step in steps:
        if step.action is Action.REMOVE and step.record.protected:
            for address in step.record.addresses or (step.record.key,):
                yield protection(address, f"it removes {step.record.key}", "noted when it was applied")


def calls(request: Request, found: Steps) -> Iterator[tuple[Step, tuple[str, ...]]]:
    """Each step with the calls that it would make."""
    return ((step, request.backends[step.record.cluster].describe(step)) for step in found.steps)


def apply(
    request: Request, state: State, known: Known, lease: Held, tell: Callable[[Step], None] = lambda _: None
) -> Outcome:
    """Do all that is to be done; `tell` hears of each step once it is done.

    Every call is spelled out before the first is made, so that one which is refused changes nothing. Raises `Blocked`
    for objects that others own, `PartlyApplied` when a step fails after others were done, `PlannerError` when the first
    one fails, and `Busy` when the lock was lost.
    """
    found = todo(request, known)
    records = dict(known.records)
    if found.steps or not known.complete:
        tuple(calls(request, found))
        _refuse_others(request, found, known)
        lease.check()
        writer = state.begin(known, found, request.plan.digest)
        for step in found.steps:
            _do(request, found, step, known, lease)
            _note(records, step)
            writer.add(Done(key=step.record.key, record=step.result))
            tell(step)
    lease.check()
    state.finish(request.plan, _final(records, request.items))
    return Outcome(steps=found.steps, resumed=known.finished, left=found.left)


def _do(request: Request, found: Steps, step: Step, known: Known, lease: Held) -> None:
    lease.check()
    try:
        request.backends[step.record.cluster].perform(step)
    except (PlannerError, OSError) as error:
        raise _stopped(request, found, step, known, str(error)) from None


def _note(records: dict[str, Record], step: Step) -> None:
    if step.result is None:
        records.pop(step.record.key, None)
    else:
        records[step.record.key] = step.result


def _final(records: Mapping[str, Record], items: Sequence[Item]) -> dict[str, Record]:
    """The records of what is there, with what the inventory notes beside the objects themselves, such as protection."""
    return {**records, **{item.key: item.record for item in items}}


def _refuse_others(request: Request, found: Steps, known: Known) -> None:
    """Raise `Blocked` where an object that is to be made is there already and not in the inventory."""
    fresh = [step.item for step in found.steps if step.item and step.record.key not in known.records]
    taken: list[str] = []
    for cluster, items in groupby(fresh, key=lambda item: item.record.cluster):
        presence = request.backends[cluster].presence(items)
        taken += [
            f"{key} ({'marked as ours' if whose is Presence.OURS else 'of another owner'})"
            for key, whose in presence.items()
            if whose is not Presence.ABSENT
        ]
    if taken and not request.adopts:
        raise Blocked(
            diagnostics=[
                Diagnostic(
                    code="PLAN704",
                    severity=Severity.ERROR,
                    summary=f"{len(taken):,} objects exist and are not in our inventory: {_listed(sorted(taken))}",
                    help=f"nothing was applied; if they are to become ours: {request.again} --adopt",
                )
            ]
        )


def _listed(words: Sequence[str]) -> str:
    more = f"; and {len(words) - _NAMED:,} more" if len(words) > _NAMED else ""
    return "; ".join(words[:_NAMED]) + more


def _stopped(request: Request, found: Steps, step: Step, known: Known, why: str) -> PlannerError:
    """The failure of a step: what is done, what is not, and the next command; 7 once anything was done, else 1."""
    done, missing = step.number + known.finished, found.steps[step.number :]
    kind = PartlyApplied if done else PlannerError
    counts = f"{done:,} steps are done; {len(missing):,} are not: {_listed([item.sentence for item in missing])}"
    return kind(
        diagnostics=[
            Diagnostic(
                code="PLAN703",
                severity=Severity.ERROR,
                summary=f"{step.sentence}: {why}",
                help=f"{counts}\nonce it is mended, this goes on from there: {request.again}",
            )
        ]
    )
