"""What the finished plan leaves free: for a need of nodes, the starts at which it would have fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING

from planner.decode.slotmask import Tally, span, starts
from solvers.domains import block_ranks, grouped

if TYPE_CHECKING:
    from planner.decode.placed import Placed
    from solvers.problem import Mode, Node, Part, Problem

Stretch = tuple[int, int, tuple[int, ...]]
"""What a node has free in slots `[start, end)`, resource by resource; below 0 where closures overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The starts that a mode could have, and the most nodes at once, from slot `at` on, for its largest part."""

    starts: int
    most: int
    at: int


class Occupancy:
    """Free stretches of every node under a plan, in slots `[0, width)`; from there on nothing planned runs."""

    def __init__(self, problem: Problem, runs: Sequence[Placed]) -> None:
        ends = [each.run.end for each in runs]
        self.width = max([problem.slots, *ends]) + 1
        self._closed: dict[tuple[int, int], int] = {}
        self._stretches: dict[tuple[int, int], tuple[Stretch, ...]] = {}
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...], int, int], Tally] = {}
        self._free: dict[int, tuple[tuple[int, int, int], ...]] = {}
        used: dict[tuple[int, int], list[Stretch]] = defaultdict(list)
        for each in runs:
            for seat in each.run.seats:
                used[each.mode.pool, seat.node].append((each.run.start, each.run.end, each.mode.parts[seat.part].use))
        for at, pool in enumerate(problem.pools):
            for number, node in enumerate(pool.nodes):
                self._stretches[at, number] = tuple(_stretches(node, used[at, number], self.width))
                self._closed[at, number] = _closed(node, self.width + MARGIN)
        self._pools = problem.pools

    def room(self, mode: Mode, within: int) -> Room:
        """Where in `within` each part of the mode finds its nodes (necessary for unlike parts, exact for like ones).

        Where it keeps to domains, the n-th largest block needs n that hold it, and `most` is of one domain.
        """
        domains = grouped(self._pools[mode.pool], mode)
        fits, ranks = within, block_ranks(mode)
        for rank in sorted(set(ranks)):
            block = [part for part, its in zip(mode.parts, ranks, strict=True) if its == rank]
            holding = Tally(self._holding(mode, block, tuple(nodes), within) for nodes in domains)
            fits &= holding.at_least(rank + 1, within)
        most, at = max(
            (self._tally(mode, mode.parts[0].use, tuple(nodes)).most(within) for nodes in domains if within),
            key=lambda found: found[0],
            default=(0, 1),
        )
        return Room(starts=fits, most=most, at=(at & -at).bit_length() - 1)

    def _holding(self, mode: Mode, parts: Sequence[Part], nodes: tuple[int, ...], within: int) -> int:
        """Where in `within` some nodes hold some parts."""
        smallest = tuple(map(min, zip(*(part.use for part in parts), strict=True)))
        fits = self._tally(mode, smallest, nodes).at_least(sum(part.count for part in parts), within)
        for part in parts:
            fits &= self._tally(mode, part.use, nodes).at_least(part.count, within)
        return fits

    def free_devices(self, pool: int, within: int) -> int:
        """The most devices that are free in the pool at once, on whichever nodes, in the slots of `within`."""
        if pool not in self._free:
            self._free[pool] = tuple(self._totals(pool))
        return max((total for begin, end, total in self._free[pool] if span(begin, end) & within), default=0)

    def _totals(self, pool: int) -> Iterator[tuple[int, int, int]]:
        changes: dict[int, int] = defaultdict(int)
        for number in range(len(self._pools[pool].nodes)):
            for begin, end, free in self._stretches[pool, number]:
                changes[begin] += max(0, free[0])
                changes[end] -= max(0, free[0])
        times = sorted(changes)
        totals = accumulate(changes[time] for time in times)
        return zip(times, [*times[1:], self.width], totals, strict=True)

    def _tally(self, mode: Mode, use: tuple[int, ...], nodes: tuple[int, ...]) -> Tally:
        key = mode.pool, use, nodes, mode.duration, mode.limit
        if key not in self._known:
            self._known[key] = Tally(self._startable(mode, use, nodes))
        return self._known[key]

    def _startable(self, mode: Mode, use: tuple[int, ...], nodes: Sequence[int]) -> Iterator[int]:
        reach = self.width + mode.limit
        for number in nodes:
            free = reduce(
                lambda mask, stretch: mask | span(stretch[0], stretch[1]),
                (each for each in self._stretches[mode.pool, number] if _holds(each[2], use)),
                0,
            )
            closed = self._closed[mode.pool, number]
            opened = span(0, reach) & ~closed
            yield starts(free, self.width, mode.duration) & (starts(opened, self.width, mode.limit) if closed else -1)


MARGIN = 1 << 15
"""How far past the plan closures are looked at, in slots: more than any limit of a run has."""


def _closed(node: Node, end: int) -> int:
    return reduce(lambda mask, closure: mask | span(closure.start, min(closure.end, end)), node.closures, 0)


def _holds(free: tuple[int, ...], use: tuple[int, ...]) -> bool:
    return all(have >= need for have, need in zip(free, use, strict=True))


def _stretches(node: Node, used: Sequence[Stretch], width: int) -> Iterator[Stretch]:
    taken = [(each.start, min(each.end, width), each.use) for each in node.taken]
    taken += [(each.start, min(each.end, width), node.capacity) for each in node.closures if each.start < width]
    changes: dict[int, list[int]] = defaultdict(lambda: [0] * len(node.capacity))
    changes[0] = list(node.capacity)
    for begin, end, use in (*used, *taken):
        for at, sign in ((max(0, begin), -1), (end, 1)):
            changes[at] = [have + sign * need for have, need in zip(changes[at], use, strict=True)]
    times = sorted(changes)
    free = [0] * len(node.capacity)
    for begin, end in zip(times, [*times[1:], width], strict=True):
        free = [have + more for have, more in zip(free, changes[begin], strict=True)]
        if begin < end:
            yield begin, end, tuple(free)
