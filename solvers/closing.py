"""Closes what subgradient steps leave between the bound and the linear relaxation: a restricted LP over the columns
near the best prices.

The LP's duals are proposals only. They are rounded to integers and go through `solvers.prices.quote` like any other
prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from ortools.math_opt import model_pb2
from ortools.math_opt.python import mathopt

from solvers.arrays import Arrays, Ints
from solvers.columns import BUDGET_AT, BUDGET_END, BUDGET_MICROS, DURATION, KIND, LEAD, MODE_AT, SCALE, TASK
from solvers.prices import Floats, Market, Prices, Quote, lawful, quote
from solvers.pricing import Desk, list_columns
from solvers.value import cash_inside

_FREE: Final = float("inf")
_PARTS: Final = (1, 4, 16)
"""Duals of a restricted LP overshoot: quotes are also taken at these fractions of the way to them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Closing:
    """What restricted LPs gave: the best quote, and by group how often the LP runs it (millionths) and its mean
    start (thousandths).

    The shares and starts are proposals for an order of scheduling; a group that the LP does not run has share 0 and
    start 0.
    """

    quote: Quote
    share_ppm: Ints
    start: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Answer:
    """Duals as prices, the primal value of each column, and the value of the LP over these columns."""

    prices: Prices
    value: int
    taken: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Distinct columns of groups: `rows[:, :3]` are group, mode and start, `value` micros before any toll."""

    rows: Ints
    value: Ints


class Block(NamedTuple):
    """Constraints of one sort: their bounds, and coefficients as (constraint, variable, value)."""

    lower: Floats
    upper: Floats
    row: Ints
    column: Ints
    value: Floats


class Program(NamedTuple):
    """Maximise `worth x`, in `unit` micros, with `least <= x <= most` under the constraints of the blocks.

    The blocks are, in order: one run a task, use, devices, limits, guarantees, cash, what spills.
    """

    least: Floats
    most: Floats
    worth: Floats
    blocks: tuple[Block, ...]
    unit: float


def close(market: Market, start: Quote, *, goal: int, columns: int, rounds: int) -> Closing | None:
    """Solve restricted LPs over about `columns` columns near the best prices, at most `rounds` times.

    Ends when what is left to gain is small against the distance to `goal`, a plan's value. None when no LP was solved.
    """
    best, answer = start, None
    kept = solved = near(market, start, columns)
    for _ in range(rounds):
        proposed = _answer(market, kept)
        if proposed is None:
            break
        answer, solved = proposed, kept
        quotes = [quote(market, lawful(market, _between(best.prices, proposed.prices, part))) for part in _PARTS]
        best = min((best, *quotes), key=_bound_of)
        if (best.bound - proposed.value) * 200 <= best.bound - goal:
            break
        kept = merged(kept, *(near(market, one, columns // 4) for one in quotes))
    return None if answer is None else _closing(market, best, solved, answer)


def _closing(market: Market, best: Quote, columns: Columns, answer: _Answer) -> Closing:
    """Sum the columns of each group that the LP takes; rounding each to millionths first keeps the sums exact."""
    taken = np.rint(np.clip(answer.taken, 0, 1e6) * 1e6).astype(np.int64)
    group, start = columns.rows[:, 0], columns.rows[:, 2]
    share = np.zeros(len(market.groups), dtype=np.int64)
    moment = np.zeros(len(market.groups), dtype=np.int64)
    np.add.at(share, group, taken)
    np.add.at(moment, group, taken * start)
    return Closing(quote=best, share_ppm=share, start=moment * 1000 // np.maximum(share, 1))


def _bound_of(quoted: Quote) -> int:
    return quoted.bound


def _between(one: Prices, other: Prices, part: int) -> Prices:
    """Go from `one` a `part`-th of the way to `other`."""
    return Prices(
        device=one.device + (other.device - one.device) // part,
        row=one.row + (other.row - one.row) // part,
        ppm=one.ppm + (other.ppm - one.ppm) // part,
    )


def near(market: Market, quoted: Quote, most: int) -> Columns:
    """List the columns of each group whose reduced value is closest to its best, about `most` in all."""
    desk = Desk(market.groups, market.startable, quoted.tolls, quoted.prices.ppm, quoted.best)
    low, high = 0, max(1, int(np.abs(quoted.best[:, 0]).max(initial=1)))
    room = np.zeros((2 * most + 64, 4), dtype=np.int64)
    count = 0
    for _ in range(40):
        slack = (low + high) // 2
        count = list_columns(market.tables.arrays, desk, slack, room)
        if high - low <= 1 or most * 3 // 4 <= count <= most:
            break
        low, high = (low, slack) if count > most else (slack, high)
    rows = room[: min(count, len(room))]
    return Columns(rows=rows[:, :3].copy(), value=rows[:, 3].copy())


def merged(*lists: Columns) -> Columns:
    """The distinct columns of several lists."""
    rows = np.concatenate([one.rows for one in lists])
    value = np.concatenate([one.value for one in lists])
    _, first = np.unique(rows, axis=0, return_index=True)
    return Columns(rows=rows[first], value=value[first])


def _answer(market: Market, columns: Columns) -> _Answer | None:
    """Solve the LP over `columns` and round its duals to prices; None when the LP solver gives up."""
    lp = program(market, columns, 1e6)
    solved = optimum(lp)
    if solved is None:
        return None
    count = len(columns.rows)
    return _Answer(
        prices=prices_of(market, lp, solved[1]), taken=solved[0][:count], value=int(lp.worth @ solved[0] * 1e6)
    )


def program(market: Market, columns: Columns, unit: float) -> Program:
    """Write the linear relaxation over `columns`, its value in `unit` micros."""
    slots = market.tables.arrays.slots
    count = len(columns.rows)
    first_use, first_inside = count, count + len(market.tables.kinds.pool) * slots
    first_above = first_inside + market.ceiling.size
    blocks = (
        _one_each(market, columns),
        _flow(market, columns, first_use),
        _devices(market, first_use),
        _limits(market, first_use, first_above),
        _guarantees(market, first_use, first_inside),
        _cash(market, columns),
        _spilled(market, first_use, first_above),
    )
    variables = first_above + len(market.spills) * slots
    upper = np.full(variables, _FREE)
    upper[first_inside:first_above] = market.inside.ravel()
    worth = np.zeros(variables)
    worth[:count] = columns.value / unit
    worth[first_inside:first_above] = np.repeat(market.tables.bonus, slots) / unit
    return Program(np.zeros(variables), upper, worth, blocks, unit)


def prices_of(market: Market, lp: Program, duals: Floats) -> Prices:
    """Round the duals of a program's constraints to prices; of a solve that ran away they may be anything."""
    duals = np.clip(np.nan_to_num(duals), -(2.0**59), 2.0**59)
    slots = market.tables.arrays.slots
    ends = np.cumsum([0, *(len(block.upper) for block in lp.blocks)])
    device, limit, inside, cash, above = (duals[ends[place] : ends[place + 1]] for place in (2, 3, 4, 5, 6))
    row = (limit - inside).reshape(market.ceiling.shape)
    for number, (at, _) in enumerate(market.spills):
        row[at] += above[number * slots : (number + 1) * slots]
    return Prices(
        device=_micros(device * lp.unit).reshape(market.supply.shape),
        row=_micros(row * lp.unit),
        ppm=_micros(cash * lp.unit),
    )


