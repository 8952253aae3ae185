"""UC-03: an owner takes back what others borrow, and never so much that the borrower falls below its own guarantee."""

from __future__ import annotations

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, a_quota, planned

RUNNING = {"a/a1": (8, "P1"), "b/w1": (2, "P3"), "b/w2": (5, "P3"), "b/w3": (6, "P3"), "c/c1": (9, "P3")}
"""Thirty devices, all in use: A 8, B 13 and C 9, of which each is guaranteed 10."""


def a_snapshot() -> Document:
    """All that runs, device by device of one large node."""
    first, runs = 0, []
    for name, (count, _) in RUNNING.items():
        devices = [{"index": index} for index in range(first, first + count)]
        nodes = [{"name": "h100-0001", "devices": devices}]
        runs.append({"job": name, "pool": "dc1/h100", "started_at": "2026-11-30T20:00:00Z", "nodes": nodes})
        first += count
    return {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
            "running": runs}  # fmt: skip


def with_a_new_job(gpus: int) -> Plan:
    """What runs, for two more days; and a job of A, P1, of so many devices, that cannot wait for its end."""
    jobs = [
        a_job(name.partition("/")[2], team=name.partition("/")[0], gpus=count, priority=priority, duration="52h")
        for name, (count, priority) in RUNNING.items()
    ]
    quotas = [a_quota(f"q{team}", team, 10) for team in "abc"]
    new = a_job("new", team="a", gpus=gpus, priority="P1", duration="4h")
    return planned(a_policy(), a_cluster(a_pool(count=30)), *quotas, *jobs, new, a_snapshot())


def test_the_owner_of_two_takes_back_exactly_the_two_that_leave_the_borrower_its_guarantee() -> None:
    plan = with_a_new_job(2)
    assert [(stop.victim, stop.by, stop.gpus) for stop in plan.preemptions] == [("job/b/w1", "job/a/new", 2)]
    assert plan.placement("job/a/new") is not None
    used = {each.team: each.windows[0].used for each in plan.quota}
    assert used == {"a": 10, "b": 11, "c": 9}


def test_nothing_is_stopped_for_four_since_only_two_can_be_taken_back() -> None:
    plan = with_a_new_job(4)
    assert plan.preemptions == ()
    assert plan.placement("job/a/new") is None
    (left_out,) = plan.unplaced
    assert left_out.address == "job/a/new"
    assert [reason.code for reason in left_out.reasons] == ["capacity"]
    assert "; of what runs there only job/b/w1 (2) may be taken back" in left_out.reasons[0].message


@pytest.mark.parametrize("gpus", [1, 2, 3, 4, 10])
def test_a_team_within_its_guarantee_is_never_a_victim(gpus: int) -> None:
    plan = with_a_new_job(gpus)
    assert {stop.victim for stop in plan.preemptions} <= {"job/b/w1"}
    assert len(plan.preemptions) == (1 if gpus <= 2 else 0)
