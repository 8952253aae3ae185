"""One poster a rule: it yields (subject, constraint) pairs, and the model names each `<rule>/<subject>`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ortools.sat.python import cp_model

from solvers.cpsat.nodes import node_capacity
from solvers.cpsat.rows import AtMost, Constraint, Equal, Term
from solvers.cpsat.variables import Choice, Variables
from solvers.problem import Budget, Closure, Mode, Problem, Task
from solvers.rules import Rule

Poster = Callable[[Problem, Variables, cp_model.CpModel], Iterator[tuple[str, Constraint]]]


def _none_of(literals: Iterable[cp_model.IntVar]) -> AtMost:
    return AtMost(terms=_ones(literals), upper=0)


def _ones(literals: Iterable[cp_model.IntVar], coefficient: int = 1) -> tuple[Term, ...]:
    return tuple(Term(coefficient=coefficient, variable=literal) for literal in literals)


def _gang(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for task, choices in zip(problem.tasks, variables.of_task, strict=True):
        yield task.name, AtMost(terms=_ones(choice.present for choice in choices), upper=1)
        for choice in choices:
            for part, row in zip(choice.mode.parts, choice.seats, strict=True):
                whole = Term(coefficient=-part.count, variable=choice.present)
                yield task.name, Equal(terms=(*_ones(row), whole))
            for column in zip(*choice.seats, strict=True):
                yield task.name, AtMost(terms=_ones(column), upper=1)


def _topology(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """A literal for each block and domain says that the block lies there; it has one and shares it with no other."""
    for choice in variables.choices:
        if choice.mode.within is not None:
            name = problem.tasks[choice.task].name
            nodes = problem.pools[choice.mode.pool].nodes
            of_node = [node.domains[choice.mode.within] for node in nodes]
            yield from ((name, constraint) for constraint in _blocks(choice, of_node, model))


def _blocks(choice: Choice, of_node: Sequence[int | None], model: cp_model.CpModel) -> Iterator[Constraint]:
    blocks = sorted({part.block for part in choice.mode.parts})
    domains = sorted({domain for domain in of_node if domain is not None})
    lies = {
        (block, domain): model.new_bool_var(f"{choice.present.name} {block} in {domain}")
        for block in blocks
        for domain in domains
    }
    for block in blocks:
        here = _ones(lies[block, domain] for domain in domains)
        yield Equal(terms=(*here, Term(coefficient=-1, variable=choice.present)))
    for domain in domains:
        yield AtMost(terms=_ones(lies[block, domain] for block in blocks), upper=1)
    for part, node, seat in choice.sits():
        there = (literal for key, literal in lies.items() if key == (choice.mode.parts[part].block, of_node[node]))
        yield AtMost(terms=(*_ones((seat,)), *_ones(there, -1)), upper=0)


def _compatibility(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """Nothing to post: a choice exists for each of a task's own modes and for nothing else."""
    yield from ()


