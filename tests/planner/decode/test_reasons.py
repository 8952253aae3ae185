"""Why work has no place: one reason a pool, those that never change first (UC-18), with the figures."""

from __future__ import annotations

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cloud, a_cluster, a_job, a_policy, a_pool, a_quota, hours, planned


def reasons(plan: Plan, name: str) -> list[tuple[str, str]]:
    """Code and pool of each reason, in order."""
    (found,) = (each for each in plan.unplaced if each.address == f"job/vision/{name}")
    return [(each.code, each.subject.rpartition("/")[2]) for each in found.reasons]


def message(plan: Plan, name: str) -> str:
    """The sentence of the only reason."""
    (found,) = (each for each in plan.unplaced if each.address == f"job/vision/{name}")
    (reason,) = found.reasons
    return reason.message


def five_pools() -> list[Document]:
    """Quota spent, an untolerated taint, four free on two nodes, another vendor, a limit below the need."""
    pools = [a_pool("p1"), a_pool("p2", taints=["team=x:NoSchedule"]), a_pool("p3", nodes=2)]
    pools += [a_pool("p4", model="mi300x"), a_pool("p5")]
    for pool in pools:
        pool["network"] = {"rdma": True}
    whole_day = {"duration": "24h", "priority": "P0"}
    return [
        a_cluster(*pools),
        a_quota("v1", limit=4, gpus={"pool": "dc1/p1"}),
        a_quota("v5", limit=2, gpus={"pool": "dc1/p5"}),
        a_job("spent", gpus=4, place={"pools": ["dc1/p1"]}, **whole_day),
        *(a_job(f"f{at}", team="nlp", gpus=6, place={"pools": ["dc1/p3"]}, **whole_day) for at in range(2)),
    ]


def test_each_pool_has_its_own_reason_and_what_never_changes_comes_first() -> None:
    topology = {"within": "node", "required": True}
    wanted = a_job(
        "wanted", gpus={"count": 4, "vendor": "nvidia"}, topology=topology, needs={"rdma": True}, duration="24h"
    )
    plan = planned(*five_pools(), wanted)
    assert reasons(plan, "wanted") == [
        ("vendor", "p4"),
        ("quota_limit", "p5"),
        ("taint", "p2"),
        ("quota", "p1"),
        ("capacity", "p3"),
    ]
    found = {each.subject: each for each in plan.unplaced[0].reasons}
    assert found["pool/dc1/p2"].fix == 'add "team=x:NoSchedule" to needs.tolerations'
    assert "4 devices are free at once" in found["pool/dc1/p3"].message


def test_a_full_pool_says_when_it_is_free_again() -> None:
    plan = planned(a_cluster(), a_job("long", duration="30h", priority="P0"), a_job("late", duration="2h"))
    assert message(plan, "late") == (
        "needs 1 node with 8 devices free for 2 h, none has that at any time; "
        "free from 2026-12-02T06:00:00Z, after this plan"
    )


def test_work_that_comes_after_work_without_a_place_says_so() -> None:
    plan = planned(
        a_cluster(),
        a_job("long", duration="24h", priority="P0"),
        a_job("first", duration="24h"),
        a_job("second", after=["first"]),
    )
    assert reasons(plan, "second") == [("dependency", "h100")]


def test_cloud_money_that_the_work_is_not_worth_is_the_reason() -> None:
    cloud = a_cloud(a_pool(price={"on_demand": "USD 98/h"}, max_nodes={"on_demand": 1}))
    plan = planned(cloud, a_job("cheap", priority="P3", duration="2h"))
    assert reasons(plan, "cheap") == [("not_worth", "h100")]
    assert "would cost USD 196" in message(plan, "cheap")


def test_work_that_maintenance_never_leaves_time_for_says_so() -> None:
    absence = [{"from": "2026-12-01T06:00:00Z", "to": "2026-12-03T00:00:00Z"}]
    plan = planned(a_cluster(a_pool(unavailable=absence)), a_job("seven", duration={"expected": "5h", "limit": "7h"}))
    assert reasons(plan, "seven") == [("maintenance", "h100")]


def test_devices_of_closed_nodes_are_not_called_free() -> None:
    absence = [{"from": "2026-12-01T00:00:00Z", "to": "2026-12-03T00:00:00Z", "nodes": "h100-0001"}]
    plan = planned(a_cluster(a_pool(nodes=2, unavailable=absence)), a_job("wide", gpus=16))
    assert message(plan, "wide") == (
        "needs 2 nodes with 8 devices free for 2 h, at most 1 at once, from 2026-12-01T00:00:00Z"
    )


@pytest.mark.parametrize(("deadline", "code"), [("2026-12-01T01:59:00Z", "deadline"), ("2026-12-01T02:00:00Z", None)])
def test_a_hard_deadline_that_no_start_meets_is_the_reason(deadline: str, code: str | None) -> None:
    plan = planned(a_cluster(), a_job("due", window={"deadline": deadline, "deadline_is": "hard"}))
    assert [each.reasons[0].code for each in plan.unplaced] == ([code] if code else [])


def test_required_work_without_a_place_makes_the_plan_incomplete() -> None:
    full = [a_job("a", duration="24h", priority="P0")]
    assert planned(a_cluster(), *full, a_job("b", duration="24h")).status.complete
    assert not planned(a_cluster(), *full, a_job("b", duration="24h", required=True)).status.complete


def test_required_work_that_may_only_start_after_the_horizon_does_not() -> None:
    plan = planned(a_cluster(), a_job("b", required=True, window={"not_before": "2026-12-05T00:00:00Z"}))
    assert reasons(plan, "b") == [("window", "h100")]
    assert plan.status.complete


def test_nothing_straddles_maintenance() -> None:
    absence = [{"from": "2026-12-11T00:00:00Z", "to": "2026-12-12T00:00:00Z"}]
    jobs = [a_job(f"d{days}", gpus=4, duration={"expected": f"{days}d", "limit": f"{days}d"}) for days in (3, 12)]
    plan = planned(a_cluster(a_pool(unavailable=absence)), a_policy("3h", "30d"), *jobs)
    assert hours(plan, "job/vision/d3") == (0, 72)
    assert hours(plan, "job/vision/d12") == (264, 552)
