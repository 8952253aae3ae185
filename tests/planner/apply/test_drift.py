"""Live against lock: runs at another time or place, objects that are gone or edited, and who did not answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.apply.backend import Answer, BackendError, Call
from planner.apply.drift import Drifted, in_order, of_objects, of_runs
from planner.apply.item import Departure, Item, Standing
from planner.apply.kubernetes import GATED, MANAGER, MARK, Kubernetes
from planner.apply.recording import Recording
from tests.planner.apply.scenes import a_request, an_item, apply_to, the_first
from tests.planner.apply.test_due import running
from tests.planner.apply.test_kubernetes import a_job, a_queue
from tests.planner.apply.test_kubernetes import an_item as a_manifest
from tests.planner.apply.test_programs import SCRIPT, Answers, a_slurm, put
from tests.planner.apply.test_programs import an_item as a_script
from tests.planner.apply.test_staleness import seen
from tests.planner.plans import HOUR, START, a_placement, a_plan, a_segment, at

PLAN = a_plan([a_placement("vision/a", 2, 20, node=3)])
"""Slots of an hour; `a` runs on h100-003 from hour 2 to hour 20."""


def runs(hour: float, **snapshot: Any) -> list[tuple[str, str, str]]:
    """What drifted so many hours after the start: kinds, subjects and fields."""
    found = of_runs(PLAN, seen(**snapshot), at=START + round(hour * HOUR))
    return [(item.kind.value, item.subject, item.field) for item in in_order(found)]


def live(begun: float = 2, **fields: Any) -> dict[str, Any]:
    """The job as it runs."""
    return {**running("vision/a", 0), "started_at": at(begun), **fields}


SECOND = 1 / 3_600


@pytest.mark.parametrize(
    ("hour", "snapshot", "expected"),
    [
        (2, {}, []),
        (3 - SECOND, {}, []),
        (3, {}, [("late", "job/vision/a", "start")]),
        (3, {"running": [live()]}, []),
        (5, {"running": [live(3 - SECOND)]}, []),
        (5, {"running": [live(3)]}, [("late", "job/vision/a", "start")]),
        (1, {"running": [live(1)]}, [("early", "job/vision/a", "start")]),
        (1.5, {"running": [live(1 + SECOND)]}, []),
        (21 - SECOND, {"running": [live()]}, []),
        (21, {"running": [live()]}, [("overrun", "job/vision/a", "finish")]),
        (
            5,
            {"running": [live(nodes=[{"name": "h100-009"}])]},
            [("elsewhere", "job/vision/a", "nodes")],
        ),
        (5, {"running": [live(pool="dc2/h100")]}, [("elsewhere", "job/vision/a", "nodes")]),
        (5, {"running": [live(), running("vision/z", 1)]}, [("extra", "job/vision/z", "")]),
        (1, {"down": [{"pool": "dc1/h100", "nodes": ["h100-003"]}]}, [("lost", "job/vision/a", "")]),
        (1, {"down": [{"pool": "dc1/h100", "nodes": ["h100-004"]}]}, []),
    ],
)
def test_runs_are_held_against_their_times_and_places(
    hour: float, snapshot: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert runs(hour, **snapshot) == expected


def test_work_that_pauses_as_planned_is_not_late_until_it_should_go_on() -> None:
    parts = (a_segment(0, 4, node=3), a_segment(6, 9, node=3))
    plan = a_plan([a_placement("vision/a", 0, 9, segments=parts)])
    for hour, kinds in ((1, ["late"]), (4, []), (7 - SECOND, []), (7, ["late"])):
        found = of_runs(plan, seen(), at=START + round(hour * HOUR))
        assert [item.kind.value for item in found] == kinds


def test_work_that_has_ended_is_neither_late_nor_lost() -> None:
    ended = {"job": "vision/a", "spec": "sha256:0", "state": "succeeded", "at": at(4)}
    assert runs(6, finished=[ended], down=[{"pool": "dc1/h100", "nodes": ["h100-003"]}]) == []


def objects(backend: Any, items: Iterable[Item], hour: float = 3, **snapshot: Any) -> list[Drifted]:
    """What drifted in dc1."""
    moment = START + round(hour * HOUR)
    return list(in_order(of_objects(PLAN, items, {"dc1": backend}, at=moment, snapshot=seen(**snapshot))))


def test_recorded_objects_that_are_gone_edited_or_nobodys_are_told(tmp_path: Path) -> None:
    recording = Recording(root=tmp_path / "fleet")
    apply_to(tmp_path / "state", a_request((*the_first(), an_item("z")), recording))
    assert objects(recording, (*the_first(), an_item("z"))) == []
    wanted = (*the_first()[1:], an_item("queue", "quota: 8\n"), an_item("new"))
    found = objects(recording, wanted)
    assert [(item.kind.value, item.subject) for item in found] == [
        ("missing", "dc1/new.yaml"), ("changed", "dc1/queue.yaml"), ("extra", "dc1/z.yaml"),
    ]  # fmt: skip
    assert (found[1].field, found[1].planned, found[1].seen) == ("line 1", "quota: 8", "one")


@pytest.mark.parametrize(
    ("hour", "finished", "is_told"),
    [(20 - SECOND, [], True), (20, [], False), (3, ["vision/a"], False), (3, ["vision/b"], True)],
)
def test_the_object_of_work_that_is_over_may_be_gone(
    hour: float, finished: list[str], is_told: bool, tmp_path: Path
) -> None:
    ended = [{"job": name, "spec": "sha256:0", "state": "failed", "at": at(2)} for name in finished]
    found = objects(Recording(root=tmp_path), [an_item("a")], hour, finished=ended)
    assert bool(found) is is_told


@dataclass(frozen=True)
class Silent:
    """A cluster that does not answer."""

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """One finding, then silence."""
        yield Departure(key="dc1/a.yaml", standing=Standing.EXTRA)
        raise BackendError("the server is gone")


def test_a_cluster_that_does_not_answer_is_told_and_not_taken_as_empty() -> None:
    found = objects(Silent(), [an_item("a")])
    assert [(item.kind.value, item.subject) for item in found] == [
        ("unreached", "cluster/dc1"), ("extra", "dc1/a.yaml"),
    ]  # fmt: skip
    assert found[0].seen == "the server is gone"


def kubernetes(*live_objects: dict[str, Any], of: tuple[dict[str, Any], ...]) -> list[tuple[str, str, str, str]]:
    """What kubectl's answers depart from the objects `of`."""

    def kubectl(call: Call) -> Answer:
        return Answer(code=0, out=json.dumps({"kind": "List", "items": list(live_objects)}))

    found = Kubernetes(context="dc1", runner=kubectl).departures("dc1", [a_manifest(*of)])
    return [(item.standing.value, item.field or item.key, item.planned, item.seen) for item in found]


