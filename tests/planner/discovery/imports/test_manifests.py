"""Jobs, JobSets and PyTorchJobs as Job specs, and what holds for all kinds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.discovery.found import Text
from planner.discovery.imports.imported import Imported, ImportWish
from planner.discovery.imports.read import imported
from tests.planner.discovery.imports.workloads import (
    DAY,
    MODELS,
    SECRET,
    job,
    job_set,
    one,
    pod,
    pytorch,
    reason,
    replicated,
    results,
)

H200 = {"nvidia.com/gpu.product": "NVIDIA-H200"}
MI300X = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}
HOST = "kubernetes.io/hostname"


def fields(tree: dict[str, Any]) -> dict[str, Any]:
    return dict(one(tree).fields)


def test_a_job_keeps_what_fields_can_say_and_names_its_template() -> None:
    result = one(job(backoffLimit=2))
    assert result.document == {
        "apiVersion": "planner/v1", "kind": "Job", "name": "resnet", "team": "vision",
        "image": "registry.acme/train:2.9", "command": ["torchrun", "train.py"],
        "gpus": {"count": 8, "vendor": "nvidia"}, "duration": "1d", "retries": 2,
        "template": "resnet.template.yaml",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("resources", "selector", "gpus"),
    [
        ({"nvidia.com/gpu": 4}, H200, {"count": 4, "model": "h200-sxm5-141gb"}),
        ({"amd.com/gpu": "8"}, MI300X, {"count": 8, "model": "mi300x"}),
        ({"amd.com/gpu": "8"}, None, {"count": 8, "vendor": "amd"}),
        ({"nvidia.com/mig-1g.10gb": 1}, None, {"count": 1, "vendor": "nvidia", "partition": "1g.10gb"}),
        ({"amd.com/cpx_nps4": 1}, None, {"count": 1, "vendor": "amd", "partition": "cpx"}),
        ({"cpu": "8"}, None, {"count": 0}),
    ],
)  # fmt: skip
def test_devices_by_vendor_model_and_partition(
    resources: dict[str, Any], selector: dict[str, str] | None, gpus: dict[str, Any]
) -> None:
    assert fields(job(pod(resources, selector=selector)))["gpus"] == gpus


@pytest.mark.parametrize(
    ("spec", "gpus", "array"),
    [
        ({"parallelism": 4, "completions": 4}, {"count": 32, "nodes": 4}, None),
        ({"parallelism": 2}, {"count": 16, "nodes": 2}, None),
        ({"parallelism": 2, "completions": 10}, {"count": 8}, "0-9%2"),
        ({"parallelism": 1, "completions": 1}, {"count": 8}, None),
    ],
)
def test_pods_that_run_together_are_a_gang_and_more_of_them_an_array(
    spec: dict[str, Any], gpus: dict[str, Any], array: str | None
) -> None:
    found = fields(job(**spec))
    assert (found["gpus"], found.get("array")) == (gpus | {"vendor": "nvidia"}, array)


def test_replicas_of_a_job_set_are_one_gang() -> None:
    tree = job_set(replicated("w", pod(), replicas=2, parallelism=4, completions=4), failurePolicy={"maxRestarts": 3})
    found = fields(tree)
    assert (found["gpus"], found["retries"]) == ({"count": 64, "nodes": 8, "vendor": "nvidia"}, 3)


def test_unlike_parts_are_roles_and_what_differs_is_told() -> None:
    other = pod({"nvidia.com/gpu": 4}, image="registry.acme/eval:1")
    result = one(job_set(replicated("train", pod(), replicas=2), replicated("eval", other)))
    assert "gpus" not in result.fields
    assert result.fields["roles"] == [
        {"name": "train", "gpus": {"count": 8}, "replicas": 2},
        {"name": "eval", "gpus": {"count": 4}, "replicas": 1},
    ]
    assert result.fields["variants"] == [{"name": "nvidia", "vendor": "nvidia"}]
    assert "eval differs from train in image: in the template only" in result.untold


def test_master_and_workers_that_are_alike_are_one_gang() -> None:
    tree = pytorch(pod(), pod(), 3, runPolicy={"activeDeadlineSeconds": 7200, "backoffLimit": 1})
    found = fields(tree)
    assert found["gpus"] == {"count": 32, "nodes": 4, "vendor": "nvidia"}
    assert (found["duration"], found["retries"]) == ({"expected": "2h", "limit": "2h"}, 1)


def test_a_limit_stands_for_an_unknown_length_and_says_so() -> None:
    result = one(job(activeDeadlineSeconds=3600), wish=ImportWish())
    assert result.fields["duration"] == {"expected": "1h", "limit": "1h"}
    assert "how long it takes is not known; its limit is written for that" in result.untold
    within = one(job(activeDeadlineSeconds=3600), wish=ImportWish(duration="1h"))
    assert (within.fields["duration"], within.untold) == ({"expected": "1h", "limit": "1h"}, ())
    labelled = one(job(labels={"kueue.x-k8s.io/max-exec-time-seconds": "60"}), wish=ImportWish())
    assert labelled.fields["duration"] == {"expected": "1m", "limit": "1m"}


def test_containers_say_cpus_memory_mounts_and_names_of_secrets() -> None:
    template = pod(
        resources={"limits": {"nvidia.com/gpu": 1}, "requests": {"cpu": "7500m", "memory": "64Gi"}},
        env=[
            {"name": "TOKEN", "value": SECRET},
            {"name": "HF", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
        ],
        volumeMounts=[
            {"name": "shm", "mountPath": "/dev/shm"}, {"name": "data", "mountPath": "/data", "readOnly": True},
            {"name": "tmp", "mountPath": "/scratch"}, {"name": "host", "mountPath": "/models"},
            {"name": "conf", "mountPath": "/etc/conf"},
        ],
    )  # fmt: skip
    template["spec"] |= {
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "imagenet"}}, {"name": "tmp", "emptyDir": {}},
            {"name": "host", "hostPath": {"path": "/mnt/models"}}, {"name": "conf", "configMap": {"name": "c"}},
        ],
        "securityContext": {"runAsUser": 1000, "runAsGroup": 100}, "serviceAccountName": "trainer",
        "imagePullSecrets": [{"name": "registry"}],
        "tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"},
                        {"key": "team", "value": "a", "effect": "NoExecute"}],
    }  # fmt: skip
    template["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": HOST}}
    result = one(job(template))
    found = dict(result.fields)
    assert (found["cpus"], found["memory"], found["shm"], found["user"]) == (8, "64Gi", "16Gi", "1000:100")
    assert found["mounts"] == [
        {"path": "/data", "claim": "imagenet", "read_only": True}, {"path": "/scratch", "empty": True},
        {"path": "/models", "host": "/mnt/models"},
    ]  # fmt: skip
    assert found["env"] == {"HF": {"secret": "hf", "key": "token"}}
    assert (found["service_account"], found["pull_secrets"]) == ("trainer", ["registry"])
    assert found["needs"] == {"tolerations": ["team=a:NoExecute"]}
    assert found["topology"] == {"within": "node", "required": True}
    assert "values of TOKEN are not written; put them into env, or secrets into the back end" in result.untold
    assert SECRET not in json.dumps(result.document)
    assert SECRET.encode() not in result.template


def test_a_live_objects_additions_and_last_applied_text_are_no_part_of_the_template() -> None:
    tree = job(pod(env=[{"name": "TOKEN", "value": SECRET}]))
    tree["metadata"] |= {
        "uid": "1", "resourceVersion": "2", "managedFields": [{}], "labels": {"a": "b", "controller-uid": "1"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET},
    }  # fmt: skip
    template = json.loads(one(tree | {"status": {"active": 1}}).template)
    assert template["metadata"] == {"name": "resnet", "namespace": "vision", "labels": {"a": "b"}, "annotations": {}}
    assert "status" not in template
    assert template["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "TOKEN"}]


@pytest.mark.parametrize(
    ("container", "told"),
    [
        ({"command": ["sh", "-c", "echo $(NAME)"]}, "its command uses $(VARIABLES) and is in the template only"),
        ({"command": [], "args": ["--lr", "1"]}, "its arguments complete the image's own command"),
    ],
)
def test_a_command_that_only_the_kubelet_completes_is_not_written(container: dict[str, Any], told: str) -> None:
    result = one(job(pod(**container)))
    assert "command" not in result.fields
    assert told in "; ".join(result.untold)


def test_a_doubled_dollar_is_one() -> None:
    assert fields(job(pod(command=["sh", "-c"], args=["echo $$(date) $$HOME"])))["command"][-1] == "echo $(date) $HOME"


def test_what_fields_cannot_say_is_told() -> None:
    template = pod(selector={"disk": "nvme"})
    template["spec"]["containers"].append({"name": "logs", "image": "fluent"})
    result = one(
        job(template, labels={"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "planner-p1"})
    )
    assert result.fields["priority"] == "P1"
    assert result.untold == (
        "label kueue.x-k8s.io/queue-name=q is in the template only",
        "nodeSelector disk=nvme is in the template only",
        "1 further containers are in the template only",
    )


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (job(pod({"nvidia.com/gpu.shared": 1})), "does not say which share"),
        (job(pod({"nvidia.com/gpu": 1, "amd.com/gpu": 1})), "several containers or kinds of devices"),
        (job({"spec": {}}), "no containers"),
        (job(pod({}), parallelism=2), "several pods without devices"),
        (job(parallelism=0), "it has no pods"),
        (job_set(replicated("a", pod()), replicated("b", pod({"amd.com/gpu": 8}))), "devices of different models"),
        (job_set({**replicated("a", pod()), "dependsOn": [{"name": "b"}]}), "wait for each other"),
        (job_set(replicated("a", pod(), replicas=2, parallelism=1, completions=4)), "more completions"),
        (pytorch(pod(), pod(), 1, elasticPolicy={"maxReplicas": 4}), "it is elastic"),
    ],
)  # fmt: skip
def test_what_no_job_can_be_is_refused_with_its_reason(tree: dict[str, Any], why: str) -> None:
    assert why in reason(tree)


def test_pods_without_devices_beside_the_gang_stay_in_the_template_and_are_told() -> None:
    result = one(job_set(replicated("driver", pod({})), replicated("w", pod(), replicas=2)))
    assert result.fields["gpus"] == {"count": 16, "nodes": 2, "vendor": "nvidia"}
    assert "driver holds no devices and is in the template only" in result.untold


def test_a_job_without_length_or_team_asks_for_it() -> None:
    assert reason(job(), wish=ImportWish()) == "it does not say how long it takes: say it with --duration"
    nobody = job() | {"metadata": {"name": "resnet"}}
    assert reason(nobody) == "it does not say whose it is: say it with --team"
    assert one(nobody, wish=ImportWish(team="nlp", duration="1d")).team == "nlp"


def test_the_planners_own_jobs_and_parts_of_others_are_passed_over() -> None:
    own, part = job(), job()
    own["metadata"]["annotations"] = {"planner.dev/address": "job/vision/resnet"}
    part["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": "js"}]
    assert (results(own), results(part)) == ((), ())


def test_work_without_devices_is_passed_over_where_a_whole_cluster_is_read() -> None:
    live = ImportWish(duration="1d", devices_only=True)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": pod({})},
    }
    assert results(job(pod({})), deployment, wish=live) == ()
    assert len(results(job(pod({})), deployment, wish=DAY)) == 1


def test_jobs_of_one_name_get_names_of_their_own() -> None:
    other = job() | {"metadata": {"name": "resnet", "namespace": "Vision"}}
    assert [result.name for result in results(job(), other) if isinstance(result, Imported)] == ["resnet", "resnet-2"]


YAML = b"""# Our training.
apiVersion: batch/v1
kind: Job
metadata: {name: resnet, namespace: vision}
spec:
  template:
    spec:
      containers:
        - {name: main, image: "train:1", resources: {limits: {nvidia.com/gpu: 8}}ENV}
"""


def test_a_file_of_one_job_is_its_template_byte_for_byte_unless_it_holds_values() -> None:
    plain = YAML.replace(b"ENV", b"")
    (kept,) = imported([Text(name="a.yaml", data=plain)], DAY, MODELS)
    assert isinstance(kept, Imported)
    assert kept.template == plain
    secret = YAML.replace(b"ENV", b", env: [{name: TOKEN, value: " + SECRET.encode() + b"}]")
    (cleaned,) = imported([Text(name="a.yaml", data=secret)], DAY, MODELS)
    assert isinstance(cleaned, Imported)
    assert SECRET.encode() not in cleaned.template
    assert json.loads(cleaned.template)["metadata"]["name"] == "resnet"
