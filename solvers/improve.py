"""Ruin and recreate: take out runs that touch each other, put them in again in another order, keep what is better."""

from __future__ import annotations

from typing import Final, NamedTuple

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    AFTER_AT,
    AFTER_END,
    DEVICES,
    DURATION,
    EARLIEST,
    MODE_AT,
    MODE_END,
    NEXT_AT,
    NEXT_END,
    NODE_AT,
    NODE_END,
    POOL,
    SEATS,
)
from solvers.compiled import compiled
from solvers.insertion import insert, last_start
from solvers.occupancy import (
    BEFORE,
    BEGAN,
    BEST,
    BEST_VALUE,
    CHANGED,
    LISTED,
    NOW,
    OUT,
    ROUNDS,
    VALUE,
    WORK,
    State,
    copy_task,
    dice,
    put,
    take,
)

MOST: Final = 30
"""The most runs that one round takes out."""


class Guide(NamedTuple):
    """What steers the search and decides nothing: prices as running sums by kind, and three orders of interest.

    `tolls[kind, slot]` sums prices before the slot; `ideal[task]` is the best its own value can be; `merit[task]`
    its best reduced value; `likely` lists tasks by falling merit.
    """

    tolls: Ints
    ideal: Ints
    merit: Ints
    likely: Ints


@compiled
def enlist(a: Arrays, st: State, task: int) -> None:
    """Put a task on the round's list, remember where it stood, and take it out together with all placed work that
    comes after it.
    """
    base = st.tally[LISTED]
    grown = base
    if st.mark[0, task] != st.tally[ROUNDS]:
        st.mark[0, task] = st.tally[ROUNDS]
        st.listed[grown] = task
        grown += 1
    while base < grown:
        one = st.listed[base]
        base += 1
        copy_task(a, st, one, NOW, BEFORE)
        if st.mode[NOW, one] < 0:
            continue
        for at in range(a.task[one, NEXT_AT], a.task[one, NEXT_END]):
            other = a.following[at]
            if st.mode[NOW, other] >= 0 and st.mark[0, other] != st.tally[ROUNDS]:
                st.mark[0, other] = st.tally[ROUNDS]
                st.listed[grown] = other
                grown += 1
        take(a, st, one)
    st.tally[LISTED] = grown


@compiled
def regret(st: State, guide: Guide, task: int) -> int:
    """Say how much a task would gain if it were alone."""
    if st.mode[NOW, task] < 0:
        return int(max(0, guide.merit[task]))
    return int(guide.ideal[task] - st.own[task])


@compiled
def pick_sufferer(st: State, guide: Guide, tries: int) -> int:
    """Draw a few tasks and keep the one that has most to gain."""
    tasks = len(st.own)
    best = dice(st, tasks)
    for _ in range(tries):
        other = dice(st, tasks)
        if regret(st, guide, other) > regret(st, guide, best):
            best = other
    return best


@compiled
def overlaps(a: Arrays, st: State, task: int, start: int, end: int) -> bool:
    """Say whether the task runs in some slot of `[start, end)`."""
    mode = st.mode[NOW, task]
    return bool(mode >= 0 and st.start[NOW, task] < end and st.start[NOW, task] + a.mode[mode, DURATION] > start)


@compiled
def clear_node(a: Arrays, st: State, node: int, start: int, end: int, most: int) -> None:
    """Take out what stands on a node in `[start, end)` until the round's list holds `most`."""
    seat = st.head[node]
    steps = 0
    while seat >= 0 and st.tally[LISTED] < most:
        task = st.owner[seat]
        steps += 1
        if overlaps(a, st, task, start, end):
            enlist(a, st, task)
            seat = st.head[node]
        else:
            seat = st.ahead[seat]
        if steps > 400:
            break
    st.tally[WORK] += 4 * steps


@compiled
def thin_pool(a: Arrays, st: State, pool: int, start: int, end: int, most: int) -> None:
    """Take out random runs of a pool that overlap `[start, end)` until the round's list holds `most`."""
    for _ in range(6 * most):
        if st.members[pool] == 0 or st.tally[LISTED] >= most:
            return
        task = st.member[a.pool_task_at[pool] + dice(st, st.members[pool])]
        st.tally[WORK] += 8
        if overlaps(a, st, task, start, end):
            enlist(a, st, task)


