"""Services as layers: the least replicas one by one, steps above, cut where nodes close, sized for the slowest card."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from planner import pipeline
from planner.compile.services import Serving
from planner.diagnostics import SpecError
from planner.plan import Plan
from planner.specset import SourceFile, load
from tests.builders import START, Document, a_cluster, a_job, a_policy, a_pool, compile_specs, files, loaded, planned


def a_service(name: str = "chat", **fields: Any) -> Document:
    """One request a second and replica, one device each, no headroom."""
    own = {"apiVersion": "planner/v1", "kind": "Service", "name": name, "team": "nlp", "image": "registry/serve:1",
           "command": ["serve"], "gpus": 1, "load": {"qps": 1}, "service_time": "1s", "headroom": "0%"}  # fmt: skip
    return own | fields


DAY_AND_NIGHT = [{"when": "daily 09:00-21:00", "qps": 6}, {"qps": 2}]


def layers(*documents: Document) -> list[tuple[int, int, int, int]]:
    """Number, replicas and slots of each layer's stretch."""
    found = (work.layer for work in compile_specs(*documents).works)
    return [(each.number, each.replicas, each.start, each.end) for each in found if each is not None]


def counts(plan: Plan, at: int = 0) -> list[tuple[str, int, int]]:
    """When each step begins, its replicas and how many are needed."""
    return [(step.start[11:16], step.replicas, step.replicas_needed) for step in plan.services[at].steps]


@pytest.mark.parametrize(
    ("replicas", "expected"),
    [
        ({"min": 1}, [(0, 1, 0, 24), (1, 1, 0, 24), *((at, 1, 9, 21) for at in range(2, 6))]),
        ({"min": 2, "step": 2}, [(0, 1, 0, 24), (1, 1, 0, 24), (2, 2, 9, 21), (3, 2, 9, 21)]),
        ({"min": 1, "step": 4}, [(0, 1, 0, 24), (1, 4, 0, 24), (2, 4, 9, 21)]),
        ({"min": 1, "step": 4, "max": 8}, [(0, 1, 0, 24), (1, 4, 0, 24)]),
        ({"min": 7}, [(at, 1, 0, 24) for at in range(7)]),
        ({"min": 1, "max": 1}, [(0, 1, 0, 24)]),
    ],
)
def test_layers_are_single_replicas_up_to_the_least_and_whole_steps_above(
    replicas: Document, expected: list[tuple[int, int, int, int]]
) -> None:
    service = a_service(load=DAY_AND_NIGHT, replicas=replicas)
    assert layers(a_cluster(a_pool(nodes=2)), service) == expected


def test_a_layer_that_is_needed_twice_is_two_tasks() -> None:
    load = [{"when": "daily 06:00-08:00", "qps": 2}, {"when": "daily 18:00-20:00", "qps": 2}, {"qps": 1}]
    assert layers(a_cluster(), a_service(load=load)) == [(0, 1, 0, 24), (1, 1, 6, 8), (1, 1, 18, 20)]


def test_replicas_go_round_a_maintenance_that_leaves_no_node_all_day() -> None:
    away = [
        {"from": "2026-12-01T05:00:00Z", "to": "2026-12-01T08:00:00Z", "nodes": "h100-0001"},
        {"from": "2026-12-01T08:00:00Z", "to": "2026-12-01T10:00:00Z", "nodes": "h100-0002"},
    ]
    fleet = a_cluster(a_pool(nodes=2, unavailable=away))
    assert layers(fleet, a_service()) == [(0, 1, 0, 5), (0, 1, 5, 8), (0, 1, 8, 10), (0, 1, 10, 24)]
    plan = planned(fleet, a_service())
    assert all(replicas == needed == 1 for _, replicas, needed in counts(plan))
    assert plan.status.complete


def test_in_a_time_without_any_node_the_load_is_not_borne_and_the_plan_says_so() -> None:
    away = [{"from": "2026-12-01T05:00:00Z", "to": "2026-12-01T08:00:00Z"}]
    plan = planned(a_cluster(a_pool(unavailable=away)), a_service())
    assert counts(plan) == [("00:00", 1, 1), ("05:00", 0, 1), ("08:00", 1, 1)]
    assert not plan.status.complete
    assert [each.code for each in plan.services[0].reasons] == ["maintenance"]


