"""What the checker reads from a solution before it judges: the runs that mean anything, and what they charge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solvers.problem import Lead, Mode, Problem, Task
    from solvers.solution import Run, Seat, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A run of an existing task in an existing mode; `seats` are those that name an existing node and part.

    `lead` is what the run is when it only leads to the next run of its task.
    """

    position: int
    task: Task
    run: Run
    mode: Mode
    seats: tuple[Seat, ...]
    lead: Lead | None = None

    @property
    def start(self) -> int:
        """First slot of the run, as claimed."""
        return self.run.start

    @property
    def end(self) -> int:
        """The slot after its last by the duration of the mode or the lead, whatever the run claims."""
        return self.run.start + (self.mode.duration if self.lead is None else self.lead.slots)

    def inside(self, slots: int) -> range:
        """Its slots within the horizon."""
        return range(max(0, self.start), max(0, min(self.end, slots)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The problem, the solution, and those of its runs that mean anything."""

    problem: Problem
    solution: Solution
    placed: tuple[Placed, ...]

    def charged(self) -> tuple[dict[int, int], ...]:
        """For each row, how much each placed run (by its position in `placed`) charges it in each of its slots."""
        rows: tuple[dict[int, int], ...] = tuple({} for _ in self.problem.rows)
        for index, each in enumerate(self.placed):
            for charge in each.mode.charges:
                if charge.amount:
                    rows[charge.row][index] = rows[charge.row].get(index, 0) + charge.amount
        return rows

    def row_use(self) -> list[list[int]]:
        """For each row, the sum of what is charged to it and of what spills into it, slot by slot."""
        spans = [each.inside(self.problem.slots) for each in self.placed]
        use = [
            steps(self.problem.slots, ((spans[at].start, spans[at].stop, amount) for at, amount in amounts.items()))
            for amounts in self.charged()
        ]
        spilling = {at: row.spill for at, row in enumerate(self.problem.rows) if row.spill is not None}
        while spilling:
            waited_for = {spill.row for spill in spilling.values()}
            for at in sorted(spilling.keys() - waited_for):
                spill = spilling.pop(at)
                more = (max(0, have - above) for have, above in zip(use[at], spill.above, strict=True))
                use[spill.row] = [have + excess for have, excess in zip(use[spill.row], more, strict=True)]
        return use


def read(problem: Problem, solution: Solution) -> Case:
    """Keep what refers to existing tasks, modes, nodes and parts; the checks of form report the rest."""
    return Case(problem=problem, solution=solution, placed=tuple(_placed(problem, solution)))


def steps(slots: int, spans: Iterable[tuple[int, int, int]]) -> list[int]:
    """Sum `(start, end, amount)` over the horizon, slot by slot; what lies outside it does not count."""
    changes = [0] * (slots + 1)
    for start, end, amount in spans:
        if max(0, start) < min(end, slots):
            changes[max(0, start)] += amount
            changes[min(end, slots)] -= amount
    return list(accumulate(changes))[:-1]


def lead_of(task: Task, runs: Sequence[Run], at: int) -> Lead | None:
    """The lead that the run at a place among a task's runs is: the first of two, if the other's mode has one."""
    if at or len(runs) != 2 or runs[0].mode or not 0 <= runs[1].mode < len(task.modes):
        return None
    return task.modes[runs[1].mode].lead


def _placed(problem: Problem, solution: Solution) -> Iterator[Placed]:
    for assignment in solution.assignments:
        if not 0 <= assignment.task < len(problem.tasks):
            continue
        task = problem.tasks[assignment.task]
        for at, run in enumerate(assignment.runs):
            if 0 <= run.mode < len(task.modes):
                mode = task.modes[run.mode]
                nodes = len(problem.pools[mode.pool].nodes)
                seats = tuple(s for s in run.seats if 0 <= s.node < nodes and 0 <= s.part < len(mode.parts))
                lead = lead_of(task, assignment.runs, at)
                yield Placed(position=assignment.task, task=task, run=run, mode=mode, seats=seats, lead=lead)
