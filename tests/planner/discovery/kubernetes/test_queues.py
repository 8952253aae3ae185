"""Queues as teams and quotas."""

from __future__ import annotations

from typing import Any

import pytest

from planner.discovery.found import Allowance, Tenant
from planner.discovery.kubernetes.queues import Queues, queues
from tests.planner.discovery.kubernetes.objects import H100, MODELS, facts, found, mi300x, node


def read(*objects: dict[str, Any]) -> Queues:
    return queues(found(*objects), MODELS)


def flavor(name: str, label: str, value: str) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name},
            "spec": {"nodeLabels": {label: value}}}  # fmt: skip


def cluster_queue(
    name: str, *amounts: tuple[str, str, dict[str, Any]], cohort: str = "org", **marks: str
) -> dict[str, Any]:
    flavors = [{"name": each, "resources": [{"name": resource, **amount}, {"name": "cpu", "nominalQuota": "64"}]}
               for each, resource, amount in amounts]  # fmt: skip
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
        "metadata": {"name": name, "annotations": {f"planner.dev/{key}": value for key, value in marks.items()}},
        "spec": {"cohortName": cohort, "resourceGroups": [{"flavors": flavors}]},
    }  # fmt: skip


def local_queue(namespace: str, queue: str) -> dict[str, Any]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": "q", "namespace": namespace}, "spec": {"clusterQueue": queue}}  # fmt: skip


FLAVOR = flavor("h100", "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("amount", "cohort", "guaranteed", "limit", "lend"),
    [
        ({"nominalQuota": 8}, "org", 8, None, None),
        ({"nominalQuota": "8", "borrowingLimit": "8", "lendingLimit": "4"}, "org", 8, 16, 4),
        ({"nominalQuota": 8, "borrowingLimit": 0}, "org", 8, 8, None),
        ({"nominalQuota": 8, "lendingLimit": 8}, "org", 8, None, None),
        ({"nominalQuota": 8}, "", 8, 8, None),
    ],
)
def test_a_cluster_queue_guarantees_its_nominal_quota(
    amount: dict[str, Any], cohort: str, guaranteed: int, limit: int | None, lend: int | None
) -> None:
    result = read(FLAVOR, cluster_queue("vision", ("h100", GPU, amount), cohort=cohort))
    assert result.allowances == (
        Allowance(tenant="vision", model=H100, vendor="nvidia", guaranteed=guaranteed, limit=limit, lend=lend),
    )


def test_flavors_of_one_model_count_together_and_a_flavor_without_a_model_counts_for_its_vendor() -> None:
    spot = flavor("spot", "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
    other = flavor("other", "zone", "a")
    amounts = [(name, GPU, {"nominalQuota": count, "borrowingLimit": 1}) for name, count in
               (("h100", 8), ("spot", 4), ("other", 2))]  # fmt: skip
    result = read(FLAVOR, spot, other, cluster_queue("vision", *amounts))
    assert [(each.model, each.guaranteed, each.limit) for each in result.allowances] == [("", 2, 3), (H100, 12, 14)]


def test_the_team_is_the_planners_or_the_queue_and_has_the_namespace_of_its_only_local_queue() -> None:
    objects = (cluster_queue("cq-1", team="vision"), local_queue("team-vision", "cq-1"), cluster_queue("nlp"))
    assert read(*objects).tenants == (Tenant(name="nlp"), Tenant(name="vision", namespace="team-vision"))


def test_a_queue_of_several_namespaces_is_told() -> None:
    result = read(cluster_queue("shared"), local_queue("a", "shared"), local_queue("b", "shared"))
    assert result.tenants == (Tenant(name="shared"),)
    assert result.untold == ("queue shared serves a, b: a team has one namespace, write the right one",)


def test_a_kai_queue_guarantees_its_quota_and_minus_one_is_no_limit() -> None:
    spec = {"parentQueue": "org", "resources": {"gpu": {"quota": 4, "limit": -1, "overQuotaWeight": 2}}}
    queue = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "vision"}, "spec": spec}
    result = read(queue)
    assert (result.tenants, result.allowances) == (
        (Tenant(name="vision", parent="org"),), (Allowance(tenant="vision", guaranteed=4, weight=2),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "guaranteed", "limit", "lend", "weight"),
    [
        ({"deserved": {GPU: "6"}, "guarantee": {"resource": {GPU: 4}}, "capability": {GPU: "8"}}, 6, 8, 2, None),
        ({"deserved": {GPU: "6"}, "guarantee": {"resource": {GPU: "0"}}, "weight": 3}, 6, None, None, 3),
        ({"guarantee": {"resource": {GPU: 4}}}, 4, None, 0, None),
        ({"capability": {GPU: 4}, "weight": 1}, 0, 4, None, None),
    ],
)
def test_a_volcano_queue_is_guaranteed_what_it_deserves_and_lends_what_is_not_held_for_it(
    spec: dict[str, Any], guaranteed: int, limit: int | None, lend: int | None, weight: int | None
) -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "v"}, "spec": spec}
    assert read(queue).allowances == (
        Allowance(tenant="v", vendor="nvidia", guaranteed=guaranteed, limit=limit, lend=lend, weight=weight),
    )


