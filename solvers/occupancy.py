"""Who occupies what: the state that the search changes, and the compiled steps that put a run in and take it out
again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.arrays import Arrays, Ints, Tables
from solvers.columns import (
    ABOVE_AT,
    AHEAD,
    BEHIND,
    BEST_VALUE,
    BONUS,
    BUDGET_AT,
    BUDGET_END,
    BUDGET_MICROS,
    CASH,
    CHARGE_AT,
    CHARGE_END,
    COUNT,
    DEVICES,
    DICE_1,
    DICE_2,
    DURATION,
    FREE_AT,
    GUARANTEE_AT,
    LEAD,
    LEAD_AT,
    LEAD_END,
    LINES,
    MEMBER_AT,
    MODE_AT,
    MOVE,
    NOW,
    OWN,
    OWNER,
    PART_AT,
    PART_END,
    PART_WIDTH,
    PLACE,
    POOL,
    RESOURCES,
    SEAT_AT,
    SEAT_WIDTH,
    SEATS,
    SPILL,
    START,
    STATE_WIDTH,
    STAYS,
    STOPPED,
    TALLY,
    TASK,
    USE_AT,
    VALUE,
    WAS_AT,
    WAS_END,
    WAS_MODE,
    WAS_START,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.value import cash_inside, own_value


class State(NamedTuple):
    """All that changes while a plan is searched; made by `empty_state`, changed only by compiled steps.

    `free` is laid out as `Tables.free`, `used[row, slot]` sums charges, `cash` is what budgets have left. `task`,
    `seat` and `tally` have their columns in `solvers.columns`: a task's mode is -1 while it does not run; seat
    `SEAT_AT + i` is the i-th node of its gang, part after part, and its last seats are those of a lead. `head` begins
    the chain of seats on each node. `member` lists the tasks that run in each pool, and last those that do not run;
    `members` counts them. `line`, `near` and `work` are room for one search over slots, nodes and tasks.
    """

    free: Ints
    used: Ints
    cash: Ints
    task: Ints
    seat: Ints
    head: Ints
    member: Ints
    members: Ints
    tally: Ints
    line: Ints
    near: Ints
    work: Ints


def empty_state(tables: Tables, seed: int) -> State:
    """Make the state in which nothing runs; `seed` (1 .. 2^31) starts its dice."""
    a = tables.arrays
    tasks, seats, pools = len(a.task) - 1, int(a.task[-1, SEAT_AT]), len(a.pool) - 1
    state = State(
        free=tables.free.copy(),
        used=_filled((len(a.row), a.slots), 0),
        cash=a.budget[:, BUDGET_MICROS].copy(),
        task=_filled((tasks, STATE_WIDTH), 0),
        seat=_filled((seats, SEAT_WIDTH), -1),
        head=_filled((len(a.node),), -1),
        member=_filled((int(a.pool[-1, MEMBER_AT]) + tasks + 1,), -1),
        members=_filled((pools + 1,), 0),
        tally=_filled((TALLY,), 0),
        line=_filled((LINES, a.slots + 1), 0),
        near=_filled((2, len(a.node) + 1), 0),
        work=_filled((3, tasks + 1), 0),
    )
    state.task[:, :OWN] = -1
    state.task[:, OWN] = 0
    state.task[:, PLACE] = np.arange(tasks)
    state.seat[:, OWNER] = np.repeat(np.arange(tasks), np.diff(a.task[:, SEAT_AT]))
    state.member[int(a.pool[-1, MEMBER_AT]) :][:tasks] = np.arange(tasks)
    state.members[pools] = tasks
    state.tally[DICE_1], state.tally[DICE_2] = seed, seed + 1
    state.tally[STOPPED] = int(a.task[:-1, STAYS].sum())
    state.tally[BEST_VALUE] = -(2**62) if state.tally[STOPPED] else 0
    return state


def _filled(shape: tuple[int, ...], value: int) -> Ints:
    return np.full(shape, value, dtype=np.int64)


@compiled
def dice(st: State, sides: int) -> int:
    """Throw a number in `[0, sides)`: L'Ecuyer's combined generator, which never leaves int64."""
    first = st.tally[DICE_1] * 40014 % 2147483563
    second = st.tally[DICE_2] * 40692 % 2147483399
    st.tally[DICE_1] = first
    st.tally[DICE_2] = second
    return int((first - second) % 2147483562 % sides)


@inlined
def spilled(a: Arrays, row: int, slot: int, before: int, after: int) -> int:
    """How much more spills out of a row in a slot when its use goes from `before` to `after`."""
    above = a.flat[a.row[row, ABOVE_AT] + slot]
    return int(max(0, after - above) - max(0, before - above))


@inlined
def spill_over(a: Arrays, st: State, row: int, slot: int, amount: int) -> None:
    """Book in the rows that `row` spills into what its use, which has just grown by `amount`, changes there."""
    change = amount
    while a.row[row, SPILL] >= 0 and change != 0:
        after = st.used[row, slot]
        change = spilled(a, row, slot, after - change, after)
        row = a.row[row, SPILL]
        st.used[row, slot] += change


@compiled
def bonus_change(a: Arrays, st: State, mode: int, start: int, end: int, sign: int) -> int:
    """Book (`sign` 1) or unbook (-1) what `mode` counts in its rows in `[start, end)`; give the micros by which
    guarantee bonuses change.
    """
    change = 0
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END], 2):
        row, amount = a.flat[at], sign * a.flat[at + 1]
        inside = 0
        for slot in range(start, end):
            before = st.used[row, slot]
            guarantee = a.flat[a.row[row, GUARANTEE_AT] + slot]
            inside += min(before + amount, guarantee) - min(before, guarantee)
            st.used[row, slot] = before + amount
            spill_over(a, st, row, slot, amount)
        change += a.row[row, BONUS] * inside
    return int(change)


@inlined
def spend(a: Arrays, st: State, mode: int, start: int, end: int, sign: int) -> None:
    """Book or unbook the cash of `[start, end)` in a mode in every budget of its task."""
    task = a.mode[mode, TASK]
    if a.mode[mode, CASH] == 0:
        return
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        st.cash[a.flat[at]] -= sign * cash_inside(a, a.flat[at], mode, start, end)


@compiled
def occupy(a: Arrays, st: State, task: int, mode: int, start: int, sign: int) -> None:
    """Take (`sign` 1) or give back (-1) what a run uses of each node that the seats name for it."""
    end = min(a.slots, start + a.mode[mode, DURATION])
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END], PART_WIDTH):
        for _ in range(a.flat[part + COUNT]):
            fill(a, st, (st.seat[seat, NOW], part), (start, end), sign)
            seat += 1


@inlined
def fill(a: Arrays, st: State, place: tuple[int, int], span: tuple[int, int], sign: int) -> None:
    """Take or give back what `place` (a node, and a part) uses in the slots of `span`."""
    (node, part), (start, end) = place, span
    for resource in range(a.node[node, RESOURCES]):
        use = sign * a.flat[a.flat[part + USE_AT] + resource]
        at = a.node[node, FREE_AT] + resource * a.slots
        if use != 0:
            for slot in range(at + start, at + end):
                st.free[slot] -= use


@compiled
def lead_on(a: Arrays, st: State, task: int, mode: int, sign: int) -> int:
    """Take (`sign` 1) or give back (-1) all that the lead of a mode uses; give the micros by which bonuses change."""
    first, end = a.task[task, MODE_AT], a.mode[mode, LEAD]
    seat = a.task[task + 1, SEAT_AT] - (a.mode[mode, LEAD_END] - a.mode[mode, LEAD_AT]) // 2
    for at in range(a.mode[mode, LEAD_AT], a.mode[mode, LEAD_END], 2):
        st.seat[seat, NOW] = a.flat[at]
        fill(a, st, (a.flat[at], a.flat[at + 1]), (0, end), sign)
        if sign > 0:
            hang(st, seat)
        else:
            unhang(st, seat)
        seat += 1
    spend(a, st, first, 0, end, sign)
    return bonus_change(a, st, first, 0, end, sign)


@inlined
def join(a: Arrays, st: State, task: int, pool: int) -> None:
    """Append the task to a pool's list."""
    st.member[a.pool[pool, MEMBER_AT] + st.members[pool]] = task
    st.task[task, PLACE] = st.members[pool]
    st.members[pool] += 1


