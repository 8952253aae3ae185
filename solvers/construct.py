"""A first plan: what the previous plan placed, repaired, or a list schedule by one of several orders."""

from __future__ import annotations

from typing import Final

import numpy as np

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    DEVICES,
    DURATION,
    EARLIEST,
    FIRST,
    IDEAL,
    KIND,
    LAST,
    LEAD,
    MERIT,
    MODE_AT,
    MODE_END,
    NOW,
    OPEN,
    OWN,
    SCALE,
    START,
    STAYS,
    WAS_MODE,
    WAS_START,
)
from solvers.compiled import compiled, inlined
from solvers.insertion import Guide, insert
from solvers.occupancy import State, put, take
from solvers.prices import Market, Quote
from solvers.seating import seat_task, seats_as_before
from solvers.starts import affordable, first_start, lead_fits, mark_starts

SHARES: Final = (10, 6, 3, 0)
"""Tenths of the prices that count against a start, from most to least foresighted."""


def orders_of(market: Market, quoted: Quote, guide: Guide) -> tuple[Ints, ...]:
    """Give the orders in which to schedule: by reduced value per device-slot, by priced start, by worth per
    device-slot, by arrival, by size.
    """
    a = market.tables.arrays
    tasks, merit = len(a.task) - 1, guide.task[:, MERIT]
    size = np.ones(tasks, dtype=np.int64)
    has = a.task[:-1, MODE_END] > a.task[:-1, MODE_AT]
    first = a.mode[a.task[:-1, MODE_AT][has]]
    size[has] = np.maximum(first[:, DEVICES] * first[:, DURATION], 1)
    start = quoted.best[market.group_of, 2]
    number = np.arange(tasks, dtype=np.int64)
    keys = (
        (number, -merit // size),
        (number, -merit, start, merit <= 0),
        (number, -guide.task[:, IDEAL] // size),
        (number, a.task[:-1, EARLIEST]),
        (number, -size),
    )
    return tuple(np.lexsort(key).astype(np.int64) for key in keys)


def regrets(a: Arrays, st: State, guide: Guide) -> Ints:
    """Give by task how many micros less it brings after prices than its best column would, 0 for what none suits."""
    placed = st.task[:, NOW] >= 0
    mode, start = np.where(placed, st.task[:, NOW], 0), np.where(placed, st.task[:, START + NOW], 0)
    best = np.maximum(guide.task[:, MERIT], 0)
    if not placed.any():
        return best
    kind, end = a.mode[mode, KIND], np.minimum(a.slots, start + a.mode[mode, DURATION])
    brought = st.task[:, OWN] - a.mode[mode, SCALE] * (guide.prices[kind, end] - guide.prices[kind, start])
    first = np.minimum(a.task[:-1, MODE_AT], len(a.mode) - 1)
    lead = np.minimum(a.slots, a.mode[mode, LEAD])
    brought -= a.mode[first, SCALE] * guide.prices[a.mode[first, KIND], lead]
    return np.where(placed, np.maximum(best - brought, 0), best)


def clear(a: Arrays, st: State) -> None:
    """Take out every run."""
    for task in np.flatnonzero(st.task[:, NOW] >= 0):
        take(a, st, int(task))


def start_over(a: Arrays, st: State) -> None:
    """Take out every run but those that may not stop, which go on where they are."""
    clear(a, st)
    go_on(a, st)


@compiled
def go_on(a: Arrays, st: State) -> None:
    """Let what runs and may not stop go on where it is."""
    for task in range(len(st.task)):
        if a.task[task, STAYS] == 1 and st.task[task, NOW] < 0 and seat_task(a, st, task, a.task[task, MODE_AT], 0):
            put(a, st, task, a.task[task, MODE_AT], 0)


@compiled
def schedule(a: Arrays, st: State, guide: Guide, order: Ints, share: int) -> None:
    """Insert tasks in the given order, with as many turns as dependencies need."""
    for _ in range(64):
        placed = 0
        for task in order:
            if st.task[task, NOW] < 0 and insert(a, st, guide, task, share):
                placed += 1
        if placed == 0 or st.members[len(st.members) - 1] == 0 or not has_dependencies(a):
            return


@inlined
def has_dependencies(a: Arrays) -> bool:
    """Say whether any task comes after another."""
    return bool(a.ordered > 0)


@compiled
def restore_previous(a: Arrays, st: State) -> int:
    """Put every task back where the previous plan had it, as far as that still obeys all rules; give how many were."""
    kept = 0
    for _ in range(64):
        before = kept
        for task in range(len(st.task)):
            if st.task[task, NOW] < 0 and a.task[task, WAS_MODE] >= 0 and restore(a, st, task):
                kept += 1
        if kept == before or not has_dependencies(a):
            break
    return kept


@inlined
def restore(a: Arrays, st: State, task: int) -> bool:
    """Run a task exactly as in the previous plan; False when a rule forbids it now."""
    mode, start = a.task[task, WAS_MODE], a.task[task, WAS_START]
    first = first_start(a, st, task)
    if first < 0 or start < max(first, a.mode[mode, FIRST]) or start > a.mode[mode, LAST]:
        return False
    mark_starts(a, st, mode, start, start)
    if st.line[OPEN, start] == 0 or not affordable(a, st, task, mode, start) or not lead_fits(a, st, task, mode):
        return False
    if not seats_as_before(a, st, task, mode, start):
        return False
    put(a, st, task, mode, start)
    return True
