"""What runs on shares and partitions of devices goes on there, moves or gives way like what runs on whole ones."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_pool, a_quota, hours, planned
from tests.planner.compile.test_running import SOON, a_snapshot

CHOICE = {"allowed": ["1g.10gb", "2g.20gb", "3g.40gb"]}


def shared(**fields: Any) -> Document:
    """A node of two devices, each shared by four."""
    return a_cluster(a_pool(nodes=1, count=2, sharing={"by": "mps", "units": 4}, **fields))


def cut(**partitions: Any) -> Document:
    """A node of one device with partitions."""
    return a_cluster(a_pool(nodes="n1", count=1, partitions=partitions))


def a_run(job: str, *devices: Document, node: str = "h100-0001") -> Document:
    """A job on some devices since four hours."""
    return {
        "job": f"vision/{job}", "pool": "dc1/h100", "started_at": "2026-11-30T20:00:00Z",
        "nodes": [{"name": node, "devices": list(devices)}],
    }  # fmt: skip


def held(plan: Plan, job: str) -> list[tuple[int, str | None, int | None, str | None]]:
    """The devices of a job's only segment."""
    (segment,) = next(each for each in plan.placements if each.address == f"job/vision/{job}").segments
    return [(one.index, one.profile, one.at, one.share) for node in segment.nodes for one in node.devices]


@pytest.mark.parametrize("told", [{}, {"share": "1/4"}])
def test_a_share_goes_on_on_its_device_for_what_is_left(told: Document) -> None:
    plan = planned(shared(), a_job("mine", gpus="1/4", duration="9h"), a_snapshot(a_run("mine", {"index": 1, **told})))
    assert held(plan, "mine") == [(1, None, None, "1/4")]
    assert hours(plan, "job/vision/mine") == (-4, 5)
    assert (plan.moves, plan.preemptions) == ((), ())


def test_shares_that_run_leave_the_rest_of_their_device_to_others() -> None:
    mine = [a_job(f"mine{at}", gpus="1/2", duration="9h", preemptible=False) for at in range(3)]
    running = a_snapshot(*(a_run(f"mine{at}", {"index": at // 2}) for at in range(3)))
    fleet = (shared(), a_quota(guaranteed=2), *mine, running)
    fits = planned(*fleet, a_job("more", gpus="1/2", duration="2h"))
    assert held(fits, "more") == [(1, None, None, "1/2")]
    assert hours(fits, "job/vision/more") == (0, 2)
    waits = planned(*fleet, a_job("more", gpus="3/4", duration="2h"))
    assert hours(waits, "job/vision/more")[0] == 5


def test_a_share_gives_way_to_work_worth_more() -> None:
    checkpoint = {"every": "1h", "restart": "30m"}
    mine = [a_job(f"mine{at}", gpus="3/4", duration="9h", priority="P3", checkpoint=checkpoint) for at in range(2)]
    plan = planned(
        shared(), *mine, a_job("urgent", gpus="1/2", duration="2h", priority="P0", window=SOON),
        a_snapshot(a_run("mine0", {"index": 0}), a_run("mine1", {"index": 1})),
    )  # fmt: skip
    assert hours(plan, "job/vision/urgent") == (0, 2)
    (stop,) = plan.preemptions
    assert (stop.by, stop.gpus) == ("job/vision/urgent", "3/4")


def test_a_partition_goes_on_where_it_begins() -> None:
    fixed = cut(fixed={"n1": {"0": [{"profile": "3g.40gb", "at": 0}, {"profile": "3g.40gb", "at": 4}]}})
    job = a_job("mine", gpus={"count": 1, "partition": "3g.40gb"}, duration="9h")
    running = a_run("mine", {"index": 0, "profile": "3g.40gb", "at": 4}, node="n1")
    other = a_job("other", gpus={"count": 1, "partition": "3g.40gb"}, duration="2h")
    plan = planned(fixed, job, other, a_snapshot(running))
    assert held(plan, "mine") == [(0, "3g.40gb", 4, None)]
    assert held(plan, "other") == [(0, "3g.40gb", 0, None)]
    assert hours(plan, "job/vision/mine") == (-4, 5)


def test_a_partition_that_runs_is_in_the_chosen_layout() -> None:
    job = a_job("mine", gpus={"count": 1, "partition": "2g.20gb"}, duration="9h")
    others = [a_job(f"o{at}", gpus={"count": 1, "partition": "1g.10gb"}, duration="20h") for at in range(4)]
    running = a_run("mine", {"index": 0, "profile": "2g.20gb", "at": 2}, node="n1")
    plan = planned(cut(**CHOICE), job, *others, a_snapshot(running))
    assert held(plan, "mine") == [(0, "2g.20gb", 2, None)]
    assert hours(plan, "job/vision/mine") == (-4, 5)
    assert all(hours(plan, f"job/vision/o{at}")[0] == 0 for at in range(4))


@pytest.mark.parametrize(
    "device",
    [{"index": 0, "profile": "1g.10gb", "at": 0}, {"index": 0, "profile": "3g.40gb", "at": 4}, {"index": 0}],
    ids=["another profile", "another place", "no profile"],
)
def test_a_run_on_a_partition_that_its_spec_does_not_have_begins_anew(device: Document) -> None:
    fixed = cut(fixed={"n1": {"0": [{"profile": "3g.40gb", "at": 0}]}})
    job = a_job("mine", gpus={"count": 1, "partition": "3g.40gb"}, duration="9h")
    plan = planned(fixed, job, a_snapshot(a_run("mine", device, node="n1")))
    assert hours(plan, "job/vision/mine") == (0, 9)
    assert [note.code for note in plan.diagnostics] == ["PLAN631"]
