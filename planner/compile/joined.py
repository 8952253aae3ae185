"""Devices that are joined inside a node: which ones, whether work asks for that, and in which pieces it takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from planner.compile.refusal import Code, Refusal
from planner.spec.work import Within

if TYPE_CHECKING:
    from planner.compile.ask import Ask
    from planner.compile.fleet import DeviceGroup, FleetPool
    from planner.compile.shape import Shape
    from planner.compile.site import Site

_KINDS: Final = (Within.ISLAND, Within.SOCKET)
_MOST_WAYS: Final = 12
"""In how many ways a node's devices are taken from its islands at most."""


def joined_by(ask: Ask) -> Within | None:
    """What must, or should, hold all devices that the ask takes of a node: an island, a socket, or neither."""
    if ask.linked:
        return Within.ISLAND
    return next((kind for kind in (ask.within, ask.near) if kind in _KINDS), None)


def must_be_joined(ask: Ask) -> bool:
    """Whether it cannot do without."""
    return ask.linked or ask.within in _KINDS


def groups_of(pool: FleetPool, group: DeviceGroup, kind: Within) -> tuple[tuple[int, ...], ...]:
    """The islands or sockets of a node, the largest first; none where they are not known."""
    links, size = pool.pool.links, group.accelerator.island
    if kind is Within.SOCKET:
        found = pool.pool.sockets and islands_of(group.indices, pool.pool.sockets, None)
    else:
        found = islands_of(group.indices, links, size) if links or (size or 0) > 1 else ()
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def unjoined(ask: Ask, devices: int, site: Site) -> Refusal | None:
    """Why a site cannot join so many devices of a node; None where it can, or nothing of the kind is asked."""
    kind, group = joined_by(ask), site.group
    if group is None or kind is None or devices < 2 or not must_be_joined(ask):
        return None
    groups = groups_of(site.pool, group, kind)
    if not groups:
        if kind is Within.ISLAND and group.accelerator.island == 1:
            return site.refuse(Code.LINK, f"{group.model} devices are not linked with each other")
        what, fields = ("are linked", "links") if kind is Within.ISLAND else ("share a socket", "sockets")
        return site.refuse(Code.LINK, f"which devices of its nodes {what} is not known", f"state the pool's {fields}")
    if devices > len(groups[0]):
        word = "linked devices" if kind is Within.ISLAND else "devices of one socket"
        return site.refuse(
            Code.LINK, f"needs {devices} {word}, the most together in a node are {len(groups[0])}",
            "ask for fewer devices on a node",
        )  # fmt: skip
    if len(groups) > 1 and site.pool.joined is not kind:
        message = "linked devices are not chosen where work runs already, is shared, or is kept to sockets"
        return site.refuse(Code.LINK, message, "take whole nodes, or leave the link out")
    return None


def pieces(ask: Ask, pool: FleetPool, shapes: tuple[Shape, ...]) -> tuple[tuple[Shape, ...], ...]:
    """In which pieces, each of one island, the gang takes its devices of each node; the fewest pieces first."""
    if joined_by(ask) is pool.joined and must_be_joined(ask):
        return (tuple(replace(shape, pieces=(shape.devices,)) for shape in shapes),)
    sizes = sorted((int(cell.part) for cell in pool.cells[0]), reverse=True)
    ways = [sorted(_split(shape.devices, sizes), key=lambda way: (len(way), way)) for shape in shapes]
    if len(shapes) > 1:
        return (tuple(replace(shape, pieces=way[0]) for shape, way in zip(shapes, ways, strict=True)),)
    return tuple((replace(shapes[0], pieces=way),) for way in ways[0][:_MOST_WAYS])


def _split(devices: int, sizes: Sequence[int], most: int | None = None) -> Iterator[tuple[int, ...]]:
    """All ways to take so many devices from islands of these sizes, largest piece first."""
    if not devices:
        yield ()
        return
    for piece in range(min(devices, most or devices, sizes[0] if sizes else 0), 0, -1):
        yield from ((piece, *rest) for rest in _split(devices - piece, sizes[1:], piece))


def islands_of(indices: Sequence[int], links: Sequence[Sequence[int]], size: int | None) -> tuple[tuple[int, ...], ...]:
    """Split devices into islands: by `links` where they are stated, else in runs of `size` (None, 1: all as one)."""
    if not links:
        step = size if size is not None and size > 1 else len(indices) or 1
        return tuple(tuple(indices[at : at + step]) for at in range(0, len(indices), step))
    linked = [tuple(index for index in link if index in indices) for link in links]
    alone: list[tuple[int, ...]] = [(index,) for index in indices if not any(index in link for link in linked)]
    return tuple(sorted([link for link in linked if link] + alone))
