"""The structural oracle sees each way in which files could differ from the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from renderers import kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents

Documents = dict[str, list[Any]]


def verified(change: Callable[[Documents], None]) -> tuple[str, ...]:
    """What is said about a rendered job after `change`."""
    specs = specset_of(FLEET, a_job("resnet", "gpus: 2"))
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    found = documents(result)
    change(found)
    return kubernetes.verify(found, plan, specs, specs.clusters[0], result.degraded)


def job_in(found: Documents) -> dict[str, Any]:
    """The only Job."""
    (job,) = [item for each in found.values() for item in each if item["kind"] == "Job"]
    return dict(job)


def path_in(found: Documents) -> str:
    """The file of the only Job."""
    (path,) = [path for path, each in found.items() if each[0]["kind"] == "Job"]
    return path


def rename(found: Documents) -> None:
    job_in(found)["metadata"]["name"] = "n" * 52


def more_pods(found: Documents) -> None:
    job_in(found)["spec"]["completions"] = 2


def other_image(found: Documents) -> None:
    job_in(found)["spec"]["template"]["spec"]["containers"][0]["image"] = "other"


def fewer_devices(found: Documents) -> None:
    job_in(found)["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1"


def second_container(found: Documents) -> None:
    containers = job_in(found)["spec"]["template"]["spec"]["containers"]
    containers.append(containers[0])


def anywhere(found: Documents) -> None:
    del job_in(found)["spec"]["template"]["spec"]["affinity"]


def longer(found: Documents) -> None:
    job_in(found)["spec"]["activeDeadlineSeconds"] = 9_001


def dropped(found: Documents) -> None:
    del found[path_in(found)]


def repeated(found: Documents) -> None:
    found["dc1/vision/job-again.yaml"] = found[path_in(found)]


def two_documents(found: Documents) -> None:
    found[path_in(found)] *= 2


def unknown_kind(found: Documents) -> None:
    found[path_in(found)][0]["kind"] = "DaemonSet"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (rename, "no room for the names of its pods"),
        (more_pods, "pods: written 2, planned 1"),
        (other_image, "image: written other"),
        (fewer_devices, "devices: written {'nvidia.com/gpu': '1'}, planned {'nvidia.com/gpu': '2'}"),
        (second_container, "one container: written 2, planned 1"),
        (anywhere, "nodes: written (), planned ('h100-001',)"),
        (longer, "time limit: written 9001, planned 9000"),
        (dropped, "is listed but not written"),
        (repeated, "is written 2 times"),
        (two_documents, "holds 2 documents"),
        (unknown_kind, "kind DaemonSet"),
    ],
)
def test_a_difference_is_seen(change: Callable[[Documents], None], said: str) -> None:
    assert any(said in text for text in verified(change))


def test_nothing_is_said_where_all_is_as_planned() -> None:
    assert verified(lambda found: None) == ()
