"""UC-31: the pod template of a Job cannot change, so nothing may change in it without need."""

from __future__ import annotations

from renderers import kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of

JOB = a_job("resnet", "gpus: 2", "command: [train]")


def job_files(*texts: str, start: int = 0, node: str = "h100-001") -> dict[str, str]:
    """The files of the job by path, from these specs and a plan that starts it `start` hours on."""
    specs = specset_of(*texts)
    segment = a_segment("dc1/h100", a_node(node, 0, 1), specs=specs, start=start)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    return {item.path: item.text for item in result.manifests if item.addresses == ("job/vision/resnet",)}


def template(files: dict[str, str]) -> str:
    """The pod template of the only file."""
    (text,) = files.values()
    return text.partition("  template:\n")[2]


def test_nothing_changed_gives_the_same_bytes() -> None:
    assert job_files(FLEET, JOB) == job_files(FLEET, JOB)


def test_another_image_is_another_object() -> None:
    other = JOB.replace("train:1", "train:2")
    assert job_files(FLEET, JOB).keys().isdisjoint(job_files(FLEET, other))


def test_a_comment_changes_nothing() -> None:
    assert job_files(FLEET, JOB + "\n# tuned by hand\n") == job_files(FLEET, JOB)


def test_another_quota_changes_no_job() -> None:
    assert job_files(FLEET.replace("guaranteed: 16", "guaranteed: 12"), JOB) == job_files(FLEET, JOB)


def test_a_title_changes_the_object_and_neither_its_name_nor_its_template() -> None:
    before, after = job_files(FLEET, JOB), job_files(FLEET, JOB + "\ntitle: The big run")
    assert before.keys() == after.keys()
    assert before != after
    assert template(before) == template(after)


def test_another_planned_start_keeps_name_and_template() -> None:
    before, after = job_files(FLEET, JOB), job_files(FLEET, JOB, start=3)
    assert before.keys() == after.keys()
    assert before != after
    assert template(before) == template(after)


def test_another_node_is_another_object_since_the_template_names_it() -> None:
    assert job_files(FLEET, JOB).keys().isdisjoint(job_files(FLEET, JOB, node="h100-002"))
