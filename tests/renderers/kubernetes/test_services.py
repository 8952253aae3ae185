"""Services: replicas by the steps of the plan, in front of them a Service, and a disruption budget."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Device, NodeUse, Plan, Segment, ServicePlan, ServiceStep, sealed
from planner.specset import SpecSet
from planner.units import format_time, parse_time
from renderers import kubernetes, render
from renderers.kubernetes import scaling
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, HOUR, START, a_node, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import container_of, documents, objects, schema_faults

BEGIN = parse_time(START, "UTC")


def a_service(*fields: str, team: str = "vision") -> str:
    """A service's document."""
    lines = (
        "apiVersion: planner/v1", "kind: Service", "name: chat", f"team: {team}", "image: r/s:1", "command: [serve]",
        "gpus: 2", "load: [{when: otherwise, qps: 1}]", "service_time: 100ms", "latency_target: 1s", *fields,
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def a_step(start: int, end: int, *segments: Segment, replicas: int | None = None) -> ServiceStep:
    """A step from and to so many hours after the plan begins; one replica a segment."""
    count = len(segments) if replicas is None else replicas
    return ServiceStep(
        start=format_time(BEGIN + start * HOUR),
        end=format_time(BEGIN + end * HOUR),
        replicas=count,
        replicas_needed=count,
        load_milliqps=1,
        capacity_milliqps=1,
        segments=segments,
    )


def a_plan(specs: SpecSet, *steps: ServiceStep, team: str = "vision") -> Plan:
    """A plan of this service alone."""
    planned = ServicePlan(address=f"service/{team}/chat", spec="sha256:0", team=team, priority="P1", steps=steps)
    return sealed(plan_of(specs=specs).model_copy(update={"services": (planned,)}))


def rendered(specs: SpecSet, *steps: ServiceStep, team: str = "vision") -> Rendered:
    """The files of a plan, checked against schemas and plan."""
    plan = a_plan(specs, *steps, team=team)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def two_steps(*fields: str, fleet: str = FLEET) -> Rendered:
    """One replica, from the third hour on two."""
    specs = specset_of(fleet, a_service(*fields))
    one, other = (a_segment("dc1/h100", a_node(f"h100-00{at}", 0, 1), specs=specs) for at in (1, 2))
    return rendered(specs, a_step(0, 2, one), a_step(2, 168, one, other))


def the(result: Rendered, kind: str) -> dict[str, Any]:
    """The only object of a kind."""
    (found,) = objects(result, kind)
    return found


def replicas_by_phase(result: Rendered) -> dict[str, int]:
    """By folder of a phase, the replicas of the only Deployment there."""
    return {
        path.split("/")[2]: item["spec"]["replicas"]
        for path, (item,) in documents(result).items()
        if "/phases/" in path and item["kind"] == "Deployment"
    }


def test_replicas_follow_the_steps_of_the_plan_from_phase_to_phase() -> None:
    result = two_steps()
    assert the(result, "Deployment")["spec"]["replicas"] == 1
    assert replicas_by_phase(result) == {"20261201T000000Z": 1, "20261201T020000Z": 2}


def test_a_change_of_replicas_leaves_the_pods_as_they_are() -> None:
    templates = [
        item["spec"]["template"]
        for item_list in documents(two_steps()).values()
        for item in item_list
        if item["kind"] == "Deployment"
    ]
    assert len(templates) == 3
    assert templates[0] == templates[1] == templates[2]


def test_a_replica_has_its_devices_its_queue_and_all_nodes_of_the_plan() -> None:
    item = the(two_steps(), "Deployment")
    pod = item["spec"]["template"]["spec"]
    assert item["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision-nvidia"
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms[0]["matchExpressions"][0]["values"] == ["h100-001", "h100-002"]
    assert pod["restartPolicy"] == "Always"


def test_a_roll_out_takes_no_device_that_is_not_there() -> None:
    assert the(two_steps(), "Deployment")["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


def test_requests_reach_the_replicas_by_a_service_of_the_stated_port() -> None:
    result = two_steps("port: 9000")
    service, deployment = the(result, "Service"), the(result, "Deployment")
    assert service["metadata"]["name"] == "chat-svc"
    assert service["spec"]["ports"] == [{"name": "http", "port": 9000, "targetPort": "http"}]
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert the(result, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_a_server_may_take_its_time_to_start_before_it_is_asked() -> None:
    container = container_of(the(two_steps("health: {path: /up, start_period: 95s}"), "Deployment"))
    assert container["startupProbe"]["failureThreshold"] * container["startupProbe"]["periodSeconds"] == 100
    assert container["readinessProbe"]["httpGet"] == {"path": "/up", "port": "http"}


def test_replicas_are_spread_as_the_service_says() -> None:
    pod = the(two_steps("spread: {over: node, max_skew: 2}"), "Deployment")["spec"]["template"]["spec"]
    (spread,) = pod["topologySpreadConstraints"]
    assert (spread["topologyKey"], spread["maxSkew"]) == ("kubernetes.io/hostname", 2)
    assert "topologySpreadConstraints" not in the(two_steps(), "Deployment")["spec"]["template"]["spec"]


def test_replicas_on_two_vendors_are_two_deployments_before_one_service() -> None:
    variants = "variants: [{name: cuda, vendor: nvidia, image: 'r/s:cu'}, {name: rocm, vendor: amd, image: 'r/s:rocm'}]"
    fields = (variants, "service_time: {h100-sxm5-80gb: 100ms, mi300x: 100ms}")
    text = a_service(*fields).replace("service_time: 100ms\n", "")
    specs = specset_of(FLEET, text)
    one = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs, variant="cuda")
    other = a_segment("dc1/mi300x", a_node("mi-1", 0, 1), specs=specs, variant="rocm")
    result = rendered(specs, a_step(0, 168, one, other))
    images = {
        tuple(name for name in container_of(item)["resources"]["limits"] if "/" in name): container_of(item)["image"]
        for item in objects(result, "Deployment")
    }
    assert images == {("nvidia.com/gpu",): "r/s:cu", ("amd.com/gpu",): "r/s:rocm"}
    assert len(objects(result, "Service")) == 1


def test_a_replica_on_several_nodes_is_a_group_with_a_leader() -> None:
    specs = specset_of(FLEET, a_service().replace("gpus: 2", "gpus: 16"))
    nodes = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))
    result = rendered(specs, a_step(0, 168, a_segment("dc1/h100", *nodes, specs=specs)))
    group = the(result, "LeaderWorkerSet")
    assert group["spec"]["replicas"] == 1
    assert group["spec"]["leaderWorkerTemplate"]["size"] == 2
    assert the(result, "Service")["spec"]["selector"]["leaderworkerset.sigs.k8s.io/worker-index"] == "0"


@pytest.mark.parametrize(
    ("segments", "replicas", "nodes"),
    [
        (((a_node("h100-001", 0, 1),), (a_node("h100-002", 0, 1, 2, 3),)), 3, 2),
        (((a_node("h100-001", 0, 1),), (a_node("h100-002", 0, 1), a_node("h100-003", 0, 1))), 3, 3),
    ],
)
def test_a_layer_of_several_replicas_counts_as_so_many(
    segments: tuple[tuple[NodeUse, ...], ...], replicas: int, nodes: int
) -> None:
    specs = specset_of(FLEET, a_service("replicas: {min: 1, step: 2}"))
    made = [a_segment("dc1/h100", *where, specs=specs) for where in segments]
    item = the(rendered(specs, a_step(0, 168, *made, replicas=replicas)), "Deployment")
    assert item["spec"]["replicas"] == replicas
    assert container_of(item)["resources"]["limits"]["nvidia.com/gpu"] == "2"
    terms = item["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    values = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchExpressions"][0]
    assert len(values["values"]) == nodes


def test_a_team_that_shares_a_namespace_has_its_name_in_that_of_its_services() -> None:
    specs = specset_of(FLEET, a_service(team="nlp"))
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    result = rendered(specs, a_step(0, 168, segment), team="nlp")
    assert the(result, "Deployment")["metadata"]["name"].startswith("nlp-chat-")
    assert the(result, "Deployment")["metadata"]["namespace"] == "team-nlp"


def test_a_part_of_a_device_that_no_pod_can_ask_for_is_refused() -> None:
    specs = specset_of(FLEET, a_service())
    segment = a_segment("dc1/h100", a_node("h100-001", Device(index=0, share="1/2")), specs=specs)
    result = rendered(specs, a_step(0, 168, segment))
    assert objects(result, "Deployment") == objects(result, "Service") == []
    assert any(item.message.startswith("not written: ") for item in result.degraded)


@pytest.mark.parametrize(("queueing", "written"), [("kai", True), ("none", True), ("volcano", False)])
def test_other_queueing_has_services_too_where_it_can(queueing: str, written: bool) -> None:
    fleet = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes, queueing: {queueing}}}", 1)
    assert bool(objects(two_steps(fleet=fleet), "Deployment")) is written


