"""What a plan finds, at the places in the specs where GitHub shows it: work without a place, and work that is late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner.diagnostics import Diagnostic, Place, Severity
from planner.names import without_index
from planner.report.figures import duration_text, plural
from planner.report.naming import array_name

if TYPE_CHECKING:
    from planner.plan import Plan, Reason, Unplaced
    from planner.specset import SpecSet


def findings(plan: Plan, specset: SpecSet) -> tuple[Diagnostic, ...]:
    """One diagnostic a job that does not run, an error where it must, and one a job that is late.

    Elements of an array are told together; the code is that of the first reason.
    """
    return (*_refused(plan, specset), *_late(plan, specset))


def _refused(plan: Plan, specset: SpecSet) -> Iterator[Diagnostic]:
    groups: dict[str, list[Unplaced]] = {}
    for item in plan.unplaced:
        groups.setdefault(without_index(item.address), []).append(item)
    for address, items in sorted(groups.items()):
        reasons = items[0].reasons
        which = "" if len(items) == 1 else f", {plural(len(items), 'element')} of it: {_named(items)}"
        yield Diagnostic(
            code=reasons[0].code if reasons else "no-place",
            severity=Severity.ERROR if _is_required(address, specset) else Severity.WARNING,
            summary=f"does not run{which}{_why(reasons)}",
            address=address,
            place=_place(address, specset),
            help="; ".join(f"{_subject(reason)}{reason.fix}" for reason in reasons if reason.fix),
        )


def _named(items: list[Unplaced]) -> str:
    return array_name(item.address for item in items)


def _why(reasons: tuple[Reason, ...]) -> str:
    texts = [f"{_subject(reason)}{reason.message}" for reason in reasons]
    return f": {'; '.join(texts)}" if texts else ""


def _subject(reason: Reason) -> str:
    return f"{reason.subject}: " if reason.subject else ""


def _late(plan: Plan, specset: SpecSet) -> Iterator[Diagnostic]:
    worst: dict[str, int] = {}
    for item in plan.placements:
        if item.late_seconds:
            address = without_index(item.address)
            worst[address] = max(worst.get(address, 0), item.late_seconds)
    for address, seconds in sorted(worst.items()):
        yield Diagnostic(
            code="late",
            severity=Severity.WARNING,
            summary=f"finishes {duration_text(seconds)} after its deadline",
            address=address,
            place=_place(address, specset),
        )


def _is_required(address: str, specset: SpecSet) -> bool:
    kind, _, key = address.partition("/")
    return kind == "job" and specset.job(key).must_be_placed


def _place(address: str, specset: SpecSet) -> Place | None:
    """Where the spec begins; None when it was not read from a file."""
    try:
        return specset.place(address)
    except KeyError:
        return None
