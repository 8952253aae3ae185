"""Replicas of a service are spread over nodes, racks or places as evenly as `max_skew` says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planner.diagnostics import SpecError
from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, planned


def a_service(replicas: int, over: str = "node", **spread: Any) -> Document:
    """So many replicas of one device each."""
    return {"apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
            "command": ["serve"], "gpus": 1, "load": {"qps": 0}, "service_time": "1s",
            "replicas": {"min": replicas}, "spread": {"over": over, **spread}}  # fmt: skip


def on_nodes(plan: Plan) -> list[int]:
    """How many replicas each node has, the most first."""
    (service,) = plan.services
    (step,) = service.steps
    found = Counter(node.name for segment in step.segments for node in segment.nodes)
    return sorted(found.values(), reverse=True)


@pytest.mark.parametrize(
    ("replicas", "expected"), [(1, [1]), (2, [1, 1]), (3, [1, 1, 1]), (4, [2, 1, 1]), (5, [2, 2, 1]), (7, [3, 2, 2])]
)
def test_three_nodes_differ_by_one_at_most(replicas: int, expected: list[int]) -> None:
    assert on_nodes(planned(a_cluster(a_pool(nodes=3)), a_service(replicas))) == expected


def test_a_node_that_has_no_room_keeps_replicas_away_rather_than_uneven() -> None:
    full = a_job("full", gpus=8, duration="24h", priority="P0", pin={"pool": "dc1/h100", "nodes": "h100-0001"})
    plan = planned(a_cluster(a_pool(nodes=2)), full, a_service(4) | {"priority": "P3"})
    (service,) = plan.services
    assert [step.replicas for step in service.steps] == [2]
    assert [reason.code for reason in service.reasons] == ["capacity"]
    assert not plan.status.complete


def test_a_larger_skew_lets_them_differ_more() -> None:
    busy = a_job("busy", gpus=7, duration="24h", priority="P0", pin={"pool": "dc1/h100", "nodes": "h100-0001"})
    documents = (a_policy(), a_cluster(a_pool(nodes=2)), busy)
    assert on_nodes(planned(*documents, a_service(4, max_skew=2))) == [3, 1]
    assert on_nodes(planned(*documents, a_service(3, max_skew=1))) == [2, 1]


def test_racks_are_even_and_nodes_in_them_need_not_be() -> None:
    plan = planned(a_cluster(a_pool(nodes=4, nodes_per_rack=2)), a_service(6, "rack"))
    (step,) = plan.services[0].steps
    racks = Counter((int(node.name[-1]) + 1) // 2 for segment in step.segments for node in segment.nodes)
    assert racks == {1: 3, 2: 3}


def test_places_are_even_whatever_pools_they_have() -> None:
    here = a_cluster(a_pool(nodes=1), a_pool("more", nodes=1), place={"site": "one"})
    there = a_cluster(a_pool(nodes=1), name="dc2", place={"site": "two"})
    plan = planned(here, there, a_service(5, "place"))
    (step,) = plan.services[0].steps
    clusters = Counter(segment.cluster for segment in step.segments)
    assert sorted(clusters.values()) == [2, 3]


def test_a_pool_that_states_no_racks_is_refused_for_that_reason() -> None:
    with pytest.raises(SpecError, match="can ever run") as caught:
        compile_specs(a_cluster(), a_service(2, "rack"))
    assert "the pool does not state its racks" in caught.value.diagnostics[0].help


def test_a_replica_of_several_nodes_is_spread_over_no_nodes() -> None:
    with pytest.raises(SpecError, match="can ever run") as caught:
        compile_specs(a_cluster(a_pool(nodes=4)), a_service(2) | {"gpus": {"count": 16, "nodes": 2}})
    assert "a replica takes 2 nodes" in caught.value.diagnostics[0].help


def test_a_second_plan_keeps_every_replica_where_it_is() -> None:
    documents = (a_policy(), a_cluster(a_pool(nodes=3)), a_service(5))
    first = planned(*documents)
    assert planned(*documents, previous=first).services == first.services
