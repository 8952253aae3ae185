"""The stages of one search over one problem in canonical order; `solvers.solve` says in which order and how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from solvers.arrays import Arrays, Ints, tables_of
from solvers.columns import (
    BEGAN,
    BEST,
    BEST_VALUE,
    CHANGED,
    CHANGES,
    COUNT,
    DIFFERS,
    DURATION,
    FAR,
    FIRST,
    FIRST_NODE,
    LAST,
    MERIT,
    MODE_AT,
    NODE_AT,
    NODE_END,
    NOW,
    PART_AT,
    PART_END,
    PART_WIDTH,
    POOL,
    POSITION,
    SEAT_AT,
    START,
    STOPPED,
    VALUE,
    WAS_MODE,
    WORK,
)
from solvers.construct import SHARES, clear, orders_of, regrets, restore_previous, schedule, start_over
from solvers.guide import guide_of
from solvers.improve import keep_best, play, restart_from_best, sample_losses
from solvers.insertion import Guide
from solvers.occupancy import State, empty_state, put
from solvers.prices import Market, Quote, free_prices, market_of, quote, raise_prices
from solvers.pricing import MILLION
from solvers.problem import Problem
from solvers.solution import Assignment, PoolPrice, Proof, Run, Seat, Solution, run_of_lead

if TYPE_CHECKING:
    from solvers.closing import Closing
    from solvers.shadow import Shadow

Ask = Callable[[str, int, int | None], bool]
"""Called with phase, value and bound; says whether to stop."""

_BATCHES: Final = 40
_SEED: Final = 20_171_016
_LP_GROUPS: Final = 800
_LP_CELLS: Final = 20_000
"""The largest linear relaxation that is closed, in groups of tasks and in slots times price kinds."""
_SETTLED_CELLS: Final = 2_000
"""The largest of which canonical prices are chosen: that takes about as long as closing it twice."""

_TURNS: Final = 100
_TURNS_PART: Final = 8
"""How often a whole schedule is made in an order learnt from the last one, within this part of the work."""

_HEAT_PERCENT: Final = 25
"""How hot ruin and recreate begins, in percent of what a lightly bad round loses."""


class Search:
    """Holds what the stages share: tables, prices, the guide made from them, and the state."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._tables = tables_of(problem)
        self._a: Arrays = self._tables.arrays
        self._market: Market = market_of(self._tables)
        self.state: State = empty_state(self._tables, _SEED)
        self._quote: Quote = quote(self._market, free_prices(self._market))
        self._guide: Guide = guide_of(self._market, self._quote)
        self._relaxed: Closing | None = None
        self._known: int | None = None
        self._shadow: Shadow | None = None
        self._repaired: int | None = None

    @property
    def closed(self) -> bool:
        """Whether the best plan is proven to be the best possible."""
        return self._value >= self._bound

    @property
    def columns(self) -> int:
        """How many pairs of mode and start there are."""
        return int(np.maximum(self._a.mode[:, LAST] - self._a.mode[:, FIRST] + 1, 0).sum())

    @property
    def seats(self) -> int:
        """How many pairs of a mode's part and a node that it may sit on there are."""
        parts = (self._a.mode[:, PART_END] - self._a.mode[:, PART_AT]) // PART_WIDTH
        return int((parts * (self._a.mode[:, NODE_END] - self._a.mode[:, NODE_AT])).sum())

    @property
    def _bound(self) -> int:
        return self._quote.bound if self._known is None else min(self._quote.bound, self._known)

    @property
    def _value(self) -> int:
        return int(self.state.tally[BEST_VALUE])

    def price(self, units: int, ask: Ask) -> None:
        """Schedule once without prices and repair the previous plan, then raise prices against the better one's value;
        few columns teach little.
        """
        self._build(self._orders()[2], 0)
        self._repair(self._orders()[0])
        rounds = min(20 + self.columns, 400, max(60, units * MILLION // (4 * self.columns + 400_000)))
        self._raise(rounds, ask)
        if units:
            self._close(ask)

    def _close(self, ask: Ask) -> None:
        """Close the bound to the linear relaxation where that is small enough to be solved at once."""
        from solvers.closing import close

        groups = len(self._market.groups)
        if not self._is_small() or ask("prices", self._value, self._bound):
            return
        closing = close(self._market, self._quote, goal=self._value, columns=14 * groups + 500, rounds=6)
        if closing is not None:
            self._quote, self._relaxed = closing.quote, closing
            self._guide = guide_of(self._market, self._quote)

    def _is_small(self) -> bool:
        return len(self._market.groups) <= _LP_GROUPS and self._quote.tolls.size <= _LP_CELLS

    def _raise(self, rounds: int, ask: Ask) -> None:
        calls = 0

        def tell(best: Quote) -> bool:
            nonlocal calls
            calls += 1
            return calls % 16 == 0 and ask("prices", self._value, best.bound)

        self._quote = raise_prices(self._market, self._quote, self._value, rounds, tell)
        self._guide = guide_of(self._market, self._quote)

    def _orders(self) -> tuple[Ints, ...]:
        orders = orders_of(self._market, self._quote, self._guide)
        if self._relaxed is None:
            return orders
        share, start = (values[self._market.group_of] for values in (self._relaxed.share_ppm, self._relaxed.start))
        return (np.lexsort((-self._guide.task[:, MERIT], start, share == 0)).astype(np.int64), *orders)

    def _build(self, order: Ints, share: int) -> None:
        start_over(self._a, self.state)
        schedule(self._a, self.state, self._guide, order, share)
        self._remember()

    def _remember(self) -> None:
        """Keep the current plan when it is better than the best."""
        st = self.state
        tasks = len(st.task)
        st.work[CHANGES, :tasks] = np.arange(tasks)
        st.task[:, DIFFERS] = 1
        st.tally[CHANGED] = tasks
        if st.tally[STOPPED] == 0 and st.tally[VALUE] > st.tally[BEST_VALUE]:
            keep_best(self._a, st)

    def _repair(self, order: Ints) -> None:
        """Put back what the previous plan had, and fill it up in the given order."""
        if self._a.task[:-1, WAS_MODE].max(initial=-1) < 0:
            return
        start_over(self._a, self.state)
        restore_previous(self._a, self.state)
        schedule(self._a, self.state, self._guide, order, 0)
        if self.state.tally[STOPPED] == 0:
            self._repaired = max(int(self.state.tally[VALUE]), self._repaired or 0)
        self._remember()

    def construct(self, units: int, ask: Ask) -> None:
        """Repair the previous plan and fill it up; then schedule by each order at each foresight."""
        orders = self._orders()
        self._repair(orders[0])
        for share in SHARES if units else SHARES[:1]:
            for order in orders:
                if ask("construct", self._value, self._bound):
                    return
                self._build(order, share)

    def _take_turns(self, units: int, ask: Ask) -> None:
        """Schedule by merit again and again, each time moving up whoever lost by its place in the order."""
        until = self.state.tally[WORK] + units * MILLION // _TURNS_PART
        claim = self._guide.task[:, MERIT].copy()
        for _ in range(_TURNS):
            if self.state.tally[WORK] >= until or ask("construct", self._value, self._bound):
                return
            self._build(np.argsort(-claim, kind="stable").astype(np.int64), SHARES[0])
            claim = np.minimum(claim + regrets(self._a, self.state, self._guide), FAR)

    def improve(self, units: int, ask: Ask) -> None:
        """Schedule in learnt orders, then ruin and recreate from the best plan, cooling down.

        Learnt orders move everything: they are left out where the repaired plan is ahead of what was scheduled afresh.
        """
        st, a = self.state, self._a
        if self._repaired != self._value:
            self._take_turns(units, ask)
        restart_from_best(a, st)
        losses = np.zeros(400, dtype=np.int64)
        sample_losses(a, st, self._guide, losses, 0)
        positive = np.sort(losses[losses > 0])
        top = int(positive[len(positive) // 4]) * _HEAT_PERCENT // 100 if len(positive) else 0
        heats = np.array([top * (100 - step) ** 2 // 10_000 for step in range(101)], dtype=np.int64)
        total = units * MILLION
        done = 0
        st.tally[BEGAN] = st.tally[WORK]
        while done < total:
            until = min(total, done + total // _BATCHES + 1)
            play(a, st, self._guide, heats, until, total)
            done = until
            if ask("improve", self._value, self._bound):
                break
        restart_from_best(a, st)

    def settle(self, ask: Ask) -> None:
        """Choose the prices that the plan shows, where the relaxation is small enough to be closed."""
        from solvers.shadow import shadow

        groups = len(self._market.groups)
        if self._quote.tolls.size > _SETTLED_CELLS or not self._is_small() or ask("prices", self._value, self._bound):
            return
        self._shadow = shadow(self._market, self._quote, columns=14 * groups + 500, rounds=6)
        if self._shadow is not None:
            self.learn_bound(self._shadow.quote.bound)

    def learn_bound(self, bound: int) -> None:
        """Take over a bound that was proven elsewhere."""
        self._known = bound if self._known is None else min(bound, self._known)

    def adopt(self, solution: Solution) -> None:
        """Go on from a plan that was found elsewhere."""
        a, st = self._a, self.state
        clear(a, st)
        for one in solution.assignments:
            for run in one.runs[-1:]:
                mode, at = int(a.task[one.task, MODE_AT]) + run.mode, int(a.task[one.task, SEAT_AT])
                first = int(a.pool[a.mode[mode, POOL], FIRST_NODE])
                rank = {
                    int(part[POSITION]): place
                    for place, part in enumerate(
                        a.flat[a.mode[mode, PART_AT] : a.mode[mode, PART_END]].reshape(-1, PART_WIDTH)
                    )
                }
                for place, seat in enumerate(sorted(run.seats, key=lambda seat: (rank[seat.part], seat.node))):
                    st.seat[at + place, NOW] = first + seat.node
                put(a, st, one.task, mode, run.start)
        self._remember()

    def solution(self) -> Solution:
        """Write the best plan down."""
        placed = np.flatnonzero(self.state.task[:, BEST] >= 0).tolist()
        return Solution(
            assignments=tuple(Assignment(task=task, runs=tuple(self._runs(task))) for task in placed),
            value_micros=self._value,
            bound_micros=self._bound,
            proof=Proof.BOUNDED,
            prices=self.prices(),
        )

    def _runs(self, task: int) -> Iterator[Run]:
        run = self._run(task)
        lead = self._problem.tasks[task].modes[run.mode].lead
        if lead is not None:
            yield run_of_lead(lead)
        yield run

    def _run(self, task: int) -> Run:
        a, mode, start = self._a, int(self.state.task[task, BEST]), int(self.state.task[task, START + BEST])
        first = int(a.pool[a.mode[mode, POOL], FIRST_NODE])
        at = int(a.task[task, SEAT_AT])
        seats: list[Seat] = []
        for part in a.flat[a.mode[mode, PART_AT] : a.mode[mode, PART_END]].reshape(-1, PART_WIDTH).tolist():
            for _ in range(part[COUNT]):
                seats.append(Seat(node=int(self.state.seat[at, BEST]) - first, part=part[POSITION]))
                at += 1
        return Run(
            mode=mode - int(a.task[task, MODE_AT]),
            start=start,
            end=start + int(a.mode[mode, DURATION]),
            seats=tuple(seats),
        )

    def prices(self) -> tuple[PoolPrice, ...]:
        """The price of a device in each pool and slot: the canonical one, else that of the best bound."""
        devices = self._quote.prices.device[:, 0] if self._shadow is None else self._shadow.devices
        micros = np.rint(devices * self._problem.units).astype(np.int64).tolist()
        return tuple(PoolPrice(pool=pool, micros=tuple(each)) for pool, each in enumerate(micros))
