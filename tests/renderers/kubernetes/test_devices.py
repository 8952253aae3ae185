"""Names and amounts of device resources: partitions, shares, several models in a node."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Device, NodeUse
from renderers import kubernetes
from renderers.kubernetes.resources import Taint, parse_taint
from renderers.manifest import Rendered
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import container_of, job_at, objects, pod_of, schema_faults

MIXED_NODE = "[{model: rtx-3090, count: 1, devices: [0]}, {model: rtx-4090, count: 1, devices: [1]}]"


def a_cluster(gpus: str, *fields: str, backend: str = "kubernetes", nodes: str = "n-1") -> str:
    """A cluster with one pool `p`, and the team vision."""
    pool = "".join(f"    {line}\n" for line in (f"nodes: {nodes}", f"gpus: {gpus}", *fields))
    return (
        f"apiVersion: planner/v1\nkind: Cluster\nname: dc1\nbackend: {backend}\npools:\n  - name: p\n{pool}"
        "---\napiVersion: planner/v1\nkind: Team\nname: vision\n"
    )


def rendered(cluster: str, *nodes: NodeUse, gpus: str = "1") -> Rendered:
    """The files with the job `job/vision/x` on these nodes."""
    specs = specset_of(cluster, a_job("x", f"gpus: {gpus}", "cpus: 1", "memory: 1Gi"))
    segment = a_segment("dc1/p", *nodes, specs=specs, variant=specs.jobs[0].ways()[0].name)
    plan = plan_of(a_placement("job/vision/x", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    return result


def offered(result: Rendered) -> dict[str, str]:
    """What the cohort's only flavor has of each device resource."""
    (cohort,) = objects(result, "Cohort")
    (flavor,) = cohort["spec"]["resourceGroups"][0]["flavors"]
    resources: list[dict[str, str]] = flavor["resources"]
    return {item["name"]: item["nominalQuota"] for item in resources if "/" in item["name"]}


def asked(result: Rendered) -> dict[str, Any]:
    """What the job's container asks for of each device resource."""
    limits = container_of(job_at(result, "job/vision/x"))["resources"]["limits"]
    return {name: amount for name, amount in limits.items() if name != "memory"}


def refusal(result: Rendered) -> str:
    """Why the job is not written."""
    assert objects(result, "Job") == []
    (message,) = [item.message for item in result.degraded if item.address == "job/vision/x"]
    return message


@pytest.mark.parametrize(("naming", "resource"), [("mixed", "amd.com/cpx_nps4"), ("single", "amd.com/gpu")])
def test_partitions_change_the_count_and_under_mixed_naming_the_resource(naming: str, resource: str) -> None:
    backend = f"{{type: kubernetes, partition_naming: {naming}}}"
    cluster = a_cluster("{model: mi300x, count: 8}", "partitions: {compute: CPX, memory: NPS4}", backend=backend)
    devices = tuple(Device(index=0, profile="cpx", at=number) for number in range(4))
    result = rendered(cluster, a_node("n-1", *devices), gpus="{count: 4, vendor: amd, partition: cpx}")
    assert offered(result) == {resource: "64"}
    assert asked(result) == {resource: "4"}


def test_whole_devices_are_named_as_a_device_plugin_does_out_of_the_box() -> None:
    cluster = a_cluster("{model: mi300x, count: 8}")
    result = rendered(cluster, a_node("n-1", *range(8)), gpus="{count: 8, vendor: amd}")
    assert offered(result) == {"amd.com/gpu": "8"}
    assert asked(result) == {"amd.com/gpu": "8"}


def test_under_declared_mixed_naming_a_whole_card_that_could_be_cut_carries_its_mode() -> None:
    cluster = a_cluster("{model: mi300x, count: 8}", backend="{type: kubernetes, partition_naming: mixed}")
    result = rendered(cluster, a_node("n-1", *range(8)), gpus="{count: 8, vendor: amd}")
    assert asked(result) == {"amd.com/spx_nps1": "8"}


def test_a_mig_profile_is_a_resource_of_its_own() -> None:
    fixed = "partitions: {fixed: {n-1: {0: [{profile: 1g.10gb, at: 0}, {profile: 1g.10gb, at: 1}]}}}"
    cluster = a_cluster("{model: h100-sxm5-80gb, count: 8}", fixed)
    result = rendered(
        cluster, a_node("n-1", Device(index=0, profile="1g.10gb", at=0)), gpus="{count: 1, partition: 1g.10gb}"
    )
    assert offered(result) == {"nvidia.com/gpu": "7", "nvidia.com/mig-1g.10gb": "2"}
    assert asked(result) == {"nvidia.com/mig-1g.10gb": "1"}


