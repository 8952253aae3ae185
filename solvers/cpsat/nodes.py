"""Capacity node by node: the one rule that ties when a task runs to where it sits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, groupby

from ortools.sat.python import cp_model

from solvers.cpsat.rows import AtMost, Constraint, Packed, Term
from solvers.cpsat.variables import Choice, Variables
from solvers.problem import Node, Pool, Problem


def node_capacity(problem: Problem, variables: Variables, model: cp_model.CpModel) -> Iterator[tuple[str, Constraint]]:
    """Bound what runs on each node in each slot.

    In a pool of one node these are sums of start literals. With several nodes each node packs intervals, and sums over
    the whole pool are added, which say nothing new but are what the relaxation sees.
    """
    for at, (pool, choices) in enumerate(zip(problem.pools, variables.of_pool, strict=True)):
        led = tuple(choice for choice in variables.choices if choice.led and choice.first.pool == at)
        free = [_free(node, problem.slots) for node in pool.nodes]
        for resource, name in enumerate(pool.resources):
            for slot in range(problem.slots):
                left = sum(each[slot][resource] for each in free)
                terms = (*_used(choices, resource, slot), *_used_by_leads(led, resource, slot))
                yield f"{pool.name}/{name}", AtMost(terms=terms, upper=left)
        if len(pool.nodes) > 1:
            yield from _packed(problem, pool, choices, led, free, model)


def _free(node: Node, slots: int) -> list[tuple[int, ...]]:
    """What of each resource is free, slot by slot; nothing where more is taken than there is."""
    left = []
    for resource, capacity in enumerate(node.capacity):
        changes = [0] * (slots + 1)
        for each in node.taken:
            if max(0, each.start) < min(slots, each.end):
                changes[max(0, each.start)] += each.use[resource]
                changes[min(slots, each.end)] -= each.use[resource]
        left.append([max(0, capacity - gone) for gone in accumulate(changes[:slots])])
    return list(zip(*left, strict=True)) if left else [()] * slots


def _used(choices: tuple[Choice, ...], resource: int, slot: int) -> tuple[Term, ...]:
    return tuple(
        Term(coefficient=use, variable=literal)
        for choice in choices
        if (use := sum(part.count * part.use[resource] for part in choice.mode.parts))
        for literal in choice.running(slot)
    )


def _used_by_leads(led: tuple[Choice, ...], resource: int, slot: int) -> tuple[Term, ...]:
    return tuple(
        Term(coefficient=use, variable=choice.present)
        for choice in led
        if slot < choice.led and (use := sum(part.count * part.use[resource] for part in choice.first.parts))
    )


def _packed(
    problem: Problem,
    pool: Pool,
    choices: tuple[Choice, ...],
    led: tuple[Choice, ...],
    free: list[list[tuple[int, ...]]],
    model: cp_model.CpModel,
) -> Iterator[tuple[str, Constraint]]:
    starts = [_start(problem, choice, model) for choice in choices]
    for position, node in enumerate(pool.nodes):
        seated = [
            (_interval(choice, start, literal, model), choice.mode.parts[part].use)
            for choice, start in zip(choices, starts, strict=True)
            for part, at, literal in choice.sits()
            if at == position
        ]
        seated += [
            (_led(choice, model), choice.first.parts[part].use) for choice in led for part in _parts(choice, position)
        ]
        intervals = tuple(interval for interval, _ in seated)
        for resource, capacity in enumerate(node.capacity):
            gone = [capacity - left[resource] for left in free[position]]
            demands = tuple(use[resource] for _, use in seated)
            row = Packed(intervals=intervals, demands=demands, capacity=capacity, taken=tuple(_blocks(gone)))
            yield f"{pool.name}/{node.name}", row


def _start(problem: Problem, choice: Choice, model: cp_model.CpModel) -> cp_model.IntVar:
    """The start as a number, 0 when absent; derived from the start literals, so no rule of its own."""
    start = model.new_int_var(0, problem.slots - 1, f"start {choice.task}/{choice.mode_position}")
    slots = range(problem.slots)
    model.add(cp_model.LinearExpr.weighted_sum([*choice.starts, start], [*slots, -1]) == 0)
    return start


def _interval(
    choice: Choice, start: cp_model.IntVar, seat: cp_model.IntVar, model: cp_model.CpModel
) -> cp_model.IntervalVar:
    """A run may go on past the horizon: what runs there ran in the last slot too, so that adds no rule."""
    return model.new_optional_fixed_size_interval_var(start, choice.mode.duration, seat, f"run {seat.name}")


def _parts(choice: Choice, node: int) -> Iterator[int]:
    """The part that a choice's lead plays on a node, if any."""
    lead = choice.mode.lead
    yield from (part for at, part in (lead.seats if lead is not None else ()) if at == node)


def _led(choice: Choice, model: cp_model.CpModel) -> cp_model.IntervalVar:
    return model.new_optional_fixed_size_interval_var(0, choice.led, choice.present, f"lead {choice.present.name}")


def _blocks(steps: list[int]) -> Iterator[tuple[int, int, int]]:
    """Equal neighbours as (start, end, amount)."""
    at = 0
    for amount, run in groupby(steps):
        end = at + len(list(run))
        if amount:
            yield at, end, amount
        at = end
