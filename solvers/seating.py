"""Which nodes a run takes: those of the previous plan where it is the same run, else the fullest that fit."""

from __future__ import annotations

from solvers.arrays import Arrays
from solvers.columns import (
    CLEAR_AT,
    COUNT,
    DURATION,
    FITTING,
    FREE_AT,
    LIMIT,
    NODE_AT,
    NODE_END,
    NOW,
    PART_AT,
    PART_END,
    PART_WIDTH,
    RANK,
    SEAT_AT,
    TASK,
    USE_AT,
    WAS_AT,
    WAS_END,
    WAS_MODE,
    WAS_START,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.occupancy import State, kept_devices
from solvers.starts import fits_in_slot


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


@inlined
def node_fits(a: Arrays, st: State, node: int, mode: int, use_at: int, start: int) -> bool:
    """Say whether `node` can play a part with that use from `start` on."""
    if a.flat[a.node[node, CLEAR_AT] + start] < a.mode[mode, LIMIT]:
        return False
    end = min(a.slots, start + a.mode[mode, DURATION])
    fits = True
    for slot in range(start, end):
        fits = fits and fits_in_slot(a, st, node, use_at, slot)
    return fits


@inlined
def is_eligible(a: Arrays, mode: int, node: int) -> bool:
    """Say whether the mode may use the node."""
    found = False
    for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
        found = found or a.flat[at] == node
    return found


@inlined
def may_seat(a: Arrays, st: State, node: int, mode: int, use_at: int, start: int) -> bool:
    """Say whether the mode may use the node and it fits there."""
    return is_eligible(a, mode, node) and node_fits(a, st, node, mode, use_at, start)


@compiled
def seats_as_before(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Seat the task on the nodes it had in the previous plan; False (seats then mean nothing) when they do not all
    fit.
    """
    at, seat = a.task[task, WAS_AT], a.task[task, SEAT_AT]
    count = (a.task[task, WAS_END] - at) // 2
    st.near[RANK, :count] = 0
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END], PART_WIDTH):
        use_at = a.flat[part + USE_AT]
        for _ in range(a.flat[part + COUNT]):
            chosen = -1
            for place in range(count):
                node = a.flat[at + 2 * place]
                alike = st.near[RANK, place] == 0 and a.flat[at + 2 * place + 1] == a.flat[use_at]
                if chosen < 0 and alike and may_seat(a, st, node, mode, use_at, start):
                    chosen = place
            if chosen < 0:
                return False
            st.near[RANK, chosen] = 1
            st.seat[seat, NOW] = a.flat[at + 2 * chosen]
            seat += 1
    return True


@inlined
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
    first, count, nodes = a.task[a.mode[mode, TASK], SEAT_AT], a.flat[part + COUNT], 0
    for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
        node = a.flat[at]
        taken = False
        for other in range(first, seat):
            taken = taken or st.seat[other, NOW] == node
        room = -1 if taken else leftover(a, st, node, mode, a.flat[part + USE_AT], start)
        if room >= 0:
            rank_node(st, node, room, nodes, count)
            nodes += 1
    st.tally[WORK] += a.mode[mode, NODE_END] - a.mode[mode, NODE_AT]
    if nodes < count:
        return False
    for place in range(count):
        st.seat[seat + place, NOW] = st.near[FITTING, place]
    return True


@inlined
def rank_node(st: State, node: int, room: int, nodes: int, count: int) -> None:
    """Insert a node into the sorted list of the `count` fullest ones, behind its equals."""
    at = min(nodes, count)
    while at > 0 and st.near[RANK, at - 1] > room:
        if at < count:
            st.near[RANK, at] = st.near[RANK, at - 1]
            st.near[FITTING, at] = st.near[FITTING, at - 1]
        at -= 1
    if at < count:
        st.near[RANK, at] = room
        st.near[FITTING, at] = node


@inlined
def seat_task(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Choose the nodes of a run: those of the previous plan where it is the same run, else best fit part by part."""
    if (
        mode == a.task[task, WAS_MODE]
        and start == a.task[task, WAS_START]
        and seats_as_before(a, st, task, mode, start)
    ):
        return True
    seat = a.task[task, SEAT_AT]
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END], PART_WIDTH):
        if not seat_part(a, st, mode, part, seat, start):
            return False
        seat += a.flat[part + COUNT]
    return True