def test_a_quarter_of_a_time_sliced_device_is_one_slot() -> None:
    cluster = a_cluster("{model: l40s, count: 2}", "sharing: {by: time_slicing, units: 4}")
    result = rendered(cluster, a_node("n-1", Device(index=0, share="1/4")), gpus='"1/4"')
    assert offered(result) == {"nvidia.com/gpu": "8"}
    assert asked(result) == {"nvidia.com/gpu": "1"}
    (flavor,) = objects(result, "ResourceFlavor")
    assert flavor["spec"]["nodeLabels"]["nvidia.com/gpu.product"].endswith("-SHARED")


def test_two_whole_devices_are_not_two_slots_of_shared_ones() -> None:
    specs = specset_of(a_cluster("{model: l40s, count: 2}"), a_job("x", "gpus: 2"))
    plan = plan_of(
        a_placement("job/vision/x", a_segment("dc1/p", a_node("n-1", 0, 1), specs=specs), specs=specs), specs=specs
    )
    shared = specset_of(
        a_cluster("{model: l40s, count: 2}", "sharing: {by: time_slicing, units: 4}"), a_job("y", 'gpus: "1/4"')
    ).clusters[0]
    assert "every device of pool p is shared" in refusal(kubernetes.render(plan, specs, shared))


def test_a_share_by_hami_is_one_device_with_a_part_of_memory_and_cores() -> None:
    cluster = a_cluster("{model: l40s, count: 2}", "sharing: {by: hami, units: 8}")
    result = rendered(cluster, a_node("n-1", Device(index=1, share="1/8")), gpus='"1/8"')
    assert asked(result) == {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "12", "nvidia.com/gpumem-percentage": "12"}


def test_one_of_two_models_in_a_node_is_refused_with_the_reason() -> None:
    result = rendered(a_cluster(MIXED_NODE), a_node("n-1", 1), gpus="{count: 1, model: rtx-4090}")
    message = refusal(result)
    assert message.startswith("not written: the device plugin cannot select a model within a node")
    assert "rtx-3090 and rtx-4090" in message


def test_a_whole_node_of_two_models_is_fine() -> None:
    result = rendered(a_cluster(MIXED_NODE), a_node("n-1", 0, 1), gpus="{count: 1, model: rtx-4090}")
    assert asked(result) == {"nvidia.com/gpu": "2"}


def test_devices_of_another_vendor_in_the_node_do_not_confuse_the_plugin() -> None:
    cluster = a_cluster("[{model: l40s, count: 4}, {model: mi210, count: 2}]")
    result = rendered(cluster, a_node("n-1", 0), gpus="{count: 1, vendor: nvidia}")
    assert asked(result) == {"nvidia.com/gpu": "1"}
    names = {item["metadata"]["name"] for item in objects(result, "ResourceFlavor")}
    assert names == {"l40s", "mi210"}


def test_the_vendors_taint_is_tolerated_only_where_the_pool_declares_it() -> None:
    plain = rendered(a_cluster("{model: l40s, count: 2}"), a_node("n-1", 0))
    tainted = rendered(a_cluster("{model: l40s, count: 2}", 'taints: ["nvidia.com/gpu:NoSchedule"]'), a_node("n-1", 0))
    assert "tolerations" not in pod_of(job_at(plain, "job/vision/x"))
    assert pod_of(job_at(tainted, "job/vision/x"))["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("a=b:NoSchedule", Taint(key="a", value="b", effect="NoSchedule")),
        ("a:NoExecute", Taint(key="a", effect="NoExecute")),
        ("a", Taint(key="a")),
        ("nvidia.com/gpu=present", Taint(key="nvidia.com/gpu", value="present")),
    ],
)
def test_a_taint_is_read(text: str, taint: Taint) -> None:
    assert parse_taint(text) == taint


FIXED_B = (
    "partitions: {fixed: {n-1: {"
    + ", ".join(
        f"{device}: [" + ", ".join(f"{{profile: cpx, at: {at}}}" for at in range(8)) + "]" for device in (5, 6, 7)
    )
    + "}}}"
)


def test_a_node_of_whole_cards_and_partitions_offers_both_by_their_names() -> None:
    cluster = a_cluster("{model: mi300x, count: 8}", FIXED_B, backend="{type: kubernetes, partition_naming: mixed}")
    devices = tuple(Device(index=5, profile="cpx", at=number) for number in range(4))
    result = rendered(cluster, a_node("n-1", *devices), gpus="{count: 4, vendor: amd, partition: cpx}")
    assert offered(result) == {"amd.com/spx_nps1": "5", "amd.com/cpx_nps1": "24"}
    assert asked(result) == {"amd.com/cpx_nps1": "4"}


DRA = "{type: kubernetes, devices: dra}"


