"""Who occupies what: the state that the search changes, and the compiled steps that put a run in and take it out
again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    BUDGET_AT,
    BUDGET_END,
    BUDGET_MICROS,
    BUDGET_START,
    BUDGET_STOP,
    CASH,
    CHARGE_AT,
    CHARGE_END,
    COUNT,
    DEVICES,
    DURATION,
    FREE_AT,
    MOVE,
    PART_AT,
    PART_END,
    POOL,
    RESOURCES,
    SEAT_AT,
    SEATS,
    USE_AT,
    WAS_AT,
    WAS_END,
    WAS_MODE,
    WAS_START,
)
from solvers.compiled import compiled
from solvers.value import own_value

# Layers of State.mode, start and seat: now, before the round in work, and in the best plan so far.
NOW: Final = 0
BEFORE: Final = 1
BEST: Final = 2

# Entries of State.tally.
VALUE: Final = 0
WORK: Final = 1
DICE_1: Final = 2
DICE_2: Final = 3
OUT: Final = 4
BEST_VALUE: Final = 5
CHANGED: Final = 6
ROUNDS: Final = 7
LISTED: Final = 8
BEGAN: Final = 9
TALLY: Final = 10

# Entries of State.found.
FOUND_MODE: Final = 0
FOUND_START: Final = 1
FOUND_SCORE: Final = 2
FOUND_STAYS: Final = 3


class State(NamedTuple):
    """All that changes while a plan is searched; made by `empty_state`, changed only by compiled steps.

    `free` is laid out as `Arrays.free`. `mode[layer, task]` is -1 for a task that does not run; `seat[layer, SEAT_AT
    + i]` is the i-th node of its gang, part after part. `own[task]` is what its run is worth on its own, moves paid.
    `head`, `ahead` and `behind` chain the seats on each node; `member` lists the tasks that run in each pool,
    `place` says where in that list; `out` lists those that do not run.
    """

    free: Ints
    used: Ints
    cash: Ints
    mode: Ints
    start: Ints
    seat: Ints
    own: Ints
    head: Ints
    ahead: Ints
    behind: Ints
    owner: Ints
    member: Ints
    members: Ints
    place: Ints
    out: Ints
    tally: Ints
    found: Ints
    open: Ints
    counted: Ints
    gain: Ints
    rank: Ints
    fitting: Ints
    listed: Ints
    order: Ints
    changed: Ints
    mark: Ints


def empty_state(a: Arrays, seed: int) -> State:
    """Make the state in which nothing runs; `seed` (1 .. 2^31) starts its dice."""
    tasks, rows, seats = len(a.task) - 1, len(a.limit), int(a.task[-1, SEAT_AT])
    owner = np.repeat(np.arange(tasks, dtype=np.int64), np.diff(a.task[:, SEAT_AT]))
    state = State(
        free=a.free.copy(),
        used=np.zeros((rows, a.slots), dtype=np.int64),
        cash=a.budget[:, BUDGET_MICROS].copy(),
        mode=_filled((3, tasks), -1),
        start=_filled((3, tasks), -1),
        seat=_filled((3, seats), -1),
        own=_filled((tasks,), 0),
        head=_filled((len(a.node),), -1),
        ahead=_filled((seats,), -1),
        behind=_filled((seats,), -1),
        owner=owner,
        member=_filled((int(a.pool_task_at[-1]),), -1),
        members=_filled((len(a.pool_task_at),), 0),
        place=np.arange(tasks, dtype=np.int64),
        out=np.arange(tasks, dtype=np.int64),
        tally=_filled((TALLY,), 0),
        found=_filled((4,), 0),
        open=_filled((a.slots,), 0),
        counted=_filled((a.slots,), 0),
        gain=_filled((a.slots + 1,), 0),
        rank=_filled((len(a.node) + 1,), 0),
        fitting=_filled((len(a.node) + 1,), 0),
        listed=_filled((tasks + 1,), 0),
        order=_filled((tasks + 1,), 0),
        changed=_filled((tasks + 1,), 0),
        mark=_filled((2, tasks), 0),
    )
    state.tally[DICE_1], state.tally[DICE_2], state.tally[OUT] = seed, seed + 1, tasks
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


@compiled
def bonus_change(a: Arrays, st: State, mode: int, start: int, sign: int) -> int:
    """Book (`sign` 1) or unbook (-1) what `mode` counts in its rows from `start`; give the micros by which guarantee
    bonuses change.
    """
    end = min(a.slots, start + a.mode[mode, DURATION])
    change = 0
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END]):
        row, amount = a.charge[at, 0], sign * a.charge[at, 1]
        inside = 0
        for slot in range(start, end):
            before = st.used[row, slot]
            guarantee = a.guarantee[row, slot]
            inside += min(before + amount, guarantee) - min(before, guarantee)
            st.used[row, slot] = before + amount
        change += a.bonus[row] * inside
    return int(change)


@compiled
def spend(a: Arrays, st: State, task: int, mode: int, start: int, sign: int) -> None:
    """Book or unbook the cash of a run in every budget of its task."""
    cash = a.mode[mode, CASH]
    if cash == 0:
        return
    end = start + a.mode[mode, DURATION]
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        budget = a.budgets[at]
        overlap = min(end, a.budget[budget, BUDGET_STOP]) - max(start, a.budget[budget, BUDGET_START])
        if overlap > 0:
            st.cash[budget] -= sign * cash * overlap


@compiled
def occupy(a: Arrays, st: State, task: int, mode: int, start: int, sign: int) -> None:
    """Take (`sign` 1) or give back (-1) what a run uses of each node that `st.seat[NOW]` names for it."""
    end = min(a.slots, start + a.mode[mode, DURATION])
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END]):
        for _ in range(a.part[part, COUNT]):
            node = st.seat[NOW, seat]
            for resource in range(a.node[node, RESOURCES]):
                use = sign * a.use[a.part[part, USE_AT] + resource]
                at = a.node[node, FREE_AT] + resource * a.slots
                if use != 0:
                    for slot in range(at + start, at + end):
                        st.free[slot] -= use
            seat += 1


@compiled
def chain(a: Arrays, st: State, task: int, mode: int) -> None:
    """Hang the task's seats on their nodes and the task on its pool's list."""
    first = a.task[task, SEAT_AT]
    for seat in range(first, first + a.mode[mode, SEATS]):
        node = st.seat[NOW, seat]
        other = st.head[node]
        st.ahead[seat] = other
        st.behind[seat] = -1
        if other >= 0:
            st.behind[other] = seat
        st.head[node] = seat
    pool = a.mode[mode, POOL]
    last = st.tally[OUT] - 1
    moved = st.out[last]
    st.out[st.place[task]] = moved
    st.place[moved] = st.place[task]
    st.tally[OUT] = last
    st.member[a.pool_task_at[pool] + st.members[pool]] = task
    st.place[task] = st.members[pool]
    st.members[pool] += 1


@compiled
def unchain(a: Arrays, st: State, task: int, mode: int) -> None:
    """Undo `chain`."""
    first = a.task[task, SEAT_AT]
    for seat in range(first, first + a.mode[mode, SEATS]):
        ahead, behind = st.ahead[seat], st.behind[seat]
        if ahead >= 0:
            st.behind[ahead] = behind
        if behind >= 0:
            st.ahead[behind] = ahead
        else:
            st.head[st.seat[NOW, seat]] = ahead
    pool = a.mode[mode, POOL]
    st.members[pool] -= 1
    moved = st.member[a.pool_task_at[pool] + st.members[pool]]
    st.member[a.pool_task_at[pool] + st.place[task]] = moved
    st.place[moved] = st.place[task]
    st.out[st.tally[OUT]] = task
    st.place[task] = st.tally[OUT]
    st.tally[OUT] += 1


@compiled
def kept_devices(a: Arrays, st: State, task: int, mode: int, start: int) -> int:
    """Count the devices of the run on `st.seat[NOW]` that stand where, and since when, the previous plan had them."""
    was = a.task[task, WAS_MODE]
    if was < 0 or start != a.task[task, WAS_START] or a.mode[was, POOL] != a.mode[mode, POOL]:
        return 0
    kept = 0
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END]):
        devices = a.use[a.part[part, USE_AT]]
        for _ in range(a.part[part, COUNT]):
            for at in range(a.task[task, WAS_AT], a.task[task, WAS_END]):
                if a.was_node[at] == st.seat[NOW, seat]:
                    kept += min(devices, a.was_devices[at])
            seat += 1
    return int(kept)


@compiled
def put(a: Arrays, st: State, task: int, mode: int, start: int) -> None:
    """Run `task` in `mode` from `start` on the nodes that `st.seat[NOW]` names; nothing is checked."""
    st.mode[NOW, task] = mode
    st.start[NOW, task] = start
    own = own_value(a, task, mode, start)
    if a.task[task, MOVE] > 0 and a.task[task, WAS_MODE] >= 0:
        own -= a.task[task, MOVE] * (a.mode[mode, DEVICES] - kept_devices(a, st, task, mode, start))
    st.own[task] = own
    occupy(a, st, task, mode, start, 1)
    spend(a, st, task, mode, start, 1)
    chain(a, st, task, mode)
    st.tally[VALUE] += own + bonus_change(a, st, mode, start, 1)
    st.tally[WORK] += (a.mode[mode, SEATS] + 1) * min(a.mode[mode, DURATION], a.slots) + 20


@compiled
def take(a: Arrays, st: State, task: int) -> None:
    """Stop running `task`; its seats stay readable until it is put again."""
    mode, start = st.mode[NOW, task], st.start[NOW, task]
    occupy(a, st, task, mode, start, -1)
    spend(a, st, task, mode, start, -1)
    unchain(a, st, task, mode)
    st.tally[VALUE] += bonus_change(a, st, mode, start, -1) - st.own[task]
    st.tally[WORK] += (a.mode[mode, SEATS] + 1) * min(a.mode[mode, DURATION], a.slots) + 20
    st.mode[NOW, task] = -1
    st.own[task] = 0


@compiled
def copy_task(a: Arrays, st: State, task: int, source: int, target: int) -> None:
    """Copy what one layer says of a task to another layer."""
    st.mode[target, task] = st.mode[source, task]
    st.start[target, task] = st.start[source, task]
    for seat in range(a.task[task, SEAT_AT], a.task[task + 1, SEAT_AT]):
        st.seat[target, seat] = st.seat[source, seat]