@compiled
def make_room(a: Arrays, st: State, guide: Guide, most: int) -> int:
    """Ruin around one who waits: free some nodes about the time it would like to run. Give the pool."""
    task = pick_sufferer(st, guide, 3)
    first, modes = a.task[task, MODE_AT], a.task[task, MODE_END] - a.task[task, MODE_AT]
    if modes == 0:
        return -1
    mode = first + dice(st, modes)
    low, high = a.task[task, EARLIEST], max(last_start(a, task, mode), a.task[task, EARLIEST])
    if st.mode[NOW, task] >= 0:
        high = max(low, st.start[NOW, task])
    start = low + dice(st, 1 + dice(st, high - low + 1))
    end = start + a.mode[mode, DURATION]
    enlist(a, st, task)
    eligible = a.mode[mode, NODE_END] - a.mode[mode, NODE_AT]
    if eligible <= 1:
        thin_pool(a, st, a.mode[mode, POOL], start, end, most)
    else:
        for _ in range(min(eligible, a.mode[mode, SEATS] + dice(st, 3))):
            clear_node(a, st, a.eligible[a.mode[mode, NODE_AT] + dice(st, eligible)], start, end, MOST)
    return int(a.mode[mode, POOL])


@compiled
def ruin_window(a: Arrays, st: State, most: int) -> int:
    """Ruin random runs of one pool around the time of one of them. Give the pool."""
    tasks = len(st.own)
    for _ in range(20):
        task = dice(st, tasks)
        mode = st.mode[NOW, task]
        if mode >= 0:
            start = st.start[NOW, task]
            end = start + 1 + dice(st, a.mode[mode, DURATION])
            pool = a.mode[mode, POOL]
            enlist(a, st, task)
            thin_pool(a, st, pool, start - dice(st, 8), end, most)
            return int(pool)
    return -1


@compiled
def ruin_row(a: Arrays, st: State, most: int) -> int:
    """Ruin random runs that are charged to one row."""
    row = dice(st, len(a.limit))
    first, tasks = a.row_task_at[row], a.row_task_at[row + 1] - a.row_task_at[row]
    if tasks == 0:
        return -1
    for _ in range(3 * most):
        if st.tally[LISTED] >= most:
            break
        task = a.row_task[first + dice(st, tasks)]
        st.tally[WORK] += 4
        if st.mode[NOW, task] >= 0:
            enlist(a, st, task)
    return -1


@compiled
def invite(a: Arrays, st: State, guide: Guide, pool: int, most: int) -> None:
    """Add to the list up to `most` likely tasks that do not run, those of `pool` (-1: any) only."""
    tasks = len(st.own)
    for _ in range(4 * most):
        if most == 0 or st.tally[OUT] == 0:
            return
        draw = dice(st, 1 + dice(st, tasks))
        task = guide.likely[draw]
        st.tally[WORK] += 4
        if st.mode[NOW, task] >= 0 or st.mark[0, task] == st.tally[ROUNDS]:
            continue
        fits = pool < 0
        for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
            fits = fits or a.mode[mode, POOL] == pool
        if fits:
            enlist(a, st, task)
            most -= 1