def claim(result: Rendered) -> dict[str, Any]:
    """What the job's pods claim: by class, how many."""
    (template,) = objects(result, "ResourceClaimTemplate")
    job = job_at(result, "job/vision/x")
    assert pod_of(job)["resourceClaims"] == [
        {"name": "devices", "resourceClaimTemplateName": template["metadata"]["name"]}
    ]
    assert container_of(job)["resources"]["claims"] == [{"name": "devices"}]
    assert asked(result) == {}
    requests = template["spec"]["spec"]["devices"]["requests"]
    return {item["exactly"]["deviceClassName"]: item["exactly"]["count"] for item in requests}


def expression(result: Rendered, name: str) -> str:
    """What selects the devices of a class."""
    (found,) = [item for item in objects(result, "DeviceClass") if item["metadata"]["name"] == name]
    (selector,) = found["spec"]["selectors"]
    return str(selector["cel"]["expression"])


def test_one_of_two_models_in_a_node_can_be_claimed() -> None:
    result = rendered(a_cluster(MIXED_NODE, backend=DRA), a_node("n-1", 0), gpus="{count: 1, model: rtx-3090}")
    assert set(claim(result).values()) == {1}
    (name,) = claim(result)
    assert "RTX[ _-]3090" in expression(result, name)
    assert "4090" not in expression(result, name)
    assert offered(result) == {"planner.dev/rtx-3090": "1", "planner.dev/rtx-4090": "1"}


def test_a_partition_is_claimed_by_its_profile() -> None:
    fixed = "partitions: {fixed: {n-1: {0: [{profile: 1g.10gb, at: 0}, {profile: 1g.10gb, at: 1}]}}}"
    cluster = a_cluster("{model: h100-sxm5-80gb, count: 8}", fixed, backend=DRA)
    result = rendered(
        cluster, a_node("n-1", Device(index=0, profile="1g.10gb", at=0)), gpus="{count: 1, partition: 1g.10gb}"
    )
    ((name, count),) = claim(result).items()
    assert count == 1
    assert '.profile == "1g.10gb"' in expression(result, name)
    assert offered(result) == {"planner.dev/h100-sxm5-80gb": "7", "planner.dev/h100-sxm5-80gb-1g.10gb": "2"}


def test_the_mapping_that_kueue_needs_is_told() -> None:
    result = rendered(a_cluster("{model: l40s, count: 2}", backend=DRA), a_node("n-1", 0))
    assert any("deviceClassMappings planner.dev/l40s = planner-l40s" in item.message for item in result.degraded)


def test_a_plugin_makes_no_classes() -> None:
    result = rendered(a_cluster("{model: l40s, count: 2}"), a_node("n-1", 0))
    assert objects(result, "DeviceClass") == objects(result, "ResourceClaimTemplate") == []


def test_a_share_cannot_be_claimed() -> None:
    cluster = a_cluster("{model: l40s, count: 2}", "sharing: {by: time_slicing, units: 4}", backend=DRA)
    assert "a claim takes whole devices" in refusal(
        rendered(cluster, a_node("n-1", Device(index=0, share="1/4")), gpus='"1/4"')
    )


KAI = "{type: kubernetes, queueing: kai}"


@pytest.mark.parametrize(("units", "share", "fraction"), [(8, "1/8", "0.125"), (4, "3/4", "0.75"), (5, "1/5", "0.2")])
def test_a_part_of_a_device_is_an_annotation_where_kai_shares(units: int, share: str, fraction: str) -> None:
    cluster = a_cluster("{model: l40s, count: 2}", f"sharing: {{by: kai, units: {units}}}", backend=KAI)
    result = rendered(cluster, a_node("n-1", Device(index=0, share=share)), gpus=f'"{share}"')
    annotations = job_at(result, "job/vision/x")["spec"]["template"]["metadata"]["annotations"]
    assert annotations["gpu-fraction"] == fraction
    assert asked(result) == {}
    assert any("keeps nobody to theirs" in item.message for item in result.degraded)


@pytest.mark.parametrize(
    ("model", "backend", "units", "said"),
    [
        ("l40s", KAI, 3, "in decimals, not 1/3"),
        ("l40s", "kubernetes", 4, "hands out whole devices only"),
        ("mi300x", KAI, 4, "hands out whole devices only"),
    ],
)
def test_a_part_that_kai_cannot_hand_out_is_refused(model: str, backend: str, units: int, said: str) -> None:
    cluster = a_cluster(f"{{model: {model}, count: 2}}", f"sharing: {{by: kai, units: {units}}}", backend=backend)
    vendor = "amd" if model == "mi300x" else "nvidia"
    share = f"1/{units}"
    request = f"{{count: 1, share: {share}, vendor: {vendor}}}"
    assert said in refusal(rendered(cluster, a_node("n-1", Device(index=0, share=share)), gpus=request))
