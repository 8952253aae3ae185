"""Each task's best column at given prices, and the use that these columns make: the compiled half of
`solvers.prices`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from solvers.arrays import Arrays, Ints, Kinds
from solvers.columns import (
    BUDGET_AT,
    BUDGET_END,
    CASH,
    CREST,
    DEVICES,
    DURATION,
    FIRST,
    KIND,
    LAST,
    LEAD,
    MODE_AT,
    MODE_END,
    MOVE,
    PEAK,
    POOL,
    SCALE,
    SHAPE,
    TASK,
    WAS_MODE,
    WAS_START,
)
from solvers.compiled import compiled, inlined
from solvers.value import cash_inside, own_value

MILLION: Final = 10**6


class Desk(NamedTuple):
    """What tasks are quoted: `groups` of identical tasks, which starts an empty fleet could take, tolls by kind, and
    budget prices.

    `groups[:, 0]` is a task of each group, `groups[:, 1]` its size; `startable[shape, slot]` is 0 where a start is
    ruled out; `tolls[kind, slot]` sums the prices of a kind before the slot; `ppm[budget]` is in millionths;
    `best[group]` is `(reduced value, mode, start)`.
    """

    groups: Ints
    startable: Ints
    tolls: Ints
    ppm: Ints
    best: Ints


@inlined
def cash_toll(a: Arrays, ppm: Ints, mode: int, start: int, end: int) -> int:
    """Micros that the cash of `[start, end)` in a mode costs at budget prices `ppm`, rounded down."""
    total, task = 0, a.mode[mode, TASK]
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        budget = a.flat[at]
        cash = cash_inside(a, budget, mode, start, end)
        total += cash // MILLION * ppm[budget] + cash % MILLION * ppm[budget] // MILLION
    return int(total)


@inlined
def lead_toll(a: Arrays, tolls: Ints, mode: int) -> int:
    """Micros that the lead of a mode pays for devices and rows; 0 without one."""
    first = a.task[a.mode[mode, TASK], MODE_AT]
    return int(tolls[a.mode[first, KIND], min(a.slots, a.mode[mode, LEAD])] * a.mode[first, SCALE])


@inlined
def column_value(a: Arrays, task: int, mode: int, start: int) -> int:
    """The most a run can be worth on its own: own value less the moves that its start or pool make certain."""
    value = own_value(a, task, mode, start)
    was = a.task[task, WAS_MODE]
    if was < 0 or a.task[task, MOVE] == 0:
        return int(value)
    if start != a.task[task, WAS_START] or a.mode[mode, POOL] != a.mode[was, POOL]:
        value -= a.task[task, MOVE] * a.mode[mode, DEVICES]
    return int(value)


@inlined
def reduced_value(a: Arrays, desk: Desk, task: int, mode: int, start: int) -> int:
    """The value of a column less all tolls it pays."""
    kind, end = a.mode[mode, KIND], min(a.slots, start + a.mode[mode, DURATION])
    value = column_value(a, task, mode, start) - a.mode[mode, SCALE] * (desk.tolls[kind, end] - desk.tolls[kind, start])
    if a.mode[mode, CASH] > 0:
        value -= cash_toll(a, desk.ppm, mode, start, start + a.mode[mode, DURATION])
    if a.mode[mode, LEAD] > 0:
        value -= lead_toll(a, desk.tolls, mode)
        value -= cash_toll(a, desk.ppm, a.task[task, MODE_AT], 0, a.mode[mode, LEAD])
    return int(value)


@compiled
def best_columns(a: Arrays, desk: Desk) -> None:
    """Write each group's best column to `desk.best`, mode -1 where it has none."""
    for group in range(len(desk.groups)):
        task = desk.groups[group, 0]
        top, top_mode, top_start = -(2**62), -1, -1
        for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
            shape = a.mode[mode, SHAPE]
            for start in range(a.mode[mode, FIRST], a.mode[mode, LAST] + 1):
                if desk.startable[shape, start] == 0:
                    continue
                value = reduced_value(a, desk, task, mode, start)
                if value > top:
                    top, top_mode, top_start = value, mode, start
        desk.best[group, 0] = top
        desk.best[group, 1] = top_mode
        desk.best[group, 2] = top_start


