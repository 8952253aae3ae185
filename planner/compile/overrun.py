"""Room for what runs and may not stop: a limit that it exceeds already gives way until it ends, and no further."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.compile.foreign import FOR_EVER
from planner.compile.sighting import played
from solvers.problem import Budget, Node, Row, Taken, Task

_Use = list[tuple[int, tuple[int, ...]]]


def rows(given: Sequence[Row], tasks: Sequence[Task], slots: int) -> tuple[Row, ...]:
    """The rows, each with at least the limit that what stays needs in each slot."""
    return tuple(
        row if row.limit is None else replace(row, limit=tuple(map(max, row.limit, used)))
        for row, used in zip(given, _used(given, tasks, slots), strict=True)
    )


def _used(given: Sequence[Row], tasks: Sequence[Task], slots: int) -> list[list[int]]:
    """What of each row those use that stay, slot by slot, with what spills into it."""
    used = [[0] * slots for _ in given]
    for mode in (task.modes[0] for task in tasks if task.stays):
        for charge in mode.charges:
            for slot in range(min(mode.duration, slots)):
                used[charge.row][slot] += charge.amount
    spilling = {at: row.spill for at, row in enumerate(given) if row.spill is not None}
    while spilling:
        for at in sorted(spilling.keys() - {spill.row for spill in spilling.values()}):
            spill = spilling.pop(at)
            for slot, above in enumerate(spill.above):
                used[spill.row][slot] += max(0, used[at][slot] - above)
    return used


def budgets(given: Sequence[Budget], tasks: Sequence[Task]) -> tuple[Budget, ...]:
    """The budgets, each with at least the cash that what stays will have cost."""
    spent = [0] * len(given)
    for task in tasks:
        if task.stays:
            for at in task.budgets:
                inside = min(task.modes[0].duration, given[at].end) - max(0, given[at].start)
                spent[at] += task.modes[0].cash_micros * max(0, inside)
    return tuple(
        replace(budget, micros=max(budget.micros, cash)) for budget, cash in zip(given, spent, strict=True)
    )  # fmt: skip


def room(pools: Sequence[Sequence[Node]], tasks: Sequence[Task]) -> tuple[tuple[Node, ...], ...]:
    """The nodes of each pool, each with at least the room that what stays and foreign use take together.

    What is added is taken again once that ends.
    """
    held: defaultdict[tuple[int, int], _Use] = defaultdict(list)
    for task in tasks:
        if task.stays:
            for node, use in _seats(task):
                held[task.modes[0].pool, node].append((task.modes[0].duration, use))
    return tuple(
        tuple(_roomy(node, held.get((pool, at), ())) for at, node in enumerate(nodes))
        for pool, nodes in enumerate(pools)
    )


def _seats(task: Task) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each node that the task stays on, with the use of the part that has as many devices as it holds there."""
    parts = task.modes[0].parts
    for node, part in played(parts, task.previous.nodes if task.previous else ()):
        yield node, parts[part].use


def _roomy(node: Node, held: Sequence[tuple[int, tuple[int, ...]]]) -> Node:
    if not held:
        return node
    end = max(duration for duration, _ in held)
    changes = {0, *(duration for duration, _ in held), *(each.start for each in node.taken)}
    lacking = [0] * len(node.capacity)
    for slot in changes:
        for resource, capacity in enumerate(node.capacity):
            used = sum(use[resource] for duration, use in held if slot < duration)
            gone = sum(each.use[resource] for each in node.taken if each.start <= slot < each.end)
            lacking[resource] = max(lacking[resource], used + gone - capacity if used else 0)
    if not any(lacking):
        return node
    extra = tuple(lacking)
    return replace(
        node, capacity=tuple(map(sum, zip(node.capacity, extra, strict=True))),
        taken=(*node.taken, Taken(start=end, end=FOR_EVER, use=extra)),
    )  # fmt: skip
