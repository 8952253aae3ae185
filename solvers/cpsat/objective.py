"""What a plan is worth, as a sum over the literals of the exact model."""

from __future__ import annotations

from collections.abc import Iterator

from solvers.cpsat.posters import charged
from solvers.cpsat.rows import AtMost, Rows, Term
from solvers.cpsat.variables import Choice, Variables
from solvers.problem import Problem, Task


def objective(problem: Problem, variables: Variables, rows: Rows) -> int:
    """Maximise the value of the plan; returns the objective's scale (see `Rows.maximize`)."""
    terms = (
        *_starts(problem, variables),
        *_kept(problem, variables, rows),
        *_bonuses(problem, variables, rows),
    )
    return rows.maximize(tuple(term for term in terms if term.coefficient))


def start_value(problem: Problem, task: Task, choice: Choice, start: int) -> int:
    """What a run from `start` is worth in micros if all its devices have moved, where there was a previous run."""
    mode = choice.mode
    end = start + mode.duration
    inside = min(end, problem.slots) - start
    worth = (task.worth_micros + task.premium_micros) * inside // mode.duration
    late = 0 if task.due is None else min(task.worth_micros, task.late_micros * max(0, end - task.due))
    moved = 0 if task.previous is None else task.move_micros * mode.devices
    delay = task.delay_micros * (end - task.since)
    return worth - delay - late - (mode.cash_micros + mode.power_micros) * inside - moved


def _starts(problem: Problem, variables: Variables) -> Iterator[Term]:
    for choice in variables.choices:
        for slot, literal in enumerate(choice.starts):
            worth = start_value(problem, problem.tasks[choice.task], choice, slot)
            yield Term(coefficient=worth, variable=literal)


def _kept(problem: Problem, variables: Variables, rows: Rows) -> Iterator[Term]:
    """Pay back the move of each device that stays on its node from its slot on."""
    for choice in variables.choices:
        task = problem.tasks[choice.task]
        previous = task.previous
        if previous is None or not task.move_micros or not 0 <= previous.start < problem.slots:
            continue
        if choice.mode.pool != task.modes[previous.mode].pool:
            continue
        begins = choice.starts[previous.start]
        for part, node, literal in choice.sits():
            had = sum(devices for at, devices in previous.nodes if at == node)
            kept = min(choice.mode.parts[part].use[0], had)
            if kept:
                stays = rows.model.new_bool_var(f"{literal.name} stays")
                for needed in (begins, literal):
                    both = (Term(coefficient=1, variable=stays), Term(coefficient=-1, variable=needed))
                    rows.post(f"stays/{task.name}", AtMost(terms=both, upper=0))
                yield Term(coefficient=task.move_micros * kept, variable=stays)


def _bonuses(problem: Problem, variables: Variables, rows: Rows) -> Iterator[Term]:
    """Units charged and guaranteed, by row and slot; the objective pushes them up, so an upper bound is enough."""
    for position, row in enumerate(problem.rows):
        if row.guarantee is None or not row.bonus_micros:
            continue
        for slot, guaranteed in enumerate(row.guarantee):
            use = charged(variables, position, slot)
            most = min(guaranteed, sum(term.coefficient for term in use))
            if most > 0:
                units = rows.model.new_int_var(0, most, f"{row.subject}@{slot}")
                taken = tuple(Term(coefficient=-each.coefficient, variable=each.variable) for each in use)
                inside = (Term(coefficient=1, variable=units, most=most), *taken)
                rows.post(f"bonus/{row.subject}", AtMost(terms=inside, upper=0))
                yield Term(coefficient=row.bonus_micros, variable=units, most=most)
