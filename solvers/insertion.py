"""Where a task would run best, given all that runs: compiled search over its modes and starts."""

from __future__ import annotations

from typing import Final, NamedTuple

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    BONUS,
    CHARGE_AT,
    CHARGE_END,
    CREST,
    DEVICES,
    DURATION,
    FIRST,
    FOUND_MODE,
    FOUND_SCORE,
    FOUND_START,
    FOUND_STAYS,
    GAIN,
    GUARANTEE_AT,
    KIND,
    LAST,
    LEAD,
    MODE_AT,
    MODE_END,
    MOST_BONUS,
    MOVE,
    OPEN,
    PEAK,
    SCALE,
    STEADY,
    TASK,
    VALUE,
    WAS_MODE,
    WISH_MODE,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.occupancy import State, put, take
from solvers.pricing import lead_toll
from solvers.seating import seat_task, stays_at
from solvers.starts import Span, affordable, first_start, lead_fits, mark_starts
from solvers.value import own_value


class Guide(NamedTuple):
    """What steers the search and decides nothing, made from prices by `solvers.guide`.

    `prices[kind, slot]` sums prices before the slot, and so does `tolls`, in which a subsidy is no income but what
    it leaves of its bonus. By task: the best its own value can be (IDEAL), its best reduced value (MERIT) with mode
    and start (WISH_MODE, WISH_START), and on row i the task of i-th best merit (LIKELY), `water` of which have some.
    By mode: the most a run can be worth (CREST), and be worth after tolls (PEAK).
    """

    prices: Ints
    tolls: Ints
    task: Ints
    mode: Ints
    water: int


NOTHING: Final = -(2**62)
"""The score of finding nothing."""


@inlined
def sum_bonus(a: Arrays, st: State, mode: int, low: int, last: int) -> None:
    """Write into `st.line[GAIN, low..last]` the running sum of guarantee bonus a slot would add."""
    st.line[GAIN, low : last + 1] = 0
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END], 2):
        row, amount = a.flat[at], a.flat[at + 1]
        if a.row[row, BONUS] == 0:
            continue
        total = 0
        for slot in range(low, last):
            used, guarantee = st.used[row, slot], a.flat[a.row[row, GUARANTEE_AT] + slot]
            total += a.row[row, BONUS] * (min(used + amount, guarantee) - min(used, guarantee))
            st.line[GAIN, slot + 1] += total


@inlined
def offer(st: State, mode: int, start: int, score: int, stays: int) -> None:
    """Keep the better of what was found and this: by score, then staying put, then the earlier start, then the first
    seen.
    """
    if score < st.tally[FOUND_SCORE]:
        return
    if score == st.tally[FOUND_SCORE]:
        if stays < st.tally[FOUND_STAYS]:
            return
        if stays == st.tally[FOUND_STAYS] and (start, mode) >= (st.tally[FOUND_START], st.tally[FOUND_MODE]):
            return
    st.tally[FOUND_MODE] = mode
    st.tally[FOUND_START] = start
    st.tally[FOUND_SCORE] = score
    st.tally[FOUND_STAYS] = stays


@inlined
def beaten(st: State, most: int, start: int, before: int) -> bool:
    """Say whether a start that scores at most `most` cannot replace what was found."""
    if most == st.tally[FOUND_SCORE]:
        return bool(before < 0 and start > st.tally[FOUND_START])
    return bool(most < st.tally[FOUND_SCORE])


@inlined
def added_value(a: Arrays, st: State, mode: int, start: int, stays: int) -> int:
    """Micros that a run would add, with the bonus of guarantees in `st.line[GAIN]` and the moves of all devices but
    `stays`.
    """
    task = a.mode[mode, TASK]
    value = own_value(a, task, mode, start)
    if a.mode[mode, MOST_BONUS] > 0:
        value += st.line[GAIN, min(a.slots, start + a.mode[mode, DURATION])] - st.line[GAIN, start]
    if a.task[task, WAS_MODE] >= 0:
        value -= a.task[task, MOVE] * (a.mode[mode, DEVICES] - stays)
    return int(value)


@inlined
def toll(a: Arrays, tolls: Ints, mode: int, start: int) -> int:
    """Micros that a run costs others, by prices."""
    kind, end = a.mode[mode, KIND], min(a.slots, start + a.mode[mode, DURATION])
    return int((tolls[kind, end] - tolls[kind, start]) * a.mode[mode, SCALE] + lead_toll(a, tolls, mode))


