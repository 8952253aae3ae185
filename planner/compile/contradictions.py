"""What snapshots say of running work that cannot be, or cannot be planned with: an error each, never a guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from planner.compile.unsupported import place_of
from planner.diagnostics import Diagnostic, Severity, SpecError
from planner.names import address
from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.fleet import FleetPool
    from planner.compile.foreign import Busy
    from planner.compile.horizon import Horizon
    from planner.compile.tasks import Work
    from planner.specset import SpecSet


def refuse(
    specset: SpecSet, works: Sequence[Work], fleet: Sequence[FleetPool], busy: Sequence[Sequence[Busy]],
    horizon: Horizon,
) -> None:  # fmt: skip
    """Raise `SpecError` with all that snapshots say and that cannot be."""
    again = "take the snapshot again, with what runs stated device by device"
    faults = [
        *(_fault(specset, text, again) for text in _overfull(works, fleet, busy)),
        *(_fault(specset, text, f"plan with --at {moment}") for moment, text in _early(works, horizon)),
    ]
    if faults:
        raise SpecError(faults)


def _fault(specset: SpecSet, summary: str, fix: str) -> Diagnostic:
    where = address("policy", specset.policy.name)
    return Diagnostic(
        code="PLAN614",
        severity=Severity.ERROR,
        summary=summary,
        place=place_of(specset, where),
        address=where,
        help=fix,
    )


def _early(works: Sequence[Work], horizon: Horizon) -> Iterator[tuple[str, str]]:
    """What runs is known from the moment of its snapshot on: a plan cannot start before that."""
    last = max((work.seen.at for work in works if work.seen is not None), default=horizon.start)
    if last > horizon.start:
        moment, start = format_time(last), format_time(horizon.start)
        yield moment, f"the snapshot of what runs is of {moment}, the plan starts at {start}"


def _overfull(works: Iterable[Work], fleet: Sequence[FleetPool], busy: Sequence[Sequence[Busy]]) -> Iterator[str]:
    """A sentence for each node of which more devices are said to be in use than it has."""
    used: dict[tuple[str, str], dict[str, Fraction]] = {}
    for work in works:
        run = work.seen.running if work.seen is not None else None
        for node in run.nodes if run is not None else ():
            held = len(node.devices) * _size(work, run.pool if run else "")
            used.setdefault((run.pool if run else "", node.name), {})[work.address] = held
    for pool, others in zip(fleet, busy, strict=True):
        for name, foreign in zip(pool.nodes, others, strict=True):
            holders = used.get((pool.name, name), {})
            count = sum(holders.values(), Fraction(len(foreign)))
            if count > pool.devices_per_node and pool.is_own:
                whose = ", ".join(sorted(holders)) + (" and others" if foreign else "")
                yield (
                    f"{count} devices of {pool.name}/{name} are said to be in use, of {pool.devices_per_node}:"
                    f" by {whose}"
                )


def _size(work: Work, pool: str) -> Fraction:
    """How much of a device is each that the work holds in a pool."""
    return next((each.size for each in work.candidates if each.site.pool.name == pool), Fraction(1))
