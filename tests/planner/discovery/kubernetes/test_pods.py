"""Pods with devices as what runs."""

from __future__ import annotations

import pytest

from planner.discovery.found import Ended, Seat
from planner.discovery.kubernetes.pods import running
from tests.planner.discovery.kubernetes.objects import HASH, SECRET, found, job, pod

TEN = 1_796_068_800
"""2026-11-30T20:00:00Z, when jobs began."""


def test_the_pods_of_the_planners_job_are_one_run_of_it() -> None:
    mine = job("resnet-1", "job/vision/resnet", spec={"activeDeadlineSeconds": 3600})
    result = running(
        found(mine, pod("a", "n2", devices=8, owner="resnet-1"), pod("b", "n1", devices=8, owner="resnet-1"))
    )
    (use,) = result.uses
    assert (use.address, use.spec) == ("job/vision/resnet", HASH)
    assert use.seats == (Seat(node="n1", count=8), Seat(node="n2", count=8))
    assert (use.started_at, use.until) == (TEN, TEN + 3600)


def test_pods_of_others_are_told_by_namespace_and_controller() -> None:
    result = running(found(pod("a", "n1", owner="kube-jobs"), pod("b", "n1", owner="kube-jobs"), pod("notebook", "n1")))
    assert [(use.owner, use.address, use.seats) for use in result.uses] == [
        ("vision/kube-jobs", "", (Seat(node="n1", count=2),)),
        ("vision/notebook", "", (Seat(node="n1", count=1),)),
    ]
    assert (result.uses[0].cpus, result.uses[0].memory_mib) == (15, 131_072)


@pytest.mark.parametrize(
    ("address", "spec_hash"),
    [("job/Vision/x", HASH), ("cluster/dc1", HASH), ("job/vision/x", "sha256:ab"), ("job/vision/x", "md5:" + "a" * 67)],
)
def test_marks_that_are_not_the_planners_are_foreign(address: str, spec_hash: str) -> None:
    result = running(found(job("j", address, spec_hash=spec_hash), pod("a", "n1", owner="j")))
    assert [use.address for use in result.uses] == [""]


@pytest.mark.parametrize(
    ("phase", "on", "counts"),
    [("Running", "n1", (1, 0)), ("Pending", "n1", (1, 0)), ("Pending", "", (0, 1)), ("Succeeded", "n1", (0, 0)),
     ("Failed", "n1", (0, 0))],
)  # fmt: skip
def test_a_pod_counts_from_when_it_is_bound_until_it_is_over(phase: str, on: str, counts: tuple[int, int]) -> None:
    result = running(found(pod("a", on, phase=phase)))
    assert (len(result.uses), result.waiting) == counts


def test_pods_without_devices_are_no_use() -> None:
    assert running(found(pod("a", "n1", devices=0))).uses == ()


@pytest.mark.parametrize("resource", ["nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "amd.com/cpx_nps4"])
def test_shares_and_partitions_are_told(resource: str) -> None:
    result = running(found(pod("a", "n1", resource=resource)))
    assert result.uses == ()
    assert result.untold == (f"pod vision/a holds 1 {resource}: of which cards is not told",)


def test_jobs_of_the_planner_that_ended_are_told_with_how() -> None:
    done = {"type": "Complete", "status": "True", "lastTransitionTime": "2026-11-30T21:20:00Z"}
    objects = (
        job("a", "job/vision/a", conditions=[done]),
        job("b", "job/vision/b", conditions=[done | {"type": "Failed"}]),
        job("c", "job/vision/c", conditions=[done | {"status": "False"}]),
        job("d", conditions=[done]),
    )
    assert running(found(*objects)).ended == (
        Ended(address="job/vision/a", spec=HASH, succeeded=True, at=1_796_073_600),
        Ended(address="job/vision/b", spec=HASH, succeeded=False, at=1_796_073_600),
    )


def test_suspended_jobs_wait() -> None:
    assert running(found(job("a", spec={"suspend": True}), job("b"))).waiting == 1


def test_environments_and_commands_are_not_kept() -> None:
    assert SECRET not in repr(running(found(pod("a", "n1"), job("j"))))
