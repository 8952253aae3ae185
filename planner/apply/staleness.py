"""Whether a plan is still the plan of what there is: field by field, each with what it says and what is so."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from planner import relevant
from planner.clock import format_time, parse_time
from planner.diagnostics import Diagnostic, Severity, Stale
from planner.plan import Placement, Plan, Segment
from planner.spec.snapshot import Down, FinishedState, Foreign, Running, Snapshot
from planner.units import Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is so at `at` (epoch seconds), when the plan is to be applied.

    `applied` and `begun` are digests of the plan that is applied and of the one that a run has begun on, if any.
    `goes_back` says that the plan was applied before: then neither its age nor what it follows counts.
    """

    at: int
    specs_digest: str
    planner_version: str
    solver_version: str
    max_plan_age: Duration
    applied: str | None = None
    begun: str | None = None
    goes_back: bool = False
    snapshot: Snapshot | None = None
    snapshot_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One field of the plan that no longer holds."""

    field: str
    planned: str
    seen: str

    @property
    def sentence(self) -> str:
        """The finding for people."""
        return f"{self.field}: the plan says {self.planned}, but {self.seen}"


def refuse_stale(plan: Plan, facts: Facts, advice: str) -> None:
    """Raise `Stale` with every field that no longer holds; `advice` is the command that makes a plan which does."""
    found = tuple(findings(plan, facts))
    if found:
        raise Stale(
            diagnostics=[_diagnostic(item, f"nothing was applied; plan again with: {advice}") for item in found]
        )


def _diagnostic(item: Finding, advice: str) -> Diagnostic:
    return Diagnostic(
        code="PLAN701",
        severity=Severity.ERROR,
        summary=item.sentence,
        path=item.field,
        seen=item.seen,
        expected=item.planned,
        help=advice,
    )


def findings(plan: Plan, facts: Facts) -> Iterator[Finding]:
    """Every field of the plan that no longer holds, in the order in which a plan has them."""
    yield from _of_specs(plan, facts)
    if not facts.goes_back:
        yield from _of_previous(plan, facts)
        yield from _of_time(plan, facts)
    yield from _of_versions(plan, facts)
    yield from _of_snapshot(plan, facts)


def _of_specs(plan: Plan, facts: Facts) -> Iterator[Finding]:
    said = plan.inputs.specs_digest
    if said != facts.specs_digest:
        yield Finding(field="inputs.specs_digest", planned=said, seen=f"the specs are {facts.specs_digest}")
    if plan.inputs.dirty:
        yield Finding(field="inputs.dirty", planned="true", seen="only specs that are committed are applied")


def _of_previous(plan: Plan, facts: Facts) -> Iterator[Finding]:
    """Whether it was made from the plan that is applied: compare and set, so that no change is lost between two."""
    said, current = plan.inputs.previous_digest, {facts.applied, facts.begun} - {None}
    if facts.applied is not None and plan.digest not in current and said not in current:
        seen = f"{facts.applied} is applied"
        yield Finding(field="inputs.previous_digest", planned=said or "it follows none", seen=seen)


def _of_time(plan: Plan, facts: Facts) -> Iterator[Finding]:
    start, most = parse_time(plan.inputs.start, "UTC"), facts.max_plan_age
    if (facts.at - start) * 1_000 > most.milliseconds:
        seen = f"it is {format_time(facts.at)}, more than {most} later (safety.max_plan_age)"
        yield Finding(field="inputs.start", planned=plan.inputs.start, seen=seen)


def _of_versions(plan: Plan, facts: Facts) -> Iterator[Finding]:
    planner, solver = plan.inputs.planner_version, plan.inputs.solver_version
    if _series(planner) != _series(facts.planner_version):
        yield Finding(field="inputs.planner_version", planned=planner, seen=f"this is {facts.planner_version}")
    if solver != facts.solver_version:
        yield Finding(field="inputs.solver_version", planned=solver, seen=f"this has {facts.solver_version}")


def _series(version: str) -> tuple[str, ...]:
    """What has to agree of a version: the major number, and before 1.0 the minor one too."""
    parts = version.split(".")
    return tuple(parts[:2] if parts[0] == "0" else parts[:1])


def _of_snapshot(plan: Plan, facts: Facts) -> Iterator[Finding]:
    said, snapshot = plan.inputs.snapshot_digest, facts.snapshot
    if snapshot is None:
        if said is not None:
            yield Finding(field="inputs.snapshot_digest", planned=said, seen="no snapshot of now is given (--snapshot)")
        return
    age = facts.at - snapshot.taken_at
    if age * 1_000 > facts.max_plan_age.milliseconds:
        seen = f"the snapshot was taken at {format_time(snapshot.taken_at)}, more than {facts.max_plan_age} ago"
        yield Finding(field="inputs.snapshot_digest", planned=said or "it used none", seen=seen)
    if said != facts.snapshot_digest:
        yield from overtaken(plan, snapshot, facts.at)
        yield from _of_relevant(plan, snapshot, facts.at)


def _of_relevant(plan: Plan, snapshot: Snapshot, at: int) -> Iterator[Finding]:
    """Facts that the plan rests on and that are otherwise now; others, and those that only went on, do not count."""
    known, now = relevant.read(plan.inputs.relevant), relevant.facts(snapshot)
    news = frozenset(field for field, digest in now.items() if known.get(field) != digest)
    yield from _of_running(plan, snapshot, news, known.keys())
    yield from _of_ended(plan, snapshot, news)
    for field in sorted(news - known.keys()):
        if field.startswith("markets[") and any(_buys(item, field, at) for item in plan.placements):
            yield Finding(field=field, planned="it gives machines", seen="the snapshot has it without any")


def _of_running(plan: Plan, snapshot: Snapshot, news: Set[str], known: Set[str]) -> Iterator[Finding]:
    """Work that runs otherwise than when it was planned and not as planned either, and work that is gone."""
    placed = {_name(item.address): item for item in plan.placements}
    refused = {_name(item.address) for item in plan.unplaced}
    for item in snapshot.running:
        field = f"running[{item.job}]"
        if field in news and (item.job in refused or not _is_kept(placed.get(item.job), item)):
            planned = "it runs elsewhere or otherwise" if field in known else "it does not run there"
            yield Finding(field=field, planned=planned, seen=f"the snapshot has it on {item.pool}")
    there = {item.job for item in snapshot.running} | {item.job for item in snapshot.finished}
    for field in sorted(known):
        if field.startswith("running[") and field[len("running[") : -1] not in there:
            yield Finding(field=field, planned="it runs", seen="the snapshot has it neither running nor finished")


def _of_ended(plan: Plan, snapshot: Snapshot, news: Set[str]) -> Iterator[Finding]:
    """Work that failed since it was planned to run; what has succeeded is found with what the plan still wants."""
    specs = {_name(item.address): item.spec for item in plan.placements}
    for item in snapshot.finished:
        field = f"finished[{item.job}]"
        if field in news and item.state is FinishedState.FAILED and specs.get(item.job) == item.spec:
            yield Finding(field=field, planned="it had not failed then", seen=f"it failed at {format_time(item.at)}")


def _name(address: str) -> str:
    return address.partition("/")[2]


def _is_kept(placement: Placement | None, live: Running) -> bool:
    """Whether work runs where the plan has it; work that no placement is of is not the plan's affair."""
    nodes = {node.name for node in live.nodes}
    return placement is None or any(
        part.pool == live.pool and nodes <= {node.name for node in part.nodes} for part in placement.segments
    )


