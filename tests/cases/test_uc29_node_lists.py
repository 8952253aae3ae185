"""UC-29: node lists keep their zeros and give back exactly the set."""

from __future__ import annotations

import pytest

from planner.hosts import expand, fold
from planner.source import SourceFile
from planner.specset import load


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (("compute-001", "compute-002", "compute-010"), "compute-[001-002,010]"),
        (("machine1", "machine10"), "machine[1,10]"),
        (("cpn-m11-16", "cpn-m11-17"), "cpn-m11-[16-17]"),
        (("n03d",), "n03d"),
        (("nodeA", "nodeB001", "nodeB003"), "nodeA,nodeB[001,003]"),
    ],
)
def test_folding_and_expanding_gives_back_exactly_the_set(names: tuple[str, ...], folded: str) -> None:
    assert fold(names) == folded
    assert set(expand(folded)) == set(names)


def test_names_of_unequal_width_share_no_range() -> None:
    names = ("n1", "n01", "n001", "n2")
    assert set(expand(fold(names))) == set(names)
    assert not any(part == "1-2" for part in fold(("n01", "n2")).split("["))


def test_a_pool_keeps_the_zeros_of_its_nodes() -> None:
    head = "apiVersion: planner/v1\nkind: Cluster\nname: c\nbackend: slurm\npools:\n"
    text = head + '  - {name: p, nodes: "n[008-011]", cpus: 1, memory: 1Gi}\n'
    specset = load([SourceFile("a.yaml", text.encode())]).specset
    assert specset is not None
    assert specset.pool("c/p").node_names() == ("n008", "n009", "n010", "n011")
