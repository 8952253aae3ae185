"""Links and sockets are written only where the catalogue would say otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.discovery import layout
from planner.discovery.facts import HostFacts, Pair
from tests.planner.discovery.hosts import CATALOG, a_host


def linked(host: HostFacts, *pairs: tuple[int, int]) -> HostFacts:
    """The host with just these pairs joined."""
    return replace(host, pairs=tuple(replace(p, linked=(p.first, p.second) in pairs) for p in host.pairs))


BRIDGED = "NVIDIA A100 80GB PCIe"  # islands of two


@pytest.mark.parametrize(
    ("host", "groups"),
    [
        (a_host("a"), ()),
        (linked(a_host("a", cards=4, model=BRIDGED), (0, 1), (2, 3)), ()),
        (linked(a_host("a", cards=4, model=BRIDGED), (0, 2), (1, 3)), ((0, 2), (1, 3))),
        (linked(a_host("a", cards=2, model=BRIDGED)), ((0,), (1,))),
        (linked(a_host("a", cards=4, model="NVIDIA L40S")), ()),
        (linked(a_host("a", cards=4, model="NVIDIA Z9000")), ()),
        (linked(a_host("a", cards=4, model="NVIDIA Z9000"), (0, 1)), ((0, 1), (2,), (3,))),
        (linked(a_host("a", cards=1)), ()),
    ],
)
def test_islands_are_told_where_they_are_not_the_catalogues(host: HostFacts, groups: layout.Groups) -> None:
    assert layout.links(host, CATALOG) == groups


def test_a_mesh_without_a_switch_is_one_island() -> None:
    ring = [(index, index + 1) for index in range(7)]
    assert layout.links(linked(a_host("a"), *ring), CATALOG) == ()


def test_links_that_are_not_all_known_are_not_told() -> None:
    host = linked(a_host("a", cards=4, model=BRIDGED), (0, 2))
    pairs = (Pair(first=0, second=1, linked=None), *host.pairs[1:])
    assert layout.links(replace(host, pairs=pairs), CATALOG) == ()


def test_a_divided_card_says_nothing_of_links() -> None:
    host = linked(a_host("a"))
    cards = (replace(host.devices[0], divided=True), *host.devices[1:])
    assert layout.links(replace(host, devices=cards), CATALOG) == ()


@pytest.mark.parametrize(
    ("nodes", "groups"),
    [((0, 0, 1, 1), ((0, 1), (2, 3))), ((1, 0, 1, 0), ((0, 2), (1, 3))), ((0, 0, 0, 0), ()), ((0, None, 1, 1), ())],
)
def test_sockets_are_told_when_all_are_known_and_differ(nodes: tuple[int | None, ...], groups: layout.Groups) -> None:
    host = a_host("a", cards=4)
    cards = tuple(replace(card, numa_node=node) for card, node in zip(host.devices, nodes, strict=True))
    assert layout.sockets(replace(host, devices=cards)) == groups


@pytest.mark.parametrize(
    ("groups", "text"),
    [(((0, 1, 2, 3), (4, 5)), "0-3 | 4-5"), (((0, 2), (1, 3)), "0,2 | 1,3"), (((7,),), "7"), ((), "")],
)
def test_groups_are_shown_with_ranges(groups: layout.Groups, text: str) -> None:
    assert layout.shown(groups) == text
