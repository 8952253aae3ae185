"""Where a task would run best, given all that runs: compiled search over its modes and starts, and the choice of
nodes.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from solvers.arrays import Arrays, Ints
from solvers.columns import (
    AFTER_AT,
    AFTER_END,
    BUDGET_AT,
    BUDGET_END,
    BUDGET_START,
    BUDGET_STOP,
    CASH,
    CHARGE_AT,
    CHARGE_END,
    CLOSES,
    COUNT,
    DEADLINE,
    DEVICES,
    DURATION,
    EARLIEST,
    FREE_AT,
    KIND,
    LATEST,
    LIMIT,
    MODE_AT,
    MODE_END,
    MOST_BONUS,
    MOVE,
    NODE_AT,
    NODE_END,
    PART_AT,
    PART_END,
    RESOURCES,
    SCALE,
    SEAT_AT,
    STEADY,
    TASK,
    USE_AT,
    WAS_AT,
    WAS_END,
    WAS_MODE,
    WAS_START,
)
from solvers.compiled import compiled
from solvers.occupancy import (
    FOUND_MODE,
    FOUND_SCORE,
    FOUND_START,
    FOUND_STAYS,
    NOW,
    VALUE,
    WORK,
    State,
    kept_devices,
    put,
    take,
)
from solvers.value import own_value

Span: TypeAlias = tuple[int, int]
"""The first and the last of some starts, both included."""

NOTHING: Final = -(2**62)
"""The score of finding nothing."""


@compiled
def first_start(a: Arrays, st: State, task: int) -> int:
    """Give the first slot the task may start in: its earliest, and after all it comes after; -1 while one of those
    does not run.
    """
    first = a.task[task, EARLIEST]
    for at in range(a.task[task, AFTER_AT], a.task[task, AFTER_END]):
        other = a.after[at]
        mode = st.mode[NOW, other]
        if mode < 0:
            return -1
        first = max(first, st.start[NOW, other] + a.mode[mode, DURATION])
    return int(first)


@compiled
def last_start(a: Arrays, task: int, mode: int) -> int:
    """Give the last slot in which `mode` may start: within the horizon, the task's latest and its deadline."""
    return int(min(a.task[task, LATEST], a.task[task, DEADLINE] - a.mode[mode, DURATION]))


@compiled
def close_for_rows(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Clear `st.open[low..high]` where a run would pass the limit of a row it is charged to."""
    duration = a.mode[mode, DURATION]
    last = min(a.slots, high + duration)
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END]):
        row, amount = a.charge[at, 0], a.charge[at, 1]
        run = 0
        for slot in range(last - 1, low - 1, -1):
            run = run + 1 if st.used[row, slot] + amount <= a.limit[row, slot] else 0
            if slot <= high and run < duration and slot + run < a.slots:
                st.open[slot] = 0
        st.tally[WORK] += last - low


@compiled
def count_simple(a: Arrays, st: State, node: int, use: int, duration: int, span: Span) -> None:
    """Add 1 to `st.counted[s]` for each start s in which `node` has `use` of its first resource for the whole run."""
    low, high = span
    last = min(a.slots, high + duration)
    at = a.node[node, FREE_AT]
    run = 0
    for slot in range(last - 1, high, -1):
        run = run + 1 if st.free[at + slot] >= use else 0
    for slot in range(high, low - 1, -1):
        run = run + 1 if st.free[at + slot] >= use else 0
        if run >= duration or slot + run == a.slots:
            st.counted[slot] += 1


@compiled
def fits_in_slot(a: Arrays, st: State, node: int, use_at: int, slot: int) -> bool:
    """Say whether the node has all that a part uses in one slot."""
    at = a.node[node, FREE_AT] + slot
    for resource in range(a.node[node, RESOURCES]):
        if st.free[at + resource * a.slots] < a.use[use_at + resource]:
            return False
    return True


@compiled
def count_node(a: Arrays, st: State, node: int, mode: int, use_at: int, span: Span) -> None:
    """Add 1 to `st.counted[s]` for each start s in which `node` has all a part uses, and stays open for the mode's
    limit.
    """
    low, high = span
    duration = a.mode[mode, DURATION]
    last = min(a.slots, high + duration)
    st.tally[WORK] += (last - low) * a.node[node, RESOURCES]
    if a.node[node, RESOURCES] == 1 and a.node[node, CLOSES] == 0:
        count_simple(a, st, node, a.use[use_at], duration, span)
        return
    run = 0
    for slot in range(last - 1, low - 1, -1):
        run = run + 1 if fits_in_slot(a, st, node, use_at, slot) else 0
        enough = run >= duration or slot + run == a.slots
        if slot <= high and enough and a.clear[node, slot] >= a.mode[mode, LIMIT]:
            st.counted[slot] += 1


@compiled
def close_for_nodes(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Clear `st.open[low..high]` where some part lacks its count of nodes."""
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END]):
        st.counted[low : high + 1] = 0
        for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
            count_node(a, st, a.eligible[at], mode, a.part[part, USE_AT], (low, high))
        for slot in range(low, high + 1):
            if st.counted[slot] < a.part[part, COUNT]:
                st.open[slot] = 0