def a_quota(amount: Any, **metadata: Any) -> dict[str, Any]:
    """A queue with a quota."""
    queue = a_queue()
    flavors = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": amount}]}]
    return {
        **queue, "metadata": {**queue["metadata"], **metadata}, "spec": {"resourceGroups": [{"flavors": flavors}]},
    }  # fmt: skip


def test_a_quota_that_was_edited_by_hand_is_told_with_both_values() -> None:
    assert kubernetes(a_quota("16", uid="1"), of=(a_quota(16),)) == []
    field = "spec.resourceGroups[0].flavors[h100].resources[nvidia.com/gpu].nominalQuota"
    assert kubernetes(a_quota("24"), of=(a_quota(16),)) == [("changed", field, "16", '"24"')]


def test_an_object_that_is_gone_and_one_with_our_mark_that_nobody_wants_are_told() -> None:
    other = {**a_queue("old"), "metadata": {"name": "old", "labels": {MARK: MANAGER}}}
    child = {**other, "metadata": {**other["metadata"], "name": "child", "ownerReferences": [{"name": "x"}]}}
    assert kubernetes(other, child, of=(a_quota(16),)) == [
        ("missing", "ClusterQueue.v1beta2.kueue.x-k8s.io//vision-nvidia", "", ""),
        ("extra", "ClusterQueue.v1beta2.kueue.x-k8s.io//old", "", ""),
    ]


def test_of_work_that_others_admit_only_what_apply_would_patch_is_compared() -> None:
    released = a_job()
    del released["metadata"]["annotations"][GATED]
    released["spec"] = {**released["spec"], "suspend": False}
    assert kubernetes(released, of=(a_job(),)) == []
    assert kubernetes(a_job(limit=60), of=(a_job(),)) == [("changed", "spec.activeDeadlineSeconds", "3600", "60")]


def test_slurm_tells_files_and_jobs_of_its_queue(tmp_path: Path) -> None:
    script = a_script("hpc/jobs/vision.resnet.sbatch", SCRIPT)
    queue = {"squeue": Answer(code=0, out="vision.resnet-1a2b3c4d|planner:job/vision/resnet\nmine|\n")}
    cluster = a_slurm(tmp_path, Answers(by_word=queue))
    cluster.perform(put(script))
    assert list(cluster.departures("hpc", [script])) == []
    (tmp_path / "hpc/jobs/vision.resnet.sbatch").write_text(SCRIPT.replace("nodes=1", "nodes=2"))
    gone = a_slurm(tmp_path, Answers(by_word={"squeue": Answer(code=0, out="old-1|planner:job/vision/old\n")}))
    found = [(item.standing.value, item.key, item.field) for item in gone.departures("hpc", [script])]
    assert found == [
        ("changed", "hpc/jobs/vision.resnet.sbatch", "line 3"),
        ("missing", "hpc/jobs/vision.resnet.sbatch", "vision.resnet-1a2b3c4d"),
        ("extra", "old-1", ""),
    ]
