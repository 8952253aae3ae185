"""Nodes in reserve: which are set aside, that a failure within the reserve costs nothing, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, planned


def a_snapshot(*down: str) -> Document:
    """Nodes of dc1/x that are down."""
    return {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
        "down": [{"pool": "dc1/x", "nodes": [{"name": name} for name in down]}],
    }  # fmt: skip


def sides(*down: str, nodes: str = "n[1-6]", **fields: Any) -> tuple[list[str], list[str]]:
    """The nodes that a pool offers and those that it keeps."""
    (pool,) = compile_specs(a_cluster(a_pool("x", nodes=nodes, **fields)), a_snapshot(*down), a_job(gpus=1)).fleet
    return list(pool.nodes), list(pool.reserved)


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({}, []),
        ({"reserve": {"nodes": 0}}, []),
        ({"reserve": {"nodes": 2}}, ["n5", "n6"]),
        ({"reserve": {"nodes": 1, "per": "rack"}, "nodes_per_rack": 3}, ["n3", "n6"]),
        ({"reserve": {"nodes": 1, "per": "rack"}, "nodes_per_rack": 4}, ["n4", "n6"]),
        ({"reserve": {"nodes": 1, "per": "nvlink_domain"}, "nodes_per_nvlink_domain": 2}, ["n2", "n4", "n6"]),
        (
            {"reserve": {"nodes": 1, "per": "nvlink_domain"}, "nvlink_domains": {"a": ["n1", "n4"], "b": ["n2"]}},
            ["n2", "n4"],
        ),
    ],
)
def test_the_last_nodes_of_each_domain_are_kept_free(fields: Document, kept: list[str]) -> None:
    assert sides(**fields) == ([f"n{at}" for at in range(1, 7) if f"n{at}" not in kept], kept)


@pytest.mark.parametrize(
    ("down", "kept"), [(("n1",), ["n1", "n6"]), (("n1", "n2"), ["n1", "n2"]), (("n1", "n2", "n3"), ["n2", "n3"])]
)
def test_nodes_that_are_down_stand_aside_first(down: tuple[str, ...], kept: list[str]) -> None:
    assert sides(*down, reserve={"nodes": 2})[1] == kept


@pytest.mark.parametrize(("failed", "placed"), [(0, 4), (2, 4), (3, 3)])
def test_a_failure_within_the_reserve_takes_nothing_from_what_is_promised(failed: int, placed: int) -> None:
    pool = a_pool("x", nodes="n[1-6]", reserve={"nodes": 2})
    jobs = [a_job(f"j{at}", duration="24h") for at in range(6)]
    plan = planned(a_cluster(pool), a_snapshot(*(f"n{at}" for at in range(1, failed + 1))), *jobs)
    assert len(plan.placements) == placed


def test_eighteen_nodes_of_which_two_are_kept_promise_sixteen_in_each_rack() -> None:
    pool = a_pool("x", nodes=72, count=4, nodes_per_nvlink_domain=18, reserve={"nodes": 2, "per": "nvlink_domain"})
    (made,) = compile_specs(a_cluster(pool), a_job()).fleet
    assert (len(made.nodes), len(made.reserved)) == (64, 8)
    plan = planned(a_cluster(pool), a_job(gpus=256, duration="1h"))
    assert len(plan.placements[0].segments[0].nodes) == 64
    (total,) = [each for each in plan.utilisation if each.by == "pool"]
    assert total.devices == 256


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (a_job(gpus=40), "needs 40 devices at once, the pool has 32 beside 2 nodes kept in reserve"),
        (a_job(gpus=8, pin={"nodes": "n6"}), "the job is pinned to node n6, which is kept in reserve"),
    ],
)
def test_what_would_need_the_reserve_is_told_so(job: Document, message: str) -> None:
    pool = a_pool("x", nodes="n[1-6]", reserve={"nodes": 2})
    (work,) = compile_specs(a_cluster(pool), a_policy(on_invalid="skip"), job).works
    assert [each.message for each in work.refusals] == [message]