def _buys(placement: Placement, field: str, at: int) -> bool:
    """Whether work has yet to begin on the market of a field."""
    return any(
        f"markets[{part.pool} {part.market}]" == field and parse_time(part.start, "UTC") > at
        for part in placement.segments
    )


def overtaken(plan: Plan, snapshot: Snapshot, at: int) -> Iterator[Finding]:
    """What the plan still wants to do and what is there no longer allows; parts that it does not use do not matter."""
    succeeded = {(item.job, item.spec) for item in snapshot.finished if item.state is FinishedState.SUCCEEDED}
    for placement in plan.placements:
        name = placement.address.partition("/")[2]
        if (name, placement.spec) in succeeded:
            seen = "the snapshot says that it has succeeded"
            yield Finding(field=f"placements[{placement.address}]", planned="it runs", seen=seen)
            continue
        for segment in placement.segments:
            if parse_time(segment.end, "UTC") > at:
                yield from _lost(placement.address, segment, snapshot)


def _lost(address: str, segment: Segment, snapshot: Snapshot) -> Iterator[Finding]:
    for what, lists in (("down", snapshot.down), ("foreign", snapshot.foreign)):
        for item in lists:
            for node in sorted(_taken(segment, item)):
                yield Finding(
                    field=f"placements[{address}]",
                    planned=f"it runs on {segment.pool}/{node} from {segment.start}",
                    seen=f"the snapshot has that node {'down' if what == 'down' else 'in use by others'}",
                )


def _taken(segment: Segment, item: Down | Foreign) -> set[str]:
    """Nodes of the segment whose devices `item` takes during it; foreign use without devices takes none of them."""
    if item.pool != segment.pool or (item.until is not None and item.until <= parse_time(segment.start, "UTC")):
        return set()
    seen = {node.name: {device.index for device in node.devices} for node in item.nodes}
    whole = isinstance(item, Down)
    return {
        node.name
        for node in segment.nodes
        if node.name in seen
        and ((whole and not seen[node.name]) or seen[node.name] & {device.index for device in node.devices})
    }
