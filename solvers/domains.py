"""Which nodes a mode may use, domain by domain, and in which order its blocks look for their domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.problem import Mode, Pool


def eligible_nodes(pool: Pool, mode: Mode) -> Sequence[int]:
    """The nodes of the pool that the mode may use: none where there are more than the market grants."""
    count = len(pool.nodes)
    if pool.ceiling is not None and count > pool.ceiling:
        return ()
    return range(count) if mode.nodes is None else sorted(set(mode.nodes))


def grouped(pool: Pool, mode: Mode) -> Sequence[Sequence[int]]:
    """The eligible nodes, domain by domain in order of their first ones; those of no known domain are left out."""
    eligible = eligible_nodes(pool, mode)
    if mode.within is None:
        return (eligible,)
    groups: dict[int, list[int]] = {}
    for node in eligible:
        domain = pool.nodes[node].domains[mode.within]
        if domain is not None:
            groups.setdefault(domain, []).append(node)
    return tuple(groups.values())


def block_ranks(mode: Mode) -> tuple[int, ...]:
    """The rank of each part's block, the most demanding and then the largest block first; 0 where there are none."""
    if mode.within is None:
        return (0,) * len(mode.parts)
    demands: dict[int, list[tuple[list[int], int]]] = {}
    for part in mode.parts:
        demands.setdefault(part.block, []).append(([-use for use in part.use], -part.count))
    order = sorted(demands, key=lambda block: sorted(demands[block]))
    return tuple(order.index(part.block) for part in mode.parts)