@compiled
def mark_starts(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Set `st.open[s]` for each start s in `[low, high]` that rows allow and for which each part has its count of
    nodes.
    """
    st.open[low : high + 1] = 1
    close_for_rows(a, st, mode, low, high)
    close_for_nodes(a, st, mode, low, high)


@compiled
def affordable(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Say whether every budget of the task holds the cash of the run."""
    cash = a.mode[mode, CASH]
    if cash == 0:
        return True
    end = start + a.mode[mode, DURATION]
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        budget = a.budgets[at]
        overlap = min(end, a.budget[budget, BUDGET_STOP]) - max(start, a.budget[budget, BUDGET_START])
        if overlap > 0 and overlap * cash > st.cash[budget]:
            return False
    return True


@compiled
def sum_bonus(a: Arrays, st: State, mode: int, low: int, last: int) -> None:
    """Write into `st.gain` the running sum of guarantee bonus a slot would add."""
    st.gain[low : last + 1] = 0
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END]):
        row, amount = a.charge[at, 0], a.charge[at, 1]
        if a.bonus[row] == 0:
            continue
        total = 0
        for slot in range(low, last):
            used, guarantee = st.used[row, slot], a.guarantee[row, slot]
            total += a.bonus[row] * (min(used + amount, guarantee) - min(used, guarantee))
            st.gain[slot + 1] += total


@compiled
def stays_at(a: Arrays, st: State, task: int, mode: int, start: int) -> int:
    """Count the devices that stay where the previous plan put them if that place is free for the run, else 0."""
    if (
        mode != a.task[task, WAS_MODE]
        or start != a.task[task, WAS_START]
        or not seats_as_before(a, st, task, mode, start)
    ):
        return 0
    return kept_devices(a, st, task, mode, start)


@compiled
def node_fits(a: Arrays, st: State, node: int, mode: int, use_at: int, start: int) -> bool:
    """Say whether `node` can play a part with that use from `start` on."""
    if a.clear[node, start] < a.mode[mode, LIMIT]:
        return False
    end = min(a.slots, start + a.mode[mode, DURATION])
    fits = True
    for slot in range(start, end):
        fits = fits and fits_in_slot(a, st, node, use_at, slot)
    return fits


@compiled
def is_eligible(a: Arrays, mode: int, node: int) -> bool:
    """Say whether the mode may use the node."""
    found = False
    for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
        found = found or a.eligible[at] == node
    return found


@compiled
def may_seat(a: Arrays, st: State, node: int, mode: int, use_at: int, start: int) -> bool:
    """Say whether the mode may use the node and it fits there."""
    return is_eligible(a, mode, node) and node_fits(a, st, node, mode, use_at, start)


