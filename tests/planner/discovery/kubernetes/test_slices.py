"""Devices that are offered and claimed, instead of counted by a plugin."""

from __future__ import annotations

from typing import Any

import pytest

from planner.discovery.found import ClusterFacts, Seat
from tests.planner.discovery.kubernetes.objects import H100, facts, node, pod


def device(name: str, *, basic: bool = False, memory: str = "81559Mi", **told: Any) -> dict[str, Any]:
    kinds = {str: "string", int: "int", bool: "bool"}
    attributes = {key: {kinds[type(value)]: value} for key, value in told.items()}
    inside = {"attributes": attributes, "capacity": {"memory": {"value": memory}}}
    return {"name": name, **({"basic": inside} if basic else inside)}


def gpu(number: int, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "type": "gpu", "index": number, "uuid": f"GPU-{number}", "productName": "NVIDIA H100 80GB HBM3",
        "architecture": "Hopper", "driverVersion": "570.86.15", "cudaDriverVersion": "12.8.0",
    }  # fmt: skip
    return device(f"gpu-{number}", **(told | more))


def amd(card: int, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "amdgpu", "productName": "AMD_Instinct_MI300X_OAM", "driverVersion": "6.10.5"}
    return device(f"gpu-{card}-{128 + card}", memory="196592Mi", **(told | more))


def a_slice(on: str, *devices: dict[str, Any], driver: str = "gpu.nvidia.com", generation: int = 1) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": f"{on}-{driver}-{generation}"},
        "spec": {"driver": driver, "nodeName": on, "pool": {"name": on, "generation": generation},
                 "devices": list(devices)},
    }  # fmt: skip


def claim(by: str, *devices: str, on: str = "n1", driver: str = "gpu.nvidia.com") -> dict[str, Any]:
    results = [{"request": "r", "driver": driver, "pool": on, "device": name} for name in devices]
    return {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": f"claim-{by}", "namespace": "vision"},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [{"resource": "pods", "name": by}]},
    }  # fmt: skip


def bare(name: str = "n1", **resources: str) -> dict[str, Any]:
    return node(name, {}, resources=resources)


def read(*objects: dict[str, Any]) -> ClusterFacts:
    return facts(*objects)


def test_offered_devices_are_those_of_the_node_in_the_order_of_their_indices() -> None:
    result = read(bare(), a_slice("n1", gpu(10), gpu(2)))
    (host,) = result.hosts
    assert [(each.index, each.model, each.uuid, each.memory_mib) for each in host.devices] == [
        (0, H100, "GPU-2", 81_559), (1, H100, "GPU-10", 81_559),
    ]  # fmt: skip
    assert [(each.vendor, each.version, each.toolkit) for each in host.drivers] == [("nvidia", "570.86.15", "12.8.0")]
    assert result.options == (("devices", "dra"),)


def test_devices_without_an_index_are_in_the_order_of_their_names_with_numbers_as_numbers() -> None:
    cards = (amd(10, uuid="b"), amd(2, uuid="a"))
    (host,) = read(bare(), a_slice("n1", *cards, driver="gpu.amd.com")).hosts
    assert [(each.model, each.uuid) for each in host.devices] == [("mi300x", "a"), ("mi300x", "b")]


def test_the_first_form_of_the_api_is_read_as_well() -> None:
    old = device("gpu-0", basic=True, type="gpu", productName="NVIDIA H100 80GB HBM3")
    (host,) = read(bare(), a_slice("n1", old)).hosts
    assert [each.model for each in host.devices] == [H100]


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    (host,) = read(bare(), a_slice("n1", gpu(0), gpu(1)), a_slice("n1", gpu(0), generation=2)).hosts
    assert len(host.devices) == 1


def test_what_a_plugin_counts_of_the_same_vendor_is_not_counted_again() -> None:
    result = read(node("n1", resources={"nvidia.com/gpu": "2", "amd.com/gpu": "0"}), a_slice("n1", gpu(0), gpu(1)))
    assert [each.uuid for each in result.hosts[0].devices] == ["GPU-0", "GPU-1"]


@pytest.mark.parametrize(
    ("part", "driver", "name"),
    [
        (device("mig-0", type="mig", profile="1g.10gb"), "gpu.nvidia.com", "1g.10gb"),
        (device("gpu-0-128", type="amdgpu-partition", partitionProfile="cpx_nps4"), "gpu.amd.com", "cpx_nps4"),
    ],
)
def test_partitions_are_told_since_their_place_is_not_known(part: dict[str, Any], driver: str, name: str) -> None:
    result = read(bare(), a_slice("n1", part, driver=driver))
    assert result.hosts[0].devices == ()
    assert f"node n1 offers partitions {name}: where on their cards is not told" in result.untold


def test_a_card_that_the_catalogue_does_not_know_keeps_its_name() -> None:
    (host,) = read(bare(), a_slice("n1", gpu(0, productName="NVIDIA Z9"))).hosts
    assert [(each.model, each.name) for each in host.devices] == [(None, "NVIDIA Z9")]


def test_other_drivers_and_nodes_that_are_not_there_are_no_devices() -> None:
    result = read(bare(), a_slice("n1", gpu(0), driver="tpu.google.com"), a_slice("n9", gpu(0)))
    assert (result.hosts[0].devices, [host.name for host in result.hosts]) == ((), ["n1"])


def test_a_pod_holds_the_devices_of_its_claim_by_their_numbers() -> None:
    objects = (bare(), a_slice("n1", gpu(0), gpu(1), gpu(2)), pod("notebook", "n1", devices=0))
    result = read(*objects, claim("notebook", "gpu-2", "gpu-0"), claim("gone", "gpu-1"))
    assert [use.seats for use in result.uses] == [(Seat(node="n1", devices=(0, 2)),)]


def test_a_claim_of_nobody_or_of_other_devices_holds_nothing() -> None:
    objects = (bare(), a_slice("n1", gpu(0)), pod("notebook", "n1", devices=0))
    unused = claim("notebook", "gpu-0") | {"status": {}}
    assert read(*objects, unused).uses == ()
    assert read(*objects, claim("notebook", "gpu-7")).uses == ()
