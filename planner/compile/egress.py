"""What it costs to bring a job's data to where it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.compile.ask import Wish
    from planner.compile.fleet import FleetPool
    from planner.compile.site import Site


def cost(wish: Wish, site: Site, fleet: Iterable[FleetPool]) -> int:
    """Micros for the wish's data on a site: the clusters where it is say at which price it leaves."""
    if wish.data is None or wish.egress is None or wish.data == place_name(site.pool):
        return 0
    prices = (pool.cluster.egress for pool in fleet if place_name(pool) == wish.data)
    return max((price.of(wish.egress) for price in prices if price is not None), default=0)


def place_name(pool: FleetPool) -> str:
    """Where a pool is; a cluster that does not say is a site of its own."""
    return pool.cluster.place.name or pool.cluster.name