@compiled
def seats_as_before(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Seat the task on the nodes it had in the previous plan; False (seats then mean nothing) when they do not all
    fit.
    """
    at, seat = a.task[task, WAS_AT], a.task[task, SEAT_AT]
    count = a.task[task, WAS_END] - at
    st.rank[:count] = 0
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END]):
        use_at = a.part[part, USE_AT]
        for _ in range(a.part[part, COUNT]):
            chosen = -1
            for place in range(count):
                node = a.was_node[at + place]
                alike = st.rank[place] == 0 and a.was_devices[at + place] == a.use[use_at]
                if chosen < 0 and alike and may_seat(a, st, node, mode, use_at, start):
                    chosen = place
            if chosen < 0:
                return False
            st.rank[chosen] = 1
            st.seat[NOW, seat] = a.was_node[at + chosen]
            seat += 1
    return True


@compiled
def leftover(a: Arrays, st: State, node: int, mode: int, use_at: int, start: int) -> int:
    """Sum what the node has free of devices over the run: small is full. -1 when the part does not fit."""
    if not node_fits(a, st, node, mode, use_at, start):
        return -1
    at = a.node[node, FREE_AT]
    total = 0
    for slot in range(at + start, at + min(a.slots, start + a.mode[mode, DURATION])):
        total += st.free[slot]
    return int(total)


@compiled
def seat_part(a: Arrays, st: State, mode: int, part: int, seat: int, start: int) -> bool:
    """Seat one part on the fullest nodes that it fits on, lowest first among equals, none that the gang already has."""
    first, count, nodes = a.task[a.mode[mode, TASK], SEAT_AT], a.part[part, COUNT], 0
    for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
        node = a.eligible[at]
        taken = False
        for other in range(first, seat):
            taken = taken or st.seat[NOW, other] == node
        room = -1 if taken else leftover(a, st, node, mode, a.part[part, USE_AT], start)
        if room >= 0:
            rank_node(st, node, room, nodes, count)
            nodes += 1
    st.tally[WORK] += a.mode[mode, NODE_END] - a.mode[mode, NODE_AT]
    if nodes < count:
        return False
    for place in range(count):
        st.seat[NOW, seat + place] = st.fitting[place]
    return True


@compiled
def rank_node(st: State, node: int, room: int, nodes: int, count: int) -> None:
    """Insert a node into the sorted list of the `count` fullest ones, behind its equals."""
    at = min(nodes, count)
    while at > 0 and st.rank[at - 1] > room:
        if at < count:
            st.rank[at] = st.rank[at - 1]
            st.fitting[at] = st.fitting[at - 1]
        at -= 1
    if at < count:
        st.rank[at] = room
        st.fitting[at] = node


@compiled
def seat_task(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Choose the nodes of a run: those of the previous plan where it is the same run, else best fit part by part."""
    if (
        mode == a.task[task, WAS_MODE]
        and start == a.task[task, WAS_START]
        and seats_as_before(a, st, task, mode, start)
    ):
        return True
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END]):
        if not seat_part(a, st, mode, part, seat, start):
            return False
        seat += a.part[part, COUNT]
    return True


@compiled
def offer(st: State, mode: int, start: int, score: int, stays: int) -> None:
    """Keep the better of what was found and this: by score, then staying put, then the earlier start, then the first
    seen.
    """
    if score < st.found[FOUND_SCORE]:
        return
    if score == st.found[FOUND_SCORE]:
        if stays < st.found[FOUND_STAYS]:
            return
        if stays == st.found[FOUND_STAYS] and start >= st.found[FOUND_START]:
            return
    st.found[FOUND_MODE] = mode
    st.found[FOUND_START] = start
    st.found[FOUND_SCORE] = score
    st.found[FOUND_STAYS] = stays


@compiled
def beaten(st: State, most: int, start: int, before: int) -> bool:
    """Say whether a start that scores at most `most` cannot replace what was found."""
    if most == st.found[FOUND_SCORE]:
        return bool(before < 0 and start >= st.found[FOUND_START])
    return bool(most < st.found[FOUND_SCORE])


