"""Prices of scarce things: each set of them is a proven bound, the best set guides the search and is what a reader
sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Arrays, Ints, Tables
from solvers.columns import (
    BUDGET_AT,
    BUDGET_END,
    BUDGET_MICROS,
    CASH,
    CHARGE_AT,
    CHARGE_END,
    COST,
    DURATION,
    FIRST,
    KIND,
    LAST,
    LEAD,
    MODE_AT,
    MODE_END,
    MOVE,
    POOL,
    SCALE,
    SHAPE,
    SINCE,
    WAS_MODE,
)
from solvers.pricing import MILLION, Desk, add_use, best_columns, no_columns, spread_use, sum_tolls
from solvers.startable import startable_slots

Floats: TypeAlias = NDArray[np.float64]

_PATIENCE = 12
_MEMORY = 0.6
_FAR = 2.0**55


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prices:
    """Micros per unit and slot by pool and resource, and by row; millionths of a micro per micro of cash by budget."""

    device: Ints
    row: Ints
    ppm: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quote:
    """What a set of prices proves: the bound, each group's best column (reduced value, mode, start), and the excess
    of use over supply.
    """

    prices: Prices
    bound: int
    best: Ints
    tolls: Ints
    excess: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Market:
    """The parts of a problem that pricing needs: see `market_of`.

    `groups[:, 0]` is a task of each group of identical tasks, `groups[:, 1]` its size, `group_of[task]` the group.
    `supply` and `ceiling` are capacities and row limits cut to all that tasks could ever use. `scale` is how much of
    a thing one task uses typically. `spills` lists pairs (row, the row it spills into), a row before what it leads to.
    """

    tables: Tables
    groups: Ints
    group_of: Ints
    startable: Ints
    supply: Ints
    ceiling: Ints
    open_rows: NDArray[np.bool_]
    inside: Ints
    scale: Floats
    fineness: Floats
    largest: int
    spills: tuple[tuple[int, int], ...]


def market_of(tables: Tables) -> Market:
    """Gather what all rounds of pricing share."""
    a, kinds = tables.arrays, tables.kinds
    groups, group_of = _groups(a)
    uses = kinds.use[a.mode[:, KIND]] * a.mode[:, SCALE, None]
    demand, typical = _demand(tables, uses)
    spills = tuple(_spills(tables.spill))
    row_demand, row_typical = _row_demand(tables, spills)
    supply = np.minimum(tables.capacity, demand[:, :, None])
    ceiling = np.minimum(tables.limit, row_demand[:, None])
    charged = int(tables.kinds.charge[:, 1].sum()) * int(a.mode[:, SCALE].max(initial=1))
    most = int(uses.sum(axis=1).max(initial=1)) + charged
    total = int(supply.sum()) + int(ceiling.sum()) + most * a.slots + 1
    return Market(
        tables=tables,
        groups=groups,
        group_of=group_of,
        startable=startable_slots(tables),
        supply=supply,
        ceiling=ceiling,
        open_rows=tables.limit >= row_demand[:, None],
        inside=np.minimum(tables.guarantee, ceiling),
        fineness=np.repeat((1.0, 1.0, float(MILLION)), (supply.size, ceiling.size, len(a.budget))),
        scale=np.concatenate(
            (
                np.broadcast_to(typical[:, :, None], supply.shape).ravel(),
                np.broadcast_to(row_typical[:, None], ceiling.shape).ravel(),
                _typical_cash(a),
            )
        ),
        largest=max(1, 2**60 // total),
        spills=spills,
    )


def _spills(spill: Ints) -> Iterator[tuple[int, int]]:
    left = {row: int(into) for row, into in enumerate(spill) if into >= 0}
    while left:
        for row in sorted(left.keys() - left.values()):
            yield row, left.pop(row)


def free_prices(market: Market) -> Prices:
    """Everything costs nothing."""
    return Prices(
        device=np.zeros_like(market.supply),
        row=np.zeros_like(market.ceiling),
        ppm=np.zeros(len(market.tables.arrays.budget), dtype=np.int64),
    )


def lawful(market: Market, prices: Prices) -> Prices:
    """Move prices to where they prove most: not negative, no subsidy above a bonus, none near overflow, and on a row
    that cannot bind none above that of the row it spills into.
    """
    low, high = _range(market)
    row = np.clip(prices.row, low, high)
    for at, into in reversed(market.spills):
        most = np.where(market.open_rows[at], row[into], high[at])
        row[at] = np.clip(prices.row[at], low[at], most)
    return Prices(device=np.clip(prices.device, 0, market.largest), row=row, ppm=np.clip(prices.ppm, 0, 100 * MILLION))


def _range(market: Market) -> tuple[Ints, Ints]:
    """The least and the highest price of each row by itself."""
    low = np.broadcast_to(-np.minimum(market.tables.bonus, market.largest)[:, None], market.ceiling.shape)
    return low, np.where(market.open_rows, 0, market.largest)


def quote(market: Market, prices: Prices) -> Quote:
    """Compute the bound that `prices` prove, exactly, and the columns that tasks choose at them.

    For any prices `L = sum_r term_r + sum_j max(0, max_c (v_jc - toll_c))` is at least the value of any plan x.
    Proof: let u_r be the use of r in x, s(r) the row that r spills into, if any, and price_s(r) else 0. Of u_r, runs
    charge all but what others spill into r, so the tolls paid add up to sum_r (price_r u_r - price_s(r) max(0, u_r -
    above_r)). Value = sum_j (v_j - toll_j) + sum_r (bonus_r(u_r) + price_r u_r - price_s(r) max(0, u_r - above_r)).
    The first sum is at most the second sum of L, since x runs a task in one column or not at all, and since what a
    run loses by its nodes (moves) is never negative; each summand of the second is at most `term_r`, its maximum over
    0 <= u <= supply_r, since x obeys r. It is piecewise linear, so the maximum is at 0, at the guarantee, at `above`
    or at the limit. Budget tolls are rounded down and terms up. Dependencies, nodes and packing are left out, which
    only raises L.
    """
    a, kinds = market.tables.arrays, market.tables.kinds
    tolls = np.zeros((len(kinds.pool), a.slots + 1), dtype=np.int64)
    sum_tolls(kinds, prices.device, prices.row, tolls)
    best = no_columns(len(market.groups))
    desk = Desk(market.groups, market.startable, tolls, prices.ppm, best)
    best_columns(a, desk)
    term, taken = _row_terms(market, prices)
    bound = int((prices.device * market.supply).sum()) + int(term.sum())
    bound += int((np.maximum(best[:, 0], 0) * market.groups[:, 1]).sum())
    for micros, ppm in zip(a.budget[:, BUDGET_MICROS].tolist(), prices.ppm.tolist(), strict=True):
        bound += -(-micros * ppm // MILLION)
    return Quote(prices=prices, bound=bound, best=best, tolls=tolls, excess=_excess(market, desk, taken))


def _row_terms(market: Market, prices: Prices) -> tuple[Ints, Ints]:
    """For each row and slot: the most of `bonus * min(u, guarantee) + price * u - price of its spill * max(0, u -
    above)`, and the u that gives it.
    """
    bonus = market.tables.bonus[:, None]
    onward = np.zeros_like(prices.row)
    for at, into in market.spills:
        onward[at] = prices.row[into]
    above = market.tables.above
    term, taken = np.zeros_like(prices.row), np.zeros_like(prices.row)
    for use in (market.inside, np.minimum(above, market.ceiling), market.ceiling):
        worth = bonus * np.minimum(use, market.inside) + prices.row * use - onward * np.maximum(use - above, 0)
        better = worth > term
        term, taken = np.where(better, worth, term), np.where(better, use, taken)
    return term, taken


def _excess(market: Market, desk: Desk, taken: Ints) -> Floats:
    a, kinds = market.tables.arrays, market.tables.kinds
    use = np.zeros((len(kinds.pool), a.slots), dtype=np.int64)
    spent = np.zeros(len(a.budget), dtype=np.int64)
    add_use(a, desk, use, spent)
    device, row = np.zeros_like(market.supply), np.zeros_like(market.ceiling)
    spread_use(kinds, use, device, row)
    row -= taken
    for at, into in market.spills:
        row[into] += row[at] + np.maximum(taken[at] - market.tables.above[at], 0)
    excess = (device - market.supply, row, spent - a.budget[:, BUDGET_MICROS])
    return np.concatenate([one.ravel() for one in excess]).astype(np.float64)


def raise_prices(market: Market, start: Quote, goal: int, rounds: int, tell: Callable[[Quote], bool]) -> Quote:
    """Search for the prices with the least bound by subgradient steps of length `theta (bound - goal) / |excess|^2`.

    `goal` is the value of a plan, or anything below the least bound. Floats choose the steps; the prices are
    integers after each. Stops after `rounds`, when the bound meets the goal, or when `tell` (called with the best so
    far) says so.
    """
    best = here = start
    theta, stale = 1.0, 0
    exact, drift = _vector(market, start.prices), np.zeros_like(market.scale)
    for _ in range(rounds):
        slope = here.excess / market.scale
        slope[_is_stuck(market, here)] = 0.0
        drift = slope + _MEMORY * drift
        size = _square(drift)
        if size == 0 or best.bound <= goal or tell(best):
            break
        exact = exact + theta * max(1, here.bound - goal) / size * drift / market.scale
        here = quote(market, lawful(market, _prices(market, exact)))
        exact = _near(market, exact, here.prices)
        stale = 0 if here.bound < best.bound else stale + 1
        best = here if here.bound < best.bound else best
        if stale >= _PATIENCE:
            theta, stale, here = theta * 0.6, 0, best
            exact, drift = _vector(market, best.prices), np.zeros_like(drift)
    return best


def _is_stuck(market: Market, here: Quote) -> NDArray[np.bool_]:
    """Which prices are at an end of their range, and would leave it if they followed the excess."""
    prices, (low, _) = here.prices, _range(market)
    first, second = market.supply.size, market.supply.size + market.ceiling.size
    lowest = np.concatenate((prices.device.ravel() <= 0, (prices.row <= low).ravel(), prices.ppm <= 0))
    highest = np.zeros(market.ceiling.shape, dtype=np.bool_)
    for at, into in market.spills:
        highest[at] = market.open_rows[at] & (prices.row[at] >= prices.row[into])
    stuck: NDArray[np.bool_] = lowest & (here.excess < 0)
    stuck[first:second] |= highest.ravel() & (here.excess[first:second] > 0)
    return stuck


def _vector(market: Market, prices: Prices) -> Floats:
    """All prices in one line, those of budgets in micros per micro; that of a row that spills is what it is more than
    the price of the row it spills into, so that both rise together.
    """
    row = prices.row.copy()
    for at, into in market.spills:
        row[at] -= prices.row[into]
    whole = np.concatenate((prices.device.ravel(), row.ravel(), prices.ppm))
    return whole / market.fineness


def _prices(market: Market, vector: Floats) -> Prices:
    """Round a line of prices to integers."""
    first, second = market.supply.size, market.supply.size + market.ceiling.size
    whole = np.rint(np.clip(vector * market.fineness, -_FAR, _FAR)).astype(np.int64)
    row = whole[first:second].reshape(market.ceiling.shape)
    for at, into in reversed(market.spills):
        row[at] += row[into]
    return Prices(device=whole[:first].reshape(market.supply.shape), row=row, ppm=whole[second:])


def _near(market: Market, exact: Floats, prices: Prices) -> Floats:
    """Keep the fractions that rounding dropped, but not what the law of prices cut off."""
    whole = _vector(market, prices)
    return np.where(np.abs(exact - whole) * market.fineness <= 0.5, exact, whole)


def _square(values: Floats) -> float:
    """Sum of squares, added one by one so that it is the same on every processor."""
    return float(np.cumsum(values**2)[-1]) if values.size else 0.0


_VALUED = [*range(SINCE, MOVE)]
_PRICED = [POOL, DURATION, *range(CASH, CASH + 4), KIND, SCALE, SHAPE, FIRST, LAST, COST, LEAD]


def _groups(a: Arrays) -> tuple[Ints, Ints]:
    """Gather tasks that no price can tell apart: `(task, count)` by group, and the group of each task."""
    seen: dict[bytes, int] = {}
    rows: list[list[int]] = []
    group_of = np.zeros(len(a.task) - 1, dtype=np.int64)
    for task, row in enumerate(a.task[:-1]):
        modes = a.mode[row[MODE_AT] : row[MODE_END]]
        stay = row[MOVE : WAS_MODE + 2] if row[MOVE] and row[WAS_MODE] >= 0 else row[:0]
        budgets = a.flat[row[BUDGET_AT] : row[BUDGET_END]]
        key = b"".join((row[_VALUED].tobytes(), modes[:, _PRICED].tobytes(), stay.tobytes(), b"/", budgets.tobytes()))
        group = seen.setdefault(key, len(rows))
        if group == len(rows):
            rows.append([task, 0])
        rows[group][1] += 1
        group_of[task] = group
    return np.array(rows, dtype=np.int64).reshape(-1, 2), group_of


def _demand(tables: Tables, uses: Ints) -> tuple[Ints, Floats]:
    """Per pool and resource: all that tasks could use at once, each in its largest mode there; and the mean use of a
    mode.
    """
    a = tables.arrays
    shape = (len(a.pool) - 1, tables.kinds.use.shape[1])
    demand, total, count = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape)
    for row in a.task[:-1]:
        first, end = row[MODE_AT], row[MODE_END]
        most = np.zeros(shape, np.int64)
        np.maximum.at(most, a.mode[first:end, POOL], uses[first:end])
        demand += most
    np.add.at(total, a.mode[:, POOL], uses)
    np.add.at(count, a.mode[:, POOL], uses > 0)
    return demand, np.maximum(total / np.maximum(count, 1), 1.0)


def _row_demand(tables: Tables, spills: tuple[tuple[int, int], ...]) -> tuple[Ints, Floats]:
    """Per row: all that tasks could charge at once there and in rows that lead into it, and the mean charge of a mode
    in any of them.
    """
    a = tables.arrays
    rows = len(a.row)
    demand, total, count = np.zeros(rows, np.int64), np.zeros(rows), np.zeros(rows)
    for row in a.task[:-1]:
        most = np.zeros(rows, np.int64)
        for mode in a.mode[row[MODE_AT] : row[MODE_END]]:
            charges = a.flat[mode[CHARGE_AT] : mode[CHARGE_END]].reshape(-1, 2)
            most[charges[:, 0]] = np.maximum(most[charges[:, 0]], charges[:, 1])
            total[charges[:, 0]] += charges[:, 1]
            count[charges[:, 0]] += 1
        demand += most
    for at, into in spills:
        demand[into] += demand[at]
        total[into] += total[at]
        count[into] += count[at]
    return demand, np.maximum(total / np.maximum(count, 1), 1.0)


def _typical_cash(a: Arrays) -> Floats:
    cash = a.mode[a.mode[:, CASH] > 0]
    typical = float((cash[:, CASH] * cash[:, DURATION]).mean()) if len(cash) else 1.0
    return np.full(len(a.budget), max(1.0, typical))
