"""The inventory side of UC-02, 12, 19 and 29: what discovery makes of such hosts."""

from __future__ import annotations

import pytest

from planner import hosts
from planner.discovery.merge import merge
from planner.discovery.write import fresh
from planner.source import SourceFile
from planner.spec.cluster import Partitions
from planner.specset import load
from tests.planner.discovery import machines
from tests.planner.discovery.bench import Bench
from tests.planner.discovery.hosts import CATALOG, a_host
from tests.planner.discovery.test_machines import pool_of


def test_uc02_two_models_in_one_node_are_two_groups_with_their_devices(bench: Bench) -> None:
    pool = pool_of(bench.spec(machines.MIXED, "compose"))
    assert [(group.model, group.devices, group.uuids) for group in pool.gpus] == [
        ("rtx-3090", (0,), (("mix01", ("GPU-00000000",)),)),
        ("rtx-4090", (1,), (("mix01", ("GPU-00000001",)),)),
    ]


def test_uc12_a_node_in_one_mode_is_its_cards_and_the_mode(bench: Bench) -> None:
    pool = pool_of(bench.spec(machines.CPX))
    assert (pool.gpus[0].model, pool.gpus[0].count) == ("mi300x", 8)
    assert (pool.partitions.compute, pool.partitions.memory, pool.partitions.fixed) == ("CPX", "NPS4", ())


def test_uc12_a_node_in_two_modes_tells_the_divided_cards_one_by_one(bench: Bench) -> None:
    pool = pool_of(bench.spec(machines.MIXED_MODES))
    ((_, cards),) = pool.partitions.fixed
    layout = [("cpx", place) for place in range(8)]
    assert {index: [(one.profile, one.at) for one in parts] for index, parts in cards} == {
        5: layout,
        6: layout,
        7: layout,
    }
    assert pool.gpus[0].count == 8


def test_uc12_whole_cards_need_no_word(bench: Bench) -> None:
    assert pool_of(bench.spec(machines.SPX)).partitions == Partitions()


@pytest.mark.parametrize("name", ["NVIDIA H100 80GB HBM3", "nvidia_h100_80gb_hbm3", "H100 80GB HBM3"])
def test_uc19_detected_names_are_the_catalogues(name: str) -> None:
    assert a_host("a", model=name).devices[0].model == "h100-sxm5-80gb"


def test_uc19_a_name_that_is_unknown_is_proposed_and_not_dropped() -> None:
    text = fresh(merge([a_host("a", model="NVIDIA A1000 Mobile")], CATALOG), "lab", "slurm", CATALOG)
    result = load([SourceFile("cluster.yaml", text.encode())])
    assert result.specset is not None
    assert result.specset.clusters[0].pools[0].gpus[0].model == "a1000-mobile"
    assert [spec.name for spec in result.specset.accelerators] == ["a1000-mobile"]


@pytest.mark.parametrize(
    "names",
    [
        ("compute-001", "compute-002", "compute-010"),
        ("machine1", "machine10"),
        ("cpn-m11-16", "cpn-m11-17"),
        ("n03d",),
        ("nodeA", "nodeB001", "nodeB003"),
    ],
)
def test_uc29_names_of_nodes_come_back_as_they_were(names: tuple[str, ...]) -> None:
    text = fresh(merge([a_host(name) for name in names], CATALOG), "lab", "slurm", CATALOG)
    pool = pool_of(text)
    assert sorted(pool.node_names()) == sorted(names)
    assert sorted(hosts.expand(hosts.fold(names))) == sorted(names)
