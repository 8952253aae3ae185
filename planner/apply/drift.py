"""Live against lock: what the clusters have otherwise than the applied plan says, and what runs otherwise than planned.

Nothing is put right here. Objects are compared by their back ends, runs by a Snapshot of now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from planner.apply.backend import Backend
from planner.apply.item import Departure, Item, Standing
from planner.apply.staleness import overtaken
from planner.clock import format_time, parse_time
from planner.diagnostics import PlannerError
from planner.plan import Placement, Plan
from planner.spec.snapshot import Running, Snapshot


class Kind(StrEnum):
    """How reality departs from the plan, in the order in which it is told."""

    UNREACHED = "unreached"
    LATE = "late"
    OVERRUN = "overrun"
    EARLY = "early"
    ELSEWHERE = "elsewhere"
    LOST = "lost"
    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"


_RANKS = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """One thing that is not as planned: what is meant (an address, an object, a cluster), and both sides of it."""

    kind: Kind
    subject: str
    cluster: str = ""
    field: str = ""
    planned: str = ""
    seen: str = ""

    @property
    def key(self) -> tuple[int, str, str, str]:
        """The total order: by kind, then by what is meant."""
        return _RANKS[self.kind], self.cluster, self.subject, self.field


def in_order(found: Iterable[Drifted]) -> tuple[Drifted, ...]:
    """All that drifted, each once, as it is told."""
    return tuple(sorted(dict.fromkeys(found), key=lambda item: item.key))


def of_objects(
    plan: Plan, items: Iterable[Item], backends: Mapping[str, Backend], *, at: int, snapshot: Snapshot | None = None
) -> Iterator[Drifted]:
    """Objects that are missing, changed or nobody's; a cluster that does not answer is told, not taken as empty.

    Objects of work that is over may be gone.
    """
    wanted = tuple(items)
    over = frozenset(_over(plan, at, snapshot))
    for cluster, backend in sorted(backends.items()):
        own = [item for item in wanted if item.record.cluster == cluster]
        addresses = {item.key: frozenset(item.record.addresses) for item in own if item.record.is_workload}
        try:
            for found in backend.departures(cluster, own):
                if found.standing is not Standing.MISSING or not (addresses.get(found.key) or {""}) <= over:
                    yield _drifted(cluster, found)
        except (PlannerError, OSError) as error:
            yield Drifted(kind=Kind.UNREACHED, subject=f"cluster/{cluster}", cluster=cluster, seen=str(error))


def _drifted(cluster: str, found: Departure) -> Drifted:
    return Drifted(
        kind=Kind(found.standing.value), subject=found.key, cluster=cluster, field=found.field, planned=found.planned,
        seen=found.seen,
    )  # fmt: skip


def _over(plan: Plan, at: int, snapshot: Snapshot | None) -> Iterator[str]:
    """Addresses of work that has ended, as planned or as seen."""
    yield from (placement.address for placement in plan.placements if _seconds(placement.segments[-1].end) <= at)
    if snapshot is not None:
        yield from (f"job/{item.job}" for item in snapshot.finished)


def of_runs(plan: Plan, snapshot: Snapshot, *, at: int) -> Iterator[Drifted]:
    """Work that runs at another time or place than planned, is lost to dead nodes, or runs unplanned.

    Less than a slot of the plan early or late is as planned.
    """
    running = {f"job/{item.job}": item for item in snapshot.running}
    ended = {f"job/{item.job}" for item in snapshot.finished}
    for placement in plan.placements:
        if (live := running.get(placement.address)) is not None:
            yield from _of_running(placement, live, plan.inputs.slot_seconds, at)
        elif placement.address not in ended:
            yield from _of_waiting(placement, plan.inputs.slot_seconds, at)
    for item in overtaken(plan, snapshot, at):
        subject = item.field.removeprefix("placements[").removesuffix("]")
        if subject not in ended:
            yield Drifted(kind=Kind.LOST, subject=subject, planned=item.planned, seen=item.seen)
    placed = {placement.address for placement in plan.placements}
    for address, live in sorted(running.items()):
        if address not in placed:
            yield Drifted(
                kind=Kind.EXTRA, subject=address, seen=f"it runs on {_where(live)}; the plan has no run of it"
            )


def _of_running(placement: Placement, live: Running, slot: int, at: int) -> Iterator[Drifted]:
    first, last = placement.segments[0], placement.segments[-1]
    begins, ends = _seconds(first.start), _seconds(last.end)
    began = f"it began at {format_time(live.started_at)}"
    if abs(live.started_at - begins) >= slot and not any(
        abs(live.started_at - _seconds(part.start)) < slot for part in placement.segments
    ):
        kind = Kind.LATE if live.started_at > begins else Kind.EARLY
        if kind is Kind.LATE or at < begins:
            yield Drifted(kind=kind, subject=placement.address, field="start", planned=first.start, seen=began)
    if at - ends >= slot:
        seen = f"it still runs at {format_time(at)}, {live.done} done"
        yield Drifted(kind=Kind.OVERRUN, subject=placement.address, field="finish", planned=last.end, seen=seen)
    places = {(part.pool, node.name) for part in placement.segments for node in part.nodes}
    if live.nodes and not {(live.pool, node.name) for node in live.nodes} <= places:
        planned = ", ".join(f"{pool}/{node}" for pool, node in sorted(places))
        yield Drifted(kind=Kind.ELSEWHERE, subject=placement.address, field="nodes", planned=planned, seen=_where(live))


def _of_waiting(placement: Placement, slot: int, at: int) -> Iterator[Drifted]:
    """Work that pauses between two segments waits as planned."""
    begun = [part for part in placement.segments if _seconds(part.start) <= at]
    pauses = 0 < len(begun) < len(placement.segments) and _seconds(begun[-1].end) <= at
    if begun and not pauses and at - _seconds(begun[-1].start) >= slot:
        seen = f"it has not begun at {format_time(at)}"
        yield Drifted(kind=Kind.LATE, subject=placement.address, field="start", planned=begun[-1].start, seen=seen)


def _where(live: Running) -> str:
    return ", ".join(f"{live.pool}/{node.name}" for node in live.nodes) or live.pool


def _seconds(text: str) -> int:
    return parse_time(text, "UTC")
