"""The variables of the exact model: for each task and mode when it starts, and on which nodes which part of it sits.

One literal for each slot of the horizon and one for each (part, node) of the pool, legal or not: what is illegal is
forbidden by the rule that forbids it, so that each rule can be switched and named. `columns` counts them beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ortools.sat.python import cp_model

from solvers.cpsat.rows import Equal, Rows, Term
from solvers.problem import Mode, Problem, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One mode of one task: `present` when it runs, `starts[s]` when it starts at slot s, `seats[part][node]`.

    `first` is the task's first mode, in which its lead goes on.
    """

    task: int
    mode_position: int
    mode: Mode
    present: cp_model.IntVar
    starts: tuple[cp_model.IntVar, ...]
    seats: tuple[tuple[cp_model.IntVar, ...], ...]
    first: Mode

    @property
    def led(self) -> int:
        """How many slots the task goes on in its first mode before this one: 0 without a lead."""
        return 0 if self.mode.lead is None else self.mode.lead.slots

    def running(self, slot: int) -> tuple[cp_model.IntVar, ...]:
        """The start literals of which one holds when the run occupies `slot`."""
        return self.starts[max(0, slot - self.mode.duration + 1) : slot + 1]

    def sits(self) -> Iterator[tuple[int, int, cp_model.IntVar]]:
        """Every (part, node, literal)."""
        for part, row in enumerate(self.seats):
            for node, literal in enumerate(row):
                yield part, node, literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """All choices, in order of task and mode."""

    choices: tuple[Choice, ...]
    of_task: tuple[tuple[Choice, ...], ...]
    of_pool: tuple[tuple[Choice, ...], ...]


def columns(problem: Problem) -> int:
    """How many literals `make` would create: starts and seats."""
    return sum(
        problem.slots + len(mode.parts) * len(problem.pools[mode.pool].nodes)
        for task in problem.tasks
        for mode in task.modes
    )


def make(problem: Problem, rows: Rows) -> Variables:
    """Create the variables; a choice is present when it starts, at most once (that a task has one choice is a rule)."""
    of_task = tuple(
        tuple(_choice(problem, rows, position, task, at) for at in range(len(task.modes)))
        for position, task in enumerate(problem.tasks)
    )
    choices = tuple(choice for each in of_task for choice in each)
    of_pool = tuple(
        tuple(choice for choice in choices if choice.mode.pool == pool) for pool in range(len(problem.pools))
    )
    return Variables(choices=choices, of_task=of_task, of_pool=of_pool)


def _choice(problem: Problem, rows: Rows, position: int, task: Task, at: int) -> Choice:
    mode = task.modes[at]
    name = f"{task.name}/{mode.name}"
    nodes = problem.pools[mode.pool].nodes
    present = rows.model.new_bool_var(name)
    starts = tuple(rows.model.new_bool_var(f"{name}@{slot}") for slot in range(problem.slots))
    once = (Term(coefficient=-1, variable=present), *(Term(coefficient=1, variable=literal) for literal in starts))
    rows.post(f"present/{name}", Equal(terms=once))
    # Where there is one node, a part either sits on it or the mode does not run.
    seats = tuple(
        (present,) if len(nodes) == 1 else tuple(rows.model.new_bool_var(f"{name}/{part}/{n.name}") for n in nodes)
        for part in range(len(mode.parts))
    )
    return Choice(
        task=position, mode_position=at, mode=mode, present=present, starts=starts, seats=seats, first=task.modes[0]
    )