def _micros(duals: Floats) -> Ints:
    return np.rint(np.clip(duals, -(2.0**59), 2.0**59)).astype(np.int64)


def _one_each(market: Market, columns: Columns) -> Block:
    """Each group runs at most as often as it has tasks."""
    count = len(columns.rows)
    upper = market.groups[:, 1].astype(np.float64)
    return Block(
        np.full(len(upper), -_FREE), upper, columns.rows[:, 0], np.arange(count, dtype=np.int64), np.ones(count)
    )


def _flow(market: Market, columns: Columns, first_use: int) -> Block:
    """Use of a kind in a slot is that in the slot before, and what starts, less what ends."""
    a, kinds = market.tables.arrays, market.tables.kinds
    slots = a.slots
    mode, start = columns.rows[:, 1], columns.rows[:, 2]
    kind, scale = a.mode[mode, KIND], a.mode[mode, SCALE].astype(np.float64)
    end = start + a.mode[mode, DURATION]
    inside = np.flatnonzero(end < slots)
    cell = np.arange(len(kinds.pool) * slots, dtype=np.int64)
    later = cell[cell % slots > 0]
    number = np.arange(len(mode), dtype=np.int64)
    led, led_on, led_off = _leads(a, mode)
    row = np.concatenate((cell, later, kind * slots + start, (kind * slots + end)[inside], led_on, led_off))
    column = np.concatenate((first_use + cell, first_use + later - 1, number, number[inside], led, led))
    first = a.mode[a.task[a.mode[mode[led], TASK], MODE_AT], SCALE].astype(np.float64)
    value = np.concatenate((np.ones(len(cell)), -np.ones(len(later)), -scale, scale[inside], -first, first))
    zero = np.zeros(len(cell))
    return Block(zero, zero, row, column, value)


