"""Devices that are joined inside a node: islands of linked ones, and sockets.

Where some work needs linked devices, or one socket, the cells of its pool are the islands, each of which runs may
share. Work that needs no link takes its devices in any pieces that islands hold; work that would like one takes the
fewest, and each further piece weighs as a further domain does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from planner.compile.candidate import eligible
from planner.compile.fleet import Cell, in_common_units
from planner.compile.joined import groups_of, joined_by
from planner.compile.site import Site
from planner.spec.work import Within

if TYPE_CHECKING:
    from planner.compile.ask import Ask, Wish
    from planner.compile.candidate import Grounds
    from planner.compile.fleet import FleetPool


def islanded(
    pools: Iterable[FleetPool], wishes: Iterable[Wish], grounds: Grounds, running: Collection[str | None]
) -> tuple[FleetPool, ...]:
    """The pools, those in which work asks for joined devices by their islands; `running` are pools in use already."""
    wanted = [wish.ask for wish in wishes if joined_by(wish.ask) is not None]
    return in_common_units(
        pool if pool.name in running else _islanded(at, pool, wanted, grounds) for at, pool in enumerate(pools)
    )


def _islanded(at: int, pool: FleetPool, wanted: Sequence[Ask], grounds: Grounds) -> FleetPool:
    if pool.cells or not pool.is_own or len(pool.groups) != 1:
        return pool
    site = Site(at=at, pool=pool, position=0)
    kinds = {joined_by(ask) for ask in wanted if eligible(ask, site, grounds)}
    for kind in (Within.ISLAND, Within.SOCKET):
        groups = groups_of(pool, pool.groups[0], kind) if kind in kinds else ()
        if len(groups) > 1:
            cells = tuple(Cell(index=group[0], others=group[1:], part=Fraction(len(group))) for group in groups)
            return replace(pool, cells=(cells,) * len(pool.nodes), joined=kind)
    return pool
