"""Which partitions the devices of a pool get, where the planner may choose: one layout for the whole plan.

Partitions that are fixed, or that the previous plan chose, stay. Device by device, the profile whose work would queue
longest on the partitions there are so far is added where one of it still fits, the largest first and from the last
place at which it may begin, until all work fits into the horizon. A device that is still whole is only cut while that
queue is longer than the one for whole devices would become. AMD modes cut a whole card at once, and all cards of a node
where its memory mode demands that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Final

from planner.catalog import Partitioning
from planner.compile.ask import Wish, timing
from planner.compile.candidate import eligible
from planner.compile.fleet import Cell, in_common_units, is_whole
from planner.compile.site import Site
from planner.units import ceil_div

if TYPE_CHECKING:
    from planner.catalog import Accelerator, PartitionProfile
    from planner.compile.candidate import Grounds
    from planner.compile.fleet import FleetPool
    from planner.plan import Plan
    from planner.spec.snapshot import Snapshot

WHOLE: Final = ""
"""Stands for whole devices among the profiles."""
_ENDLESS: Final = Fraction(10**12)


class _Demand:
    """By profile: seconds of work on one partition, the most that one job needs at once, and how many there are.

    Work with a narrow window counts as much as if it went on at that rate over the whole horizon.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.have: Counter[str] = Counter()

    def queue(self, profile: str, fewer: int = 0) -> Fraction:
        """How long the work of a profile takes on the partitions there are, or on so many fewer."""
        have = self.have[profile] - fewer
        if not self.seconds[profile]:
            return Fraction(0)
        return _ENDLESS if have < max(1, self.most[profile]) else Fraction(self.seconds[profile], have)


def laid_out(
    pools: tuple[FleetPool, ...], wishes: Iterable[tuple[Wish, int]], grounds: Grounds, horizon: int,
    previous: Plan | None, snapshots: Iterable[Snapshot],
) -> tuple[FleetPool, ...]:  # fmt: skip
    """The pools with the partitions chosen for the work in `wishes`, each with the seconds of its own window.

    Partitions on which work runs in `snapshots` stay, and of others those of the previous plan that fit beside them.
    """
    wanted = tuple(wishes)
    kept = _in_use(snapshots)
    for where, layout in _previous(previous).items():
        kept[where] = (*kept.get(where, ()), *layout)
    return in_common_units(
        replace(pool, cells=_chosen(pool, _demand(at, pool, wanted, grounds, horizon), horizon, kept))
        if pool.pool.partitions.allowed and pool.cells
        else pool
        for at, pool in enumerate(pools)
    )


def _previous(previous: Plan | None) -> Mapping[tuple[str, str, int], tuple[tuple[str, int], ...]]:
    found = previous.layouts if previous is not None else ()
    return {
        (each.pool, each.node, each.device): tuple((part.profile, part.at) for part in each.windows[-1].partitions)
        for each in found
    }


def _in_use(snapshots: Iterable[Snapshot]) -> dict[tuple[str, str, int], tuple[tuple[str, int], ...]]:
    found: dict[tuple[str, str, int], tuple[tuple[str, int], ...]] = {}
    for run in (run for shot in snapshots for run in shot.running):
        for name, one in ((node.name, one) for node in run.nodes for one in node.devices):
            if one.profile is not None and one.at is not None:
                where = run.pool, name, one.index
                found[where] = (*found.get(where, ()), (one.profile, one.at))
    return found


def _demand(at: int, pool: FleetPool, wishes: Sequence[tuple[Wish, int]], grounds: Grounds, horizon: int) -> _Demand:
    demand, site = _Demand(), Site(at=at, pool=pool, position=0)
    group = pool.groups[0]
    for wish, room in wishes:
        ask = wish.ask
        named = ask.portion.profile if ask.portion else None
        profile = group.accelerator.partition(named) if named else None
        length = timing(wish, group.model, grounds.speeds)
        elsewhere = ask.portion is not None and profile is None
        if not ask.devices or length is None or elsewhere or not eligible(ask, site, grounds):
            continue
        name = profile.name if profile else WHOLE
        window = max(length.expected_seconds, min(room, horizon))
        demand.seconds[name] += ceil_div(ask.devices * length.expected_seconds * horizon, window)
        demand.most[name] = max(demand.most[name], ask.devices)
    return demand


def _chosen(
    pool: FleetPool, demand: _Demand, horizon: int, kept: Mapping[tuple[str, str, int], tuple[tuple[str, int], ...]]
) -> tuple[tuple[Cell, ...], ...]:
    accelerator = pool.groups[0].accelerator
    found = (accelerator.partition(name) for name in pool.pool.partitions.allowed)
    allowed = [profile for profile in found if profile is not None and not is_whole(accelerator, profile)]
    cards = {
        (node, index): _Card(accelerator, [*_fixed(cells), *_legal(kept.get((pool.name, name, index), ()), allowed)])
        for node, (name, own) in enumerate(zip(pool.nodes, pool.cells, strict=True))
        for index, cells in groupby(own, key=lambda cell: cell.index)
    }  # fmt: skip
    for card in cards.values():
        demand.have.update(card.names or [WHOLE])
    for block in _blocks(pool, accelerator, cards):
        _fill(block, allowed, demand, horizon)
    return tuple(
        tuple(cell for (at, index), card in cards.items() if at == node for cell in card.cells(index))
        for node in range(len(pool.nodes))
    )


