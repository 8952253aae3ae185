"""Hosts become pools of identical nodes, and what tells pools apart is told."""

from __future__ import annotations

import random

import pytest

from planner.catalog import Vendor
from planner.diagnostics import UsageError
from planner.discovery.facts import Driver, HostFacts
from planner.discovery.merge import Fleet, merge
from planner.discovery.spec import back_end_of
from planner.discovery.write import fresh
from tests.planner.discovery.hosts import CATALOG, a_host


def pools(*hosts: HostFacts) -> dict[str, tuple[str, ...]]:
    return {pool.name: pool.nodes for pool in merge(hosts, CATALOG).pools}


def spec(fleet: Fleet) -> str:
    return fresh(fleet, "lab", "slurm", CATALOG)


def test_identical_hosts_are_one_pool_whose_names_keep_their_zeros() -> None:
    fleet = merge([a_host(f"h100-{number:03}") for number in (1, 2, 10)], CATALOG)
    assert "    nodes: h100-[001-002,010]\n" in spec(fleet)
    assert fleet.differences == ()


def test_hosts_in_any_order_give_the_same_bytes() -> None:
    hosts = [a_host(f"h100-{number:03}") for number in range(1, 9)]
    hosts += [a_host(f"a100-{number}", model="NVIDIA A100-SXM4-80GB") for number in range(1, 4)]
    expected = spec(merge(hosts, CATALOG))
    for seed in range(5):
        random.Random(seed).shuffle(hosts)
        assert spec(merge(hosts, CATALOG)) == expected


@pytest.mark.parametrize(
    ("less_mib", "count"), [(0, 1), (2015 * 1024 // 101, 1), (2015 * 1024 // 100, 2), (2015 * 1024 // 2, 2)]
)
def test_memory_may_differ_by_a_hundredth(less_mib: int, count: int) -> None:
    assert len(pools(a_host("a"), a_host("b", memory_mib=2015 * 1024 - less_mib))) == count


def test_the_least_memory_of_a_pool_is_the_pools_and_the_range_is_told() -> None:
    fleet = merge([a_host("a"), a_host("b", memory_mib=2014 * 1024)], CATALOG)
    assert "memory: 2014Gi" in spec(fleet)
    assert fleet.differences == ("h100: memory of its nodes is 2062336 to 2063360 MiB; the least is used",)


def test_hosts_that_do_not_know_their_memory_are_apart_from_those_that_do() -> None:
    assert len(pools(a_host("a", memory_mib=None), a_host("b"), a_host("c", memory_mib=None))) == 2


def test_another_driver_makes_another_pool_and_is_named() -> None:
    other = a_host("h100-3", drivers=(Driver(vendor=Vendor.NVIDIA, version="580.65.06", toolkit="13.0"),))
    fleet = merge([a_host("h100-1"), a_host("h100-2"), other], CATALOG)
    assert {pool.name: pool.nodes for pool in fleet.pools} == {"h100": ("h100-1", "h100-2"), "h100-2": ("h100-3",)}
    assert fleet.differences == (
        "h100 and h100-2 differ in software.driver: 570.86.15 / 580.65.06",
        "h100 and h100-2 differ in software.cuda: 12.8 / 13.0",
    )


def test_a_node_with_fewer_cards_is_in_a_pool_of_its_own() -> None:
    assert pools(a_host("a"), a_host("b", cards=4)) == {"h100": ("a",), "h100-2": ("b",)}


def test_hosts_without_cards_are_pools_too() -> None:
    assert pools(a_host("login", cards=0), a_host("a")) == {"cpu": ("login",), "h100": ("a",)}


def test_nvlink_domains_join_hosts_of_one_clique() -> None:
    cluster = "0123456789abcdef" * 2
    hosts = [a_host(f"gb-{n}", nvlink_domain=f"{cluster}.{1 + n // 3}") for n in range(1, 5)]
    assert "    nvlink_domains: {01234567-1: 'gb-[1-2]', 01234567-2: 'gb-[3-4]'}\n" in spec(merge(hosts, CATALOG))


def test_a_host_told_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="the host a is told twice"):
        merge([a_host("a"), a_host("a")], CATALOG)


def test_hosts_of_two_back_ends_need_a_word() -> None:
    assert back_end_of([a_host("a"), a_host("b", back_ends=())]) == "slurm"
    assert back_end_of([a_host("a", back_ends=())]) == "compose"
    with pytest.raises(UsageError, match="kubernetes and slurm"):
        back_end_of([a_host("a"), a_host("b", back_ends=("kubernetes",))])


def test_warnings_name_their_host() -> None:
    assert merge([a_host("a", warnings=("GPU 0: odd",))], CATALOG).warnings == ("a: GPU 0: odd",)


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (("compute-001", "compute-002", "compute-010"), "compute-[001-002,010]"),
        (("machine1", "machine10"), "machine[1,10]"),
        (("n03d",), "n03d"),
    ],
)
def test_names_of_nodes_are_written_as_host_lists(names: tuple[str, ...], written: str) -> None:
    assert f"    nodes: {written}\n" in spec(merge([a_host(name) for name in names], CATALOG))
