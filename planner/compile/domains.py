"""Racks and NVLink domains: how many of them a gang spreads over, and what each further one weighs.

A gang that must stay within one has no other way to run. One that would like to may run over k of them, for the
least k that can hold it and a few more, its nodes split into k parts whose sizes differ by at most one, each part in a
domain of its own; and, where none of this finds room, anywhere. Each domain above the least weighs as much as a day of
waiting. Nodes of which no domain is known belong to none. Unlike nodes (several roles) are not split: one domain, or
anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from planner.compile.fleet import TIERS
from planner.compile.joined import joined_by, pieces
from planner.compile.refusal import Code, Refusal
from planner.compile.reserve import domains
from planner.spec.work import Within

if TYPE_CHECKING:
    from planner.compile.ask import Ask
    from planner.compile.fleet import FleetPool, Tier
    from planner.compile.shape import Shape

MORE: Final = 3
"""How many domains above the least are tried before a gang may lie anywhere."""
WORDS: Final = MappingProxyType({Within.RACK: "rack", Within.NVLINK_DOMAIN: "NVLink domain"})
"""What sentences call the tiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One way for a gang to lie in a pool: `within` is the tier whose domains its blocks keep to (None: anywhere).

    `further` counts the domains above the least possible.
    """

    shapes: tuple[Shape, ...]
    within: int | None = None
    further: int = 0


def spreads(ask: Ask, pool: FleetPool, shapes: tuple[Shape, ...]) -> tuple[Spread, ...] | Refusal:
    """Every way in which the gang may lie in the pool, the one it likes best first; or why there is none."""
    nodes = sum(shape.count for shape in shapes)
    wanted = next((within for within in (ask.within, ask.near) if within in WORDS), None)
    if pool.joined and (wanted is None or nodes == 1) and ask.devices:
        return tuple(_in_pieces(ask, pool, shapes))
    if wanted is None or nodes == 1:
        return (Spread(shapes=shapes),)
    if pool.cells:
        message = "gangs on divided devices are not planned by racks or NVLink domains yet"
        return Refusal(code=Code.TOPOLOGY, subject=pool.address, message=message, fix="ask for a single node")
    tier = next((at for at, each in enumerate(pool.tiers) if each.within is wanted), None)
    sizes = _sizes(ask, pool, pool.tiers[tier]) if tier is not None else ()
    if wanted is ask.within:
        fits = sizes[:1] >= (nodes,)
        return (Spread(shapes=shapes, within=tier),) if fits else _too_large(pool, wanted, nodes, sizes)
    ways = [split for split in _splits(shapes, len(sizes)) if _hold(sizes, split)][: MORE + 1]
    found = (Spread(shapes=split, within=tier, further=further) for further, split in enumerate(ways))
    return *found, Spread(shapes=shapes, further=len(ways))


def _in_pieces(ask: Ask, pool: FleetPool, shapes: tuple[Shape, ...]) -> Iterator[Spread]:
    """Ways that differ in how many islands they take of a node; to work that asks for one, each further one weighs."""
    ways = pieces(ask, pool, shapes)
    fewest = sum(len(shape.pieces) for shape in ways[0])
    for way in ways:
        more = sum(len(shape.pieces) for shape in way) - fewest
        yield Spread(shapes=way, further=more if joined_by(ask) is pool.joined else 0)


def _sizes(ask: Ask, pool: FleetPool, tier: Tier) -> tuple[int, ...]:
    """How many nodes each domain offers, the largest first; of pinned work those it names only."""
    offered = (
        domain
        for name, domain in zip(pool.nodes, tier.of_node, strict=True)
        if domain is not None and (not ask.pin_nodes or name in ask.pin_nodes)
    )
    return tuple(sorted(Counter(offered).values(), reverse=True))


def _splits(shapes: tuple[Shape, ...], most: int) -> Iterator[tuple[Shape, ...]]:
    """The gang as one block, then as two of about equal size, and so on up to `most`."""
    if most:
        yield shapes
    (whole, *others) = shapes
    for blocks in range(2, min(most, whole.count) + 1) if not others else ():
        each, larger = divmod(whole.count, blocks)
        yield tuple(replace(whole, count=each + (block < larger), block=block) for block in range(blocks))


def _hold(sizes: Sequence[int], split: Sequence[Shape]) -> bool:
    """Whether the largest domains hold the blocks, which come largest first."""
    blocks: Counter[int] = Counter()
    for shape in split:
        blocks[shape.block] += shape.count
    return all(size >= count for size, count in zip(sizes, blocks.values(), strict=False))


def _too_large(pool: FleetPool, wanted: Within, nodes: int, sizes: Sequence[int]) -> Refusal:
    word = WORDS[wanted]
    if not sizes:
        message = f"needs {nodes} nodes within one {word}, the pool states none that it offers nodes of"
        return Refusal(
            code=Code.TOPOLOGY, subject=pool.address, message=message, fix=f"state the pool's {word}s, if it has any"
        )
    message = f"needs {nodes} nodes within one {word}, the largest has {sizes[0]}"
    kept = Counter(len(members) for members in domains(pool.pool, TIERS[wanted]))
    if pool.reserved and max(kept) >= nodes:
        message += " beside its reserve: it needs a fully healthy one"
    return Refusal(
        code=Code.TOPOLOGY, subject=pool.address, message=message,
        fix="ask for fewer nodes, or let it spread: topology.required: false",
    )  # fmt: skip