def test_too_few_replicas_are_seen() -> None:
    specs = specset_of(FLEET, a_service())
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    plan = a_plan(specs, a_step(0, 168, segment))
    result = kubernetes.render(plan, specs, specs.clusters[0])
    found = documents(result)
    the_path = next(path for path in found if "/deployment-" in path)
    found[the_path][0]["spec"]["replicas"] = 0
    assert kubernetes.verify(found, plan, specs, specs.clusters[0], result.degraded) == (
        "service/vision/chat: replicas: written 0, planned 1",
    )


def test_services_are_not_said_to_have_no_files() -> None:
    specs = specset_of(FLEET, a_service())
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    assert not any(
        "no files" in item.message for item in render(a_plan(specs, a_step(0, 168, segment)), specs).degraded
    )


KEDA = FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, scaling: keda}", 1)
KSERVE = FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, serving: kserve}", 1)


def by_clock(*counts: tuple[int, int]) -> Rendered:
    """Replicas kept by KEDA: from so many hours after the plan begins so many of them, on 4 nodes of 4 each."""
    specs = specset_of(KEDA, a_service())
    places = [a_node(f"h100-00{node}", 2 * at, 2 * at + 1) for node in range(1, 5) for at in range(4)]
    segments = [a_segment("dc1/h100", place, specs=specs) for place in places]
    ends = [start for start, _ in counts[1:]] + [168]
    return rendered(
        specs, *(a_step(start, end, *segments[:count]) for (start, count), end in zip(counts, ends, strict=True))
    )