def test_every_mode_has_the_replicas_that_the_slowest_card_needs() -> None:
    fleet = a_cluster(a_pool(), a_pool("a100", model="a100-sxm4-80gb"))
    times = {"h100-sxm5-80gb": "1s", "a100-sxm4-80gb": "2s"}
    plan = planned(fleet, a_service(load={"qps": 3}, service_time=times))
    (step,) = plan.services[0].steps
    assert step.replicas == step.replicas_needed == 6
    fast = sum(part.model == "h100-sxm5-80gb" for part in step.segments)
    assert step.capacity_milliqps == fast * 1_000 + (6 - fast) * 500 >= 3_000
    only = planned(fleet, a_service(load={"qps": 3}, service_time=times, place={"pools": ["dc1/h100"]}))
    assert [each.replicas for each in only.services[0].steps] == [3]


def test_thirds_of_a_request_a_second_add_up_exactly() -> None:
    plan = planned(a_cluster(), a_service(load={"qps": 10}, service_time="300ms"))
    (step,) = plan.services[0].steps
    assert (step.replicas, step.capacity_milliqps) == (3, 10_000)


def test_training_has_the_devices_that_the_night_leaves_free() -> None:
    service = a_service(load=[{"when": "daily 08:00-24:00", "qps": 8}, {"qps": 1}], priority="P0")
    plan = planned(a_cluster(), service, a_job(gpus=7, duration="8h"))
    assert counts(plan) == [("00:00", 1, 1), ("08:00", 8, 8)]
    (job,) = plan.placements
    assert (job.start, job.finish) == ("2026-12-01T00:00:00Z", "2026-12-01T08:00:00Z")


@pytest.mark.parametrize(("priority", "wins"), [("P0", True), ("P1", True), ("P3", False)])
def test_devices_go_to_whichever_is_worth_more(priority: str, wins: bool) -> None:
    plan = planned(
        a_cluster(a_pool(count=1)), a_service(priority=priority), a_job(gpus=1, duration="24h", priority="P2")
    )
    assert (plan.services[0].steps[0].replicas == 1) is wins
    assert bool(plan.placements) is not wins
    assert plan.status.complete is wins


def test_the_least_replicas_come_before_those_above_them() -> None:
    few = a_service("few", replicas={"min": 4}, load={"qps": 4})
    many = a_service("many", load={"qps": 8})
    plan = planned(a_cluster(a_pool(count=5)), few, many)
    assert [each.steps[0].replicas for each in plan.services] == [4, 1]


def test_a_service_and_a_job_of_one_name_do_not_wait_for_each_other() -> None:
    documents = (a_service(), a_job("chat", "nlp", gpus=1), a_job("then", "nlp", gpus=1, after=["chat"]))
    plan = planned(a_cluster(), *documents)
    assert {each.address: each.start[11:13] for each in plan.placements} == {
        "job/nlp/chat": "00", "job/nlp/then": "02",
    }  # fmt: skip


def test_the_next_plan_keeps_replicas_where_they_are() -> None:
    fleet = a_cluster(a_pool(nodes=4, count=2))
    first = planned(fleet, a_service(load=DAY_AND_NIGHT))
    more = a_job("big", "aaa", gpus=2, duration="24h", priority="P0")
    then = pipeline.plan(loaded(fleet, a_service(load=DAY_AND_NIGHT), more), start=START + 3_600, previous=first).plan
    assert _nodes(then)[0] == _nodes(first)[0]
    assert then.status.complete


def _nodes(plan: Plan) -> list[list[str]]:
    return [[node.name for part in step.segments for node in part.nodes] for step in plan.services[0].steps]


def test_the_order_of_files_changes_nothing() -> None:
    documents = [a_cluster(a_pool(nodes=2)), a_service("b"), a_service("a", load=DAY_AND_NIGHT), a_job(gpus=4)]
    assert planned(*documents).digest == planned(*reversed(documents)).digest


