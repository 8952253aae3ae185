"""Flavors, queues and quotas of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import QuotaSchedule, QuotaUse, QuotaWindow, sealed
from renderers import kubernetes
from renderers.kubernetes.quota import split
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, START, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, objects, schema_faults


def rendered(*texts: str) -> Rendered:
    """The files of the first cluster without any job, checked against schemas and plan."""
    specs = specset_of(*texts)
    plan = plan_of(specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def named(result: Rendered, kind: str, name: str) -> dict[str, Any]:
    """The only object of that kind and name."""
    (found,) = [item for item in objects(result, kind) if item["metadata"]["name"] == name]
    return found


def quotas(item: dict[str, Any], flavor: str) -> dict[str, tuple[str, str | None, str | None]]:
    """By resource: nominal quota, borrowing limit, lending limit."""
    (group,) = item["spec"]["resourceGroups"]
    (found,) = [each for each in group["flavors"] if each["name"] == flavor]
    assert [each["name"] for each in found["resources"]] == group["coveredResources"]
    return {
        each["name"]: (each["nominalQuota"], each.get("borrowingLimit"), each.get("lendingLimit"))
        for each in found["resources"]
    }


def a_pool(name: str, *fields: str, gpus: str = "{model: h100-sxm5-80gb, count: 8}", nodes: int = 2) -> str:
    """A pool as an item of `pools`."""
    lines = [f"- name: {name}", f"  nodes: {name}-[1-{nodes}]", f"  gpus: {gpus}", *(f"  {field}" for field in fields)]
    return "".join(f"  {line}\n" for line in lines)


def a_fleet(*pools: str, backend: str = "kubernetes") -> str:
    """A cluster of these pools, and the team vision."""
    head = f"apiVersion: planner/v1\nkind: Cluster\nname: dc1\nbackend: {backend}\npools:\n"
    return head + "".join(pools) + "---\napiVersion: planner/v1\nkind: Team\nname: vision\n"


def a_quota(name: str, *fields: str, team: str = "vision") -> str:
    """A quota."""
    return "\n".join(["apiVersion: planner/v1", "kind: Quota", f"name: {name}", f"team: {team}", *fields])


def test_a_guarantee_is_nominal_quota_and_what_is_above_it_the_borrowing_limit() -> None:
    queue = named(rendered(FLEET), "ClusterQueue", "vision-nvidia")
    assert quotas(queue, "h100-sxm5-80gb")["nvidia.com/gpu"] == ("16", "8", "8")
    assert queue["spec"]["cohortName"] == "dc1-nvidia"


def test_cpu_and_memory_follow_the_devices() -> None:
    found = quotas(named(rendered(FLEET), "ClusterQueue", "vision-nvidia"), "h100-sxm5-80gb")
    assert found["cpu"] == ("384", None, "192")
    assert found["memory"] == (f"{2 * 2 * 2**20}Mi", None, f"{2 * 2**20}Mi")


def test_without_a_limit_or_a_lend_nothing_limits_borrowing_or_lending() -> None:
    found = quotas(named(rendered(FLEET), "ClusterQueue", "nlp-nvidia"), "h100-sxm5-80gb")
    assert found["nvidia.com/gpu"] == ("8", None, None)


def test_what_nobody_is_guaranteed_is_the_cohorts() -> None:
    result = rendered(FLEET)
    assert quotas(named(result, "Cohort", "dc1-nvidia"), "h100-sxm5-80gb")["nvidia.com/gpu"] == ("8", None, None)
    assert quotas(named(result, "Cohort", "dc1-amd"), "mi300x")["amd.com/gpu"] == ("16", None, None)


def test_all_quota_of_a_flavor_is_what_its_nodes_have() -> None:
    result = rendered(FLEET)
    held = [*objects(result, "ClusterQueue"), *objects(result, "Cohort")]
    total = sum(
        int(resource["nominalQuota"])
        for item in held
        for group in item["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        if flavor["name"] == "h100-sxm5-80gb"
        for resource in flavor["resources"]
        if resource["name"] == "nvidia.com/gpu"
    )
    assert total == 32


def test_a_team_without_quota_may_borrow_and_owns_nothing() -> None:
    found = quotas(named(rendered(FLEET), "ClusterQueue", "vision-amd"), "mi300x")
    assert found["amd.com/gpu"] == ("0", None, None)


def test_only_what_is_borrowed_can_be_taken_back() -> None:
    preemption = named(rendered(FLEET), "ClusterQueue", "vision-nvidia")["spec"]["preemption"]
    assert preemption["reclaimWithinCohort"] == "Any"
    assert preemption["borrowWithinCohort"] == {"policy": "Never"}


def test_a_queue_serves_the_teams_own_namespace_only() -> None:
    result = rendered(FLEET)
    selector = named(result, "ClusterQueue", "nlp-nvidia")["spec"]["namespaceSelector"]
    assert selector == {"matchLabels": {"kubernetes.io/metadata.name": "team-nlp"}}
    assert named(result, "LocalQueue", "nlp-nvidia")["metadata"]["namespace"] == "team-nlp"
    assert named(result, "LocalQueue", "nlp-nvidia")["spec"] == {"clusterQueue": "nlp-nvidia"}


def test_a_weight_is_written_where_it_is_not_one() -> None:
    result = rendered(FLEET)
    assert named(result, "ClusterQueue", "nlp-nvidia")["spec"]["fairSharing"] == {"weight": "2"}
    assert "fairSharing" not in named(result, "ClusterQueue", "vision-nvidia")["spec"]


def test_priorities_are_ordered() -> None:
    values = {item["metadata"]["name"]: item["value"] for item in objects(rendered(FLEET), "WorkloadPriorityClass")}
    assert sorted(values, key=lambda name: -values[name]) == [f"planner-p{number}" for number in range(4)]
    assert len(set(values.values())) == 4


def test_a_flavor_selects_nodes_by_the_catalogues_label_and_repeats_the_taints() -> None:
    flavor = named(rendered(FLEET), "ResourceFlavor", "h100-sxm5-80gb")["spec"]
    assert flavor["nodeLabels"] == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    assert [taint["key"] for taint in flavor["nodeTaints"]] == ["nvidia.com/gpu", "team"]


def test_the_pools_own_labels_are_added_and_win() -> None:
    fleet = a_fleet(a_pool("a", "labels: {rack: r1, nvidia.com/gpu.product: mine}"))
    flavor = named(rendered(fleet), "ResourceFlavor", "h100-sxm5-80gb-a")
    assert flavor["spec"]["nodeLabels"] == {"nvidia.com/gpu.product": "mine", "rack": "r1"}


def test_pools_that_no_label_tells_apart_are_one_flavor_and_that_is_told() -> None:
    result = rendered(a_fleet(a_pool("a"), a_pool("b", nodes=3)))
    (flavor,) = objects(result, "ResourceFlavor")
    assert flavor["metadata"]["annotations"]["planner.dev/pools"] == "a,b"
    assert quotas(named(result, "Cohort", "dc1-nvidia"), "h100-sxm5-80gb")["nvidia.com/gpu"][0] == "40"
    assert any("counted together" in item.message for item in result.degraded)


def test_pools_with_labels_of_their_own_are_flavors_of_their_own() -> None:
    result = rendered(a_fleet(a_pool("a", "labels: {pool: a}"), a_pool("b", "labels: {pool: b}")))
    assert len(objects(result, "ResourceFlavor")) == 2
    assert not any("counted together" in item.message for item in result.degraded)


def test_a_quota_over_several_models_is_divided_as_there_are_devices_and_that_is_told() -> None:
    fleet = a_fleet(a_pool("a"), a_pool("b", gpus="{model: a100-sxm4-80gb, count: 8}", nodes=1))
    quota = a_quota("all", "gpus: {vendor: nvidia}", "guaranteed: 12", "limit: 20")
    result = rendered(fleet, quota)
    queue = named(result, "ClusterQueue", "vision-nvidia")
    assert quotas(queue, "h100-sxm5-80gb")["nvidia.com/gpu"] == ("8", "8", None)
    assert quotas(queue, "a100-sxm4-80gb")["nvidia.com/gpu"] == ("4", "4", None)
    assert [item.address for item in result.degraded if "divided" in item.message] == ["quota/all"]


def test_the_most_specific_quota_decides() -> None:
    fleet = a_fleet(a_pool("a", "labels: {pool: a}"), a_pool("b", "labels: {pool: b}"))
    wide = a_quota("wide", "gpus: {model: h100-sxm5-80gb}", "guaranteed: 6")
    narrow = a_quota("narrow", "gpus: {pool: dc1/a}", "guaranteed: 3")
    queue = named(rendered(fleet, wide, narrow), "ClusterQueue", "vision-nvidia")
    assert quotas(queue, "h100-sxm5-80gb-a")["nvidia.com/gpu"][0] == "3"
    assert quotas(queue, "h100-sxm5-80gb-b")["nvidia.com/gpu"][0] == "6"


def test_the_plans_schedule_says_what_is_guaranteed_at_its_start() -> None:
    specs = specset_of(FLEET)
    window = QuotaWindow(
        start=START, end="2026-12-02T00:00:00Z", guaranteed=4, used=0, borrowed=0, lent=0, reclaimable=0
    )
    schedule = QuotaSchedule(team="vision", quota="vision-h100", reason="night", windows=(window,))
    plan = sealed(plan_of(specs=specs).model_copy(update={"quota": (schedule,)}))
    result = kubernetes.render(plan, specs, specs.clusters[0])
    found = quotas(named(result, "ClusterQueue", "vision-nvidia"), "h100-sxm5-80gb")
    assert found["nvidia.com/gpu"] == ("4", "20", "4")


@pytest.mark.parametrize(
    ("version", "api", "field", "cohorts"),
    [
        ("0.19", "kueue.x-k8s.io/v1beta2", "cohortName", True),
        ("0.15", "kueue.x-k8s.io/v1beta2", "cohortName", True),
        ("0.14.9", "kueue.x-k8s.io/v1beta1", "cohort", True),
        ("v0.11.0", "kueue.x-k8s.io/v1beta1", "cohort", True),
        ("0.10", "kueue.x-k8s.io/v1beta1", "cohort", False),
    ],
)
def test_an_older_kueue_gets_the_api_that_it_serves(version: str, api: str, field: str, cohorts: bool) -> None:
    fleet = FLEET.replace("backend: kubernetes", f'backend: {{type: kubernetes, kueue_version: "{version}"}}', 1)
    result = rendered(fleet)
    queue = named(result, "ClusterQueue", "vision-nvidia")
    assert queue["apiVersion"] == api
    assert queue["spec"][field] == "dc1-nvidia"
    assert bool(objects(result, "Cohort")) is cohorts


def test_without_queueing_there_are_namespaces_only_and_it_is_told() -> None:
    fleet = FLEET.replace("backend: kubernetes", "backend: {type: kubernetes, queueing: none}", 1)
    result = rendered(fleet)
    assert {item["kind"] for each in documents(result).values() for item in each} == {"Namespace", "Kustomization"}
    assert any("held by the plan alone" in item.message for item in result.degraded)


@pytest.mark.parametrize(
    ("amount", "weights", "parts"),
    [
        (12, (16, 8), (8, 4)),
        (7, (1, 1), (4, 3)),
        (5, (1, 1, 1), (2, 2, 1)),
        (0, (3, 5), (0, 0)),
        (4, (0, 0), (0, 0)),
        (3, (0, 9), (0, 3)),
        (10, (1, 2, 4), (1, 3, 6)),
    ],
)
def test_a_division_adds_up(amount: int, weights: tuple[int, ...], parts: tuple[int, ...]) -> None:
    assert split(amount, weights) == parts


def test_pools_that_only_taints_tell_apart_have_flavors_of_different_names() -> None:
    fleet = a_fleet(a_pool("a", 'taints: ["x=1:NoSchedule"]'), a_pool("b", 'taints: ["x=2:NoSchedule"]'))
    names = [item["metadata"]["name"] for item in objects(rendered(fleet), "ResourceFlavor")]
    assert names == ["h100-sxm5-80gb-a", "h100-sxm5-80gb-b"]


def test_what_kubernetes_does_not_take_as_a_label_is_left_out_and_told() -> None:
    result = rendered(a_fleet(a_pool("a", "labels: {site: sh-1, note: two words}")))
    (flavor,) = objects(result, "ResourceFlavor")
    assert flavor["spec"]["nodeLabels"] == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "site": "sh-1"}
    (told,) = [item.message for item in result.degraded if "left out" in item.message]
    assert told.endswith("note: two words")


def test_a_divided_guarantee_lies_first_where_the_plan_uses_it() -> None:
    fleet = a_fleet(a_pool("a"), a_pool("b", gpus="{model: a100-sxm4-80gb, count: 8}", nodes=1))
    job = a_job("x", "gpus: {count: 8, model: a100-sxm4-80gb}", "duration: {a100-sxm4-80gb: 2h}")
    specs = specset_of(fleet, a_quota("all", "gpus: {vendor: nvidia}", "guaranteed: 12"), job)
    use = QuotaUse(quota="all", guaranteed=8, borrowed=0)

    def held(start: int) -> tuple[str, str]:
        segment = a_segment("dc1/b", a_node("b-1", *range(8)), specs=specs, start=start)
        segment = segment.model_copy(update={"quota": (use,)})
        plan = plan_of(a_placement("job/vision/x", segment, specs=specs), specs=specs)
        queue = named(kubernetes.render(plan, specs, specs.clusters[0]), "ClusterQueue", "vision-nvidia")
        first, second = (quotas(queue, name)["nvidia.com/gpu"][0] for name in ("h100-sxm5-80gb", "a100-sxm4-80gb"))
        return first, second

    assert held(start=0) == ("4", "8")
    assert held(start=1) == ("8", "4")


def test_a_flavor_without_labels_gets_one_beside_others_and_that_is_told() -> None:
    fleet = a_fleet(a_pool("a", gpus="{model: mi300x, count: 8}"), a_pool("b", gpus="{model: mi100, count: 4}"))
    result = rendered(fleet)
    assert named(result, "ResourceFlavor", "mi100")["spec"]["nodeLabels"] == {"planner.dev/flavor": "mi100"}
    assert "planner.dev/flavor" not in named(result, "ResourceFlavor", "mi300x")["spec"]["nodeLabels"]
    (told,) = [item for item in result.degraded if "planner.dev/flavor=mi100" in item.message]
    assert told.address == "pool/dc1/b"


def test_a_flavor_without_labels_that_is_alone_needs_none() -> None:
    result = rendered(a_fleet(a_pool("b", gpus="{model: mi100, count: 4}")))
    assert named(result, "ResourceFlavor", "mi100")["spec"] == {}
    assert not any("planner.dev/flavor" in item.message for item in result.degraded)


@pytest.mark.parametrize(("version", "told"), [("", True), (', kueue_version: "0.17"', False)])
def test_a_kueue_of_unknown_version_may_not_know_the_gate_and_that_is_told(version: str, told: bool) -> None:
    fleet = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes{version}}}", 1)
    assert any("no kueue_version" in item.message for item in rendered(fleet).degraded) is told
