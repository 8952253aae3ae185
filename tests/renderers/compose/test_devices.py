"""Devices of a service: ids for one vendor, device nodes for the other, and no word of code that tells them apart."""

from __future__ import annotations

import pytest

from planner.plan import Device
from renderers.compose.devices import DEFAULT_RENDER_GID
from tests.renderers.compose.edge import GREEN, RED, a_cluster, an_edge
from tests.renderers.fleet import a_node

UUIDS = GREEN.replace(
    "{model: l4, count: 4}", "{model: l4, count: 4, uuids: {till-nv: [GPU-aa, GPU-bb, GPU-cc, GPU-dd]}}"
)
TWO_MODELS = """
  - name: green
    nodes: [till-nv]
    gpus:
      - {model: rtx-3090, count: 1, devices: [1]}
      - {model: rtx-4090, count: 1, devices: [0], uuids: {till-nv: [GPU-4090]}}
"""


def reservation(service: dict[str, object]) -> object:
    """The only device request of a service."""
    deploy = service["deploy"]
    assert isinstance(deploy, dict)
    (request,) = deploy["resources"]["reservations"]["devices"]
    return request


def test_ids_are_text_with_their_capability_and_no_count() -> None:
    edge = an_edge("gpus: 2", node=a_node("till-nv", 1, 3))
    assert reservation(edge.service()) == {"driver": "nvidia", "device_ids": ["1", "3"], "capabilities": ["gpu"]}
    assert 'device_ids: ["1", "3"]' in edge.rendered.manifests[0].text
    assert "devices" not in edge.service()
    assert "group_add" not in edge.service()


def test_where_uuids_are_known_they_are_used() -> None:
    edge = an_edge("gpus: 2", node=a_node("till-nv", 1, 3), cluster=a_cluster(UUIDS))
    assert reservation(edge.service()) == {
        "driver": "nvidia",
        "device_ids": ["GPU-bb", "GPU-dd"],
        "capabilities": ["gpu"],
    }


def test_in_a_host_of_two_models_the_index_is_that_of_the_planned_one() -> None:
    edge = an_edge("gpus: {count: 1, model: rtx-3090}", node=a_node("till-nv", 1), cluster=a_cluster(TWO_MODELS))
    assert reservation(edge.service()) == {"driver": "nvidia", "device_ids": ["1"], "capabilities": ["gpu"]}


def test_a_uuid_belongs_to_the_index_of_its_own_group() -> None:
    edge = an_edge("gpus: {count: 1, model: rtx-4090}", node=a_node("till-nv", 0), cluster=a_cluster(TWO_MODELS))
    assert reservation(edge.service()) == {"driver": "nvidia", "device_ids": ["GPU-4090"], "capabilities": ["gpu"]}


def test_device_nodes_come_with_the_hosts_own_numbers() -> None:
    edge = an_edge("gpus: {count: 2, vendor: amd}", node=a_node("till-amd", 1, 2), pool="red")
    service = edge.service(host="till-amd")
    assert service["devices"] == [
        "/dev/kfd:/dev/kfd",
        "/dev/dri/renderD136:/dev/dri/renderD136",
        "/dev/dri/renderD144:/dev/dri/renderD144",
    ]
    assert service["group_add"] == ["105"]
    assert "reservations" not in service["deploy"]["resources"]
    assert edge.messages() == []


def test_without_a_list_render_nodes_are_counted_from_the_first() -> None:
    pool = RED.replace("    render_nodes: [128, 136, 144, 152]\n", "")
    edge = an_edge("gpus: {count: 1, vendor: amd}", node=a_node("till-amd", 3), pool="red", cluster=a_cluster(pool))
    assert edge.service(host="till-amd")["devices"][1] == "/dev/dri/renderD131:/dev/dri/renderD131"


def test_an_unknown_group_is_a_guess_that_is_said() -> None:
    pool = RED.replace("    render_gid: 105\n", "")
    edge = an_edge("gpus: {count: 1, vendor: amd}", node=a_node("till-amd", 0), pool="red", cluster=a_cluster(pool))
    assert edge.service(host="till-amd")["group_add"] == [str(DEFAULT_RENDER_GID)]
    assert any("getent group render" in message for message in edge.messages())


def test_group_zero_is_a_group_and_not_a_missing_one() -> None:
    pool = RED.replace("render_gid: 105", "render_gid: 0")
    edge = an_edge("gpus: {count: 1, vendor: amd}", node=a_node("till-amd", 0), pool="red", cluster=a_cluster(pool))
    assert edge.service(host="till-amd")["group_add"] == ["0"]
    assert edge.messages() == []


def test_a_device_that_the_list_of_render_nodes_lacks_is_refused() -> None:
    pool = RED.replace("[128, 136, 144, 152]", "[128, 136]")
    edge = an_edge("gpus: {count: 1, vendor: amd}", node=a_node("till-amd", 2), pool="red", cluster=a_cluster(pool))
    assert edge.rendered.manifests == ()
    assert "lists no device 2" in edge.messages()[0]


def test_work_without_devices_asks_for_none() -> None:
    edge = an_edge("gpus: 0", "cpus: 2", "memory: 4Gi", node=a_node("till-nv"))
    service = edge.service()
    assert service["deploy"]["resources"] == {"limits": {"cpus": "2", "memory": "4096m"}}
    assert "devices" not in service
    assert "PET_NPROC_PER_NODE" not in service["environment"]


def test_a_partition_needs_a_uuid_that_no_spec_knows() -> None:
    edge = an_edge("gpus: 1", node=a_node("till-nv", Device(index=0, profile="1g.10gb", at=0)))
    assert edge.rendered.manifests == ()
    assert "UUID" in edge.messages()[0]


def test_two_shares_of_one_device_name_it_once_and_promise_nothing() -> None:
    node = a_node("till-nv", Device(index=0, share="1/4"), Device(index=0, share="1/4"))
    pool = f"{GREEN.rstrip()}\n    sharing: {{by: time_slicing, units: 4}}\n"
    edge = an_edge("gpus: 1/4", node=node, cluster=a_cluster(pool))
    assert reservation(edge.service()) == {"driver": "nvidia", "device_ids": ["0"], "capabilities": ["gpu"]}
    assert any("not kept apart" in message for message in edge.messages())


@pytest.mark.parametrize("pool", ["green", "red"])
def test_shared_memory_and_ipc_are_set_for_every_vendor(pool: str) -> None:
    host, vendor = ("till-nv", "nvidia") if pool == "green" else ("till-amd", "amd")
    edge = an_edge(f"gpus: {{count: 1, vendor: {vendor}}}", "shm: 16Gi", node=a_node(host, 0), pool=pool)
    service = edge.service(host=host)
    assert (service["ipc"], service["shm_size"]) == ("private", "16384m")
    assert service["ulimits"] == {"memlock": -1, "stack": 67_108_864}
