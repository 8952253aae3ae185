"""UC-24: a card counts with what the server takes of it, and its need is held against that."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from planner.sizing import degree, usable_mib
from tests.builders import Document, a_cluster, a_pool, compile_specs, planned

GIB = 1_024


@pytest.mark.parametrize(("reserve", "usable"), [("95%", 96 * GIB * 95 // 100), ("50%", 48 * GIB), ("100%", 96 * GIB)])
def test_the_demand_is_what_the_engine_reserves(reserve: str, usable: int) -> None:
    assert usable_mib(96 * GIB, int(reserve.removesuffix("%")) * 10_000) == usable


@pytest.mark.parametrize(
    ("need_gib", "devices"), [(1, 1), (91, 1), (92, 2), (182, 2), (183, 4), (364, 4), (365, 8), (729, 8), (730, None)]
)
def test_the_least_degree_that_holds_weights_and_cache_is_taken(need_gib: int, devices: int | None) -> None:
    assert degree(need_gib * GIB, 96 * GIB, 950_000, (8, 1, 4, 2)) == devices


def a_model_server(weights: str, **fields: Any) -> Document:
    """A server of one replica whose devices follow from its model."""
    model = {"weights": weights, "kv_cache": "20Gi", "parallel": [1, 2, 4]}
    own = {"apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
           "command": ["serve"], "load": {"qps": 1}, "qps_per_replica": 5, "model": model}  # fmt: skip
    return own | fields


def devices(*documents: Document) -> int:
    """How many devices the one replica has."""
    (step,) = planned(*documents).services[0].steps
    (part,) = step.segments
    return sum(len(node.devices) for node in part.nodes)


@pytest.mark.parametrize(("weights", "count"), [("55Gi", 1), ("57Gi", 2), ("131.4Gi", 2), ("133Gi", 4)])
def test_devices_of_a_replica_follow_from_its_model_and_the_card(weights: str, count: int) -> None:
    assert devices(a_cluster(), a_model_server(weights)) == count


def test_a_smaller_reserve_takes_more_cards() -> None:
    assert devices(a_cluster(), a_model_server("55Gi", memory_reserve="90%")) == 2


def test_need_against_have_is_shown_where_no_degree_is_enough() -> None:
    with pytest.raises(SpecError) as caught:
        compile_specs(a_cluster(), a_model_server("300Gi"))
    assert "weights and cache need 320Gi, 4 x 76Gi usable are the most" in caught.value.diagnostics[0].help


def test_two_devices_are_bound_to_cards_that_nobody_else_has() -> None:
    pool = a_pool(gpus={"model": "h100-sxm5-80gb", "count": 3, "memory": "96Gi"})
    tenant = a_model_server("45Gi", name="tenant", priority="P0")
    pair = a_model_server("100Gi", name="pair")
    plan = planned(a_cluster(pool), tenant, pair)
    held = {
        each.address: [device.index for node in each.steps[0].segments[0].nodes for device in node.devices]
        for each in plan.services
    }
    assert sorted(len(each) for each in held.values()) == [1, 2]
    assert sorted(index for each in held.values() for index in each) == [0, 1, 2]


def a_snapshot(*indices: int, until: str = "unknown") -> Document:
    """A tenant that nobody planned on cards of the one node."""
    devices = [{"index": index} for index in indices]
    use = {"pool": "dc1/h100", "nodes": [{"name": "h100-0001", "devices": devices}], "memory": "16Gi", "until": until}
    return {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
        "foreign": [use],
    }  # fmt: skip


def a_node(cards: int) -> Document:
    """One node of so many cards with 96 GiB."""
    return a_cluster(a_pool(gpus={"model": "h100-sxm5-80gb", "count": cards, "memory": "96Gi"}))


@pytest.mark.parametrize(("tenant", "cards"), [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])])
def test_a_card_with_a_tenant_is_never_planned_over(tenant: int, cards: list[int]) -> None:
    plan = planned(a_node(3), a_snapshot(tenant), a_model_server("100Gi"))
    (step,) = plan.services[0].steps
    assert [device.index for node in step.segments[0].nodes for device in node.devices] == cards
    assert plan.status.complete


def test_with_only_the_tenants_card_and_one_more_there_is_no_place() -> None:
    plan = planned(a_node(2), a_snapshot(0), a_model_server("100Gi"))
    assert [step.replicas for step in plan.services[0].steps] == [0]
    assert [each.code for each in plan.services[0].reasons] == ["foreign"]
    assert not plan.status.complete


def test_one_that_needs_less_than_a_card_keeps_has_a_place_beside_the_tenant() -> None:
    plan = planned(a_node(2), a_snapshot(0), a_model_server("45Gi"))
    (step,) = plan.services[0].steps
    assert [device.index for node in step.segments[0].nodes for device in node.devices] == [1]
