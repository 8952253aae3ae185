"""When a task could start, given all that runs: windows, rows, nodes and budgets."""

from __future__ import annotations

from typing import TypeAlias

from solvers.arrays import Arrays
from solvers.columns import (
    AFTER_AT,
    AFTER_END,
    BLOCK,
    BUDGET_AT,
    BUDGET_END,
    CASH,
    CHARGE_AT,
    CHARGE_END,
    CLEAR_AT,
    CLOSES,
    COUNT,
    COUNTED,
    DOMAIN_AT,
    DOMAIN_END,
    DOMAIN_WIDTH,
    DURATION,
    EARLIEST,
    FAR,
    FREE_AT,
    HOLDING,
    LEAD,
    LEAD_AT,
    LEAD_END,
    LIMIT,
    LIMIT_AT,
    MODE_AT,
    NODE_AT,
    NODE_END,
    NOW,
    OPEN,
    PART_AT,
    PART_END,
    PART_WIDTH,
    RESOURCES,
    SPILL,
    START,
    USE_AT,
    WHOLE,
    WORK,
)
from solvers.compiled import compiled, inlined
from solvers.occupancy import State, spilled
from solvers.value import cash_inside

Span: TypeAlias = tuple[int, int]
"""The first and the last of some starts, both included."""


@compiled
def first_start(a: Arrays, st: State, task: int) -> int:
    """Give the first slot the task may start in: its earliest, and after all it comes after; -1 while one of those
    does not run.
    """
    first = a.task[task, EARLIEST]
    for at in range(a.task[task, AFTER_AT], a.task[task, AFTER_END]):
        other = a.flat[at]
        mode = st.task[other, NOW]
        if mode < 0:
            return -1
        first = max(first, st.task[other, START + NOW] + a.mode[mode, DURATION])
    return int(first)


@inlined
def fits_rows(a: Arrays, st: State, row: int, slot: int, amount: int) -> bool:
    """Say whether a row, and every row it leads into, has room in a slot for so much more use."""
    while st.used[row, slot] + amount <= a.flat[a.row[row, LIMIT_AT] + slot]:
        if a.row[row, SPILL] < 0:
            return True
        used = st.used[row, slot]
        amount = spilled(a, row, slot, used, used + amount)
        row = a.row[row, SPILL]
    return False