def _leads(a: Arrays, mode: Ints) -> tuple[Ints, Ints, Ints]:
    """Which of some modes have a lead, and the cells of use, by kind and slot, in which each begins and is over."""
    led = np.flatnonzero((a.mode[mode, LEAD] > 0) & (a.mode[mode, LEAD] < a.slots))
    kind = a.mode[a.task[a.mode[mode[led], TASK], MODE_AT], KIND]
    return led, kind * a.slots, kind * a.slots + a.mode[mode[led], LEAD]


def _devices(market: Market, first_use: int) -> Block:
    """What a pool has of each resource in each slot."""
    a, kinds = market.tables.arrays, market.tables.kinds
    width, slots = market.supply.shape[1], a.slots
    kind, resource = np.nonzero(kinds.use)
    row = _by_slot((kinds.pool[kind] * width + resource) * slots, slots)
    upper = market.supply.ravel().astype(np.float64)
    value = np.repeat(kinds.use[kind, resource], slots).astype(np.float64)
    return Block(np.full(len(upper), -_FREE), upper, row, first_use + _by_slot(kind * slots, slots), value)


def _limits(market: Market, first_use: int, first_above: int) -> Block:
    """What a row allows in each slot, of runs that charge it and of what spills into it."""
    row, column, value = (
        np.concatenate(both)
        for both in zip(
            _charges(market, first_use), _inflow(market, first_above, range(len(market.ceiling))), strict=True
        )
    )
    upper = np.where(market.open_rows, _FREE, market.ceiling.astype(np.float64)).ravel()
    return Block(np.full(len(upper), -_FREE), upper, row, column, value)


