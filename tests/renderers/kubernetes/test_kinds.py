"""Jobs as JobSet, TrainJob, PyTorchJob, MPIJob and RayJob."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from planner.spec.backend import Workload
from renderers import kubernetes
from renderers.kubernetes.kinds import KINDS
from renderers.kubernetes.reading import pods_in
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, expanded, objects, schema_faults

ONE = (a_node("h100-003", 0, 1),)
GANG = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))
OTHERS = [kind for kind in Workload if kind is not Workload.JOB]


def rendered(kind: Workload, *fields: str, nodes: Any = GANG, name: str = "resnet", pool: str = "dc1/h100") -> Rendered:
    """The fleet with one job of this kind on these nodes, checked against schemas and plan."""
    fleet = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes, workload: {kind}}}", 1)
    given = fields if any(field.startswith("command:") for field in fields) else (*fields, "command: [torchrun, a b]")
    given = given if any(field.startswith("gpus:") for field in given) else ("gpus: 16", *given)
    specs = specset_of(fleet, a_job(name, *given))
    segment = a_segment(pool, *nodes, specs=specs)
    plan = plan_of(a_placement(f"job/vision/{name}", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def made(kind: Workload, *fields: str, **options: Any) -> dict[str, Any]:
    """The object of `rendered`; it is the only workload."""
    result = rendered(kind, *fields, **options)
    (found,) = [item for each in documents(result).values() for item in each if item["kind"] in _KINDS]
    assert found["kind"] == KINDS[kind].kind
    return dict(found)


_KINDS = {kind.kind for kind in KINDS.values()}


def variables(item: dict[str, Any]) -> dict[str, str]:
    """The plain variables of the first container."""
    env = pods_in(item).pods[0]["containers"][0]["env"]
    return {each["name"]: each.get("value", "") for each in env}


@pytest.mark.parametrize("kind", OTHERS)
def test_each_kind_waits_suspended_in_the_teams_queue_behind_the_gate(kind: Workload) -> None:
    item = made(kind)
    spec = item["spec"]
    assert (spec["suspend"] if "suspend" in spec else spec["runPolicy"]["suspend"]) is True
    assert item["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision-nvidia"
    assert item["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] == "planner.dev/planned-start"


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize(("nodes", "gpus"), [(ONE, 2), (GANG, 16)])
def test_there_are_as_many_pods_with_devices_as_planned(kind: Workload, nodes: Any, gpus: int) -> None:
    found = pods_in(made(kind, f"gpus: {gpus}", nodes=nodes))
    assert found.count == len(nodes)
    for pod in found.pods:
        assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == str(gpus // len(nodes))


@pytest.mark.parametrize("kind", Workload)
def test_a_long_name_leaves_room_for_what_controllers_append(kind: Workload) -> None:
    name = made(kind, name="n" * 52)["metadata"]["name"]
    longest = {
        Workload.JOB: "-99999-xxxxx",
        Workload.JOBSET: "-node-0-99999-xxxxx",
        Workload.TRAINJOB: "-node-0-99999-xxxxx",
        Workload.PYTORCHJOB: "-worker-99999",
        Workload.MPIJOB: "-launcher-xxxxx",
        Workload.RAYJOB: "-xxxxx-head-svc",
    }
    assert len(name + longest[kind]) <= 63


@pytest.mark.parametrize("kind", Workload)
def test_another_image_is_another_object(kind: Workload) -> None:
    assert made(kind)["metadata"]["name"] != made(kind, "image: other")["metadata"]["name"]
    assert made(kind)["metadata"]["name"] == made(kind, "title: other")["metadata"]["name"]


def test_a_jobset_starts_all_parts_again_as_often_as_there_are_retries() -> None:
    spec = made(Workload.JOBSET, "retries: 3")["spec"]
    assert spec["failurePolicy"] == {"maxRestarts": 3}
    (job,) = spec["replicatedJobs"]
    assert job["template"]["spec"]["backoffLimit"] == 0


def test_the_parts_of_a_jobset_find_the_first_below_the_sets_own_service() -> None:
    result = rendered(Workload.JOBSET)
    (item,) = objects(result, "JobSet")
    name = item["metadata"]["name"]
    address = expanded(variables(item)["MASTER_ADDR"], {"PLANNER_JOB_NAME": name})
    assert address == f"{name}-node-0-0.{name}"
    assert objects(result, "Service") == []


def test_a_trainjob_says_how_many_processes_run_on_a_node() -> None:
    assert made(Workload.TRAINJOB)["spec"]["trainer"]["numProcPerNode"] == 8
    plain = made(Workload.TRAINJOB, "gpus: 0", "cpus: 1", "memory: 1Gi", nodes=(a_node("cpu-1"),), pool="dc1/login")
    assert plain["spec"]["trainer"]["numProcPerNode"] == 1


def test_a_trainjob_refers_to_a_runtime_of_its_vendor_that_is_written_too() -> None:
    amd = rendered(
        Workload.TRAINJOB,
        "gpus: {count: 8, vendor: amd}",
        "duration: {mi300x: 2h}",
        nodes=(a_node("mi-1", *range(8)),),
        pool="dc1/mi300x",
    )
    for result, name in ((rendered(Workload.TRAINJOB), "planner-torch-nvidia"), (amd, "planner-torch-amd")):
        (job,), (runtime,) = objects(result, "TrainJob"), objects(result, "ClusterTrainingRuntime")
        assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"] == name
        (part,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        assert part["template"]["metadata"]["labels"] == {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
        assert part["name"] == part["template"]["spec"]["template"]["spec"]["containers"][0]["name"] == "node"


def test_only_a_trainjob_with_an_account_has_a_token_of_the_cluster() -> None:
    tokens = []
    for fields in ((), ("service_account: trainer",)):
        result = rendered(Workload.TRAINJOB, *fields)
        (runtime,), (job,) = objects(result, "ClusterTrainingRuntime"), objects(result, "TrainJob")
        (part,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
        pod = part["template"]["spec"]["template"]["spec"]
        tokens.append((pod.get("automountServiceAccountToken"), pods_in(job).pods[0].get("serviceAccountName")))
    assert tokens == [(False, None), (None, "trainer")]


def test_a_trainjob_leaves_to_its_controller_what_torchrun_reads() -> None:
    assert not any(name.startswith("PET_") for name in variables_of_trainer(made(Workload.TRAINJOB)))
    specs = specset_of(
        FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, workload: trainjob}", 1),
        a_job("x", "gpus: 2", 'env: {PET_NNODES: "3"}'),
    )
    plan = plan_of(a_placement("job/vision/x", a_segment("dc1/h100", *ONE, specs=specs), specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert objects(result, "TrainJob") == []
    assert any("sets PET_NNODES itself" in item.message for item in result.degraded)


def variables_of_trainer(item: dict[str, Any]) -> list[str]:
    """The names of a trainer's variables."""
    return [each["name"] for each in item["spec"]["trainer"]["env"]]