def test_the_team_pays_for_nodes_of_a_cloud_within_its_budget() -> None:
    pool = a_pool("p5", price={"on_demand": "USD 1/h"}, max_nodes={"on_demand": 3})
    cloud = a_cluster(pool, name="aws", place={"provider": "aws", "region": "us-east-1"})
    team = {"apiVersion": "planner/v1", "kind": "Team", "name": "nlp", "budget": {"amount": "USD 50", "per": "month"}}
    plan = planned(cloud, team, a_service(load={"qps": 3}, priority="P0"))
    assert [step.replicas for step in plan.services[0].steps] == [2]
    assert plan.costs.total.cash_micros == 48_000_000
    assert "budget" in {each.code for each in plan.services[0].reasons}


def test_use_by_services_is_in_the_utilisation() -> None:
    plan = planned(a_cluster(), a_service(load=DAY_AND_NIGHT))
    (pool,) = [each for each in plan.utilisation if each.by == "pool"]
    assert pool.used_device_seconds == (2 * 24 + 4 * 12) * 3_600


def test_a_service_that_fits_nowhere_is_an_error_or_skipped_with_its_reasons() -> None:
    service = a_service(needs={"rdma": True})
    with pytest.raises(SpecError, match="nothing in the fleet can ever run service/nlp/chat"):
        compile_specs(a_cluster(), service)
    plan = planned(a_cluster(), a_policy(on_invalid="skip"), service)
    assert counts(plan) == [("00:00", 0, 1)]
    assert [each.code for each in plan.services[0].reasons] == ["rdma"]
    assert not plan.status.complete


def test_a_run_longer_than_the_pool_allows_is_refused_with_its_length() -> None:
    plan = planned(a_cluster(a_pool(max_duration="12h")), a_service())
    assert counts(plan) == [("00:00", 0, 1)]
    assert [each.message for each in plan.services[0].reasons] == ["is needed for 1 d, the pool allows 12 h"]


def test_a_load_file_is_read_beside_the_spec_and_its_faults_have_a_place() -> None:
    sources = files([a_cluster(), a_service(load={"file": "load.csv"})])
    data = SourceFile("specs/load.csv", b"time,qps\n2026-12-01T00:00:00Z,1\n2026-12-01T06:00:00Z,3\n")
    specset = load((*sources, data)).specset
    assert specset is not None
    assert counts(pipeline.plan(specset, start=START).plan) == [("00:00", 1, 1), ("06:00", 3, 3)]
    broken = load((*sources, SourceFile("specs/load.csv", b"time,qps\n"))).specset
    assert broken is not None
    with pytest.raises(SpecError, match="it has no line after the first") as caught:
        pipeline.plan(broken, start=START)
    assert caught.value.diagnostics[0].place is not None


@pytest.mark.parametrize("seed", range(12))
def test_the_layers_of_a_slot_add_up_to_its_replicas_and_bear_its_load(seed: int) -> None:
    draw = random.Random(seed)
    hours = sorted(draw.sample(range(24), 4))
    load = [
        {"when": f"daily {begin:02}:00-{end:02}:30", "qps": draw.randint(0, 40)}
        for begin, end in pairwise([*hours, 23])
    ]
    replicas = {"min": draw.randint(1, 4), "step": draw.randint(1, 3)}
    away = [{"from": "2026-12-01T07:00:00Z", "to": "2026-12-01T11:00:00Z", "nodes": "h100-0001"}]
    service = a_service(load=load, replicas=replicas, headroom=f"{draw.randint(0, 50)}%", service_time="300ms")
    made = compile_specs(a_cluster(a_pool(nodes=8, unavailable=away)), service)
    (serving,) = made.servings
    for slot, (allowed, (rate, _)) in enumerate(zip(serving.allowed, serving.demand, strict=True)):
        layers = [work.layer for work in made.works if work.layer and work.layer.start <= slot < work.layer.end]
        assert sum(layer.replicas for layer in layers) == allowed == serving.needed[slot]
        assert len({layer.number for layer in layers}) == len(layers)
        assert rate * 300 * 1_000_000 <= allowed * 1_000_000 * (1_000_000 - service_headroom(serving))


def service_headroom(serving: Serving) -> int:
    """The spare part of a service in millionths."""
    return serving.service.headroom.ppm