@compiled
def added_value(a: Arrays, st: State, mode: int, start: int, stays: int) -> int:
    """Micros that a run would add, with the bonus of guarantees in `st.gain` and the moves of all devices but
    `stays`.
    """
    task = a.mode[mode, TASK]
    value = own_value(a, task, mode, start)
    if a.mode[mode, MOST_BONUS] > 0:
        value += st.gain[min(a.slots, start + a.mode[mode, DURATION])] - st.gain[start]
    if a.task[task, WAS_MODE] >= 0:
        value -= a.task[task, MOVE] * (a.mode[mode, DEVICES] - stays)
    return int(value)


@compiled
def toll(a: Arrays, tolls: Ints, mode: int, start: int) -> int:
    """Micros that a run costs others, by prices."""
    kind, end = a.mode[mode, KIND], min(a.slots, start + a.mode[mode, DURATION])
    return int((tolls[kind, end] - tolls[kind, start]) * a.mode[mode, SCALE])


@compiled
def scan(a: Arrays, st: State, tolls: Ints, mode: int, span: Span, share: int) -> bool:
    """Offer every open start of `span`; True when no later start of this mode can be better.

    `share` tenths of the tolls (running sums of price by kind) count against a start.
    """
    low, high = span
    task = a.mode[mode, TASK]
    before = a.task[task, WAS_MODE]
    if a.mode[mode, MOST_BONUS] > 0:
        sum_bonus(a, st, mode, low, min(a.slots, high + a.mode[mode, DURATION]))
    for start in range(low, high + 1):
        if not worth_scanning(a, st, mode, start):
            return True
        if st.open[start] == 0 or not affordable(a, st, task, mode, start):
            continue
        stays = stays_at(a, st, task, mode, start) if before >= 0 else 0
        score = added_value(a, st, mode, start, stays)
        if share > 0:
            score -= toll(a, tolls, mode, start) * share // 10
        offer(st, mode, start, score, stays)
    return False


@compiled
def worth_scanning(a: Arrays, st: State, mode: int, start: int) -> bool:
    """Say whether the mode could still be better from `start` on than what was found."""
    if a.mode[mode, STEADY] == 0 or st.found[FOUND_MODE] < 0:
        return True
    task = a.mode[mode, TASK]
    most = own_value(a, task, mode, start) + a.mode[mode, MOST_BONUS]
    return not beaten(st, most, start, a.task[task, WAS_MODE])


@compiled
def find(a: Arrays, st: State, tolls: Ints, task: int, share: int) -> bool:
    """Find the task's best mode and start and write them to `st.found`; False when it can run nowhere."""
    st.found[FOUND_MODE] = -1
    st.found[FOUND_START] = 0
    st.found[FOUND_SCORE] = NOTHING
    st.found[FOUND_STAYS] = 0
    first = first_start(a, st, task)
    if first < 0:
        return False
    for mode in range(a.task[task, MODE_AT], a.task[task, MODE_END]):
        low, last = first, last_start(a, task, mode)
        while low <= last and worth_scanning(a, st, mode, low):
            high = min(last, low + max(31, a.mode[mode, DURATION]))
            mark_starts(a, st, mode, low, high)
            if scan(a, st, tolls, mode, (low, high), share):
                break
            low = high + 1
    return bool(st.found[FOUND_MODE] >= 0)


@compiled
def insert(a: Arrays, st: State, tolls: Ints, task: int, share: int) -> bool:
    """Run the task where it adds most; False, and nothing changed, when it can run nowhere or would add nothing."""
    st.tally[WORK] += 50
    if not find(a, st, tolls, task, share):
        return False
    mode, start = st.found[FOUND_MODE], st.found[FOUND_START]
    if not seat_task(a, st, task, mode, start):
        return False
    value = st.tally[VALUE]
    put(a, st, task, mode, start)
    if st.tally[VALUE] <= value:
        take(a, st, task)
        return False
    return True
