"""How the cards of a host hang together, where that differs from what the catalogue would say anyway."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from planner.catalog import Catalog
from planner.discovery.facts import HostFacts

Groups = tuple[tuple[int, ...], ...]


def links(host: HostFacts, catalog: Catalog) -> Groups:
    """The groups of linked cards, all of them, if they are not the catalogue's islands; nothing when unknown.

    Cards in a mode that divides them have no links to speak of, and are left to the catalogue.
    """
    whole = [device.index for device in host.usable if not device.divided]
    known = [pair for pair in host.pairs if pair.first in whole and pair.second in whole]
    if len(whole) < 2 or any(pair.linked is None for pair in known) or len(whole) < len(host.usable):
        return ()
    found = joined(whole, [(pair.first, pair.second) for pair in known if pair.linked])
    return () if found == _islands(host, catalog) else found


def _islands(host: HostFacts, catalog: Catalog) -> Groups:
    """The islands that plans assume without being told: as many cards of a model at a time as its link reaches."""
    groups: dict[str, list[int]] = {}
    for device in host.usable:
        groups.setdefault(device.model or f"?{device.name}", []).append(device.index)
    islands: list[tuple[int, ...]] = []
    for model, indices in groups.items():
        accelerator = catalog.get(model)
        size = accelerator.island if accelerator and accelerator.island else 1
        islands += [tuple(indices[start : start + size]) for start in range(0, len(indices), size)]
    return tuple(sorted(islands))


def joined(indices: Iterable[int], pairs: Iterable[tuple[int, int]]) -> Groups:
    """The connected groups of some indices, each sorted, in the order of their least members."""
    group = {index: {index} for index in indices}
    for first, second in pairs:
        if group[first] is not group[second]:
            group[first] |= group[second]
            for index in group[second]:
                group[index] = group[first]
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))


def sockets(host: HostFacts) -> Groups:
    """Cards by NUMA node, when all of theirs are known and they are not all on one."""
    nodes = [device.numa_node for device in host.usable]
    if None in nodes or len(set(nodes)) < 2:
        return ()
    by_node: dict[int, list[int]] = {}
    for device in host.usable:
        by_node.setdefault(device.numa_node or 0, []).append(device.index)
    return tuple(sorted(tuple(indices) for indices in by_node.values()))


def shown(groups: Sequence[Sequence[int]]) -> str:
    """Groups of card numbers on one line: `0-3 | 4-7`."""
    return " | ".join(",".join(_runs(group)) for group in groups)


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Sorted numbers with those that follow each other as one range."""
    for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        members = [number for _, number in run]
        yield str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}"