@inlined
def leave(a: Arrays, st: State, task: int, pool: int) -> None:
    """Take the task from a pool's list; the last of it fills its place."""
    st.members[pool] -= 1
    moved = st.member[a.pool[pool, MEMBER_AT] + st.members[pool]]
    st.member[a.pool[pool, MEMBER_AT] + st.task[task, PLACE]] = moved
    st.task[moved, PLACE] = st.task[task, PLACE]


@inlined
def hang(st: State, seat: int) -> None:
    """Hang a seat on its node."""
    node = st.seat[seat, NOW]
    other = st.head[node]
    st.seat[seat, AHEAD] = other
    st.seat[seat, BEHIND] = -1
    if other >= 0:
        st.seat[other, BEHIND] = seat
    st.head[node] = seat


@inlined
def unhang(st: State, seat: int) -> None:
    """Undo `hang`."""
    ahead, behind = st.seat[seat, AHEAD], st.seat[seat, BEHIND]
    if ahead >= 0:
        st.seat[ahead, BEHIND] = behind
    if behind >= 0:
        st.seat[behind, AHEAD] = ahead
    else:
        st.head[st.seat[seat, NOW]] = ahead


@inlined
def chain(a: Arrays, st: State, task: int, mode: int) -> None:
    """Hang the task's seats on their nodes."""
    first = a.task[task, SEAT_AT]
    for seat in range(first, first + a.mode[mode, SEATS]):
        hang(st, seat)


