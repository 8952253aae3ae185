"""How devices are partitioned: as the pools state it, the same over the whole horizon."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from planner.plan import LayoutSchedule, LayoutWindow, PlacedProfile
from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.fleet import Cell
    from planner.compile.problem import Compiled


def layouts(compiled: Compiled) -> tuple[LayoutSchedule, ...]:
    """The layout of every partitioned device, sorted by pool, node and device."""
    return tuple(sorted(_layouts(compiled), key=lambda each: (each.pool, each.node, each.device)))


def _layouts(compiled: Compiled) -> Iterator[LayoutSchedule]:
    start, end = (format_time(moment) for moment in (compiled.horizon.start, compiled.horizon.end))
    for pool in compiled.fleet:
        for node, cells in zip(pool.nodes, pool.cells, strict=False):
            for device, parts in _by_device(cells).items():
                window = LayoutWindow(start=start, end=end, partitions=parts)
                yield LayoutSchedule(pool=pool.name, node=node, device=device, windows=(window,))


def _by_device(cells: tuple[Cell, ...]) -> dict[int, tuple[PlacedProfile, ...]]:
    found: dict[int, list[PlacedProfile]] = defaultdict(list)
    for cell in cells:
        if cell.profile is not None and cell.at is not None:
            found[cell.index].append(PlacedProfile(profile=cell.profile, at=cell.at))
    return {device: tuple(sorted(parts, key=lambda part: part.at)) for device, parts in found.items()}
