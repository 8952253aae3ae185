"""The whole exact model of a problem, and how to read a solution from it or hint one to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ortools.sat.python import cp_model

from solvers.cpsat.objective import objective
from solvers.cpsat.posters import POSTERS
from solvers.cpsat.rows import Rounding, Rows
from solvers.cpsat.variables import Choice, Variables, make
from solvers.problem import Problem
from solvers.rules import Rule
from solvers.solution import Assignment, Run, Seat, Solution, run_of_lead


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactModel:
    """`scale` times the objective is never less than the value in micros; `exact`: it means the problem and no less."""

    model: cp_model.CpModel
    variables: Variables
    scale: int
    exact: bool


def build(problem: Problem, rounding: Rounding) -> ExactModel:
    """Create the variables, post every rule under the name `<rule>/<subject>`, and set the objective."""
    model = cp_model.CpModel()
    rows = Rows(model=model, rounding=rounding)
    variables = make(problem, rows)
    for rule in Rule:
        for subject, constraint in POSTERS[rule](problem, variables, model):
            rows.post(f"{rule}/{subject}", constraint)
    scale = objective(problem, variables, rows)
    return ExactModel(model=model, variables=variables, scale=scale, exact=rows.exact)


def assignments(variables: Variables, holds: Callable[[cp_model.IntVar], bool]) -> tuple[Assignment, ...]:
    """Read off who runs, when and where; `Run.guaranteed` is left for `solvers.split` to fill."""
    return tuple(
        Assignment(task=choice.task, runs=(*_leads(choice), _run(choice, holds)))
        for choice in variables.choices
        if holds(choice.present)
    )


def _run(choice: Choice, holds: Callable[[cp_model.IntVar], bool]) -> Run:
    start = next(slot for slot, literal in enumerate(choice.starts) if holds(literal))
    seats = tuple(Seat(node=node, part=part) for part, node, literal in choice.sits() if holds(literal))
    return Run(mode=choice.mode_position, start=start, end=start + choice.mode.duration, seats=seats)


def _leads(choice: Choice) -> Iterator[Run]:
    if choice.mode.lead is not None:
        yield run_of_lead(choice.mode.lead)


def add_hint(exact: ExactModel, solution: Solution) -> None:
    """Tell the solver of a plan to start from; what the plan leaves out is hinted to be absent."""
    runs = {assignment.task: assignment.runs[-1] for assignment in solution.assignments if assignment.runs}
    hinted: dict[int, bool] = {}
    for choice in exact.variables.choices:
        run = runs.get(choice.task)
        here = run if run is not None and run.mode == choice.mode_position else None
        hinted[choice.present.index] = here is not None
        for slot, literal in enumerate(choice.starts):
            hinted[literal.index] = here is not None and here.start == slot
        for part, node, literal in choice.sits():
            if literal is not choice.present:
                hinted[literal.index] = here is not None and Seat(node=node, part=part) in here.seats
    for index, hint in hinted.items():
        exact.model.add_hint(exact.model.get_bool_var_from_proto_index(index), hint)