@inlined
def unchain(a: Arrays, st: State, task: int, mode: int) -> None:
    """Undo `chain`."""
    first = a.task[task, SEAT_AT]
    for seat in range(first, first + a.mode[mode, SEATS]):
        unhang(st, seat)


@compiled
def kept_devices(a: Arrays, st: State, task: int, mode: int, start: int) -> int:
    """Count the devices of the run on its seats that stand where, and since when, the previous plan had them."""
    was = a.task[task, WAS_MODE]
    if was < 0 or start != a.task[task, WAS_START] or a.mode[was, POOL] != a.mode[mode, POOL]:
        return 0
    kept = 0
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END], PART_WIDTH):
        devices = a.flat[a.flat[part + USE_AT]]
        for _ in range(a.flat[part + COUNT]):
            for at in range(a.task[task, WAS_AT], a.task[task, WAS_END], 2):
                if a.flat[at] == st.seat[seat, NOW]:
                    kept += min(devices, a.flat[at + 1])
            seat += 1
    return int(kept)


@compiled
def put(a: Arrays, st: State, task: int, mode: int, start: int) -> None:
    """Run `task` in `mode` from `start` on the nodes that the seats name; nothing is checked."""
    st.task[task, NOW] = mode
    st.task[task, START + NOW] = start
    own = own_value(a, task, mode, start)
    if a.task[task, MOVE] > 0 and a.task[task, WAS_MODE] >= 0:
        own -= a.task[task, MOVE] * (a.mode[mode, DEVICES] - kept_devices(a, st, task, mode, start))
    st.task[task, OWN] = own
    end = start + a.mode[mode, DURATION]
    occupy(a, st, task, mode, start, 1)
    spend(a, st, mode, start, end, 1)
    chain(a, st, task, mode)
    leave(a, st, task, len(st.members) - 1)
    join(a, st, task, a.mode[mode, POOL])
    st.tally[VALUE] += own + bonus_change(a, st, mode, start, min(a.slots, end), 1)
    if a.mode[mode, LEAD] > 0:
        st.tally[VALUE] += lead_on(a, st, task, mode, 1)
    st.tally[STOPPED] -= a.task[task, STAYS]
    st.tally[WORK] += (a.mode[mode, SEATS] + 1) * min(a.mode[mode, DURATION], a.slots) + 20


@compiled
def take(a: Arrays, st: State, task: int) -> None:
    """Stop running `task`; its seats stay readable until it is put again."""
    mode, start = st.task[task, NOW], st.task[task, START + NOW]
    end = start + a.mode[mode, DURATION]
    occupy(a, st, task, mode, start, -1)
    spend(a, st, mode, start, end, -1)
    unchain(a, st, task, mode)
    leave(a, st, task, a.mode[mode, POOL])
    join(a, st, task, len(st.members) - 1)
    st.tally[VALUE] += bonus_change(a, st, mode, start, min(a.slots, end), -1) - st.task[task, OWN]
    if a.mode[mode, LEAD] > 0:
        st.tally[VALUE] += lead_on(a, st, task, mode, -1)
    st.tally[STOPPED] += a.task[task, STAYS]
    st.tally[WORK] += (a.mode[mode, SEATS] + 1) * min(a.mode[mode, DURATION], a.slots) + 20
    st.task[task, NOW] = -1
    st.task[task, OWN] = 0


@compiled
def copy_task(a: Arrays, st: State, task: int, source: int, target: int) -> None:
    """Copy what one layer says of a task to another layer."""
    st.task[task, target] = st.task[task, source]
    st.task[task, START + target] = st.task[task, START + source]
    for seat in range(a.task[task, SEAT_AT], a.task[task + 1, SEAT_AT]):
        st.seat[seat, target] = st.seat[seat, source]