@compiled
def sort_key(a: Arrays, st: State, guide: Guide, task: int, by: int) -> int:
    """Where a task comes in the order of insertion: small is first."""
    mode = a.task[task, MODE_AT]
    if by == 0:
        return dice(st, 1 << 30)
    if mode == a.task[task, MODE_END]:
        return 0
    if by == 1:
        return -int(guide.merit[task])
    if by == 2:
        return -int(a.mode[mode, DEVICES] * a.mode[mode, DURATION])
    if by == 3:
        return -int(a.mode[mode, DEVICES]) * 1024 - dice(st, 1024)
    if by == 4:
        return int(a.task[task, EARLIEST]) * 64 + dice(st, 512)
    return -int(guide.ideal[task] // (a.mode[mode, DEVICES] * a.mode[mode, DURATION] + 1))


@compiled
def arrange(a: Arrays, st: State, guide: Guide, by: int) -> None:
    """Sort the round's list by one of the orders of `sort_key`."""
    for place in range(st.tally[LISTED]):
        task = st.listed[place]
        key = sort_key(a, st, guide, task, by)
        at = place
        while at > 0 and st.order[at - 1] > key:
            st.order[at] = st.order[at - 1]
            st.listed[at] = st.listed[at - 1]
            at -= 1
        st.order[at] = key
        st.listed[at] = task


@compiled
def recreate(a: Arrays, st: State, guide: Guide, share: int) -> None:
    """Insert the listed tasks one by one; those that come after listed ones get another turn once these run."""
    for _ in range(8):
        again = False
        for place in range(st.tally[LISTED]):
            task = st.listed[place]
            if st.mode[NOW, task] >= 0:
                continue
            if not insert(a, st, guide.tolls, task, share):
                again = again or a.task[task, AFTER_AT] < a.task[task, AFTER_END]
        if not again:
            return


@compiled
def undo(a: Arrays, st: State) -> None:
    """Put every listed task back where it was before the round."""
    for place in range(st.tally[LISTED]):
        task = st.listed[place]
        if st.mode[NOW, task] >= 0:
            take(a, st, task)
    for place in range(st.tally[LISTED]):
        task = st.listed[place]
        if st.mode[BEFORE, task] >= 0:
            copy_task(a, st, task, BEFORE, NOW)
            put(a, st, task, st.mode[BEFORE, task], st.start[BEFORE, task])


@compiled
def note_changes(a: Arrays, st: State) -> None:
    """Remember which tasks differ from the best plan, and make this the best plan when it is better."""
    for place in range(st.tally[LISTED]):
        task = st.listed[place]
        if st.mark[1, task] == 0:
            st.mark[1, task] = 1
            st.changed[st.tally[CHANGED]] = task
            st.tally[CHANGED] += 1
    if st.tally[VALUE] > st.tally[BEST_VALUE]:
        keep_best(a, st)


@compiled
def keep_best(a: Arrays, st: State) -> None:
    """Copy what changed to the best layer."""
    for place in range(st.tally[CHANGED]):
        task = st.changed[place]
        st.mark[1, task] = 0
        copy_task(a, st, task, NOW, BEST)
    st.tally[CHANGED] = 0
    st.tally[BEST_VALUE] = st.tally[VALUE]


@compiled
def ruin(a: Arrays, st: State, guide: Guide) -> int:
    """Take out one neighbourhood; give the pool it lies in, -1 for many."""
    most = 2 + dice(st, 1 + dice(st, MOST - 4))
    kind = dice(st, 10)
    if kind < 6:
        return make_room(a, st, guide, most)
    if kind < 8 or len(a.limit) == 0:
        return ruin_window(a, st, most)
    return ruin_row(a, st, most)


@compiled
def play_round(a: Arrays, st: State, guide: Guide, heat: int) -> None:
    """Ruin, recreate, and keep the outcome unless it is worse by more than a random part of `heat` micros."""
    st.tally[ROUNDS] += 1
    st.tally[LISTED] = 0
    before = st.tally[VALUE]
    pool = ruin(a, st, guide)
    invite(a, st, guide, pool, dice(st, 6))
    arrange(a, st, guide, dice(st, 6))
    share = (0, 0, 3, 6, 10)[dice(st, 5)]
    recreate(a, st, guide, share)
    allowed = heat * dice(st, 1024) // 1024 * dice(st, 1024) // 1024
    if st.tally[VALUE] < before - allowed:
        undo(a, st)
    elif st.tally[LISTED] > 0:
        note_changes(a, st)


@compiled
def play(a: Arrays, st: State, guide: Guide, heats: Ints, until: int, total: int) -> None:
    """Play rounds until the work done since the phase began reaches `until`; `heats` falls as it nears `total`."""
    while st.tally[WORK] - st.tally[BEGAN] < until:
        at = min(len(heats) - 1, (st.tally[WORK] - st.tally[BEGAN]) * len(heats) // total)
        st.tally[WORK] += 30
        play_round(a, st, guide, heats[at])


@compiled
def sample_losses(a: Arrays, st: State, guide: Guide, losses: Ints, share: int) -> None:
    """Play rounds that are all undone, and write by how many micros each was worse."""
    for place in range(len(losses)):
        st.tally[ROUNDS] += 1
        st.tally[LISTED] = 0
        before = st.tally[VALUE]
        invite(a, st, guide, ruin(a, st, guide), dice(st, 3))
        arrange(a, st, guide, dice(st, 6))
        recreate(a, st, guide, share)
        losses[place] = max(0, before - st.tally[VALUE])
        undo(a, st)


@compiled
def restart_from_best(a: Arrays, st: State) -> None:
    """Make the best plan the current one again."""
    for place in range(st.tally[CHANGED]):
        task = st.changed[place]
        if st.mode[NOW, task] >= 0:
            take(a, st, task)
    for place in range(st.tally[CHANGED]):
        task = st.changed[place]
        st.mark[1, task] = 0
        if st.mode[BEST, task] >= 0:
            copy_task(a, st, task, BEST, NOW)
            put(a, st, task, st.mode[BEST, task], st.start[BEST, task])
    st.tally[CHANGED] = 0
