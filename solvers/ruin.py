"""What a round takes out: neighbourhoods around who is out of place, who shares time and pool, or who shares a row."""

from __future__ import annotations

from typing import Final

from solvers.arrays import Arrays
from solvers.columns import (
    AHEAD,
    BEFORE,
    CHARGED_AT,
    CHARGED_END,
    DOMAIN_AT,
    DOMAIN_END,
    DOMAIN_WIDTH,
    DURATION,
    FIRST,
    LAST,
    LEAD,
    LIKELY,
    LIST,
    LISTED,
    MEMBER_AT,
    MERIT,
    MODE_AT,
    MODE_END,
    NEXT_AT,
    NEXT_END,
    NODE_AT,
    NODE_END,
    NOW,
    OWN,
    OWNER,
    POOL,
    ROUNDS,
    SEATS,
    SEEN,
    START,
    WISH_MODE,
    WISH_START,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.insertion import Guide, toll
from solvers.occupancy import State, copy_task, dice, take
from solvers.starts import Span

MOST: Final = 30
"""The most runs that one round takes out."""


@compiled
def enlist(a: Arrays, st: State, task: int) -> None:
    """Put a task on the round's list, remember where it stood, and take it out together with all placed work that
    comes after it.
    """
    base = st.tally[LISTED]
    grown = base
    if st.task[task, SEEN] != st.tally[ROUNDS]:
        st.task[task, SEEN] = st.tally[ROUNDS]
        st.work[LIST, grown] = task
        grown += 1
    while base < grown:
        one = st.work[LIST, base]
        base += 1
        copy_task(a, st, one, NOW, BEFORE)
        if st.task[one, NOW] < 0:
            continue
        for at in range(a.task[one, NEXT_AT], a.task[one, NEXT_END]):
            other = a.flat[at]
            if st.task[other, NOW] >= 0 and st.task[other, SEEN] != st.tally[ROUNDS]:
                st.task[other, SEEN] = st.tally[ROUNDS]
                st.work[LIST, grown] = other
                grown += 1
        take(a, st, one)
    st.tally[LISTED] = grown


@inlined
def regret(a: Arrays, st: State, guide: Guide, task: int) -> int:
    """Say how much more a task would bring, at prices, in its best column."""
    best = max(0, guide.task[task, MERIT])
    mode = st.task[task, NOW]
    if mode < 0:
        return int(best)
    return int(best - st.task[task, OWN] + toll(a, guide.prices, mode, st.task[task, START + NOW]))


@inlined
def pick_sufferer(a: Arrays, st: State, guide: Guide, tries: int) -> int:
    """Draw a few tasks and keep the one that has most to gain."""
    tasks = len(st.task)
    best = dice(st, tasks)
    for _ in range(tries):
        other = dice(st, tasks)
        if regret(a, st, guide, other) > regret(a, st, guide, best):
            best = other
    return best


@inlined
def overlaps(a: Arrays, st: State, task: int, start: int, end: int) -> bool:
    """Say whether the task runs in some slot of `[start, end)`."""
    mode = st.task[task, NOW]
    if mode >= 0 and max(0, start) < min(end, a.mode[mode, LEAD]):
        return True
    return bool(
        mode >= 0 and st.task[task, START + NOW] < end and st.task[task, START + NOW] + a.mode[mode, DURATION] > start
    )


@inlined
def clear_node(a: Arrays, st: State, node: int, start: int, end: int, most: int) -> None:
    """Take out what stands on a node in `[start, end)` until the round's list holds `most`."""
    seat = st.head[node]
    steps = 0
    while seat >= 0 and st.tally[LISTED] < most:
        task = st.seat[seat, OWNER]
        steps += 1
        if overlaps(a, st, task, start, end):
            enlist(a, st, task)
            seat = st.head[node]
        else:
            seat = st.seat[seat, AHEAD]
        if steps > 400:
            break
    st.tally[WORK] += 4 * steps


@inlined
def draw_run(a: Arrays, st: State, pool: int, span: Span) -> int:
    """Draw a run of the pool; -1 when it is not in `span`."""
    task = st.member[a.pool[pool, MEMBER_AT] + dice(st, st.members[pool])]
    st.tally[WORK] += 8
    return int(task) if overlaps(a, st, task, span[0], span[1]) else -1


@compiled
def thin_pool(a: Arrays, st: State, guide: Guide, pool: int, span: Span, most: int) -> None:
    """Take out runs of a pool that overlap `span`, of each two drawn the one that is more out of place, until `most`
    are listed.
    """
    choosy = dice(st, 2)
    for _ in range(6 * most):
        if st.members[pool] == 0 or st.tally[LISTED] >= most:
            return
        task = draw_run(a, st, pool, span)
        other = draw_run(a, st, pool, span) if choosy == 1 else -1
        if task < 0 or (other >= 0 and regret(a, st, guide, other) > regret(a, st, guide, task)):
            task = other
        if task >= 0:
            enlist(a, st, task)


@compiled
def wish(a: Arrays, st: State, guide: Guide, task: int) -> Span:
    """Where a task would like to run: its best column by prices, or any mode at a start before its own. Mode -1:
    nowhere.
    """
    first, modes = a.task[task, MODE_AT], a.task[task, MODE_END] - a.task[task, MODE_AT]
    if modes == 0:
        return -1, -1
    if dice(st, 2) == 0 and guide.task[task, WISH_MODE] >= 0:
        return int(guide.task[task, WISH_MODE]), int(guide.task[task, WISH_START])
    mode = first + dice(st, modes)
    low, high = a.mode[mode, FIRST], max(a.mode[mode, LAST], a.mode[mode, FIRST])
    if st.task[task, NOW] >= 0:
        high = max(low, st.task[task, START + NOW])
    return int(mode), int(low + dice(st, 1 + dice(st, high - low + 1)))


@inlined
def draw_stretch(a: Arrays, st: State, mode: int) -> Span:
    """Draw nodes to make room on: all that the mode may use, or those of one domain where it stays within some."""
    domains = (a.mode[mode, DOMAIN_END] - a.mode[mode, DOMAIN_AT]) // DOMAIN_WIDTH
    if domains == 0:
        return a.mode[mode, NODE_AT], a.mode[mode, NODE_END]
    at = a.mode[mode, DOMAIN_AT] + DOMAIN_WIDTH * dice(st, domains)
    return a.flat[at], a.flat[at + 1]


@compiled
def make_room(a: Arrays, st: State, guide: Guide, most: int) -> int:
    """Ruin around one who is out of place: free some nodes about the time it would like to run. Give the pool."""
    task = pick_sufferer(a, st, guide, 2)
    mode, start = wish(a, st, guide, task)
    if mode < 0:
        return -1
    end = start + a.mode[mode, DURATION]
    enlist(a, st, task)
    nodes = draw_stretch(a, st, mode)
    eligible = nodes[1] - nodes[0]
    if eligible <= 1:
        thin_pool(a, st, guide, a.mode[mode, POOL], (start, end), most)
    else:
        for _ in range(min(eligible, a.mode[mode, SEATS] + dice(st, 3))):
            clear_node(a, st, a.flat[nodes[0] + dice(st, eligible)], start, end, MOST)
    return int(a.mode[mode, POOL])


@inlined
def ruin_window(a: Arrays, st: State, guide: Guide, most: int) -> int:
    """Ruin runs of one pool around the time of one of them. Give the pool."""
    tasks = len(st.task)
    for _ in range(20):
        task = dice(st, tasks)
        mode = st.task[task, NOW]
        if mode >= 0:
            start = st.task[task, START + NOW]
            end = start + 1 + dice(st, a.mode[mode, DURATION])
            pool = a.mode[mode, POOL]
            enlist(a, st, task)
            thin_pool(a, st, guide, pool, (start - dice(st, 8), end), most)
            return int(pool)
    return -1


@inlined
def ruin_row(a: Arrays, st: State, most: int) -> int:
    """Ruin random runs that are charged to one row."""
    row = dice(st, len(a.row))
    first, tasks = a.row[row, CHARGED_AT], a.row[row, CHARGED_END] - a.row[row, CHARGED_AT]
    if tasks == 0:
        return -1
    for _ in range(3 * most):
        if st.tally[LISTED] >= most:
            break
        task = a.flat[first + dice(st, tasks)]
        st.tally[WORK] += 4
        if st.task[task, NOW] >= 0:
            enlist(a, st, task)
    return -1


@inlined
def invite(a: Arrays, st: State, guide: Guide, pool: int, most: int) -> None:
    """Add to the list up to `most` likely tasks that do not run, those of `pool` (-1: any) only."""
    tasks = len(st.task)
    for _ in range(4 * most):
        if most == 0 or st.members[len(st.members) - 1] == 0:
            return
        draw = dice(st, 1 + dice(st, tasks))
        if dice(st, 2) == 0:
            draw = min(tasks - 1, guide.water // 2 + dice(st, 1 + guide.water))
        task = guide.task[draw, LIKELY]
        st.tally[WORK] += 4
        if st.task[task, NOW] >= 0 or st.task[task, SEEN] == st.tally[ROUNDS]:
            continue
        fits = pool < 0
        for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
            fits = fits or a.mode[mode, POOL] == pool
        if fits:
            enlist(a, st, task)
            most -= 1


@compiled
def ruin(a: Arrays, st: State, guide: Guide) -> int:
    """Take out one neighbourhood; give the pool it lies in, -1 for many."""
    most = 2 + dice(st, 1 + dice(st, MOST // 2))
    kind = dice(st, 10)
    if kind < 6:
        return make_room(a, st, guide, most)
    if kind < 8 or len(a.row) == 0:
        return ruin_window(a, st, guide, most)
    return ruin_row(a, st, most)
