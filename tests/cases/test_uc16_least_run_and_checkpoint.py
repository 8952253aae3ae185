"""UC-16: borrowed work gives way at its next checkpoint after its least run time, or sooner to who waits for nobody."""

from __future__ import annotations

import pytest

from planner.plan import Plan
from tests.builders import START, Document, a_cluster, a_job, a_policy, a_pool, a_quota, planned

TEN_PAST_TEN = START + 10 * 3600 + 600
WANTED = {"deadline": "2026-12-01T12:10:00Z", "deadline_is": "soft"}
HARD = {"deadline": "2026-12-01T12:20:00Z", "deadline_is": "hard"}

RUNNING: Document = {
    "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T10:10:00Z",
    "running": [
        {
            "job": "guest/borrows", "pool": "dc1/h100", "started_at": "2026-12-01T10:00:00Z",
            "nodes": [{"name": "h100-0001", "devices": [{"index": index} for index in range(8)]}],
        }
    ],
}  # fmt: skip


def at_ten_past_ten(priority: str, window: Document) -> Plan:
    """A guest on all that the owner is guaranteed; the owner wants it back."""
    borrowed = a_job(
        "borrows", team="guest", duration="4h", min_run="20m", checkpoint={"every": "30m", "restart": "5m"},
        priority="P3",
    )  # fmt: skip
    return planned(
        a_policy(slot="10m", length="12h"), a_cluster(a_pool()), a_quota("own", team="owner", guaranteed=8), borrowed,
        a_job("needs", team="owner", priority=priority, duration="2h", window=window), RUNNING,
        start=TEN_PAST_TEN,
    )  # fmt: skip


def segments(plan: Plan, address: str) -> list[tuple[str, str]]:
    placement = plan.placement(address)
    return [] if placement is None else [(part.start[11:16], part.end[11:16]) for part in placement.segments]


def test_an_owner_of_p1_waits_for_the_checkpoint_and_nothing_but_the_restart_is_lost() -> None:
    plan = at_ten_past_ten("P1", WANTED)
    (stop,) = plan.preemptions
    assert (stop.victim, stop.by, stop.at) == ("job/guest/borrows", "job/owner/needs", "2026-12-01T10:30:00Z")
    assert stop.lost_work_seconds == 300
    assert segments(plan, "job/owner/needs") == [("10:30", "12:30")]
    # 3 h 30 min are left, and 5 minutes to begin again, in slots of 10 minutes.
    assert segments(plan, "job/guest/borrows") == [("10:00", "10:30"), ("12:30", "16:10")]


def test_an_owner_of_p0_may_cut_as_soon_as_the_least_run_time_is_over_and_the_loss_is_told() -> None:
    plan = at_ten_past_ten("P0", WANTED)
    assert segments(plan, "job/owner/needs") == [("10:20", "12:20")]
    # 20 minutes of work were not saved, and 5 go into the restart.
    assert [(stop.at, stop.lost_work_seconds) for stop in plan.preemptions] == [("2026-12-01T10:20:00Z", 1_500)]


@pytest.mark.parametrize(("priority", "begins"), [("P0", [("10:20", "12:20")]), ("P1", [])])
def test_only_an_owner_who_waits_for_no_checkpoint_cuts_in_between(
    priority: str, begins: list[tuple[str, str]]
) -> None:
    assert segments(at_ten_past_ten(priority, HARD), "job/owner/needs") == begins


def test_before_its_least_run_time_nobody_cuts_it() -> None:
    sooner = {"deadline": "2026-12-01T12:10:00Z", "deadline_is": "hard"}
    plan = at_ten_past_ten("P0", sooner)
    assert plan.preemptions == ()
    assert segments(plan, "job/guest/borrows") == [("10:00", "14:00")]
