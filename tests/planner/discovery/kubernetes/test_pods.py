"""Pods with devices as what runs."""

from __future__ import annotations

from typing import Any

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


def own(kind: str, api: str, address: str, **status: Any) -> dict[str, Any]:
    """An object of the planner."""
    marks = {"planner.dev/address": address, "planner.dev/spec-hash": HASH}
    names = {"name": "w", "namespace": "vision", "annotations": marks}
    return {"apiVersion": api, "kind": kind, "metadata": names, "status": status}


def of(address: str, name: str, on: str, **labels: str) -> dict[str, Any]:
    """A pod that the planner's object made, below an owner of its own."""
    found = pod(name, on, devices=8, owner=f"{name}-child")
    found["metadata"] |= {"annotations": {"planner.dev/address": address}, "labels": labels}
    return found


def test_pods_of_other_kinds_belong_to_the_object_whose_address_they_have() -> None:
    objects = (own("JobSet", "jobset.x-k8s.io/v1alpha2", "job/vision/set"), of("job/vision/set", "a", "n1"))
    (use,) = running(found(*objects, of("job/vision/set", "b", "n2"))).uses
    assert (use.address, use.spec, [seat.node for seat in use.seats]) == ("job/vision/set", HASH, ["n1", "n2"])


def test_an_address_of_another_namespace_or_of_nobody_is_foreign() -> None:
    elsewhere = own("JobSet", "jobset.x-k8s.io/v1alpha2", "job/vision/set")
    elsewhere["metadata"]["namespace"] = "nlp"
    (use,) = running(found(elsewhere, of("job/vision/set", "a", "n1"))).uses
    assert (use.address, use.owner) == ("", "vision/a-child")


def test_replicas_of_a_service_are_pods_or_groups_of_pods() -> None:
    index = "leaderworkerset.sigs.k8s.io/group-index"
    chat = own("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "service/vision/chat")
    pods = [of("service/vision/chat", f"p{at}", f"n{at}", **{index: str(at // 2)}) for at in range(4)]
    (use,) = running(found(chat, *pods)).uses
    assert (use.address, use.replicas) == ("service/vision/chat", 2)
    plain = [of("service/vision/chat", f"p{at}", "n1") for at in range(2)]
    (use,) = running(found(own("Deployment", "apps/v1", "service/vision/chat"), *plain)).uses
    assert use.replicas == 2


@pytest.mark.parametrize(("kind", "succeeded"), [("Completed", True), ("Succeeded", True), ("Failed", False)])
def test_other_kinds_end_in_their_own_words(kind: str, succeeded: bool) -> None:
    condition = {"type": kind, "status": "True", "lastTransitionTime": "2026-11-30T20:00:00Z"}
    over = own("JobSet", "jobset.x-k8s.io/v1alpha2", "job/vision/set", conditions=[condition])
    assert running(found(over)).ended == (Ended(address="job/vision/set", spec=HASH, succeeded=succeeded, at=TEN),)
