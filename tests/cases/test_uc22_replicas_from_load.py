"""UC-22: replicas from load, service time and headroom; a latency target is reachable or not, and never a number."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from planner.plan import Plan, ServicePlan
from tests.builders import Document, a_cluster, a_pool, compile_specs, planned


def a_service(**fields: Any) -> Document:
    """Twenty requests a second of 0.4 s each, one at a time, a fifth of the capacity spare."""
    own = {"apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
           "command": ["serve"], "gpus": 1, "load": {"qps": 20}, "service_time": "400ms",
           "headroom": "20%"}  # fmt: skip
    return own | fields


def served(plan: Plan) -> ServicePlan:
    """The one service of a plan."""
    (service,) = plan.services
    return service


@pytest.mark.parametrize("target", [None, "400ms", "1s", "4s"])
@pytest.mark.parametrize(("headroom", "replicas"), [("0%", 8), ("10%", 9), ("20%", 10)])
def test_any_target_that_can_be_met_gets_the_replicas_that_the_load_needs(
    target: str | None, headroom: str, replicas: int
) -> None:
    more = {"latency_target": target} if target else {}
    plan = planned(a_cluster(a_pool(nodes=2)), a_service(headroom=headroom, **more))
    (step,) = served(plan).steps
    assert (step.replicas, step.replicas_needed, step.load_milliqps) == (replicas, replicas, 20_000)
    assert step.capacity_milliqps == replicas * 2_500 >= step.load_milliqps
    assert plan.status.complete


def test_a_target_below_the_time_of_one_request_is_refused_and_no_number_of_replicas() -> None:
    with pytest.raises(SpecError) as caught:
        compile_specs(a_cluster(), a_service(latency_target="200ms"))
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.address) == ("SPEC420", "service/nlp/chat")
    assert "One request alone takes 400 ms, the target is 200 ms" in fault.help


@pytest.mark.parametrize("least", [1, 3])
def test_without_load_the_least_replicas_stay(least: int) -> None:
    plan = planned(a_cluster(), a_service(load={"qps": 0}, replicas={"min": least}))
    assert [step.replicas for step in served(plan).steps] == [least]


def test_capacity_is_never_below_the_load_in_any_slot() -> None:
    load: list[Document] = [
        {"when": "daily 09:00-21:00", "qps": 20},
        {"when": "daily 06:00-09:00", "qps": 7.5},
        {"qps": 2},
    ]
    plan = planned(a_cluster(a_pool(nodes=2)), a_service(load=_texts(load)))
    steps = [(step.start[11:13], step.replicas, step.load_milliqps) for step in served(plan).steps]
    assert steps == [("00", 1, 2_000), ("06", 4, 7_500), ("09", 10, 20_000), ("21", 1, 2_000)]
    assert all(step.load_milliqps * 10 <= step.capacity_milliqps * 8 for step in served(plan).steps)


def _texts(load: list[Document]) -> list[Document]:
    return [step | {"qps": str(step["qps"])} if isinstance(step["qps"], float) else step for step in load]
