"""A job of the plan as a suspended batch Job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.plan import Device
from renderers import kubernetes
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import (
    container_of,
    documents,
    expanded,
    job_at,
    objects,
    pod_of,
    schema_faults,
)

ONE = (a_node("h100-003", 0, 1),)
GANG = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))


def rendered(
    *fields: str, nodes: tuple[Any, ...] = ONE, pool: str = "dc1/h100", fleet: str = FLEET, variant: str = ""
) -> Rendered:
    """The files of a fleet with one job `job/vision/resnet` on these nodes; checked against schemas and plan."""
    specs = specset_of(fleet, a_job("resnet", *fields))
    segment = a_segment(pool, *nodes, specs=specs, variant=variant)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def job(*fields: str, **options: Any) -> dict[str, Any]:
    """The Job of `rendered`."""
    return job_at(rendered(*fields, **options), "job/vision/resnet")


def notes(result: Rendered) -> list[str]:
    """What the back end cannot be held to for the job."""
    return [item.message for item in result.degraded if item.address == "job/vision/resnet"]


def test_a_job_waits_suspended_in_its_teams_queue_behind_a_gate() -> None:
    made = job("gpus: 2", "priority: P1")
    assert made["spec"]["suspend"] is True
    labels, annotations = made["metadata"]["labels"], made["metadata"]["annotations"]
    assert labels["kueue.x-k8s.io/queue-name"] == "vision-nvidia"
    assert labels["kueue.x-k8s.io/priority-class"] == "planner-p1"
    assert annotations["kueue.x-k8s.io/admission-gated-by"] == "planner.dev/planned-start"
    assert annotations["planner.dev/start"] == "2026-12-01T00:00:00Z"


@pytest.mark.parametrize("version", ["0.18", "0.17.0", "v0.14.2"])
def test_an_older_kueue_that_knows_no_gate_does_not_get_the_job_before_its_release(version: str) -> None:
    fleet = FLEET.replace("backend: kubernetes", f'backend: {{type: kubernetes, kueue_version: "{version}"}}', 1)
    made = job("gpus: 2", fleet=fleet)
    assert "kueue.x-k8s.io/queue-name" not in made["metadata"]["labels"]
    assert made["metadata"]["annotations"]["planner.dev/queue"] == "vision-nvidia"
    assert "kueue.x-k8s.io/admission-gated-by" not in made["metadata"]["annotations"]


def test_nothing_of_the_clock_or_of_the_plan_stands_in_the_pod_template() -> None:
    template = job("gpus: 2")["spec"]["template"]
    assert set(template["metadata"]["annotations"]) == {"planner.dev/address"}
    assert set(template["metadata"]["labels"]) == {"planner.dev/workload"}
    assert "2026" not in str(template)


def test_devices_are_strings_equal_in_requests_and_limits_on_one_container() -> None:
    container = container_of(job("gpus: 2"))
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert container["resources"]["requests"]["nvidia.com/gpu"] == "2"


def test_the_other_vendors_devices_are_asked_for_by_their_own_name_and_label() -> None:
    made = job(
        "gpus: {count: 8, vendor: amd}",
        "duration: {mi300x: 2h}",
        nodes=(a_node("mi-1", *range(8)),),
        pool="dc1/mi300x",
    )
    assert container_of(made)["resources"]["limits"]["amd.com/gpu"] == "8"
    assert pod_of(made)["nodeSelector"] == {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision-amd"
    assert [item["key"] for item in pod_of(made)["tolerations"]] == ["amd.com/gpu"]


def test_a_job_is_bound_to_the_planned_nodes() -> None:
    affinity = pod_of(job("gpus: 16", nodes=GANG))["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": ["h100-001", "h100-002"]}
    ]


def test_nodes_that_are_only_counted_are_not_named() -> None:
    fleet = FLEET.replace("nodes: h100-[001-004]", "nodes: 4")
    result = rendered("gpus: 2", fleet=fleet, nodes=(a_node("h100-0001", 0, 1),))
    assert "affinity" not in pod_of(job_at(result, "job/vision/resnet"))
    assert any("names no nodes" in text for text in notes(result))


def test_a_gang_is_one_indexed_job_with_a_part_on_each_node() -> None:
    made = job("gpus: 16", nodes=GANG)
    spec, pod = made["spec"], pod_of(made)
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    assert container_of(made)["resources"]["limits"]["nvidia.com/gpu"] == "8"
    (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"].items() <= made["spec"]["template"]["metadata"]["labels"].items()


def test_the_parts_of_a_gang_find_the_first_one_by_name() -> None:
    result = rendered("gpus: 16", nodes=GANG)
    made = job_at(result, "job/vision/resnet")
    (service,) = objects(result, "Service")
    variables = {item["name"]: item.get("value", "") for item in container_of(made)["env"]}
    address = expanded(variables["MASTER_ADDR"], {"PLANNER_JOB_NAME": made["metadata"]["name"]})
    assert address == f"{made['metadata']['name']}-0.{service['metadata']['name']}"
    assert pod_of(made)["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"].items() <= made["spec"]["template"]["metadata"]["labels"].items()
    assert (variables["PET_NNODES"], variables["PET_NPROC_PER_NODE"]) == ("2", "8")


def test_a_job_on_one_node_has_no_service_and_no_index() -> None:
    result = rendered("gpus: 2")
    assert objects(result, "Service") == []
    assert "completionMode" not in job_at(result, "job/vision/resnet")["spec"]


def test_a_jobs_own_variables_win_over_those_of_the_gang() -> None:
    made = job("gpus: 16", 'env: {MASTER_PORT: "1234"}', nodes=GANG)
    values = [item["value"] for item in container_of(made)["env"] if item["name"] == "MASTER_PORT"]
    assert values == ["1234"]


def test_secrets_are_references_and_texts_are_kept_from_expansion() -> None:
    env = container_of(job("gpus: 2", 'env: {A: "$(PATH)", T: {secret: hf, key: token}}'))["env"]
    by_name = {item["name"]: item for item in env}
    assert expanded(by_name["A"]["value"], {"PATH": "/bin"}) == "$(PATH)"
    assert by_name["T"] == {"name": "T", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}


def test_the_chosen_variant_gives_image_command_and_environment() -> None:
    variants = (
        "variants: [{name: cuda, vendor: nvidia, image: 'r/t:cu13', command: [a]}, "
        "{name: rocm, vendor: amd, image: 'r/t:rocm7', command: [b], env: {X: y}, duration: {mi300x: 2h}}]"
    )
    made = job("gpus: 8", variants, nodes=(a_node("mi-2", *range(8)),), pool="dc1/mi300x", variant="rocm")
    container = container_of(made)
    assert (container["image"], container["command"]) == ("r/t:rocm7", ["b"])
    assert {"name": "X", "value": "y"} in container["env"]
    assert not any(name.startswith("nvidia") for name in container["resources"]["limits"])


@pytest.mark.parametrize(
    ("fields", "cpu", "memory"),
    [
        (("gpus: 2",), "42", "458752Mi"),
        (("gpus: 2", "cpus: 7", "memory: 1.2Gi"), "7", "1229Mi"),
        (("gpus: 2", "cpus_per_gpu: 3", "memory_per_gpu: 64GB"), "6", "122072Mi"),
    ],
)
def test_cpu_and_memory_are_what_is_asked_else_a_part_of_the_fair_share(
    fields: tuple[str, ...], cpu: str, memory: str
) -> None:
    resources = container_of(job(*fields))["resources"]
    assert resources["requests"]["cpu"] == cpu
    assert "cpu" not in resources["limits"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"] == memory


def test_a_job_without_devices_asks_for_none_and_joins_the_queue_of_plain_nodes() -> None:
    made = job("gpus: 0", "cpus: 4", "memory: 8Gi", nodes=(a_node("cpu-1"),), pool="dc1/login")
    assert container_of(made)["resources"]["limits"] == {"memory": "8192Mi"}
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision-cpu"
    assert "tolerations" not in pod_of(made)


def test_a_run_ends_at_its_limit_and_failed_pods_count_as_retries() -> None:
    spec = job("gpus: 2", "retries: 3")["spec"]
    assert (spec["activeDeadlineSeconds"], spec["backoffLimit"]) == (9_000, 3)
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_mounts_user_account_and_pull_secrets_arrive() -> None:
    made = job(
        "gpus: 2",
        "mounts: [{path: /data, claim: pvc, read_only: true}, {path: /scratch, host: /mnt}, {path: /tmp, empty: true}]",
        'user: "1000:2000"',
        "service_account: trainer",
        "pull_secrets: [reg]",
    )
    pod = pod_of(made)
    by_name = {item["name"]: item for item in pod["volumes"]}
    mounted = {item["mountPath"]: item for item in container_of(made)["volumeMounts"]}
    assert by_name[mounted["/data"]["name"]]["persistentVolumeClaim"] == {"claimName": "pvc"}
    assert mounted["/data"]["readOnly"] is True
    assert by_name[mounted["/scratch"]["name"]]["hostPath"] == {"path": "/mnt"}
    assert by_name[mounted["/tmp"]["name"]]["emptyDir"] == {}
    assert pod["securityContext"] == {"runAsUser": 1000, "runAsGroup": 2000}
    assert pod["serviceAccountName"] == "trainer"
    assert pod["imagePullSecrets"] == [{"name": "reg"}]


def test_no_token_of_the_cluster_is_handed_to_a_job_that_names_no_account() -> None:
    assert pod_of(job("gpus: 2"))["automountServiceAccountToken"] is False


def test_labels_that_decide_what_happens_to_a_job_are_not_the_users_to_set() -> None:
    queueing = "kueue.x-k8s.io/queue-name: other, kueue.x-k8s.io/priority-class: planner-p0"
    made = job("gpus: 2", f"labels: {{{queueing}, planner.dev/team: root, a.b/c: d}}")
    labels = made["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "vision-nvidia"
    assert labels["kueue.x-k8s.io/priority-class"] == "planner-p2"
    assert labels["planner.dev/team"] == "vision"
    assert labels["a.b/c"] == "d"
    assert '"planner.dev/team": "root"' in made["metadata"]["annotations"]["planner.dev/labels"]


def test_an_element_of_an_array_is_a_job_of_its_own_and_knows_its_index() -> None:
    specs = specset_of(FLEET, a_job("sweep", "gpus: 1", "array: 3"), a_job("sweep-2", "gpus: 1"))
    placements = [
        a_placement(address, a_segment("dc1/h100", a_node("h100-001", index), specs=specs), specs=specs)
        for index, address in enumerate(("job/vision/sweep[1]", "job/vision/sweep[2]", "job/vision/sweep-2"))
    ]
    plan = plan_of(*placements, specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    names = [item["metadata"]["name"] for item in objects(result, "Job")]
    workloads = [item["metadata"]["labels"]["planner.dev/workload"] for item in objects(result, "Job")]
    assert len(set(names)) == len(set(workloads)) == 3
    env = container_of(job_at(result, "job/vision/sweep[2]"))["env"]
    assert {"name": "PLANNER_ARRAY_INDEX", "value": "2"} in env


def test_a_team_that_shares_a_namespace_has_its_name_in_that_of_its_jobs() -> None:
    specs = specset_of(FLEET, a_job("chat", "gpus: 1", team="nlp"))
    segment = a_segment("dc1/h100", a_node("h100-001", 0), specs=specs)
    plan = plan_of(a_placement("job/nlp/chat", segment, specs=specs), specs=specs)
    made = job_at(kubernetes.render(plan, specs, specs.clusters[0]), "job/nlp/chat")
    assert made["metadata"]["namespace"] == "team-nlp"
    assert made["metadata"]["name"].startswith("nlp-chat-")


def test_parts_that_are_not_alike_are_refused() -> None:
    specs = specset_of(FLEET, a_job("resnet", "gpus: 9"))
    nodes = (a_node("h100-001", *range(8)), a_node("h100-002", 0))
    plan = plan_of(
        a_placement("job/vision/resnet", a_segment("dc1/h100", *nodes, specs=specs), specs=specs), specs=specs
    )
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert objects(result, "Job") == []
    assert any(text.startswith("not written: the parts of the gang are not alike") for text in notes(result))


def test_a_later_segment_is_told_and_only_the_first_is_written() -> None:
    specs = specset_of(FLEET, a_job("resnet", "gpus: 2", "checkpoint: {every: 20m}"))
    segments = [
        a_segment("dc1/h100", a_node(node, 0, 1), specs=specs, start=start)
        for node, start in (("h100-001", 0), ("h100-002", 4))
    ]
    plan = plan_of(a_placement("job/vision/resnet", *segments, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    made = job_at(result, "job/vision/resnet")
    assert made["metadata"]["annotations"]["planner.dev/end"] == "2026-12-01T02:00:00Z"
    assert any("later segments" in text for text in notes(result))
    assert any("neither checkpoints nor a minimum run" in text for text in notes(result))


def test_a_job_without_an_image_is_refused() -> None:
    specs = specset_of(FLEET, a_job("resnet", "gpus: 2"))
    bare = specs.jobs[0].model_copy(update={"image": None})
    specs = replace(specs, jobs=(bare,))
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    assert any("needs an image" in text for text in notes(kubernetes.render(plan, specs, specs.clusters[0])))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("needs: {rdma: true}", "RDMA"),
        ("preemptible: false", "never to interrupt"),
        ("user: ann", "user ann is not a number"),
        ("min_run: 20m", "minimum run"),
    ],
)
def test_what_cannot_be_held_is_told(fields: str, told: str) -> None:
    fleet = FLEET.replace("cpus: 192", "network: {rdma: true}\n    cpus: 192", 1)
    with_it, without = notes(rendered("gpus: 2", fields, fleet=fleet)), notes(rendered("gpus: 2", fleet=fleet))
    assert any(told in text for text in with_it)
    assert not any(told in text for text in without)


def test_which_devices_of_a_node_is_best_effort_unless_all_are_taken() -> None:
    assert any("device plugin's choice" in text for text in notes(rendered("gpus: 2")))
    assert not any("device plugin's choice" in text for text in notes(rendered("gpus: 16", nodes=GANG)))


def test_a_fraction_on_a_plain_pool_is_refused() -> None:
    specs = specset_of(FLEET, a_job("resnet", "gpus: 1"))
    node = a_node("h100-001", Device(index=0, share="1/2"))
    plan = plan_of(a_placement("job/vision/resnet", a_segment("dc1/h100", node, specs=specs), specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert objects(result, "Job") == []
    assert any("hands out whole devices only, not 1/2" in text for text in notes(result))


def test_teams_that_share_a_namespace_never_share_a_name() -> None:
    other = "apiVersion: planner/v1\nkind: Team\nname: nlp-a\nnamespace: team-nlp\n"
    specs = specset_of(FLEET, other, a_job("a-b", "gpus: 2", team="nlp"), a_job("b", "gpus: 2", team="nlp-a"))
    placements = [
        a_placement(address, a_segment("dc1/h100", a_node(node, 0, 1), specs=specs), specs=specs)
        for address, node in (("job/nlp/a-b", "h100-001"), ("job/nlp-a/b", "h100-002"))
    ]
    plan = plan_of(*placements, specs=specs)
    made = objects(kubernetes.render(plan, specs, specs.clusters[0]), "Job")
    assert len({item["metadata"]["labels"]["planner.dev/workload"] for item in made}) == 2


def test_torchrun_starts_one_process_a_device_on_one_node_too() -> None:
    assert {"name": "PET_NPROC_PER_NODE", "value": "2"} in container_of(job("gpus: 2"))["env"]
    plain = container_of(job("gpus: 0", "cpus: 1", "memory: 1Gi", nodes=(a_node("cpu-1"),), pool="dc1/login"))
    assert not any(item["name"].startswith("PET_") for item in plain["env"])
