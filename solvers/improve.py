"""Ruin and recreate: take out runs that touch each other, put them in again in another order, keep what is better."""

from __future__ import annotations

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    AFTER_AT,
    AFTER_END,
    BEFORE,
    BEGAN,
    BEST,
    BEST_VALUE,
    CHANGED,
    CHANGES,
    DEVICES,
    DIFFERS,
    DURATION,
    IDEAL,
    KEY,
    LIST,
    LISTED,
    MERIT,
    MODE_AT,
    MODE_END,
    NOW,
    ROUNDS,
    START,
    STOPPED,
    VALUE,
    WISH_START,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.insertion import Guide, insert
from solvers.occupancy import State, copy_task, dice, put, take
from solvers.ruin import invite, ruin


@inlined
def sort_key(a: Arrays, st: State, guide: Guide, task: int, by: int) -> int:
    """Where a task comes in the order of insertion: small is first."""
    mode = a.task[task, MODE_AT]
    if by == 0:
        return dice(st, 1 << 30)
    if mode == a.task[task, MODE_END]:
        return 0
    if by == 1:
        return -int(guide.task[task, MERIT])
    if by == 2:
        return -int(a.mode[mode, DEVICES] * a.mode[mode, DURATION])
    if by == 3:
        return -int(a.mode[mode, DEVICES]) * 1024 - dice(st, 1024)
    if by == 4:
        late = 0 if guide.task[task, MERIT] > 0 else a.slots
        return int(late + guide.task[task, WISH_START]) * 64 + dice(st, 512)
    return -int(guide.task[task, IDEAL] // (a.mode[mode, DEVICES] * a.mode[mode, DURATION] + 1))


@compiled
def arrange(a: Arrays, st: State, guide: Guide, by: int) -> None:
    """Sort the round's list by one of the orders of `sort_key`."""
    for place in range(st.tally[LISTED]):
        task = st.work[LIST, place]
        key = sort_key(a, st, guide, task, by)
        at = place
        while at > 0 and st.work[KEY, at - 1] > key:
            st.work[KEY, at] = st.work[KEY, at - 1]
            st.work[LIST, at] = st.work[LIST, at - 1]
            at -= 1
        st.work[KEY, at] = key
        st.work[LIST, at] = task


@compiled
def recreate(a: Arrays, st: State, guide: Guide, share: int) -> None:
    """Insert the listed tasks one by one; those that come after listed ones get another turn once these run."""
    for _ in range(8):
        again = False
        for place in range(st.tally[LISTED]):
            task = st.work[LIST, place]
            if st.task[task, NOW] >= 0:
                continue
            if not insert(a, st, guide, task, share):
                again = again or a.task[task, AFTER_AT] < a.task[task, AFTER_END]
        if not again:
            return


@compiled
def undo(a: Arrays, st: State) -> None:
    """Put every listed task back where it was before the round."""
    for place in range(st.tally[LISTED]):
        task = st.work[LIST, place]
        if st.task[task, NOW] >= 0:
            take(a, st, task)
    for place in range(st.tally[LISTED]):
        task = st.work[LIST, place]
        if st.task[task, BEFORE] >= 0:
            copy_task(a, st, task, BEFORE, NOW)
            put(a, st, task, st.task[task, BEFORE], st.task[task, START + BEFORE])


@inlined
def note_changes(a: Arrays, st: State) -> None:
    """Remember which tasks differ from the best plan, and make this the best plan when it is better."""
    for place in range(st.tally[LISTED]):
        task = st.work[LIST, place]
        if st.task[task, DIFFERS] == 0:
            st.task[task, DIFFERS] = 1
            st.work[CHANGES, st.tally[CHANGED]] = task
            st.tally[CHANGED] += 1
    if st.tally[VALUE] > st.tally[BEST_VALUE]:
        keep_best(a, st)


@compiled
def keep_best(a: Arrays, st: State) -> None:
    """Copy what changed to the best layer."""
    for place in range(st.tally[CHANGED]):
        task = st.work[CHANGES, place]
        st.task[task, DIFFERS] = 0
        copy_task(a, st, task, NOW, BEST)
    st.tally[CHANGED] = 0
    st.tally[BEST_VALUE] = st.tally[VALUE]


@inlined
def play_round(a: Arrays, st: State, guide: Guide, heat: int) -> None:
    """Ruin, recreate, and keep the outcome unless it stops what may not stop, or is worse by more than a random part of
    `heat` micros.
    """
    st.tally[ROUNDS] += 1
    st.tally[LISTED] = 0
    before = st.tally[VALUE]
    pool = ruin(a, st, guide)
    invite(a, st, guide, pool, dice(st, 6))
    arrange(a, st, guide, dice(st, 6))
    share = (0, 0, 3, 6, 10)[dice(st, 5)]
    recreate(a, st, guide, share)
    allowed = heat * dice(st, 1024) // 1024 * dice(st, 1024) // 1024
    if st.tally[STOPPED] > 0 or st.tally[VALUE] < before - allowed:
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
        task = st.work[CHANGES, place]
        if st.task[task, NOW] >= 0:
            take(a, st, task)
    for place in range(st.tally[CHANGED]):
        task = st.work[CHANGES, place]
        st.task[task, DIFFERS] = 0
        if st.task[task, BEST] >= 0:
            copy_task(a, st, task, BEST, NOW)
            put(a, st, task, st.task[task, BEST], st.task[task, START + BEST])
    st.tally[CHANGED] = 0