def _fixed(cells: Iterable[Cell]) -> list[tuple[str, int]]:
    return [(cell.profile, cell.at or 0) for cell in cells if cell.profile is not None]


def _legal(layout: Sequence[tuple[str, int]], allowed: Sequence[PartitionProfile]) -> Sequence[tuple[str, int]]:
    names = {profile.name.lower() for profile in allowed}
    return layout if all(name.lower() in names for name, _ in layout) else ()


class _Card:
    """One device and the partitions it has so far; those it begins with stay where they are, as far as they are free.

    What is fixed comes first in `layout`, so that it prevails over what the previous plan chose.
    """

    def __init__(self, accelerator: Accelerator, layout: Iterable[tuple[str, int]]) -> None:
        self._accelerator = accelerator
        self._layout: list[tuple[str, int]] = []
        for name, at in layout:
            profile = accelerator.partition(name)
            if profile is not None and self._is_free(self._layout, profile, at):
                self._layout.append((profile.name, at))
        self._added: list[PartitionProfile] = []

    @property
    def names(self) -> list[str]:
        """The profile of each partition."""
        return [name for name, _ in self._placed(self._added) or self._layout]

    def add(self, profile: PartitionProfile) -> bool:
        """Add one partition, or the whole mode it belongs to; False where it does not fit."""
        if self._placed([*self._added, profile]) is None:
            return False
        self._added.append(profile)
        return True

    def _placed(self, added: Sequence[PartitionProfile]) -> list[tuple[str, int]] | None:
        """The layout with partitions added, the largest first, each from the last place that is free."""
        layout = list(self._layout)
        for profile in sorted(added, key=lambda each: (-(each.memory_slices or 0), each.name)):
            starts = [at for at in profile.placements or () if self._is_free(layout, profile, at)]
            if self._accelerator.partitioning is Partitioning.WHOLE_CARD_MODE:
                starts = starts if not layout else []
                layout += [(profile.name, at) for at in starts]
            elif starts:
                layout.append((profile.name, starts[-1]))
            if not starts or sum(name == profile.name for name, _ in layout) > profile.max_instances:
                return None
        return layout

    def _is_free(self, layout: Sequence[tuple[str, int]], profile: PartitionProfile, at: int) -> bool:
        taken: set[int] = set()
        for name, start in layout:
            other = self._accelerator.partition(name)
            taken.update(other.slots_from(start) if other is not None else ())
        return taken.isdisjoint(profile.slots_from(at))

    def cells(self, index: int) -> Iterator[Cell]:
        """Its partitions in order, or the whole device."""
        layout = self._placed(self._added) or []
        for name, at in sorted(layout, key=lambda each: each[1]):
            profile = self._accelerator.partition(name)
            assert profile is not None, "only known profiles are laid out"
            yield Cell(index=index, profile=name, at=at, part=profile.size)
        if not layout:
            yield Cell(index=index)


def _blocks(pool: FleetPool, accelerator: Accelerator, cards: Mapping[tuple[int, int], _Card]) -> Iterator[list[_Card]]:
    """The cards that are cut together, those that are cut already first."""
    memory = pool.pool.partitions.memory
    together = memory is not None and memory.lower() in accelerator.uniform_memory_modes
    blocks: dict[tuple[int, int], list[_Card]] = defaultdict(list)
    for (node, index), card in cards.items():
        blocks[node, -1 if together else index].append(card)
    yield from sorted(blocks.values(), key=lambda block: not block[0].names)


def _fill(block: Sequence[_Card], allowed: Sequence[PartitionProfile], demand: _Demand, horizon: int) -> None:
    """Add to the cards of a block what is queued for longest, as long as there is not enough for the horizon."""
    while True:
        short = [profile for profile in allowed if demand.queue(profile.name) > horizon]
        short.sort(key=lambda each: (-demand.queue(each.name), -(each.memory_slices or 0), each.name))
        if not block[0].names and short and demand.queue(WHOLE, len(block)) > demand.queue(short[0].name):
            return
        if not any(_add(block, profile, demand) for profile in short):
            return


def _add(block: Sequence[_Card], profile: PartitionProfile, demand: _Demand) -> bool:
    for card in block:
        demand.have.subtract(card.names or [WHOLE])
    added = [card.add(profile) for card in block]
    for card in block:
        demand.have.update(card.names or [WHOLE])
    return all(added)