def _spilled(market: Market, first_use: int, first_above: int) -> Block:
    """What of a row's use exceeds `above` spills."""
    slots = market.tables.arrays.slots
    place = {at: number for number, (at, _) in enumerate(market.spills)}
    row, column, value = _charges(market, first_use)
    inside = np.isin(row // slots, list(place))
    number = np.array([place[at] for at in (row[inside] // slots).tolist()], dtype=np.int64)
    cell = np.arange(len(place) * slots, dtype=np.int64)
    more = _inflow(market, first_above, place)
    return Block(
        np.full(len(cell), -_FREE),
        market.tables.above[list(place)].astype(np.float64).ravel(),
        np.concatenate((number * slots + row[inside] % slots, more[0], cell)),
        np.concatenate((column[inside], more[1], first_above + cell)),
        np.concatenate((value[inside], more[2], -np.ones(len(cell)))),
    )


def _inflow(market: Market, first_above: int, rows: Iterable[int]) -> tuple[Ints, Ints, Floats]:
    """What spills into each of `rows`, as coefficients of constraints that are listed row by row."""
    slots = market.tables.arrays.slots
    place = {at: number for number, at in enumerate(rows)}
    pairs = [(place[into], number) for number, (_, into) in enumerate(market.spills) if into in place]
    into, source = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return (
        _by_slot(into * slots, slots),
        first_above + _by_slot(source * slots, slots),
        np.ones(len(pairs) * slots),
    )


def _guarantees(market: Market, first_use: int, first_inside: int) -> Block:
    """What earns a bonus is used."""
    row, column, value = _charges(market, first_use)
    cell = np.arange(market.ceiling.size, dtype=np.int64)
    every = (
        np.concatenate((row, cell)),
        np.concatenate((column, first_inside + cell)),
        np.concatenate((-value, np.ones(len(cell)))),
    )
    return Block(np.full(len(cell), -_FREE), np.zeros(len(cell)), *every)


def _charges(market: Market, first_use: int) -> tuple[Ints, Ints, Floats]:
    a, kinds = market.tables.arrays, market.tables.kinds
    kind = np.repeat(np.arange(len(kinds.pool), dtype=np.int64), np.diff(kinds.charge_at))
    row = _by_slot(kinds.charge[:, 0] * a.slots, a.slots)
    value = np.repeat(kinds.charge[:, 1], a.slots).astype(np.float64)
    return row, first_use + _by_slot(kind * a.slots, a.slots), value


def _by_slot(first: Ints, slots: int) -> Ints:
    return (first[:, None] + np.arange(slots, dtype=np.int64)).ravel()


def _cash(market: Market, columns: Columns) -> Block:
    """What each budget holds, in micros over a million."""
    a = market.tables.arrays
    spent: list[tuple[int, int, float]] = []
    for place, (group, mode, start) in enumerate(columns.rows.tolist() if len(a.budget) else ()):
        row = a.task[market.groups[group, 0]]
        for budget in a.flat[row[BUDGET_AT] : row[BUDGET_END]].tolist():
            cash = cash_inside(a, budget, mode, start, start + int(a.mode[mode, DURATION]))
            cash += cash_inside(a, budget, row[MODE_AT], 0, int(a.mode[mode, LEAD]))
            if cash:
                spent.append((budget, place, cash / 1e6))
    upper = a.budget[:, BUDGET_MICROS] / 1e6
    row_, column, value = (np.array([one[place] for one in spent]) for place in range(3))
    return Block(
        np.full(len(upper), -_FREE), upper, row_.astype(np.int64), column.astype(np.int64), value.astype(np.float64)
    )


def optimum(lp: Program) -> tuple[Floats, Floats] | None:
    """Give primal and dual values of a program, None when there is no proven optimum."""
    model = mathopt.Model.from_model_proto(_proto(lp))
    result = mathopt.solve(model, mathopt.SolverType.GLOP)
    if result.termination.reason != mathopt.TerminationReason.OPTIMAL:
        return None
    primal = np.array(result.variable_values(list(model.variables())))
    return primal, np.array(result.dual_values(list(model.linear_constraints())))


def _proto(lp: Program) -> model_pb2.ModelProto:
    """Write the LP in MathOpt's form."""
    proto = model_pb2.ModelProto()
    worth, blocks = lp.worth, lp.blocks
    count = len(worth)
    proto.variables.ids.extend(range(count))
    proto.variables.lower_bounds.extend(lp.least.tolist())
    proto.variables.upper_bounds.extend(lp.most.tolist())
    proto.variables.integers.extend([False] * count)
    proto.objective.maximize = True
    used = np.flatnonzero(worth)
    proto.objective.linear_coefficients.ids.extend(used.tolist())
    proto.objective.linear_coefficients.values.extend(worth[used].tolist())
    lower = np.concatenate([block.lower for block in blocks])
    proto.linear_constraints.ids.extend(range(len(lower)))
    proto.linear_constraints.lower_bounds.extend(lower.tolist())
    proto.linear_constraints.upper_bounds.extend(np.concatenate([block.upper for block in blocks]).tolist())
    firsts = np.cumsum([0, *(len(block.lower) for block in blocks)])
    row = np.concatenate([block.row + first for block, first in zip(blocks, firsts[:-1], strict=True)])
    column = np.concatenate([block.column for block in blocks])
    order = np.lexsort((column, row))
    row, column = row[order], column[order]
    # A lead that ends where its own run begins changes one cell twice.
    first = np.flatnonzero(np.append(len(row) > 0, (row[1:] != row[:-1]) | (column[1:] != column[:-1])))
    matrix = proto.linear_constraint_matrix
    matrix.row_ids.extend(row[first].tolist())
    matrix.column_ids.extend(column[first].tolist())
    value = np.concatenate([block.value for block in blocks])[order]
    matrix.coefficients.extend(np.add.reduceat(value, first).tolist() if len(value) else [])
    return proto