def test_that_a_trainjob_is_not_tried_again_is_told() -> None:
    def told(*fields: str) -> bool:
        return any("not tried again" in item.message for item in rendered(Workload.TRAINJOB, *fields).degraded)

    assert told("retries: 1")
    assert not told()


def test_a_pytorchjob_has_a_master_and_for_a_gang_workers() -> None:
    assert {
        name: each["replicas"] for name, each in made(Workload.PYTORCHJOB)["spec"]["pytorchReplicaSpecs"].items()
    } == {
        "Master": 1,
        "Worker": 1,
    }
    alone = made(Workload.PYTORCHJOB, "gpus: 2", nodes=ONE)["spec"]
    assert set(alone["pytorchReplicaSpecs"]) == {"Master"}
    assert alone["nprocPerNode"] == "2"
    assert alone["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["name"] == "pytorch"


def test_only_the_launcher_of_an_mpijob_runs_the_command_and_it_is_a_part_of_the_gang() -> None:
    spec = made(Workload.MPIJOB)["spec"]
    launcher, worker = (
        spec["mpiReplicaSpecs"][name]["template"]["spec"]["containers"][0] for name in ("Launcher", "Worker")
    )
    assert launcher["command"] == ["torchrun", "a b"]
    assert "command" not in worker
    assert spec["runLauncherAsWorker"] is True
    assert spec["slotsPerWorker"] == 8


@pytest.mark.parametrize("command", [["a", "b c"], ["x", "$(rm -rf /); `id`"], ["it's", '"']])
def test_the_entry_point_of_a_rayjob_is_the_command_word_by_word(command: list[str]) -> None:
    item = made(Workload.RAYJOB, f"command: {json.dumps(command)}")
    assert shlex.split(item["spec"]["entrypoint"]) == command


def test_a_rayjob_has_a_head_and_workers_on_the_planned_nodes() -> None:
    cluster = made(Workload.RAYJOB)["spec"]["rayClusterSpec"]
    (group,) = cluster["workerGroupSpecs"]
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == 1
    assert "command" not in cluster["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert "workerGroupSpecs" not in made(Workload.RAYJOB, "gpus: 2", nodes=ONE)["spec"]["rayClusterSpec"]


def test_a_rayjob_without_a_command_is_refused() -> None:
    specs = specset_of(
        FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, workload: rayjob}", 1), a_job("x", "gpus: 2")
    )
    plan = plan_of(a_placement("job/vision/x", a_segment("dc1/h100", *ONE, specs=specs), specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert objects(result, "RayJob") == []
    assert any("a RayJob needs a command" in item.message for item in result.degraded)


@pytest.mark.parametrize("kind", Workload)
def test_what_is_not_enforced_stands_on_the_object_too(kind: Workload) -> None:
    result = rendered(kind, "gpus: 2", nodes=ONE)
    (text,) = [item.text for item in result.manifests if item.path.startswith(f"dc1/vision/{kind}-")]
    notes = [item.message for item in result.degraded if item.address == "job/vision/resnet"]
    assert notes
    assert text.startswith("".join(f'# Not enforced: "{note}"\n' for note in notes))
