"""Replicas on shares and partitions of devices: sized, placed, spread and kept like those on whole ones."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_pool, a_quota, planned

CHOICE = {"allowed": ["1g.10gb", "2g.20gb", "3g.40gb"]}


def a_service(**fields: Any) -> Document:
    """A service of two replicas, each on a quarter of a device, that serves 10 requests a second each."""
    own = {
        "apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
        "command": ["serve"], "gpus": "1/4", "load": {"qps": 18}, "qps_per_replica": 10,
        "replicas": {"min": 1, "max": 8},
    }  # fmt: skip
    return own | fields


def shared(nodes: int = 1, count: int = 2) -> Document:
    """Nodes of some devices, each shared by four."""
    return a_cluster(a_pool(nodes=nodes, count=count, sharing={"by": "mps", "units": 4}))


def held(plan: Plan) -> list[list[tuple[str, int, str | None, int | None, str | None]]]:
    """In each step, where the replicas are."""
    (service,) = plan.services
    return [
        sorted(
            (node.name, one.index, one.profile, one.at, one.share)
            for segment in step.segments for node in segment.nodes for one in node.devices
        )
        for step in service.steps
    ]  # fmt: skip


def test_replicas_share_a_device_as_their_shares_allow() -> None:
    plan = planned(shared(count=1), a_service())
    assert held(plan) == [[("h100-0001", 0, None, None, "1/4")] * 2]
    assert plan.status.complete
    assert plan.utilisation[0].used_device_seconds == 24 * 3600 // 2


def test_a_share_that_runs_beside_replicas_has_what_they_leave() -> None:
    fleet = (shared(count=1), a_quota("served", team="nlp", guaranteed=1), a_service(priority="P0"))
    assert planned(*fleet, a_job("beside", gpus="1/2")).placement("job/vision/beside") is not None
    assert planned(*fleet, a_job("beside", gpus="3/4")).placement("job/vision/beside") is None


@pytest.mark.parametrize(("load", "needed", "complete"), [(72, 8, True), (73, 9, False)])
def test_a_fleet_of_shares_has_room_for_so_many_replicas(load: int, needed: int, complete: bool) -> None:
    plan = planned(shared(), a_service(load={"qps": load}, replicas={"min": 1, "max": 20}))
    (step,) = plan.services[0].steps
    assert (step.replicas, step.replicas_needed, plan.status.complete) == (8, needed, complete)
    assert "the whole fleet has room for 8" in str(plan.services[0].reasons) or complete


def test_replicas_take_fixed_partitions_of_their_profile() -> None:
    fixed = {"fixed": {"n1": {"0": [{"profile": "3g.40gb", "at": 0}, {"profile": "2g.20gb", "at": 4}]}}}
    one = a_service(gpus={"count": 1, "partition": "3g.40gb"}, load={"qps": 9})
    plan = planned(a_cluster(a_pool(nodes="n1", count=1, partitions=fixed)), one)
    assert held(plan) == [[("n1", 0, "3g.40gb", 0, None)]]


def test_a_chosen_layout_has_what_replicas_always_need() -> None:
    fleet = a_cluster(a_pool(nodes="n1", count=1, partitions=CHOICE))
    plan = planned(fleet, a_service(gpus={"count": 1, "partition": "2g.20gb"}, replicas={"min": 3, "max": 3}))
    assert [(name, index, profile) for name, index, profile, _, _ in held(plan)[0]] == [("n1", 0, "2g.20gb")] * 3
    assert plan.status.complete


def test_replicas_on_shares_are_spread_over_nodes() -> None:
    plan = planned(shared(nodes=2, count=1), a_service(spread={"over": "node"}))
    assert [name for name, *_ in held(plan)[0]] == ["h100-0001", "h100-0002"]


def test_replicas_stay_on_their_shares_in_the_next_plan() -> None:
    fleet = (shared(nodes=2), a_service())
    first = planned(*fleet)
    again = planned(*fleet, a_job("beside", gpus="1/4"), previous=first)
    assert held(again) == held(first)