@compiled
def close_for_rows(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Clear `st.line[OPEN, low..high]` where a run would pass the limit of a row it is charged to."""
    duration = a.mode[mode, DURATION]
    last = min(a.slots, high + duration)
    for at in range(a.mode[mode, CHARGE_AT], a.mode[mode, CHARGE_END], 2):
        row, amount = a.flat[at], a.flat[at + 1]
        blocked = FAR
        for slot in range(last - 1, low - 1, -1):
            if not fits_rows(a, st, row, slot, amount):
                blocked = slot
            if slot <= high and blocked - slot < duration:
                st.line[OPEN, slot] = 0
        st.tally[WORK] += last - low


@inlined
def count_simple(a: Arrays, st: State, node: int, use: int, duration: int, span: Span) -> None:
    """Add 1 to `st.line[COUNTED, s]` for each start s in which `node` has `use` of its first resource for the whole
    run.
    """
    low, high = span
    last = min(a.slots, high + duration)
    at = a.node[node, FREE_AT]
    blocked = FAR
    for slot in range(last - 1, high, -1):
        if st.free[at + slot] < use:
            blocked = slot
    for slot in range(high, low - 1, -1):
        if st.free[at + slot] < use:
            blocked = slot
        st.line[COUNTED, slot] += blocked - slot >= duration


@inlined
def fits_in_slot(a: Arrays, st: State, node: int, use_at: int, slot: int) -> bool:
    """Say whether the node has all that a part uses in one slot."""
    at = a.node[node, FREE_AT] + slot
    for resource in range(a.node[node, RESOURCES]):
        if st.free[at + resource * a.slots] < a.flat[use_at + resource]:
            return False
    return True


@compiled
def count_node(a: Arrays, st: State, node: int, mode: int, use_at: int, span: Span) -> None:
    """Add 1 to `st.line[COUNTED, s]` for each start s in which `node` has all a part uses, and stays open for the
    mode's limit.
    """
    low, high = span
    duration = a.mode[mode, DURATION]
    last = min(a.slots, high + duration)
    st.tally[WORK] += (last - low) * a.node[node, RESOURCES]
    if a.node[node, RESOURCES] == 1 and a.node[node, CLOSES] == 0:
        count_simple(a, st, node, a.flat[use_at], duration, span)
        return
    blocked = FAR
    for slot in range(last - 1, low - 1, -1):
        if not fits_in_slot(a, st, node, use_at, slot):
            blocked = slot
        if slot <= high and blocked - slot >= duration and a.flat[a.node[node, CLEAR_AT] + slot] >= a.mode[mode, LIMIT]:
            st.line[COUNTED, slot] += 1


@inlined
def block_end(a: Arrays, mode: int, part: int) -> int:
    """Where the parts end that are of the same block as `part`."""
    end = part + PART_WIDTH
    while end < a.mode[mode, PART_END] and a.flat[end + BLOCK] == a.flat[part + BLOCK]:
        end += PART_WIDTH
    return int(end)


@compiled
def count_domain(a: Arrays, st: State, mode: int, parts: Span, nodes: Span, span: Span) -> None:
    """Add 1 to `st.line[HOLDING, s]` for each start s in which the nodes of one domain can take all parts of a
    block.
    """
    low, high = span
    st.line[WHOLE, low : high + 1] = 1
    for part in range(parts[0], parts[1], PART_WIDTH):
        st.line[COUNTED, low : high + 1] = 0
        for at in range(nodes[0], nodes[1]):
            count_node(a, st, a.flat[at], mode, a.flat[part + USE_AT], span)
        for slot in range(low, high + 1):
            if st.line[COUNTED, slot] < a.flat[part + COUNT]:
                st.line[WHOLE, slot] = 0
    for slot in range(low, high + 1):
        st.line[HOLDING, slot] += st.line[WHOLE, slot]


@compiled
def close_for_domains(a: Arrays, st: State, mode: int, low: int, high: int, apart: int) -> None:
    """Clear `st.line[OPEN, low..high]` where some block finds no domain, and with `apart` 1 also where the n-th largest
    finds fewer than n, which rules out too much where blocks are so unlike that none is the larger.
    """
    part, blocks = a.mode[mode, PART_AT], 0
    while part < a.mode[mode, PART_END]:
        end = block_end(a, mode, part)
        st.line[HOLDING, low : high + 1] = 0
        for at in range(a.mode[mode, DOMAIN_AT], a.mode[mode, DOMAIN_END], DOMAIN_WIDTH):
            count_domain(a, st, mode, (part, end), (a.flat[at], a.flat[at + 1]), (low, high))
        blocks += 1 if blocks == 0 else apart
        for slot in range(low, high + 1):
            if st.line[HOLDING, slot] < blocks:
                st.line[OPEN, slot] = 0
        part = end


@inlined
def close_for_nodes(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Clear `st.line[OPEN, low..high]` where some part lacks its count of nodes, or its domain."""
    if a.mode[mode, DOMAIN_AT] >= 0:
        close_for_domains(a, st, mode, low, high, 1)
    else:
        close_for_parts(a, st, mode, low, high)


@compiled
def close_for_parts(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Clear `st.line[OPEN, low..high]` where some part lacks its count of nodes."""
    for part in range(a.mode[mode, PART_AT], a.mode[mode, PART_END], PART_WIDTH):
        st.line[COUNTED, low : high + 1] = 0
        for at in range(a.mode[mode, NODE_AT], a.mode[mode, NODE_END]):
            count_node(a, st, a.flat[at], mode, a.flat[part + USE_AT], (low, high))
        for slot in range(low, high + 1):
            if st.line[COUNTED, slot] < a.flat[part + COUNT]:
                st.line[OPEN, slot] = 0


@compiled
def mark_starts(a: Arrays, st: State, mode: int, low: int, high: int) -> None:
    """Set `st.line[OPEN, s]` for each start s in `[low, high]` that rows allow and for which each part has its count of
    nodes.
    """
    st.line[OPEN, low : high + 1] = 1
    close_for_rows(a, st, mode, low, high)
    close_for_nodes(a, st, mode, low, high)


@inlined
def affordable(a: Arrays, st: State, task: int, mode: int, start: int) -> bool:
    """Say whether every budget of the task holds the cash of the run, and of its lead."""
    first, lead = a.task[task, MODE_AT], a.mode[mode, LEAD]
    if a.mode[mode, CASH] == 0 and (lead == 0 or a.mode[first, CASH] == 0):
        return True
    end = start + a.mode[mode, DURATION]
    for at in range(a.task[task, BUDGET_AT], a.task[task, BUDGET_END]):
        cash = cash_inside(a, a.flat[at], mode, start, end) + cash_inside(a, a.flat[at], first, 0, lead)
        if cash > 0 and cash > st.cash[a.flat[at]]:
            return False
    return True


@compiled
def lead_fits(a: Arrays, st: State, task: int, mode: int) -> bool:
    """Say whether nodes and rows have room for the lead of a mode; there is room for none."""
    first, end = a.task[task, MODE_AT], a.mode[mode, LEAD]
    for at in range(a.mode[mode, LEAD_AT], a.mode[mode, LEAD_END], 2):
        for slot in range(end):
            if not fits_in_slot(a, st, a.flat[at], a.flat[a.flat[at + 1] + USE_AT], slot):
                return False
    for at in range(a.mode[first, CHARGE_AT], a.mode[first, CHARGE_END], 2):
        for slot in range(end):
            if not fits_rows(a, st, a.flat[at], slot, a.flat[at + 1]):
                return False
    st.tally[WORK] += end
    return True
