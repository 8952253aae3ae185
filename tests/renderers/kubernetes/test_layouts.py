"""Partitions that the plan chooses: what queues then hold, what operators are told, and which labels cut the nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from planner.plan import Device, LayoutSchedule, LayoutWindow, PlacedProfile
from renderers import kubernetes
from renderers.manifest import Rendered
from tests.renderers.fleet import START, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import container_of, documents, job_at, objects, schema_faults

END = "2026-12-08T00:00:00Z"
MIG = ("{model: a100-sxm4-40gb, count: 2}", "partitions: [1g.5gb, 3g.20gb]")
CPX = ("{model: mi300x, count: 2}", "partitions: [cpx]")
NO_PROFILE = ""


def a_cluster(gpus: str, partitions: str, options: str = "", nodes: str = "n-[1-2]") -> str:
    """A cluster with one pool `p` of two nodes, and the team vision with a guarantee of half of it."""
    return (
        f"apiVersion: planner/v1\nkind: Cluster\nname: dc1\nbackend: {{type: kubernetes{options}}}\n"
        f"pools:\n  - name: p\n    nodes: {nodes}\n    gpus: {gpus}\n"
        f"    {partitions}\n    cpus: 64\n    memory: 512Gi\n"
        "---\napiVersion: planner/v1\nkind: Team\nname: vision\n"
        "---\napiVersion: planner/v1\nkind: Quota\nname: q\nteam: vision\ngpus: {pool: dc1/p}\nguaranteed: 2\n"
    )


def cut(node: str, device: int, *profiles: str) -> LayoutSchedule:
    """One device with these partitions, from its first place on."""
    parts = tuple(PlacedProfile(profile=profile, at=at) for at, profile in enumerate(profiles))
    return LayoutSchedule(
        pool="dc1/p", node=node, device=device, windows=(LayoutWindow(start=START, end=END, partitions=parts),)
    )


def rendered(cluster: str, *layouts: LayoutSchedule, profile: str = NO_PROFILE) -> Rendered:
    """The files of a plan with these layouts; with a profile also `job/vision/x` on one such partition of n-1."""
    asked = f"gpus: {{count: 1, partition: {profile}}}" if profile else "gpus: 0"
    model = "" if "a100" in cluster else "vendor: amd, "
    asked = asked.replace("{count", f"{{{model}count", 1)
    specs = specset_of(cluster, a_job("x", asked, "cpus: 1", "memory: 1Gi"))
    placements = []
    if profile:
        where = a_node("n-1", Device(index=0, profile=profile, at=0))
        segment = a_segment("dc1/p", where, specs=specs, variant=specs.jobs[0].ways()[0].name)
        placements.append(a_placement("job/vision/x", segment, specs=specs))
    plan = plan_of(*placements, specs=specs).model_copy(update={"layouts": layouts})
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def held(result: Rendered, kind: str) -> dict[str, str]:
    """What the only queue or cohort holds of each device resource."""
    (item,) = objects(result, kind)
    (flavor,) = item["spec"]["resourceGroups"][0]["flavors"]
    resources: list[dict[str, str]] = flavor["resources"]
    return {each["name"]: each["nominalQuota"] for each in resources if "/" in each["name"]}


def told(result: Rendered, file: str) -> Any:
    """What the only ConfigMap says in a file."""
    (item,) = objects(result, "ConfigMap")
    return yaml.safe_load(item["data"][file])


def node_labels(result: Rendered) -> Any:
    """The labels to put on nodes."""
    (index,) = [json.loads(item.text) for item in result.manifests if item.path == "dc1/index.json"]
    return index["nodeLabels"]


def notes(result: Rendered) -> list[str]:
    """What the pool cannot be held to."""
    return [item.message for item in result.degraded if item.address == "pool/dc1/p"]


def test_queues_hold_the_partitions_that_the_plan_chose_and_the_devices_it_left_whole() -> None:
    layouts = (cut("n-1", 0, *["1g.5gb"] * 7), cut("n-2", 1, "3g.20gb", "3g.20gb"))
    result = rendered(a_cluster(*MIG), *layouts, profile="1g.5gb")
    queue, spare = held(result, "ClusterQueue"), held(result, "Cohort")
    assert queue == {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "4", "nvidia.com/mig-3g.20gb": "1"}
    assert spare == {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "3", "nvidia.com/mig-3g.20gb": "1"}
    assert container_of(job_at(result, "job/vision/x"))["resources"]["limits"]["nvidia.com/mig-1g.5gb"] == "1"


def test_a_pool_that_the_plan_left_whole_holds_whole_devices_alone() -> None:
    assert held(rendered(a_cluster(*MIG)), "ClusterQueue") == {"nvidia.com/gpu": "2"}


def test_modes_that_the_plan_chose_are_named_with_their_memory_mode() -> None:
    result = rendered(a_cluster(*CPX), cut("n-1", 0, *["cpx"] * 8), profile="cpx")
    assert held(result, "ClusterQueue") == {"amd.com/cpx_nps1": "4", "amd.com/spx_nps1": "2"}


def test_without_an_operator_nothing_is_told_to_one_and_no_label_is_asked_for() -> None:
    result = rendered(a_cluster(*MIG), cut("n-1", 0, *["1g.5gb"] * 7))
    assert objects(result, "ConfigMap") == []
    assert node_labels(result) == {}
    assert any(note.startswith("nothing cuts its devices: state operators.nvidia") for note in notes(result))


def test_mig_parted_is_told_each_layout_by_a_name_that_the_nodes_label_has() -> None:
    cluster = a_cluster(*MIG, ", operators: {nvidia: gpu-operator}")
    result = rendered(cluster, cut("n-1", 0, "3g.20gb", "1g.5gb", "1g.5gb"))
    (item,) = objects(result, "ConfigMap")
    assert (item["metadata"]["namespace"], item["metadata"]["name"]) == ("gpu-operator", "planner-layouts-nvidia")
    assert "gpu-operator" not in [each["metadata"]["name"] for each in objects(result, "Namespace")]
    configs = told(result, "config.yaml")["mig-configs"]
    names = {node: each["nvidia.com/mig.config"] for node, each in node_labels(result).items()}
    assert configs[names["n-1"]] == [
        {"devices": [1], "mig-enabled": False},
        {"devices": [0], "mig-enabled": True, "mig-devices": {"1g.5gb": 2, "3g.20gb": 1}},
    ]
    assert configs[names["n-2"]] == [{"devices": [0, 1], "mig-enabled": False}]
    assert set(configs) == set(names.values())
    assert any("cuts idle devices once it reads planner-layouts-nvidia" in note for note in notes(result))


def test_nodes_that_are_cut_alike_share_a_name_and_another_layout_has_another() -> None:
    cluster = a_cluster(*MIG, ", operators: {nvidia: gpu-operator}")
    alike = rendered(cluster, cut("n-1", 0, "1g.5gb"), cut("n-2", 0, "1g.5gb"))
    assert len({each["nvidia.com/mig.config"] for each in node_labels(alike).values()}) == 1
    other = rendered(cluster, cut("n-1", 0, "1g.5gb", "1g.5gb"), cut("n-2", 0, "1g.5gb"))
    assert node_labels(other)["n-2"] == node_labels(alike)["n-2"]
    assert node_labels(other)["n-1"] != node_labels(alike)["n-1"]


def test_the_config_manager_is_told_how_many_devices_get_which_mode() -> None:
    cluster = a_cluster(*CPX, ", operators: {amd: kube-amd-gpu}")
    result = rendered(cluster, *(cut("n-1", device, *["cpx"] * 8) for device in (0, 1)), cut("n-2", 0, *["cpx"] * 8))
    profiles = told(result, "config.json")["gpu-config-profiles"]
    names = {node: each["dcm.amd.com/gpu-config-profile"] for node, each in node_labels(result).items()}
    assert profiles[names["n-1"]]["profiles"] == [
        {"computePartition": "CPX", "memoryPartition": "NPS1", "numGPUsAssigned": 2}
    ]
    assert profiles[names["n-2"]]["profiles"] == [
        {"computePartition": "CPX", "memoryPartition": "NPS1", "numGPUsAssigned": 1},
        {"computePartition": "SPX", "memoryPartition": "NPS1", "numGPUsAssigned": 1},
    ]
    assert any("several modes" in note for note in notes(result))


def test_only_nodes_with_names_are_labelled() -> None:
    result = rendered(a_cluster(*MIG, ", operators: {nvidia: gpu-operator}", nodes="2"))
    assert (objects(result, "ConfigMap"), node_labels(result)) == ([], {})
    assert any("have no names" in note for note in notes(result))


@pytest.mark.parametrize("partitions", ["{compute: CPX, memory: NPS4}", "{fixed: {n-1: {0: [{profile: cpx, at: 0}]}}}"])
def test_partitions_that_are_there_are_left_to_whoever_made_them(partitions: str) -> None:
    cluster = a_cluster(CPX[0], f"partitions: {partitions}", ", operators: {amd: kube-amd-gpu}")
    assert (objects(rendered(cluster), "ConfigMap"), node_labels(rendered(cluster))) == ([], {})