def _availability(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for choice in variables.choices:
        name = problem.tasks[choice.task].name
        if choice.mode.lead is not None:
            nodes = (problem.pools[choice.first.pool].nodes[node] for node, _ in choice.mode.lead.seats)
            if any(max(0, shut.start) < min(choice.led, shut.end) for node in nodes for shut in node.closures):
                yield name, _none_of((choice.present,))
        for node, owner in enumerate(problem.pools[choice.mode.pool].nodes):
            shut = [literal for slot, literal in enumerate(choice.starts) if _meets(choice, slot, owner.closures)]
            if not shut:
                continue
            here = [row[node] for row in choice.seats]
            # Where the seat is the presence itself (a pool of one node), start and seat hold together.
            yield name, _none_of(shut) if here[0] is choice.present else AtMost(terms=_ones((*shut, *here)), upper=1)


def _meets(choice: Choice, start: int, closures: tuple[Closure, ...]) -> bool:
    return any(max(start, shut.start) < min(start + choice.mode.limit, shut.end) for shut in closures)


def _window(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for choice in variables.choices:
        task = problem.tasks[choice.task]
        outside = [literal for slot, literal in enumerate(choice.starts) if not _in_window(task, choice, slot)]
        yield task.name, _none_of(outside)


def _in_window(task: Task, choice: Choice, start: int) -> bool:
    if task.deadline is not None and start + choice.mode.duration > task.deadline:
        return False
    if start < choice.mode.earliest or (choice.mode.latest is not None and start > choice.mode.latest):
        return False
    return task.earliest == task.latest or (task.earliest <= start and (task.latest is None or start <= task.latest))


def _dependency(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """By each slot, what comes after has started only if what comes before has ended; strong in the relaxation."""
    for task, choices in zip(problem.tasks, variables.of_task, strict=True):
        for other in task.after:
            subject = f"{task.name} after {problem.tasks[other].name}"
            for slot in range(problem.slots):
                begun = (literal for choice in choices for literal in choice.starts[: slot + 1])
                ended = (
                    literal
                    for choice in variables.of_task[other]
                    for literal in choice.starts[: max(0, slot - choice.mode.duration + 1)]
                )
                yield subject, AtMost(terms=(*_ones(begun), *_ones(ended, -1)), upper=0)


def _quota(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    into = {row.spill.row for row in problem.rows if row.spill is not None}
    for position, row in enumerate(problem.rows):
        if row.limit is not None and position not in into:
            for slot, limit in enumerate(row.limit):
                yield f"{row.rule}/{row.subject}", AtMost(terms=charged(variables, position, slot), upper=limit)


def _lending(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """What a row has above a level is a variable that only a limit pushes down, so a lower bound of it is enough."""
    into = {row.spill.row for row in problem.rows if row.spill is not None}
    for slot in range(problem.slots):
        terms = {position: list(charged(variables, position, slot)) for position in _spilling(problem)}
        for position, use in terms.items():
            row = problem.rows[position]
            subject = f"{row.rule}/{row.subject}"
            if row.limit is not None and position in into:
                yield subject, AtMost(terms=tuple(use), upper=row.limit[slot])
            if row.spill is not None:
                above = row.spill.above[slot]
                most = max(0, sum(term.coefficient * term.most for term in use) - above)
                excess = model.new_int_var(0, most, f"{subject} above {above}@{slot}")
                yield subject, AtMost(terms=(*use, Term(coefficient=-1, variable=excess, most=most)), upper=above)
                terms[row.spill.row].append(Term(coefficient=1, variable=excess, most=most))


def _spilling(problem: Problem) -> list[int]:
    """The rows that spill or are spilled into, each before the row that it spills into."""
    order: list[int] = []
    left = {at: row.spill.row for at, row in enumerate(problem.rows) if row.spill is not None}
    ends = sorted(set(left.values()) - left.keys())
    while left:
        ready = sorted(left.keys() - left.values())
        order += ready
        left = {at: row for at, row in left.items() if at not in ready}
    return order + ends


def charged(variables: Variables, row: int, slot: int) -> tuple[Term, ...]:
    """What the choices that occupy `slot` count in `row`."""
    return tuple(
        Term(coefficient=amount, variable=literal)
        for choice in variables.choices
        if (amount := sum(charge.amount for charge in choice.mode.charges if charge.row == row))
        for literal in choice.running(slot)
    ) + tuple(
        Term(coefficient=amount, variable=choice.present)
        for choice in variables.choices
        if slot < choice.led and (amount := sum(charge.amount for charge in choice.first.charges if charge.row == row))
    )


def _priority(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """Nothing to post: who holds the guaranteed part is told of a plan, it does not keep a plan from being one."""
    yield from ()


def _budget(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for position, budget in enumerate(problem.budgets):
        spending = [choice for choice in variables.choices if position in problem.tasks[choice.task].budgets]
        terms = tuple(
            Term(coefficient=cash, variable=literal)
            for choice in spending
            for slot, literal in enumerate(choice.starts)
            if (cash := _cash(choice.mode, slot, slot + choice.mode.duration, budget))
        ) + tuple(
            Term(coefficient=cash, variable=choice.present)
            for choice in spending
            if (cash := _cash(choice.first, 0, choice.led, budget))
        )
        yield budget.subject, AtMost(terms=terms, upper=max(0, budget.micros))


def _cash(mode: Mode, start: int, end: int, budget: Budget) -> int:
    return mode.cash_micros * max(0, min(end, budget.end) - max(start, budget.start))


def _market(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for at, pool in enumerate(problem.pools):
        if pool.ceiling is not None and len(pool.nodes) > pool.ceiling:
            here = (each for each in variables.choices if each.mode.pool == at or (each.led and each.first.pool == at))
            yield pool.name, _none_of(choice.present for choice in here)


def _pin(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    for task, choices in zip(problem.tasks, variables.of_task, strict=True):
        if task.stays:
            yield task.name, Equal(terms=_ones(choice.present for choice in choices), total=1)
    for choice in variables.choices:
        task, mode = problem.tasks[choice.task], choice.mode
        if task.earliest == task.latest:
            yield task.name, _none_of(each for slot, each in enumerate(choice.starts) if slot != task.earliest)
        if mode.nodes is not None:
            yield task.name, _none_of(literal for _, node, literal in choice.sits() if node not in mode.nodes)


POSTERS: Mapping[Rule, Poster] = MappingProxyType(
    {
        Rule.CAPACITY: node_capacity,
        Rule.GANG: _gang,
        Rule.TOPOLOGY: _topology,
        Rule.COMPATIBILITY: _compatibility,
        Rule.AVAILABILITY: _availability,
        Rule.WINDOW: _window,
        Rule.DEPENDENCY: _dependency,
        Rule.QUOTA: _quota,
        Rule.LENDING: _lending,
        Rule.PRIORITY: _priority,
        Rule.BUDGET: _budget,
        Rule.MARKET: _market,
        Rule.PIN: _pin,
    }
)