def test_keda_keeps_the_replicas_of_each_step_and_the_last_until_the_next_plan() -> None:
    result = by_clock((0, 1), (8, 3), (20, 2))
    scaled = the(result, "ScaledObject")
    assert scaled["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (1, 3)
    assert [tuple(each["metadata"].values()) for each in scaled["spec"]["triggers"]] == [
        ("UTC", "0 8 1 12 *", "0 20 1 12 *", "3"),
        ("UTC", "0 20 1 12 *", "59 23 30 11 *", "2"),
    ]
    assert "replicas" not in the(result, "Deployment")["spec"]
    assert not any("/phases/" in item.path for item in result.manifests)


@pytest.mark.parametrize(
    ("hours", "count"), [(0, 1), (7, 1), (8, 3), (19, 3), (20, 2), (168, 2), (24 * 31, 2), (24 * 364, 2)]
)
def test_what_keda_keeps_at_a_moment_is_what_the_plan_says(hours: int, count: int) -> None:
    scaled = the(by_clock((0, 1), (8, 3), (20, 2)), "ScaledObject")
    assert scaling.replicas_at(scaled, BEGIN + hours * HOUR) == count


def test_replicas_that_stay_are_kept_too() -> None:
    scaled = the(by_clock((0, 2)), "ScaledObject")
    assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (2, 2)
    assert scaling.replicas_at(scaled, BEGIN + 9 * HOUR) == 2


def test_replicas_that_come_later_are_none_until_then() -> None:
    scaled = the(by_clock((5, 2)), "ScaledObject")
    assert scaled["spec"]["minReplicaCount"] == 0
    assert [scaling.replicas_at(scaled, BEGIN + hours * HOUR) for hours in (0, 4, 5)] == [0, 0, 2]


@pytest.mark.parametrize(("more", "is_told"), [(11, True), (12, False)])
def test_a_step_that_an_autoscaler_overlooks_is_told(more: int, is_told: bool) -> None:
    result = by_clock((0, 10), (8, more))
    assert any("small step of its replicas" in item.message for item in result.degraded) is is_told


def test_a_wrong_number_of_keda_is_seen() -> None:
    specs = specset_of(KEDA, a_service())
    plan = a_plan(specs, a_step(0, 168, a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)))
    result = kubernetes.render(plan, specs, specs.clusters[0])
    found = documents(result)
    path = next(path for path in found if "/scaledobject-" in path)
    found[path][0]["spec"]["minReplicaCount"] = 2
    assert kubernetes.verify(found, plan, specs, specs.clusters[0], result.degraded) == (
        "service/vision/chat: replicas: written 2, planned 1",
    )


def test_kserve_serves_replicas_of_one_node_and_makes_what_is_before_them() -> None:
    result = two_steps(fleet=KSERVE)
    item = the(result, "InferenceService")
    predictor = item["spec"]["predictor"]
    assert (predictor["minReplicas"], predictor["maxReplicas"]) == (1, 1)
    assert item["metadata"]["annotations"]["serving.kserve.io/stop"] == "false"
    (container,) = predictor["containers"]
    assert (container["name"], container["image"]) == ("kserve-container", "r/s:1")
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert predictor["labels"]["planner.dev/service"] == "chat"
    assert predictor["deploymentStrategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert objects(result, "Deployment") == objects(result, "Service") == []
    phases = [item for path, (item,) in documents(result).items() if "/phases/" in path and "predictor" in str(item)]
    assert [each["spec"]["predictor"]["minReplicas"] for each in phases] == [1, 2]


def test_kserve_is_not_given_replicas_of_several_nodes() -> None:
    specs = specset_of(KSERVE, a_service().replace("gpus: 2", "gpus: 16"))
    nodes = (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))
    result = rendered(specs, a_step(0, 168, a_segment("dc1/h100", *nodes, specs=specs)))
    assert objects(result, "InferenceService") == []
    assert the(result, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["size"] == 2


def test_keda_is_not_given_what_kserve_scales() -> None:
    both = FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, serving: kserve, scaling: keda}", 1)
    result = two_steps(fleet=both)
    assert objects(result, "ScaledObject") == []
    assert any("its replicas change with the phases" in item.message for item in result.degraded)
