"""The solver's answer joined with what it means: each run with its work, mode and candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.fleet import FleetPool
    from planner.compile.problem import Compiled
    from planner.compile.tasks import Work
    from solvers.problem import Mode, Task
    from solvers.solution import Run, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One run of one task, by its position in the problem; `leads`: it goes on until it is interrupted."""

    at: int
    work: Work
    task: Task
    mode: Mode
    candidate: Candidate
    run: Run
    leads: bool = False

    @property
    def pool(self) -> FleetPool:
        """The pool that it runs in."""
        return self.candidate.site.pool

    @property
    def goes_on(self) -> bool:
        """Whether it runs when the plan starts and goes on where it is."""
        now = self.work.standing
        return now is not None and now.goes_on and self.run.mode == 0

    @property
    def slots(self) -> int:
        """How many slots it takes, those after the horizon included."""
        return self.run.end - self.run.start

    @property
    def cash_micros(self) -> int:
        """What a cloud bills for the whole run."""
        return self.mode.cash_micros * self.slots

    @property
    def power_micros(self) -> int:
        """What the power of the whole run costs; expected losses and preferences are no power."""
        return (self.mode.power_micros - self.candidate.extra_micros_per_slot) * self.slots

    def inside(self, slots: int) -> int:
        """How many of its slots lie within the horizon."""
        return min(self.run.end, slots) - self.run.start


def placed(compiled: Compiled, solution: Solution) -> tuple[Placed, ...]:
    """Every run, in order of task."""
    return tuple(
        Placed(
            at=assignment.task,
            work=compiled.works[assignment.task],
            task=compiled.problem.tasks[assignment.task],
            mode=compiled.problem.tasks[assignment.task].modes[run.mode],
            candidate=compiled.works[assignment.task].candidates[run.mode],
            run=run,
            leads=run is not assignment.runs[-1],
        )
        for assignment in solution.assignments
        for run in assignment.runs
    )
