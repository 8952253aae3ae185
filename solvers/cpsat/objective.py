"""What a plan is worth, as a sum over the literals of the exact model."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from solvers.cpsat.posters import charged
from solvers.cpsat.rows import AtMost, Rounding, Rows, Term
from solvers.cpsat.variables import Choice, Variables
from solvers.problem import Problem, Row, Task

MOST_LOTS = 1_000
"""How finely the guaranteed units of a row and slot are counted at most."""


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
    done = 0 if mode.lead is None else mode.lead.worth_micros
    worth = done + (task.worth_micros + task.premium_micros - done) * inside // mode.duration
    worth -= (choice.first.cash_micros + choice.first.power_micros) * choice.led
    late = 0 if task.due is None else min(task.worth_micros, task.late_micros * max(0, end - task.due))
    moved = 0 if task.previous is None else task.move_micros * mode.devices
    delay = task.delay_micros * (end - task.since)
    return worth - delay - late - (mode.cash_micros + mode.power_micros) * inside - mode.cost_micros - moved


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
        if row.guarantee is not None and row.bonus_micros:
            for slot, units in enumerate(row.guarantee):
                yield from _bonus(row, units, charged(variables, position, slot), rows)


def _bonus(row: Row, units: int, use: tuple[Term, ...], rows: Rows) -> Iterator[Term]:
    """Count at most `units` of `use` in lots: their common divisor, or so large that there are few enough."""
    units = min(units, sum(term.coefficient for term in use))
    if units <= 0:
        return
    lot = gcd(units, *(term.coefficient for term in use))
    if units // lot > MOST_LOTS:
        lot = -(-units // MOST_LOTS)
        rows.exact = False
    # Relaxed, a lot counts once it has begun; restricted, once it is full.
    spare = lot - 1 if rows.rounding is Rounding.RELAX else 0
    lots = rows.model.new_int_var(0, (units + spare) // lot, f"bonus {row.subject}")
    count = Term(coefficient=lot, variable=lots, most=(units + spare) // lot)
    taken = (Term(coefficient=-each.coefficient, variable=each.variable) for each in use)
    rows.post(f"bonus/{row.subject}", AtMost(terms=(count, *taken), upper=spare))
    yield Term(coefficient=row.bonus_micros * lot, variable=lots, most=count.most)