def test_what_a_volcano_queue_does_not_give_back_is_told_and_its_root_is_no_team() -> None:
    head = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    spec = {"capability": {GPU: 4}, "reclaimable": False, "parent": "root"}
    result = read(head | {"metadata": {"name": "v"}, "spec": spec}, head | {"metadata": {"name": "root"}, "spec": spec})
    assert result.tenants == (Tenant(name="v"),)
    assert result.untold == ("queue v: that it gives nothing back is not written",)


def test_the_planners_own_queues_are_those_of_its_teams_below_no_team() -> None:
    head = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue"}
    own = {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}
    root = head | {"metadata": {"name": "planner-dc1", "labels": own}, "spec": {"resources": {"gpu": {"quota": -1}}}}
    team = head | {
        "metadata": {"name": "team-vision", "labels": own},
        "spec": {"parentQueue": "planner-dc1", "resources": {"gpu": {"quota": 0, "limit": 4}}},
    }
    result = read(root, team)
    assert result.tenants == (Tenant(name="vision"),)
    assert result.allowances == (Allowance(tenant="vision", guaranteed=0, limit=4),)


def test_cohorts_below_others_are_teams_and_weights_are_kept() -> None:
    def cohort(name: str, **spec: Any) -> dict[str, Any]:
        return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": spec}

    queue = cluster_queue("vision", ("h100", GPU, {"nominalQuota": 8}), cohort="research")
    queue["spec"]["fairSharing"] = {"weight": "3"}
    own = [{"flavors": [{"name": "h100", "resources": [{"name": GPU, "nominalQuota": 4}]}]}]
    result = read(FLAVOR, queue, cohort("org"), cohort("research", parentName="org", resourceGroups=own))
    assert result.tenants == (Tenant(name="research"), Tenant(name="vision", parent="research"))
    assert [(each.tenant, each.weight) for each in result.allowances] == [("vision", 3)]
    assert result.untold == (
        "cohort research: its own quota is not written; a team's guarantee contains its children's",
    )


def test_a_team_with_a_queue_in_the_cohort_that_it_is_has_what_all_below_it_own() -> None:
    def cohort(name: str, team: str, **spec: Any) -> dict[str, Any]:
        return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "spec": spec,
                "metadata": {"name": name, "annotations": {"planner.dev/team": team}}}  # fmt: skip

    limits = [{"flavors": [{"name": "h100", "resources": [{"name": GPU, "nominalQuota": 0, "lendingLimit": 7}]}]}]
    own = {"nominalQuota": 2, "borrowingLimit": 10, "lendingLimit": 2}
    result = read(
        FLAVOR, cohort("org", "org"), cohort("org-r", "research", parentName="org", resourceGroups=limits),
        cluster_queue("research-nvidia", ("h100", GPU, own), cohort="org-r", team="research"),
        cluster_queue("vision-nvidia", ("h100", GPU, {"nominalQuota": 8}), cohort="org-r", team="vision"),
        local_queue("research", "research-nvidia"), local_queue("vision", "vision-nvidia"),
    )  # fmt: skip
    assert result.tenants == (
        Tenant(name="research", namespace="research"),
        Tenant(name="vision", parent="research", namespace="vision"),
    )
    assert [(each.tenant, each.guaranteed, each.limit, each.lend) for each in result.allowances] == [
        ("research", 10, 12, 7), ("vision", 8, None, None),
    ]  # fmt: skip


def test_a_team_that_owns_nothing_beside_those_below_it_has_no_quota_of_its_own() -> None:
    parent = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "spec": {"parentName": "org"},
              "metadata": {"name": "research"}}  # fmt: skip
    result = read(
        FLAVOR, parent, cluster_queue("research", ("h100", GPU, {"nominalQuota": 0}), cohort="research"),
        cluster_queue("vision", ("h100", GPU, {"nominalQuota": 8}), cohort="research"),
    )  # fmt: skip
    assert [(each.tenant, each.guaranteed) for each in result.allowances] == [("research", 0), ("vision", 8)]


def test_a_guarantee_of_nothing_without_a_limit_is_what_every_team_has() -> None:
    result = facts(
        node("n1"), cluster_queue("a", ("h100", GPU, {"nominalQuota": 0})),
        cluster_queue("b", ("h100", GPU, {"nominalQuota": 0, "borrowingLimit": 0})),
    )  # fmt: skip
    assert [(each.tenant, each.guaranteed, each.limit) for each in result.allowances] == [("b", 0, 0)]


def test_a_resource_quota_limits_its_namespace_and_its_scopes_are_told() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpu", "namespace": "nlp"},
             "spec": {"hard": {f"requests.{GPU}": "4", "pods": "10"}}}  # fmt: skip
    assert read(quota).allowances == (Allowance(tenant="nlp", vendor="nvidia", limit=4),)
    scoped = quota | {"spec": {"hard": {f"requests.{GPU}": "4"}, "scopes": ["BestEffort"]}}
    assert (read(scoped).allowances, read(scoped).untold) == ((), ("quota nlp/gpu: its scopes are not written",))


def test_nothing_of_a_vendor_that_is_not_there_is_left_out() -> None:
    queue = cluster_queue(
        "vision", ("a", GPU, {"nominalQuota": 0}), ("b", "amd.com/gpu", {"nominalQuota": 2}), cohort=""
    )
    result = facts(node("m1", mi300x(), resources={"amd.com/gpu": "8"}), queue)
    assert [(each.vendor, each.guaranteed) for each in result.allowances] == [("amd", 2)]
