"""Which nodes a run takes: those of the previous plan where it is the same run, else the fullest that fit."""

from __future__ import annotations

from typing import TypeAlias

from solvers.arrays import Arrays
from solvers.columns import (
    CLEAR_AT,
    COUNT,
    DOMAIN_AT,
    DOMAIN_END,
    DOMAIN_WIDTH,
    DURATION,
    FAR,
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
from solvers.starts import Span, block_end, fits_in_slot

Run: TypeAlias = tuple[int, int]
"""A mode and its start."""


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
def is_listed(a: Arrays, nodes: Span, node: int) -> bool:
    """Say whether a stretch of nodes has the node."""
    found = False
    for at in range(nodes[0], nodes[1]):
        found = found or a.flat[at] == node
    return found


@inlined
def seats_of(a: Arrays, parts: Span) -> int:
    """Count the seats of some parts."""
    seats = 0
    for part in range(parts[0], parts[1], PART_WIDTH):
        seats += a.flat[part + COUNT]
    return int(seats)


@inlined
def is_used(a: Arrays, st: State, nodes: Span, first: int, end: int) -> bool:
    """Say whether one of the seats `[first, end)` is on one of some nodes."""
    found = False
    for seat in range(first, end):
        found = found or is_listed(a, nodes, st.seat[seat, NOW])
    return found


@compiled
def seats_as_before(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Seat the task on the nodes it had in the previous plan; False (seats then mean nothing) when they do not all
    fit.
    """
    st.near[RANK, : (a.task[task, WAS_END] - a.task[task, WAS_AT]) // 2] = 0
    seat, first, last = a.task[task, SEAT_AT], a.mode[mode, PART_AT], a.mode[mode, PART_END]
    if a.mode[mode, DOMAIN_AT] < 0:
        nodes = (a.mode[mode, NODE_AT], a.mode[mode, NODE_END])
        return keep_parts(a, st, (mode, start), (first, last), nodes, seat)
    while first < last:
        parts = (first, block_end(a, mode, first))
        kept = False
        for at in range(a.mode[mode, DOMAIN_AT], a.mode[mode, DOMAIN_END], DOMAIN_WIDTH):
            nodes = (a.flat[at], a.flat[at + 1])
            if not kept and not is_used(a, st, nodes, a.task[task, SEAT_AT], seat):
                kept = keep_parts(a, st, (mode, start), parts, nodes, seat)
        if not kept:
            return False
        seat += seats_of(a, parts)
        first = parts[1]
    return True


@compiled
def keep_parts(a: Arrays, st: State, run: Run, parts: Span, nodes: Span, seat: int) -> bool:
    """Seat some parts on those of the nodes that the task had in the previous plan and that no other part took.

    False when they do not all fit; none is taken then.
    """
    mode, start = run
    task = a.mode[mode, TASK]
    at, mark = a.task[task, WAS_AT], seat + 1
    count = (a.task[task, WAS_END] - at) // 2
    for part in range(parts[0], parts[1], PART_WIDTH):
        use_at = a.flat[part + USE_AT]
        for _ in range(a.flat[part + COUNT]):
            chosen = -1
            for place in range(count):
                node = a.flat[at + 2 * place]
                alike = st.near[RANK, place] == 0 and a.flat[at + 2 * place + 1] == a.flat[use_at]
                if chosen < 0 and alike and is_listed(a, nodes, node) and node_fits(a, st, node, mode, use_at, start):
                    chosen = place
            if chosen < 0:
                forget(st, mark, count)
                return False
            st.near[RANK, chosen] = mark
            st.seat[seat, NOW] = a.flat[at + 2 * chosen]
            seat += 1
    return True


@inlined
def forget(st: State, mark: int, count: int) -> None:
    """Let go of the previous nodes that bear the mark."""
    for place in range(count):
        if st.near[RANK, place] == mark:
            st.near[RANK, place] = 0


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
def seat_part(a: Arrays, st: State, run: Run, part: int, nodes: Span, seat: int) -> bool:
    """Seat one part on the fullest nodes that it fits on, lowest first among equals, none that the gang already has."""
    mode, start = run
    first, count, found = a.task[a.mode[mode, TASK], SEAT_AT], a.flat[part + COUNT], 0
    for at in range(nodes[0], nodes[1]):
        node = a.flat[at]
        taken = False
        for other in range(first, seat):
            taken = taken or st.seat[other, NOW] == node
        room = -1 if taken else leftover(a, st, node, mode, a.flat[part + USE_AT], start)
        if room >= 0:
            rank_node(st, node, room, found, count)
            found += 1
    st.tally[WORK] += nodes[1] - nodes[0]
    if found < count:
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


@compiled
def seat_parts(a: Arrays, st: State, run: Run, parts: Span, nodes: Span, seat: int) -> bool:
    """Seat some parts on some nodes, best fit part by part."""
    for part in range(parts[0], parts[1], PART_WIDTH):
        if not seat_part(a, st, run, part, nodes, seat):
            return False
        seat += a.flat[part + COUNT]
    return True


@inlined
def domain_room(a: Arrays, st: State, mode: int, nodes: Span, start: int) -> int:
    """Sum what some nodes have free of devices over the run: small is full."""
    total = 0
    end = min(a.slots, start + a.mode[mode, DURATION])
    for at in range(nodes[0], nodes[1]):
        free = a.node[a.flat[at], FREE_AT]
        for slot in range(free + start, free + end):
            total += st.free[slot]
    return int(total)


@compiled
def seat_block(a: Arrays, st: State, run: Run, parts: Span, seat: int) -> bool:
    """Seat one block in the fullest domain that it fits in, first among equals, none that the gang already has."""
    mode, start = run
    first, best, least = a.task[a.mode[mode, TASK], SEAT_AT], -1, FAR
    for at in range(a.mode[mode, DOMAIN_AT], a.mode[mode, DOMAIN_END], DOMAIN_WIDTH):
        nodes = (a.flat[at], a.flat[at + 1])
        if is_used(a, st, nodes, first, seat):
            continue
        room = domain_room(a, st, mode, nodes, start)
        if room < least and seat_parts(a, st, run, parts, nodes, seat):
            best, least = at, room
    return best >= 0 and seat_parts(a, st, run, parts, (a.flat[best], a.flat[best + 1]), seat)


@inlined
def seat_task(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Choose the nodes of a run: those of the previous plan where it is the same run, else best fit block by block."""
    if (
        mode == a.task[task, WAS_MODE]
        and start == a.task[task, WAS_START]
        and seats_as_before(a, st, task, mode, start)
    ):
        return True
    seat, part, last = a.task[task, SEAT_AT], a.mode[mode, PART_AT], a.mode[mode, PART_END]
    if a.mode[mode, DOMAIN_AT] < 0:
        nodes = (a.mode[mode, NODE_AT], a.mode[mode, NODE_END])
        return seat_parts(a, st, (mode, start), (part, last), nodes, seat)
    while part < last:
        parts = (part, block_end(a, mode, part))
        if not seat_block(a, st, (mode, start), parts, seat):
            return False
        seat += seats_of(a, parts)
        part = parts[1]
    return True
