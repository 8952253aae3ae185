"""UC-33: shared memory, tolerations, one container with the devices, and a restart policy that batch work can have."""

from __future__ import annotations

from typing import Any

from renderers import kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import job_at, pod_of, schema_faults


def pod(*fields: str, gpus: str = "8", pool: str = "dc1/h100", node: str = "h100-001") -> dict[str, Any]:
    """The pod of a job that takes a whole node."""
    specs = specset_of(FLEET, a_job("resnet", f"gpus: {gpus}", "memory: 512Gi", *fields))
    variant = specs.jobs[0].ways()[0].name
    segment = a_segment(pool, a_node(node, *range(8)), specs=specs, variant=variant)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    return pod_of(job_at(result, "job/vision/resnet"))


def shm_limit(found: dict[str, Any]) -> str:
    """The size of what is mounted at /dev/shm."""
    (mount,) = [item for item in found["containers"][0]["volumeMounts"] if item["mountPath"] == "/dev/shm"]
    (volume,) = [item for item in found["volumes"] if item["name"] == mount["name"]]
    assert volume["emptyDir"]["medium"] == "Memory"
    size: str = volume["emptyDir"]["sizeLimit"]
    return size


def test_shared_memory_is_memory_with_a_limit_inside_that_of_the_pod() -> None:
    assert shm_limit(pod()) == f"{256 * 1024}Mi"
    assert shm_limit(pod("shm: 64Gi")) == f"{64 * 1024}Mi"
    assert pod("shm: 64Gi")["containers"][0]["resources"]["limits"]["memory"] == f"{512 * 1024}Mi"


def test_only_the_vendors_taint_is_tolerated_unasked() -> None:
    (only,) = pod()["tolerations"]
    assert only == {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}


def test_the_other_pool_has_its_own_vendors_taint() -> None:
    found = pod("duration: {mi300x: 2h}", gpus="{count: 8, vendor: amd}", pool="dc1/mi300x", node="mi-1")
    assert [item["key"] for item in found["tolerations"]] == ["amd.com/gpu"]


def test_a_taint_that_the_job_names_is_tolerated() -> None:
    found = pod('needs: {tolerations: ["team=infra:NoSchedule"]}')
    assert [item["key"] for item in found["tolerations"]] == ["nvidia.com/gpu", "team"]


def test_devices_stand_on_one_container_only() -> None:
    (container,) = pod()["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"


def test_batch_work_is_never_restarted_in_place() -> None:
    assert pod()["restartPolicy"] == "Never"
