"""Queueing by KAI, by Volcano and by nobody; topologies, and what members may do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.spec.cluster import NodePool
from renderers import kubernetes
from renderers.kubernetes.topology import NVLINK, RACK, levels_of
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, job_at, objects, pod_of, schema_faults

ONE = (a_node("h100-003", 0, 1),)
GANG = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))
RACKS = 'racks: {r1: "h100-[001-002]", r2: "h100-[003-004]"}'


def rendered(
    queueing: str, *fields: str, nodes: Any = ONE, pool_fields: str = "", workload: str = "job", more: str = ""
) -> Rendered:
    """The fleet with one job, checked against schemas and plan."""
    backend = f"backend: {{type: kubernetes, queueing: {queueing}, workload: {workload}}}"
    fleet = FLEET.replace("backend: kubernetes", backend, 1)
    fleet = fleet.replace("    cpus: 192\n", f"    {pool_fields}\n    cpus: 192\n", 1) if pool_fields else fleet
    specs = specset_of(fleet + more, a_job("resnet", f"gpus: {2 if nodes is ONE else 16}", *fields))
    plan = plan_of(
        a_placement("job/vision/resnet", a_segment("dc1/h100", *nodes, specs=specs), specs=specs), specs=specs
    )
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def template(result: Rendered) -> dict[str, Any]:
    """The pod template of the only Job."""
    found: dict[str, Any] = job_at(result, "job/vision/resnet")["spec"]["template"]
    return found


def named(result: Rendered, kind: str, name: str) -> dict[str, Any]:
    """The only object of that kind and name."""
    (found,) = [item for item in objects(result, kind) if item["metadata"]["name"] == name]
    return found


def test_kai_counts_a_teams_devices_in_one_queue_below_the_clusters() -> None:
    queue = named(rendered("kai"), "Queue", "team-vision")["spec"]
    assert queue["parentQueue"] == "planner-dc1"
    # The H100s are limited to 24, nothing limits the MI300X: the sum of both has no limit.
    assert queue["resources"]["gpu"] == {"quota": 16, "limit": -1, "overQuotaWeight": 1}
    assert named(rendered("kai"), "Queue", "team-nlp")["spec"]["resources"]["gpu"]["overQuotaWeight"] == 2


def test_kai_limits_a_team_where_each_of_its_flavors_is_limited() -> None:
    amd = "---\napiVersion: planner/v1\nkind: Quota\nname: v-amd\nteam: vision\ngpus: {model: mi300x}\nlimit: 4\n"
    assert named(rendered("kai", more=amd), "Queue", "team-vision")["spec"]["resources"]["gpu"] == {
        "quota": 16,
        "limit": 28,
        "overQuotaWeight": 1,
    }


def test_every_kai_queue_has_all_nine_numbers() -> None:
    for queue in objects(rendered("kai"), "Queue"):
        for resource in ("gpu", "cpu", "memory"):
            assert set(queue["spec"]["resources"][resource]) == {"quota", "limit", "overQuotaWeight"}


@pytest.mark.parametrize(("field", "word"), [("true", "preemptible"), ("false", "non-preemptible")])
def test_pods_name_their_kai_queue_and_whether_they_yield(field: str, word: str) -> None:
    made = template(rendered("kai", f"preemptible: {field}", "priority: P1"))
    assert made["metadata"]["labels"]["kai.scheduler/queue"] == "team-vision"
    assert made["metadata"]["labels"]["kai.scheduler/preemptibility"] == word
    assert (made["spec"]["schedulerName"], made["spec"]["priorityClassName"]) == ("kai-scheduler", "planner-p1")


def test_kai_starts_the_parts_of_a_gang_together() -> None:
    key = "kai.scheduler/batch-min-member"
    assert job_at(rendered("kai", nodes=GANG), "job/vision/resnet")["metadata"]["annotations"][key] == "2"
    assert key not in job_at(rendered("kai"), "job/vision/resnet")["metadata"]["annotations"]


@pytest.mark.parametrize("queueing", ["kai", "volcano"])
def test_priorities_of_pods_are_in_order_and_evict_nobody_by_themselves(queueing: str) -> None:
    classes = objects(rendered(queueing), "PriorityClass")
    assert [item["metadata"]["name"] for item in sorted(classes, key=lambda item: -item["value"])] == [
        f"planner-p{number}" for number in range(4)
    ]
    assert {item["preemptionPolicy"] for item in classes} == {"Never"}
    assert max(item["value"] for item in classes) < 100


def test_volcano_deserves_the_guarantee_and_holds_what_is_not_lent() -> None:
    spec = named(rendered("volcano"), "Queue", "team-vision")["spec"]
    assert spec["deserved"]["nvidia.com/gpu"] == "16"
    assert spec["guarantee"]["resource"]["nvidia.com/gpu"] == "8"
    assert spec["deserved"]["cpu"] == "384"
    assert set(spec["deserved"]) == {"cpu", "memory", "nvidia.com/gpu", "amd.com/gpu"}
    assert "capability" not in spec


def test_volcano_limits_devices_only_where_all_are_limited() -> None:
    amd = "---\napiVersion: planner/v1\nkind: Quota\nname: v-amd\nteam: vision\ngpus: {model: mi300x}\nlimit: 4\n"
    spec = named(rendered("volcano", more=amd), "Queue", "team-vision")["spec"]
    assert spec["capability"] == {"amd.com/gpu": "4", "nvidia.com/gpu": "24"}


@pytest.mark.parametrize(("nodes", "count"), [(ONE, 1), (GANG, 2)])
def test_a_volcano_group_stands_for_all_pods_of_a_job(nodes: Any, count: int) -> None:
    result = rendered("volcano", nodes=nodes)
    (group,) = objects(result, "PodGroup")
    assert group["spec"]["minMember"] == count
    assert group["spec"]["queue"] == "team-vision"
    assert group["spec"]["minResources"] == {"nvidia.com/gpu": str(2 if count == 1 else 16)}
    made = template(result)
    assert made["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == group["metadata"]["name"]
    assert made["spec"]["schedulerName"] == "volcano"


@pytest.mark.parametrize("queueing", ["kueue", "kai", "volcano"])
def test_quotas_change_from_phase_to_phase_whatever_queues(queueing: str) -> None:
    window = 'windows: [{when: "daily 20:00-08:00", guaranteed: 20}]'
    fleet = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes, queueing: {queueing}}}", 1)
    specs = specset_of(fleet.replace("lend: 8", f"lend: 8\n{window}", 1))
    result = kubernetes.render(plan_of(specs=specs), specs, specs.clusters[0])
    assert len({path.split("/")[2] for path in documents(result) if "/phases/" in path}) == 15


def test_kueue_places_a_gang_in_a_rack_by_the_flavors_topology() -> None:
    result = rendered("kueue", "topology: {within: rack, required: true}", nodes=GANG, pool_fields=RACKS)
    assert named(result, "ResourceFlavor", "h100-sxm5-80gb")["spec"]["topologyName"] == "planner-rack"
    levels = named(result, "Topology", "planner-rack")["spec"]["levels"]
    assert [item["nodeLabel"] for item in levels] == ["planner.dev/rack", "kubernetes.io/hostname"]
    assert template(result)["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == "planner.dev/rack"
    assert "topologyName" not in named(result, "ResourceFlavor", "mi300x")["spec"]


def test_a_topology_that_is_only_preferred_is_written_so() -> None:
    result = rendered("kueue", "topology: {within: rack}", nodes=GANG, pool_fields=RACKS)
    annotations = template(result)["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-preferred-topology"] == "planner.dev/rack"
    assert "kueue.x-k8s.io/podset-required-topology" not in annotations


@pytest.mark.parametrize(("workload", "grouped"), [("pytorchjob", True), ("jobset", False)])
def test_two_sets_of_pods_are_placed_as_one(workload: str, grouped: bool) -> None:
    result = rendered("kueue", "topology: {within: rack}", nodes=GANG, pool_fields=RACKS, workload=workload)
    (text,) = [item.text for item in result.manifests if f"/{workload}-" in item.path]
    assert ("kueue.x-k8s.io/podset-group-name" in text) is grouped


def test_a_pool_without_racks_has_no_topology() -> None:
    result = rendered("kueue", "topology: {within: rack}", nodes=GANG)
    assert objects(result, "Topology") == []
    assert not any("topology" in key for key in template(result)["metadata"]["annotations"])


def test_labels_that_the_topology_reads_are_listed_by_node_and_told() -> None:
    result = rendered("kueue", pool_fields=RACKS)
    (index,) = [json.loads(item.text) for item in result.manifests if item.path == "dc1/index.json"]
    assert index["nodeLabels"]["h100-001"] == {"planner.dev/rack": "r1"}
    assert set(index["nodeLabels"]) == {f"h100-00{number}" for number in range(1, 5)}
    assert any("nodeLabels of index.json" in item.message for item in result.degraded)
    assert not any("nodeLabels" in item.message for item in rendered("kueue").degraded)


def test_kai_is_told_the_topology_on_the_object() -> None:
    result = rendered("kai", "topology: {within: rack, required: true}", nodes=GANG, pool_fields=RACKS)
    annotations = job_at(result, "job/vision/resnet")["metadata"]["annotations"]
    assert annotations["kai.scheduler/topology"] == named(result, "Topology", "planner-rack")["metadata"]["name"]
    assert annotations["kai.scheduler/topology-required-placement"] == "planner.dev/rack"


def test_volcano_gets_a_tree_of_nodes_and_the_highest_tier() -> None:
    result = rendered("volcano", "topology: {within: rack, required: true}", nodes=GANG, pool_fields=RACKS)
    node = named(result, "HyperNode", "h100-r1")["spec"]
    assert node["tier"] == 1
    assert [item["selector"]["exactMatch"]["name"] for item in node["members"]] == ["h100-001", "h100-002"]
    (group,) = objects(result, "PodGroup")
    assert group["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


def test_domains_inside_racks_are_a_second_tier() -> None:
    fields = 'nvlink_domains: {d1: h100-001, d2: h100-002, d3: "h100-[003-004]"}'
    result = rendered("volcano", pool_fields=f"{RACKS}\n    {fields}")
    rack = named(result, "HyperNode", "h100-r1")["spec"]
    assert rack["tier"] == 2
    assert [(item["type"], item["selector"]["exactMatch"]["name"]) for item in rack["members"]] == [
        ("HyperNode", "h100-d1"),
        ("HyperNode", "h100-d2"),
    ]


@pytest.mark.parametrize(
    ("fields", "levels"),
    [
        ({}, ()),
        ({"nodes_per_rack": 2}, (RACK, "kubernetes.io/hostname")),
        ({"racks": {"r": ["a", "b", "c"]}}, ()),
        (
            {"nodes_per_rack": 4, "nodes_per_nvlink_domain": 2},
            (RACK, NVLINK, "kubernetes.io/hostname"),
        ),
        (
            {"nodes_per_rack": 2, "nodes_per_nvlink_domain": 4},
            (NVLINK, RACK, "kubernetes.io/hostname"),
        ),
        (
            {"nodes_per_rack": 2, "nvlink_domains": {"x": ["a", "c"], "y": ["b", "d"]}},
            (NVLINK, "kubernetes.io/hostname"),
        ),
    ],
)
def test_levels_are_a_tree_of_complete_domains(fields: dict[str, Any], levels: tuple[str, ...]) -> None:
    assert levels_of(NodePool.model_validate({"name": "p", "nodes": ["a", "b", "c", "d"], **fields})) == levels


def test_members_may_look_and_only_where_a_quota_leaves_room_create_jobs() -> None:
    def verbs(unplanned: str) -> set[tuple[str, ...]]:
        fleet = FLEET.replace("name: vision\n", "name: vision\nmembers: [ann, bo]\n", 1)
        specs = specset_of(fleet.replace("lend: 8", unplanned, 1))
        result = kubernetes.render(plan_of(specs=specs), specs, specs.clusters[0])
        assert schema_faults(result) == []
        (role,), (binding,) = objects(result, "Role"), objects(result, "RoleBinding")
        assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "vision"
        assert [item["name"] for item in binding["subjects"]] == ["ann", "bo"]
        assert not any("*" in rule["resources"] or "secrets" in rule["resources"] for rule in role["rules"])
        return {tuple(rule["verbs"]) for rule in role["rules"]}

    look = ("get", "list", "watch")
    assert verbs("lend: 8") == {look}
    assert verbs("lend: 8\nunplanned: 2") == {look, ("create", "delete")}


def test_without_members_there_is_no_role() -> None:
    assert objects(rendered("none"), "Role") == []


def test_without_queueing_a_job_names_no_queue_and_waits_suspended() -> None:
    made = job_at(rendered("none"), "job/vision/resnet")
    assert made["spec"]["suspend"] is True
    assert "schedulerName" not in pod_of(made)
    assert not any("queue" in key for key in {**made["metadata"]["labels"], **made["metadata"]["annotations"]})


@pytest.mark.parametrize("label", ["kai.scheduler/queue", "priorityClassName", "scheduling.volcano.sh/queue-name"])
def test_labels_by_which_schedulers_decide_are_not_the_users_to_set(label: str) -> None:
    made = job_at(rendered("none", f"labels: {{{label}: x}}"), "job/vision/resnet")
    assert label not in made["metadata"]["labels"]


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ("queueing: kueue", True),
        ('queueing: kueue, kueue_version: "0.14"', True),
        ('queueing: kueue, kueue_version: "0.13.9"', False),
        ("queueing: kueue, devices: dra", False),
        ("queueing: kai, devices: dra", True),
    ],
)
def test_a_topology_is_written_where_the_queueing_takes_it_and_never_only_named(options: str, written: bool) -> None:
    fleet = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes, {options}}}", 1)
    fleet = fleet.replace("    cpus: 192\n", f"    {RACKS}\n    cpus: 192\n", 1)
    specs = specset_of(fleet, a_job("resnet", "gpus: 16", "topology: {within: rack, required: true}"))
    segment = a_segment("dc1/h100", *GANG, specs=specs)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert bool(objects(result, "Topology")) is written
    made = job_at(result, "job/vision/resnet")
    keys = {*made["metadata"]["annotations"], *made["spec"]["template"]["metadata"]["annotations"]}
    assert any("topology" in key for key in keys) is written
