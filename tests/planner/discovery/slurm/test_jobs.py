"""Slurm's queue: what runs, what waits, what ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.diagnostics import UsageError
from planner.discovery.found import Seat
from planner.discovery.slurm.jobs import Queue, queue
from tests.planner.discovery.slurm.site import facts, sample


def one(**fields: Any) -> Queue:
    job = {"job_id": 7, "job_state": "RUNNING", "nodes": "gpu1", "account": "vision", "user_name": "ann"} | fields
    return queue("squeue.json", json.dumps({"jobs": [job]}).encode())


def test_real_jobs_hold_the_devices_that_slurm_gave_them() -> None:
    seats = {use.name: use.seats for use in facts().uses}
    assert seats["job 9"] == (Seat(node="gpu1", devices=(0, 1)),)
    assert seats["job 10"] == (Seat(node="mi1", devices=(3, 4, 5)),)
    assert seats["job 14"] == (Seat(node="mi1", devices=(0, 1, 2)),)
    assert seats["job 11"] == (Seat(node="mi1"),)


def test_the_planners_own_job_is_known_by_its_comment() -> None:
    (mine,) = [use for use in facts().uses if use.address]
    assert (mine.address, mine.spec) == ("job/vision/resnet", "sha256:0123456789ab")
    assert (mine.started_at, mine.until) == (1_796_073_553, 1_796_109_553)


def test_real_jobs_that_ended_are_told_with_how() -> None:
    assert [(each.address, each.succeeded) for each in facts().ended] == [
        ("job/vision/small", True),
        ("job/vision/bad", False),
    ]
    assert facts().waiting == 1


@pytest.mark.parametrize(
    "comment",
    ["planner:job/vision/resnet", "x planner:job/a/b@0123456789ab", "planner:cluster/a@0123456789ab",
     "planner:job/Vision/x@0123456789ab", "planner:job/vision/x@0123456789ab\n", ""],
)  # fmt: skip
def test_a_comment_that_only_looks_like_the_planners_is_foreign(comment: str) -> None:
    assert [use.address for use in one(comment=comment).uses] == [""]


def test_newer_slurm_tells_numbers_states_and_comments_in_another_shape() -> None:
    number = {"set": True, "infinite": False, "number": 1_796_073_553}
    found = one(
        job_id={"set": True, "infinite": False, "number": 7},
        job_state=["RUNNING"], start_time=number, end_time={"set": True, "infinite": True, "number": 0},
        comment={"administrator": "", "job": "planner:job/vision/x[3]@0123456789ab+01ab.held", "system": ""},
        gres_detail=["gpu:h100:2(IDX:4-5)"], tres_alloc_str="cpu=16,mem=128G,node=1,gres/gpu=2",
    )  # fmt: skip
    (use,) = found.uses
    assert (use.name, use.address, use.started_at, use.until) == ("job 7", "job/vision/x[3]", 1_796_073_553, None)
    assert (use.seats, use.cpus, use.memory_mib) == ((Seat(node="gpu1", devices=(4, 5)),), 16, 131_072)


def test_devices_are_told_node_by_node_and_memory_is_shared_evenly() -> None:
    found = one(nodes="gpu[1-2]", gres_detail=["gpu:h100:2(IDX:0-1)", "gpu:h100:1(IDX:7)"],
                tres_alloc_str="cpu=3,mem=3M")  # fmt: skip
    (use,) = found.uses
    assert [seat.devices for seat in use.seats] == [(0, 1), (7,)]
    assert (use.cpus, use.memory_mib) == (2, 2)


def test_devices_that_are_only_counted_are_counted() -> None:
    (use,) = one(tres_per_node="gres:gpu:h100:4").uses
    assert use.seats == (Seat(node="gpu1", count=4),)


@pytest.mark.parametrize(
    ("state", "counts"),
    [("RUNNING", (1, 0, 0)), ("SUSPENDED", (1, 0, 0)), ("COMPLETING", (1, 0, 0)), ("PENDING", (0, 1, 0)),
     ("COMPLETED", (0, 0, 1)), ("TIMEOUT", (0, 0, 1)), ("CANCELLED", (0, 0, 0)), ("PREEMPTED", (0, 0, 0))],
)  # fmt: skip
def test_every_state_is_one_of_running_waiting_and_ended(state: str, counts: tuple[int, int, int]) -> None:
    found = one(job_state=state, comment="planner:job/vision/x@0123456789ab", end_time=5)
    assert (len(found.uses), found.waiting, len(found.ended)) == counts


def test_a_running_job_without_nodes_is_told() -> None:
    found = one(nodes="")
    assert (found.uses, found.untold) == ((), ("job 7: on which nodes it runs is not told",))


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"jobs": 3}', b'{"nodes": []}', b"[" * 100_000])
def test_anything_else_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"'q.json' is not the output of 'squeue --json'"):
        queue("q.json", data)


def test_the_version_is_slurms_own() -> None:
    assert queue("squeue.json", sample("squeue.json").encode()).version == "22.05"
    assert one().version == ""
    newer = b'{"jobs": [], "meta": {"slurm": {"release": "24.11.3"}}}'
    assert queue("squeue.json", newer).version == "24.11"
    assert facts(squeue="").version == "22.05"
