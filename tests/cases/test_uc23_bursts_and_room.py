"""UC-23: sized from the peak of requests at once, cut to what is allowed, and told how much could ever exist."""

from __future__ import annotations

from typing import Any

from planner.plan import Plan
from tests.builders import H100, Document, a_cluster, a_pool, a_quota, planned


def a_bursting_service(**fields: Any) -> Document:
    """Eleven requests at once at the peak, 10 ms each, two devices a replica, one to eight of them."""
    own = {"apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
           "command": ["serve"], "gpus": 2, "load": {"concurrent": 11}, "service_time": "10ms",
           "replicas": {"min": 1, "max": 8}}  # fmt: skip
    return own | fields


def reasons(plan: Plan) -> list[tuple[str, str, str]]:
    """What is said of the one service."""
    return [(each.code, each.message, each.fix or "") for each in plan.services[0].reasons]


def test_the_peak_needs_eleven_and_is_cut_to_eight_with_a_stated_shortfall() -> None:
    plan = planned(a_cluster(a_pool(nodes=2)), a_bursting_service())
    (step,) = plan.services[0].steps
    assert (step.replicas, step.replicas_needed) == (8, 11)
    assert reasons(plan) == [
        ("replicas", "the load needs 11 replicas, replicas.max allows 8", "raise replicas.max to 11")
    ]
    assert not plan.status.complete


def test_the_average_alone_would_have_asked_for_two() -> None:
    plan = planned(a_cluster(a_pool(nodes=2)), a_bursting_service(load={"qps": 110}))
    assert [step.replicas for step in plan.services[0].steps] == [2]


def test_more_replicas_than_can_ever_exist_are_flagged_with_the_number_that_fits() -> None:
    plan = planned(a_cluster(a_pool(nodes=1)), a_bursting_service(load={"concurrent": 4}))
    assert [step.replicas for step in plan.services[0].steps] == [4]
    assert plan.status.complete
    assert reasons(plan) == [
        ("replicas", "replicas.max is 8, the whole fleet has room for 4", "write at most 4, or add nodes")
    ]


def test_beyond_the_room_what_fits_is_placed_and_the_rest_is_a_shortfall() -> None:
    plan = planned(a_cluster(a_pool(nodes=1)), a_bursting_service())
    (step,) = plan.services[0].steps
    assert (step.replicas, step.replicas_needed) == (4, 11)
    assert {"capacity", "replicas"} == {code for code, _, _ in reasons(plan)}
    assert not plan.status.complete


def test_the_least_replicas_count_in_the_guarantee_and_the_rest_is_borrowed() -> None:
    quotas = [a_quota("nlp-h100", "nlp", guaranteed=2), a_quota("vision-h100", "vision", guaranteed=14)]
    plan = planned(a_cluster(a_pool(nodes=2)), *quotas, a_bursting_service(load={"concurrent": 4}))
    (step,) = plan.services[0].steps
    uses = [(each.guaranteed, each.borrowed) for part in step.segments for each in part.quota]
    assert sorted(uses) == [(0, 2), (0, 2), (0, 2), (2, 0)]
    (schedule,) = [each for each in plan.quota if each.team == "nlp"]
    assert [(each.used, each.borrowed) for each in schedule.windows] == [(8, 6)]
    assert all(part.model == H100 for part in step.segments)
