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
