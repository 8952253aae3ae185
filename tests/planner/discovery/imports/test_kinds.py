"""Every kind of object that is imported: where its pods are, and what its template says is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.discovery.imports.imported import ImportWish
from tests.planner.discovery.imports.workloads import SECRET, a, job, one, pod, reason, results

GPUS = {"limits": {"nvidia.com/gpu": 8}}
TRAINER = {"numNodes": 2, "image": "r/t:1", "command": ["train"], "resourcesPerNode": GPUS,
           "env": [{"name": "TOKEN", "value": SECRET}]}  # fmt: skip
RAY: dict[str, Any] = {
    "entrypoint": "python x.py", "runtimeEnvYAML": f"env_vars: {{TOKEN: {SECRET}}}", "activeDeadlineSeconds": 7200,
    "rayClusterSpec": {
        "headGroupSpec": {"template": pod({})},
        "workerGroupSpecs": [{"groupName": "g", "replicas": 3, "template": pod(command=["ulimit"])}],
    },
}  # fmt: skip
MPI = {"slotsPerWorker": 8, "runPolicy": {"backoffLimit": 1}, "mpiReplicaSpecs": {
    "Launcher": {"replicas": 1, "template": pod({})}, "Worker": {"replicas": 4, "template": pod()}}}  # fmt: skip
SERVER = pod({"nvidia.com/gpu": 2}, command=["serve"], ports=[{"containerPort": 9000}],
             readinessProbe={"httpGet": {"path": "/ready", "port": 9000}})  # fmt: skip
PREDICTOR: dict[str, Any] = {
    "minReplicas": 2, "maxReplicas": 5, "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H200"},
    "model": {"modelFormat": {"name": "huggingface"}, "storageUri": "s3://m", "resources": GPUS},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "api", "spec", "gpus"),
    [
        ("TrainJob", "trainer.kubeflow.org/v1alpha1", {"trainer": TRAINER}, {"count": 16, "nodes": 2}),
        ("RayJob", "ray.io/v1", RAY, {"count": 24, "nodes": 3}),
        ("MPIJob", "kubeflow.org/v2beta1", MPI, {"count": 32, "nodes": 4}),
    ],
)
def test_the_nodes_of_a_gang_are_the_pods_that_hold_devices(
    kind: str, api: str, spec: dict[str, Any], gpus: dict[str, Any]
) -> None:
    result = one(a(kind, api, spec))
    assert (result.kind, result.fields["gpus"]) == ("Job", gpus | {"vendor": "nvidia"})
    assert json.loads(result.template)["kind"] == kind
    assert SECRET.encode() not in result.template


def test_a_trainjob_has_its_image_and_command_and_tells_of_its_runtime() -> None:
    result = one(a("TrainJob", "trainer.kubeflow.org/v1alpha1", {"trainer": TRAINER, "runtimeRef": {"name": "torch"}}))
    assert (result.fields["image"], result.fields["command"]) == ("r/t:1", ["train"])
    assert "what its runtime torch says is in the template only" in result.untold
    assert json.loads(result.template)["spec"]["trainer"]["env"] == [{"name": "TOKEN"}]


def test_what_a_ray_cluster_runs_is_its_own_and_values_of_its_environment_are_left_out() -> None:
    result = one(a("RayJob", "ray.io/v1", RAY), wish=ImportWish())
    assert "command" not in result.fields
    assert result.fields["duration"] == {"expected": "2h", "limit": "2h"}
    assert "head holds no devices and is in the template only" in result.untold
    assert "runtimeEnvYAML may hold values of variables and is not written" in result.untold
    template = json.loads(result.template)
    assert template["spec"]["entrypoint"] == "python x.py"
    assert "runtimeEnvYAML" not in template["spec"]


@pytest.mark.parametrize(
    ("kind", "api", "spec", "gpus"),
    [
        ("Deployment", "apps/v1", {"replicas": 2, "template": SERVER}, {"count": 2}),
        ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1",
         {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": SERVER}}, {"count": 6, "nodes": 3}),
        ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1",
         {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "leaderTemplate": SERVER, "workerTemplate": SERVER}},
         {"count": 6, "nodes": 3}),
        ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1",
         {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "leaderTemplate": pod({}), "workerTemplate": SERVER}},
         {"count": 4, "nodes": 2}),
    ],
)  # fmt: skip
def test_what_stays_up_is_a_service_that_keeps_its_replicas(
    kind: str, api: str, spec: dict[str, Any], gpus: dict[str, Any]
) -> None:
    result = one(a(kind, api, spec))
    assert result.document == {
        "apiVersion": "planner/v1", "kind": "Service", "name": "w", "team": "vision",
        "image": "registry.acme/train:2.9", "command": ["serve"], "gpus": gpus | {"vendor": "nvidia"},
        "load": {"concurrent": 2}, "headroom": "0%", "replicas": {"min": 2, "max": 2}, "port": 9000,
        "health": {"path": "/ready"}, "template": "w.template.yaml",
    }  # fmt: skip
    assert result.untold[0] == (
        "its load is not known: 2 replicas are kept; write load and service_time, and they follow from those"
    )


def test_a_predictor_is_a_service_with_its_least_replicas_and_without_an_image_of_its_own() -> None:
    spec = {"predictor": PREDICTOR, "transformer": {"containers": []}}
    result = one(a("InferenceService", "serving.kserve.io/v1beta1", spec))
    assert (result.kind, result.fields["gpus"]) == ("Service", {"count": 8, "model": "h200-sxm5-141gb"})
    assert result.fields["replicas"] == {"min": 2, "max": 2}
    assert "image" not in result.fields
    assert "it grows by itself to 5 replicas; 2 are written" in result.untold
    assert "its transformer is in the template only" in result.untold


@pytest.mark.parametrize(
    ("kind", "api", "spec", "why"),
    [
        ("Deployment", "apps/v1", {"replicas": 0, "template": SERVER}, "no replicas now"),
        ("StatefulSet", "apps/v1", {"template": SERVER}, "volumes of their own"),
        ("CronJob", "batch/v1", {"jobTemplate": {"spec": {"template": SERVER}}}, "again and again"),
        ("RayService", "ray.io/v1", RAY, "kind RayService"),
        ("RayJob", "ray.io/v1", {"clusterSelector": {"a": "b"}, "x": GPUS}, "there already"),
        ("RayJob", "ray.io/v1", {"rayClusterSpec": {**RAY["rayClusterSpec"], "enableInTreeAutoscaling": True}},
         "grows and shrinks"),
        ("TrainJob", "trainer.kubeflow.org/v1alpha1", {"trainer": {"numNodes": 2}}, "stand in its runtime"),
        ("InferenceService", "serving.kserve.io/v1beta1", {"predictor": {
            **PREDICTOR, "workerSpec": {"pipelineParallelSize": 2}}}, "several nodes"),
        ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": {
            "size": 2, "leaderTemplate": pod({"nvidia.com/gpu": 1}), "workerTemplate": SERVER}}, "unlike devices"),
    ],
)  # fmt: skip
def test_what_no_spec_can_be_is_refused_with_its_reason(kind: str, api: str, spec: dict[str, Any], why: str) -> None:
    assert why in reason(a(kind, api, spec))


def test_what_stays_up_without_devices_is_passed_over() -> None:
    assert results(a("Deployment", "apps/v1", {"template": pod({})})) == ()


def test_a_job_that_is_over_took_what_its_status_says() -> None:
    times = {"startTime": "2026-11-30T10:00:00Z", "completionTime": "2026-11-30T12:30:30Z"}
    result = one(job() | {"status": times})
    assert (result.fields["duration"], result.untold[0]) == ("2h31m", "1 run took 2h31m")
    running = one(job() | {"status": {"startTime": "2026-11-30T10:00:00Z"}})
    assert running.fields["duration"] == "1d"


@pytest.mark.parametrize(
    "command",
    [["train", f"--token={SECRET}"], ["train", "--api-key", SECRET], ["sh", "-c", f"HF_TOKEN={SECRET} python x"]],
)
def test_a_command_with_a_secret_in_it_is_not_imported(command: list[str]) -> None:
    result = reason(job(pod(command=command)))
    assert "its command gives" in result
    assert SECRET not in result


@pytest.mark.parametrize(
    "command",
    [
        ["train", "--tokenizer=x", "--max-tokens=9"],
        ["sh", "-c", "HF_TOKEN=$$(cat /run/token) train"],
        ["train", "--token", "$$TOKEN"],
        ["train", "--password-file=/run/p", "--secret=/run/secrets/s"],
    ],
)
def test_words_that_only_look_like_one_are_no_secret(command: list[str]) -> None:
    assert one(job(pod(command=command))).fields["command"][0] == command[0]
