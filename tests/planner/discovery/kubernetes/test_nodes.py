"""Nodes as hosts."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog import Vendor
from planner.diagnostics import UsageError
from planner.discovery import describe
from planner.discovery.facts import HostFacts
from planner.discovery.kubernetes.nodes import Inventory, inventory
from planner.discovery.models import said
from tests.planner.discovery.kubernetes.objects import H100, MODELS, found, h100, mi300x, node


def read(*objects: dict[str, Any]) -> Inventory:
    return inventory(found(*objects), MODELS)


def one(*objects: dict[str, Any]) -> HostFacts:
    (host,) = read(*objects).hosts
    return host


def fields(*objects: dict[str, Any]) -> dict[str, Any]:
    return describe.fields(one(*objects), MODELS.catalog)


def test_a_node_says_its_cards_cpus_memory_and_software() -> None:
    assert fields(node("n1")) == {
        "gpus": [{"model": H100, "count": 8}], "cpus": 191, "memory": "2016Gi",
        "software": {"driver": "570.86.15", "cuda": "12.8", "arch": "amd64"},
    }  # fmt: skip


def test_amd_nodes_are_read_by_their_own_labels() -> None:
    assert fields(node("m1", mi300x(), resources={"amd.com/gpu": "8"}))["gpus"] == [{"model": "mi300x", "count": 8}]


@pytest.mark.parametrize(
    ("labels", "resources"),
    [(mi300x(compute_memory_partition="cpx_nps4"), {"amd.com/gpu": "64"}),
     (mi300x() | {"amd.com/compute-memory-partition": "CPX_NPS4"}, {"amd.com/gpu": "64"}),
     (mi300x(), {"amd.com/cpx_nps4": "64"})],
)  # fmt: skip
def test_amd_partitions_are_counted_back_to_cards(labels: dict[str, str], resources: dict[str, str]) -> None:
    told = fields(node("m1", labels, resources=resources))
    assert (told["gpus"], told["partitions"]) == (
        [{"model": "mi300x", "count": 8}], {"compute": "CPX", "memory": "NPS4"},
    )  # fmt: skip


def test_a_whole_card_that_carries_a_modes_name_is_whole() -> None:
    told = fields(node("m1", mi300x(), resources={"amd.com/spx_nps1": "8"}))
    assert told["gpus"] == [{"model": "mi300x", "count": 8}]
    assert "partitions" not in told


def test_partitions_that_make_no_whole_cards_are_told() -> None:
    result = read(node("m1", mi300x(compute_memory_partition="cpx_nps4"), resources={"amd.com/gpu": "63"}))
    assert len(result.hosts[0].devices) == 7
    assert result.untold == ("node m1: 63 amd.com/gpu are not whole cards of 8 parts each",)


@pytest.mark.parametrize(
    ("strategy", "by"), [("time-slicing", {"by": "time_slicing", "units": 4}), ("mps", {"by": "mps", "units": 4})]
)
@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "nvidia.com/gpu.shared"])
def test_shared_cards_are_counted_back_to_cards(strategy: str, by: dict[str, Any], resource: str) -> None:
    labels = h100(gpu_product="NVIDIA-H100-80GB-HBM3-SHARED", gpu_replicas="4") | {
        "nvidia.com/gpu.sharing-strategy": strategy
    }
    told = fields(node("n1", labels, resources={resource: "32"}))
    assert (told["gpus"], told["sharing"]) == ([{"model": H100, "count": 8}], by)


@pytest.mark.parametrize(
    ("labels", "resources", "left", "told"),
    [
        (h100(), {"nvidia.com/gpu": "6", "nvidia.com/mig-1g.10gb": "14"}, 6, "14 nvidia.com/mig-1g.10gb"),
        (h100(gpu_product="NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"), {"nvidia.com/gpu": "56"}, 0, "56 nvidia.com/gpu"),
    ],
    ids=["mixed", "single"],
)
def test_mig_devices_are_told_since_nobody_says_where_they_are(
    labels: dict[str, str], resources: dict[str, str], left: int, told: str
) -> None:
    result = read(node("n1", labels, resources=resources))
    assert len(result.hosts[0].devices) == left
    assert result.untold == (f"node n1: {told} are partitions; on which cards is not told",)


def test_a_node_of_both_vendors_has_both() -> None:
    host = one(node("x1", h100() | mi300x(), resources={"nvidia.com/gpu": "1", "amd.com/gpu": "1"}))
    assert {(device.index, device.vendor, device.model) for device in host.devices} == {
        (0, Vendor.NVIDIA, H100), (1, Vendor.AMD, "mi300x"),
    }  # fmt: skip


def test_a_card_that_the_catalogue_does_not_know_keeps_its_label_and_memory() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-Z900", "nvidia.com/gpu.memory": "65536"}
    host = one(node("n1", labels, resources={"nvidia.com/gpu": "2"}))
    assert [(device.model, device.name, device.memory_mib) for device in host.devices] == [
        (None, "NVIDIA-Z900", 65_536)
    ] * 2


def test_cards_that_no_label_names_are_asked_about_by_their_resource() -> None:
    bare = node("n1", {}, resources={"nvidia.com/gpu": "8"})
    with pytest.raises(UsageError, match=r"--model nvidia\.com/gpu="):
        read(bare)
    (host,) = inventory(found(bare), said([f"nvidia.com/gpu={H100}"], MODELS.catalog)).hosts
    assert {device.model for device in host.devices} == {H100}


def test_taints_of_people_are_kept_and_states_of_kubernetes_are_not() -> None:
    spec = {"taints": [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "team", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
        {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"},
    ]}  # fmt: skip
    assert fields(node("n1", spec=spec))["taints"] == ["nvidia.com/gpu=present:NoSchedule", "team:NoExecute"]


def test_racks_come_from_kueues_topology_before_the_usual_label() -> None:
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "dc"},
        "spec": {"levels": [{"nodeLabel": each} for each in ("acme/block", "acme/rack", "kubernetes.io/hostname")]},
    }  # fmt: skip
    labels = h100() | {"acme/rack": "r7", "acme/block": "b1", "topology.kubernetes.io/rack": "other"}
    for objects, rack in (((node("n1", labels), topology), "r7"), ((node("n1", labels),), "other")):
        words = one(*objects).scheduled
        assert words is not None
        assert words.rack == rack


def test_the_nvlink_clique_is_the_domain() -> None:
    assert one(node("n1", h100(gpu_clique="7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1"))).nvlink_domain == (
        "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1"
    )


@pytest.mark.parametrize(
    ("more", "reasons"),
    [({}, []), ({"ready": "False"}, ["Lost"]), ({"ready": "Unknown"}, ["Lost"]),
     ({"spec": {"unschedulable": True}}, ["cordoned"])],
)  # fmt: skip
def test_nodes_that_take_no_work_are_down(more: dict[str, Any], reasons: list[str]) -> None:
    assert [each.reason for each in read(node("n1", **more)).broken] == reasons


def test_the_control_plane_is_left_out_and_told() -> None:
    result = read(node("cp1", {"node-role.kubernetes.io/control-plane": ""}, resources={}), node("n1"))
    assert [host.name for host in result.hosts] == ["n1"]
    assert result.untold == ("node cp1 is of the control plane; it is left out",)


def test_a_node_without_cards_is_a_node_for_cpu_work() -> None:
    assert "gpus" not in fields(node("c1", {}, resources={}))


def test_a_driver_that_no_label_tells_is_not_spoken_of() -> None:
    host = one(node("n1", {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}))
    assert host.drivers == ()
    labels = {"cuda.driver-version.full": "", "cuda.driver.major": "570", "cuda.driver.minor": "86"}
    (parts,) = one(node("n1", h100() | {f"nvidia.com/{key}": value for key, value in labels.items()})).drivers
    assert (parts.version, parts.toolkit) == ("570.86", "12.8")