@inlined
def add_span(a: Arrays, mode: int, span: tuple[int, int], count: int, use: Ints, spent: Ints) -> None:
    """Add where the use of `count` runs of a mode begins and ends, and what they spend."""
    start, end = span
    amount = count * a.mode[mode, SCALE]
    use[a.mode[mode, KIND], start] += amount
    if end < a.slots:
        use[a.mode[mode, KIND], end] -= amount
    task = a.mode[mode, TASK]
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        spent[a.flat[at]] += count * cash_inside(a, a.flat[at], mode, start, end)


@compiled
def add_use(a: Arrays, desk: Desk, use: Ints, spent: Ints) -> None:
    """Sum the columns whose reduced value is positive: `use[kind, slot]` in scales, `spent[budget]` in micros."""
    use[:] = 0
    spent[:] = 0
    for group in range(len(desk.groups)):
        if desk.best[group, 0] <= 0 or desk.best[group, 1] < 0:
            continue
        count = desk.groups[group, 1]
        _, mode, start = desk.best[group]
        add_span(a, mode, (start, start + a.mode[mode, DURATION]), count, use, spent)
        if a.mode[mode, LEAD] > 0:
            first = a.task[desk.groups[group, 0], MODE_AT]
            add_span(a, first, (0, a.mode[mode, LEAD]), count, use, spent)
    for kind in range(len(use)):
        for slot in range(1, a.slots):
            use[kind, slot] += use[kind, slot - 1]


@compiled
def sum_tolls(kinds: Kinds, device: Ints, row: Ints, tolls: Ints) -> None:
    """Write `tolls[kind, slot]`: what one scale of the kind pays in all slots before `slot`.

    Prices are by pool and resource (`device`) and by row, both by slot.
    """
    for kind in range(len(kinds.pool)):
        pool = kinds.pool[kind]
        tolls[kind, 0] = 0
        for slot in range(device.shape[2]):
            price = 0
            for resource in range(kinds.use.shape[1]):
                price += kinds.use[kind, resource] * device[pool, resource, slot]
            for at in range(kinds.charge_at[kind], kinds.charge_at[kind + 1]):
                price += kinds.charge[at, 1] * row[kinds.charge[at, 0], slot]
            tolls[kind, slot + 1] = tolls[kind, slot] + price


@compiled
def spread_use(kinds: Kinds, use: Ints, device: Ints, row: Ints) -> None:
    """Write the use of every pool resource and row, slot by slot, from the use by kind."""
    device[:] = 0
    row[:] = 0
    for kind in range(len(kinds.pool)):
        pool = kinds.pool[kind]
        for resource in range(kinds.use.shape[1]):
            amount = kinds.use[kind, resource]
            if amount > 0:
                for slot in range(use.shape[1]):
                    device[pool, resource, slot] += amount * use[kind, slot]
        for at in range(kinds.charge_at[kind], kinds.charge_at[kind + 1]):
            for slot in range(use.shape[1]):
                row[kinds.charge[at, 0], slot] += kinds.charge[at, 1] * use[kind, slot]


@compiled
def mode_heights(a: Arrays, desk: Desk, heights: Ints) -> None:
    """Write for every mode the most that a column is worth on its own, and the most after the tolls of `desk`."""
    for mode in range(len(heights)):
        task = a.mode[mode, TASK]
        crest, peak = -(2**61), -(2**61)
        for start in range(a.mode[mode, FIRST], a.mode[mode, LAST] + 1):
            crest = max(crest, column_value(a, task, mode, start))
            peak = max(peak, reduced_value(a, desk, task, mode, start))
        heights[mode, CREST] = crest
        heights[mode, PEAK] = peak


def no_columns(groups: int) -> Ints:
    """Make room for what `best_columns` writes."""
    return np.full((groups, 3), -1, dtype=np.int64)


@compiled
def list_columns(a: Arrays, desk: Desk, slack: int, room: Ints) -> int:
    """Write `(group, mode, start, value)` of the columns within `slack` of their group's best reduced value and of
    zero.

    Gives how many there are; writing stops where `room` ends, counting does not.
    """
    count = 0
    for group in range(len(desk.groups)):
        task = desk.groups[group, 0]
        least = max(desk.best[group, 0], 0) - slack
        for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
            shape = a.mode[mode, SHAPE]
            for start in range(a.mode[mode, FIRST], a.mode[mode, LAST] + 1):
                if desk.startable[shape, start] == 0 or reduced_value(a, desk, task, mode, start) < least:
                    continue
                if count < len(room):
                    room[count, 0], room[count, 1], room[count, 2] = group, mode, start
                    room[count, 3] = column_value(a, task, mode, start)
                count += 1
    return count
