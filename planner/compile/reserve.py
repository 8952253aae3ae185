"""Nodes kept free for failures: a pool offers all its nodes but the reserve, and nodes that are down stand aside first.

So a failure within the reserve takes nothing from what the pool promises. Counted per rack or NVLink domain, nodes of
which no domain is known have no reserve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, assert_never

from planner.spec.cluster import ReservePer

if TYPE_CHECKING:
    from planner.spec.cluster import NodePool


def reserved(pool: NodePool, down: Collection[str]) -> frozenset[str]:
    """The nodes that are set aside: those that are down, then the last ones of each domain."""
    if pool.reserve is None:
        return frozenset()
    aside: set[str] = set()
    for members in domains(pool, pool.reserve.per):
        ranked = sorted(enumerate(members), key=lambda each: (each[1] not in down, -each[0]))
        aside |= {name for _, name in ranked[: pool.reserve.nodes]}
    return frozenset(aside)


def domains(pool: NodePool, per: ReservePer) -> Iterator[tuple[str, ...]]:
    """The nodes of each domain of a kind, as far as the pool states them."""
    match per:
        case ReservePer.POOL:
            yield pool.node_names()
        case ReservePer.RACK:
            yield from _stated(pool, pool.nodes_per_rack, pool.racks)
        case ReservePer.NVLINK_DOMAIN:
            yield from _stated(pool, pool.nodes_per_nvlink_domain, pool.nvlink_domains)
        case _:
            assert_never(per)


def _stated(
    pool: NodePool, size: int | None, named: tuple[tuple[str, tuple[str, ...]], ...]
) -> Iterator[tuple[str, ...]]:
    if size is None:
        yield from (nodes for _, nodes in named)
        return
    names = pool.node_names()
    yield from (names[at : at + size] for at in range(0, len(names), size))


def is_kept(pool: NodePool) -> bool:
    """Whether the reserve can be kept: its domains are stated, and the nodes stand there instead of being rented."""
    assert pool.reserve is not None
    rented = pool.max_nodes is not None or pool.price.on_demand is not None or pool.price.spot is not None
    return not rented and any(domains(pool, pool.reserve.per))
