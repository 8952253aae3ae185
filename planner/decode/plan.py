"""The whole way back: a compiled problem and its solution become a sealed plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.decode.interruptions import moves, preemptions
from planner.decode.layouts import layouts
from planner.decode.placed import placed
from planner.decode.placements import placements, seats_of
from planner.decode.reasons import unplaced
from planner.decode.schedule import schedules
from planner.decode.services import is_borne, services
from planner.decode.totals import costs, prices, utilisation
from planner.plan import Inputs, Note, Parameters, Plan, ServicePlan, Status, sealed
from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.problem import Compiled
    from planner.diagnostics import Diagnostic
    from solvers.solution import Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a plan comes from and what it was told, as far as the problem does not say it."""

    parameters: Parameters
    planner_version: str
    solver_version: str
    commit: str | None = None
    dirty: bool = False
    previous_digest: str | None = None
    snapshot_digest: str | None = None
    relevant: tuple[str, ...] = ()


def decoded(
    compiled: Compiled, solution: Solution, provenance: Provenance, warnings: Iterable[Diagnostic] = ()
) -> Plan:
    """The plan that a checked solution means."""
    runs = placed(compiled, solution)
    left_out, lacking = unplaced(compiled, runs)
    seats = seats_of(compiled, runs)
    serving = services(compiled, runs, seats, lacking)
    return sealed(
        Plan(
            inputs=_inputs(compiled, provenance),
            status=_status(compiled, solution, frozenset(each.address for each in left_out), serving),
            placements=placements(compiled, runs, seats),
            services=serving,
            unplaced=left_out,
            quota=schedules(compiled, runs),
            preemptions=preemptions(compiled, runs),
            moves=moves(compiled, runs),
            prices=prices(compiled, solution),
            layouts=layouts(compiled),
            utilisation=utilisation(compiled, runs),
            costs=costs(compiled, runs),
            diagnostics=_notes(tuple(warnings)),
        )
    )


def remarked(plan: Plan, warnings: Iterable[Diagnostic]) -> Plan:
    """`plan` with warnings that only the finished plan shows, sealed anew."""
    told = (*plan.diagnostics, *_notes(tuple(warnings)))
    notes = tuple(sorted(told, key=lambda note: (note.code, note.subject, note.message)))
    return sealed(plan.model_copy(update={"diagnostics": notes})) if notes != plan.diagnostics else plan


def _inputs(compiled: Compiled, provenance: Provenance) -> Inputs:
    return Inputs(
        specs_digest=compiled.specset.digest,
        commit=provenance.commit,
        dirty=provenance.dirty,
        snapshot_digest=provenance.snapshot_digest,
        relevant=provenance.relevant,
        previous_digest=provenance.previous_digest,
        start=format_time(compiled.horizon.start),
        slot_seconds=compiled.horizon.slot_seconds,
        slots=compiled.horizon.slots,
        timezone=compiled.specset.policy.timezone,
        slot_reason=compiled.horizon.reason or None,
        parameters=provenance.parameters,
        planner_version=provenance.planner_version,
        solver_version=provenance.solver_version,
    )


def _status(compiled: Compiled, solution: Solution, left_out: frozenset[str], serving: Sequence[ServicePlan]) -> Status:
    """Complete: what must run and may start in the horizon has a place, all can run, and every load is borne."""
    missing = [
        work
        for work in compiled.works
        if work.address in left_out and not work.later and (work.job.must_be_placed or not work.offered)
    ]
    return Status(
        complete=not missing and all(is_borne(each) for each in serving),
        proof=solution.proof.value,
        value_micros=solution.value_micros,
        bound_micros=solution.bound_micros,
        gap_micros=solution.gap_micros,
        gap_ppm=solution.gap_ppm,
    )


def _notes(warnings: Sequence[Diagnostic]) -> tuple[Note, ...]:
    notes = {
        Note(code=each.code, subject=each.address, message=each.summary, fix=each.help.partition("\n")[0] or None)
        for each in warnings
    }
    return tuple(sorted(notes, key=lambda note: (note.code, note.subject, note.message)))
