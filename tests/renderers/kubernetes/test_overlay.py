"""The plan laid over existing objects: fields stay, changes are said, conflicts are errors with both places."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from planner.diagnostics import SpecError, as_text
from planner.specset import SourceFile, load
from renderers import kubernetes
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of
from tests.renderers.kubernetes.reading import documents, schema_faults

ONE = (a_node("h100-003", 0, 1),)
GANG = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))

POD = """
          spec:
            restartPolicy: OnFailure
            nodeSelector: {disk: ssd}
            containers:
              - name: logger
                image: logger:1
                env: [{name: x-a, value: "1"}]
              - name: train
                image: old:1
                command: [python, old.py]
                env: [{name: A, value: theirs}]
                resources: {limits: {nvidia.com/gpu: GPUS}}
"""
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: mine, labels: {x-keep: me}, annotations: {a: b}}\n"
    "spec:\n  ttlSecondsAfterFinished: 60\n  template:" + POD
)
JOBSET = (
    "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: mine}\nspec:\n  replicatedJobs:\n"
    "  - name: driver\n    template:\n      spec:\n        template:\n          spec:\n"
    "            restartPolicy: Never\n            containers: [{name: d, image: d:1}]\n"
    "  - name: w\n    template:\n      spec:\n        template:" + POD
)
PYTORCHJOB = (
    "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: mine}\nspec:\n  pytorchReplicaSpecs:\n"
    "    Master:\n      replicas: 1\n      template:" + POD + "    Worker:\n      replicas: 1\n      template:" + POD
)
MPIJOB = (
    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: mine}\nspec:\n  mpiReplicaSpecs:\n"
    "    Launcher:\n      replicas: 1\n      template:\n        spec: {containers: [{name: l, image: l:1}]}\n"
    "    Worker:\n      replicas: 2\n      template:" + POD
)
TRAINJOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: mine}\nspec:\n"
    "  runtimeRef: {name: torch-custom}\n  trainer:\n    image: old:1\n    args: [--lr, '1']\n"
    "    resourcesPerNode: {limits: {nvidia.com/gpu: GPUS}}\n"
)
RAYJOB = (
    "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: mine}\nspec:\n  entrypoint: python x.py\n"
    "  rayClusterSpec:\n    headGroupSpec:\n      template:\n        spec: {containers: [{name: head, image: ray:1}]}\n"
    "    workerGroupSpecs:\n    - groupName: g\n      replicas: 2\n      minReplicas: 2\n      maxReplicas: 2\n"
    "      template:" + POD
)


def rendered(template: str, *fields: str, nodes: Any = ONE, gpus: int = 2) -> Rendered:
    """The fleet with a job laid over `template`, checked against schemas and plan."""
    each = gpus // len(nodes)
    files = [
        SourceFile("specs/fleet.yaml", FLEET.encode()),
        SourceFile(
            "specs/job.yaml", (a_job("resnet", f"gpus: {gpus}", "template: train.yaml", *fields) + "\n").encode()
        ),
        SourceFile("specs/train.yaml", template.replace("GPUS", str(each)).encode()),
    ]
    loaded = load(files)
    assert loaded.specset is not None, as_text(loaded.diagnostics)
    specs = loaded.specset
    segment = a_segment("dc1/h100", *nodes, specs=specs)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def made(template: str, *fields: str, **options: Any) -> dict[str, Any]:
    """The object that was laid over."""
    result = rendered(template, *fields, **options)
    kind = yaml.safe_load(template.replace("GPUS", "1"))["kind"]
    (found,) = [item for each in documents(result).values() for item in each if item["kind"] == kind]
    return dict(found)


def faults(template: str, *fields: str, **options: Any) -> str:
    """What is said against a template."""
    with pytest.raises(SpecError) as caught:
        rendered(template, *fields, **options)
    return as_text(caught.value.diagnostics)


def test_every_field_of_a_job_stays_with_its_side_containers() -> None:
    item = made(JOB)
    assert item["spec"]["ttlSecondsAfterFinished"] == 60
    assert item["metadata"]["labels"]["x-keep"] == "me"
    assert item["metadata"]["annotations"]["a"] == "b"
    pod = item["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "OnFailure"
    assert pod["containers"][0] == {"name": "logger", "image": "logger:1", "env": [{"name": "x-a", "value": "1"}]}


def test_placement_queue_devices_and_image_are_laid_on_the_container_with_devices() -> None:
    item = made(JOB, "image: new:2")
    assert item["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision-nvidia"
    assert item["spec"]["suspend"] is True
    pod = item["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"disk": "ssd", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    assert pod["containers"][1]["image"] == "new:2"
    assert pod["containers"][1]["resources"]["limits"]["nvidia.com/gpu"] in {2, "2"}
    assert {"mountPath": "/dev/shm", "name": "shm"} in pod["containers"][1]["volumeMounts"]


def test_what_the_template_says_of_a_variable_stays() -> None:
    env = made(JOB, 'env: {A: ours, B: "2"}')["spec"]["template"]["spec"]["containers"][1]["env"]
    assert {"name": "A", "value": "theirs"} in env
    assert {"name": "B", "value": "2"} in env


def test_each_change_is_said_above_the_object() -> None:
    (text,) = [item.text for item in rendered(JOB, "image: new:2").manifests if "/job-" in item.path]
    assert '# Laid on: "spec.suspend added"' in text
    assert '# Laid on: "spec.template.spec.containers.1.image replaced, was old:1"' in text


@pytest.mark.parametrize(
    ("template", "nodes", "gpus"),
    [
        (JOB, ONE, 2),
        (JOB, GANG, 16),
        (JOBSET, GANG, 16),
        (PYTORCHJOB, GANG, 16),
        (TRAINJOB, GANG, 16),
        (RAYJOB, GANG, 16),
        (MPIJOB, GANG, 16),
    ],
    ids=["job", "gang", "jobset", "pytorchjob", "trainjob", "rayjob", "mpijob"],
)
def test_each_kind_has_the_planned_pods_on_the_planned_nodes(template: str, nodes: Any, gpus: int) -> None:
    assert made(template, nodes=nodes, gpus=gpus)["metadata"]["name"].startswith("resnet-")


def test_a_trainjob_keeps_its_runtime_and_arguments() -> None:
    spec = made(TRAINJOB, nodes=GANG, gpus=16)["spec"]
    assert spec["runtimeRef"] == {"name": "torch-custom"}
    assert spec["trainer"]["args"] == ["--lr", "1"]
    assert spec["trainer"]["numNodes"] == 2


def test_the_head_of_a_rayjob_without_devices_stays_as_it_is() -> None:
    head = made(RAYJOB, nodes=GANG, gpus=16)["spec"]["rayClusterSpec"]["headGroupSpec"]
    assert head == {"template": {"spec": {"containers": [{"name": "head", "image": "ray:1"}]}}}


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("nvidia.com/gpu: GPUS", "nvidia.com/gpu: 4"), 18, "nvidia.com/gpu is 4 in the template, and the plan has 2"),
        (("disk: ssd", "nvidia.com/gpu.product: X"), 9, "the plan has NVIDIA-H100-80GB-HBM3"),
        (("{name: mine,", "{name: mine, namespace: other,"), 3, "metadata.namespace is other in the template"),
        (("ttlSecondsAfterFinished: 60", "completions: 3"), 5, "3 pods with devices in the template"),
        (("restartPolicy: OnFailure", "schedulerName: x\n            restartPolicy: Never"), 0, ""),
    ],
)
def test_a_conflict_is_an_error_with_both_places(change: tuple[str, str], line: int, said: str) -> None:
    template = JOB.replace(*change)
    if not said:
        assert made(template)["spec"]["template"]["spec"]["schedulerName"] == "x"
        return
    text = faults(template)
    assert said in text
    assert f"specs/train.yaml:{line}:" in text
    assert "specs/job.yaml:1:1" in text


def test_devices_of_the_template_become_those_of_the_chosen_vendor() -> None:
    item = made(JOB.replace("nvidia.com/gpu: GPUS", "amd.com/gpu: GPUS"))
    limits = item["spec"]["template"]["spec"]["containers"][1]["resources"]["limits"]
    assert {name: amount for name, amount in limits.items() if "/" in name} == {"nvidia.com/gpu": "2"}


def test_the_command_of_a_job_is_the_entry_point_of_a_rayjob() -> None:
    spec = made(RAYJOB, "command: [python, 'a b.py']", nodes=GANG, gpus=16)["spec"]
    assert spec["entrypoint"] == "python 'a b.py'"
    (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    assert group["template"]["spec"]["containers"][1]["command"] == ["python", "old.py"]


def test_an_alternative_of_the_template_is_narrowed_to_the_planned_nodes() -> None:
    affinity = (
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: zone, operator: In, values: [a]}]}, "
        "{matchExpressions: [{key: zone, operator: Exists}]}]}}}"
    )
    item = made(JOB.replace("nodeSelector: {disk: ssd}", affinity))
    terms = item["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert [[each["key"] for each in term["matchExpressions"]] for term in terms] == [
        ["kubernetes.io/hostname", "zone"],
        ["kubernetes.io/hostname", "zone"],
    ]


@pytest.mark.parametrize(
    "template",
    [
        "apiVersion: batch/v1\nkind: Job\nspec: 3\n",
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: x}}}\n",
        "apiVersion: batch/v1\nkind: Job\nmetadata: []\n",
        "apiVersion: batch/v1\nkind: ConfigMap\n",
        JOB + "---\n" + JOB,
        "apiVersion: batch/v2\n" + JOB.partition("\n")[2],
        "a: !!python/object:os.system x\n",
    ],
)
def test_what_is_no_such_object_is_an_error_at_its_place(template: str) -> None:
    assert "specs/train.yaml:" in faults(template)


def test_the_template_is_part_of_what_makes_another_object() -> None:
    one, other = (
        made(JOB.replace("ttlSecondsAfterFinished: 60", text))["metadata"]["name"]
        for text in ("ttlSecondsAfterFinished: 1", "ttlSecondsAfterFinished: 2")
    )
    assert one != other