@inlined
def lead_bonus(a: Arrays, st: State, mode: int) -> int:
    """Micros of guarantee bonus that the lead of a mode would add."""
    lead = a.mode[mode, LEAD]
    if lead == 0 or a.mode[mode, MOST_BONUS] == 0:
        return 0
    sum_bonus(a, st, a.task[a.mode[mode, TASK], MODE_AT], 0, lead)
    return int(st.line[GAIN, lead])


@compiled
def scan(a: Arrays, st: State, tolls: Ints, mode: int, span: Span, share: int) -> bool:
    """Offer every open start of `span`; True when no later start of this mode can be better.

    `share` tenths of the tolls (running sums of price by kind) count against a start.
    """
    low, high = span
    st.tally[WORK] += high - low
    task = a.mode[mode, TASK]
    before = a.task[task, WAS_MODE]
    led = lead_bonus(a, st, mode)
    if a.mode[mode, MOST_BONUS] > 0:
        sum_bonus(a, st, mode, low, min(a.slots, high + a.mode[mode, DURATION]))
    for start in range(low, high + 1):
        if st.line[OPEN, start] == 0 or not affordable(a, st, task, mode, start):
            continue
        if not worth_scanning(a, st, mode, start):
            return True
        stays = stays_at(a, st, task, mode, start) if before >= 0 else 0
        score = added_value(a, st, mode, start, stays) + led
        if share > 0:
            score -= toll(a, tolls, mode, start) * share // 10
        offer(st, mode, start, score, stays)
    return False


@compiled
def worth_scanning(a: Arrays, st: State, mode: int, start: int) -> bool:
    """Say whether the mode could still be better from `start` on than what was found."""
    if a.mode[mode, STEADY] == 0:
        return True
    task = a.mode[mode, TASK]
    most = own_value(a, task, mode, start) + a.mode[mode, MOST_BONUS]
    return not beaten(st, most, start, a.task[task, WAS_MODE])


@inlined
def ceiling(a: Arrays, guide: Guide, mode: int, share: int) -> int:
    """No start of the mode scores more: a score is a mean of value and reduced value, weighted by `share` tenths."""
    mean = guide.mode[mode, CREST] - (guide.mode[mode, CREST] - guide.mode[mode, PEAK]) * share // 10
    return int(mean + a.mode[mode, MOST_BONUS])


@compiled
def try_mode(a: Arrays, st: State, guide: Guide, mode: int, first: int, share: int) -> None:
    """Offer all starts of a mode from `first` on that may be better than what was found."""
    low, last = max(first, a.mode[mode, FIRST]), a.mode[mode, LAST]
    if low > last or not lead_fits(a, st, a.mode[mode, TASK], mode):
        return
    while low <= last and worth_scanning(a, st, mode, low):
        high = min(last, low + max(31, a.mode[mode, DURATION]))
        mark_starts(a, st, mode, low, high)
        if scan(a, st, guide.tolls, mode, (low, high), share):
            break
        low = high + 1


@compiled
def find(a: Arrays, st: State, guide: Guide, task: int, share: int) -> bool:
    """Find the task's best mode and start and write them to `st.found`; False when it can run nowhere."""
    st.tally[FOUND_MODE] = -1
    st.tally[FOUND_START] = -1
    st.tally[FOUND_SCORE] = NOTHING if share > 0 else 0
    st.tally[FOUND_STAYS] = 0
    first = first_start(a, st, task)
    if first < 0:
        return False
    favourite = guide.task[task, WISH_MODE]
    if favourite >= 0:
        try_mode(a, st, guide, favourite, first, share)
    for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
        if mode != favourite and ceiling(a, guide, mode, share) >= st.tally[FOUND_SCORE]:
            try_mode(a, st, guide, mode, first, share)
    return bool(st.tally[FOUND_MODE] >= 0)


@compiled
def insert(a: Arrays, st: State, guide: Guide, task: int, share: int) -> bool:
    """Run the task where it adds most; False, and nothing changed, when it can run nowhere or would add nothing."""
    st.tally[WORK] += 50
    if not find(a, st, guide, task, share):
        return False
    mode, start = st.tally[FOUND_MODE], st.tally[FOUND_START]
    if not seat_task(a, st, task, mode, start):
        return False
    value = st.tally[VALUE]
    put(a, st, task, mode, start)
    if st.tally[VALUE] <= value:
        take(a, st, task)
        return False
    return True
