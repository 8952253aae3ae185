"""A tree of teams in one cohort: a parent's queue has what its children's queues leave of its guarantee."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from renderers import kubernetes
from tests.builders import Document, a_cluster, a_pool, a_quota, a_team, loaded, planned
from tests.renderers.kubernetes.reading import documents as documents_of
from tests.renderers.kubernetes.reading import objects, schema_faults

TREE: tuple[Document, ...] = (
    a_team("research"),
    a_team("vision", parent="research"),
    a_team("speech", parent="research"),
    a_team("product"),
    a_quota("q-research", "research", 10),
    a_quota("q-vision", "vision", 5),
    a_quota("q-speech", "speech", 3),
    a_quota("q-product", "product", 4),
)


def nominal(*documents: Document) -> dict[str, int]:
    """The devices that the queue of each team, and the cohort, owns."""
    specs = loaded(*documents)
    result = kubernetes.render(planned(*documents), specs, specs.clusters[0])
    owned: dict[str, int] = {}
    for manifest in result.manifests:
        tree = yaml.safe_load(manifest.text) if manifest.path.endswith(".yaml") else {}
        if tree and tree.get("kind") in {"ClusterQueue", "Cohort"}:
            resources = tree["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
            (amount,) = (each["nominalQuota"] for each in resources if each["name"] == "nvidia.com/gpu")
            owned[tree["metadata"]["name"].removesuffix("-nvidia")] = int(amount)
    return owned


def test_no_device_of_a_tree_is_owned_twice() -> None:
    fleet = a_cluster(a_pool(nodes=2, cpus=96, memory="1Ti"), backend={"type": "kubernetes", "kueue_version": "0.19"})
    owned = nominal(fleet, *TREE)
    assert {team: owned[team] for team in ("research", "vision", "speech", "product")} == {
        "research": 2, "vision": 5, "speech": 3, "product": 4,
    }  # fmt: skip
    assert sum(owned.values()) == 16


@pytest.mark.parametrize(("children", "own"), [((5, 5), 0), ((5, 3), 2), ((0, 0), 10)])
def test_a_parent_owns_what_is_left(children: tuple[int, int], own: int) -> None:
    fleet = a_cluster(a_pool(nodes=2, cpus=96, memory="1Ti"))
    quotas = [a_quota("q-vision", "vision", children[0]), a_quota("q-speech", "speech", children[1])]
    assert nominal(fleet, *TREE[:5], *quotas)["research"] == own


def cohorts(*documents: Document, version: str = "0.19") -> tuple[dict[str, Any], dict[str, str]]:
    """The cohorts by name, and the cohort of each team's queue."""
    fleet = a_cluster(a_pool(nodes=2, cpus=96, memory="1Ti"), backend={"type": "kubernetes", "kueue_version": version})
    specs, plan = loaded(fleet, *documents), planned(fleet, *documents)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents_of(result), plan, specs, specs.clusters[0], result.degraded) == ()
    field = "cohortName" if version == "0.19" else "cohort"
    queues = {item["metadata"]["annotations"]["planner.dev/team"]: item for item in objects(result, "ClusterQueue")}
    return (
        {item["metadata"]["name"]: item for item in objects(result, "Cohort")},
        {team: item["spec"][field] for team, item in queues.items()},
    )


def devices(cohort: dict[str, Any]) -> dict[str, str]:
    """What a cohort says of its devices."""
    (flavor,) = cohort["spec"]["resourceGroups"][0]["flavors"]
    (found,) = [each for each in flavor["resources"] if each["name"] == "nvidia.com/gpu"]
    return {key: value for key, value in found.items() if key != "name"}


def test_a_team_with_others_below_it_is_a_cohort_in_which_they_borrow_first() -> None:
    found, queues = cohorts(*TREE)
    assert set(found) == {"dc1-nvidia", "dc1-nvidia-research"}
    assert found["dc1-nvidia-research"]["spec"]["parentName"] == "dc1-nvidia"
    assert "parentName" not in found["dc1-nvidia"]["spec"]
    assert queues == {
        "product": "dc1-nvidia",
        "research": "dc1-nvidia-research",
        "speech": "dc1-nvidia-research",
        "vision": "dc1-nvidia-research",
    }


def test_limits_of_a_parent_hold_for_all_below_it_together() -> None:
    assert devices(cohorts(*TREE)[0]["dc1-nvidia-research"]) == {"nominalQuota": "0"}
    limited = a_quota("q-research", "research", 10, limit=12, lend=7, weight=3)
    found = cohorts(*(each for each in TREE if each["name"] != "q-research"), limited)[0]["dc1-nvidia-research"]
    assert devices(found) == {"nominalQuota": "0", "borrowingLimit": "2", "lendingLimit": "7"}
    assert found["spec"]["fairSharing"] == {"weight": "3"}


def test_a_tree_of_three_is_three_cohorts() -> None:
    below = (a_team("retina", parent="vision"), a_quota("q-retina", "retina", 2))
    found, queues = cohorts(*TREE, *below)
    parents = {name: item["spec"].get("parentName") for name, item in found.items()}
    assert parents == {
        "dc1-nvidia": None,
        "dc1-nvidia-research": "dc1-nvidia",
        "dc1-nvidia-vision": "dc1-nvidia-research",
    }
    assert (queues["retina"], queues["vision"]) == ("dc1-nvidia-vision", "dc1-nvidia-vision")


def test_a_kueue_without_objects_for_cohorts_lends_among_all() -> None:
    found, queues = cohorts(*TREE, version="0.10")
    assert (found, set(queues.values())) == ({}, {"dc1-nvidia"})


@pytest.mark.parametrize(
    ("backend", "is_told"),
    [
        ({"type": "kubernetes"}, False),
        ({"type": "kubernetes", "kueue_version": "0.10"}, True),
        ({"type": "kubernetes", "queueing": "kai"}, True),
    ],
)
def test_limits_that_the_plan_alone_holds_are_told(backend: dict[str, str], is_told: bool) -> None:
    documents = (a_cluster(a_pool(nodes=2, cpus=96, memory="1Ti"), backend=backend), *TREE)
    specs = loaded(*documents)
    result = kubernetes.render(planned(*documents), specs, specs.clusters[0])
    assert any("limits of its parent research" in item.message for item in result.degraded) is is_told


def held_of(team: str, *documents: Document) -> dict[str, int]:
    """The devices that the queue of a team owns of each flavor."""
    specs = loaded(*documents)
    (text,) = [
        item.text
        for item in kubernetes.render(planned(*documents), specs, specs.clusters[0]).manifests
        if item.path == f"dc1/_cluster/queue-{team}-nvidia.yaml"
    ]
    return {
        flavor["name"]: int(each["nominalQuota"])
        for flavor in yaml.safe_load(text)["spec"]["resourceGroups"][0]["flavors"]
        for each in flavor["resources"]
        if each["name"] == "nvidia.com/gpu"
    }


def test_a_parents_guarantee_over_several_models_is_divided_among_the_devices_that_its_children_leave() -> None:
    fleet = a_cluster(
        a_pool(nodes=2, cpus=96, memory="1Ti"),
        a_pool("a100", nodes=2, model="a100-sxm4-80gb", cpus=96, memory="1Ti"),
    )
    tree = (*TREE[:3], a_quota("q-research", "research", 32, gpus={"vendor": "nvidia"}))
    alone = held_of("research", fleet, *tree)
    assert alone == {"a100-sxm4-80gb": 16, "h100-sxm5-80gb": 16}
    children = (a_quota("q-vision", "vision", 12), a_quota("q-speech", "speech", 3))
    assert held_of("research", fleet, *tree, *children) == {"a100-sxm4-80gb": 16, "h100-sxm5-80gb": 1}
    fewer = (*TREE[:3], a_quota("q-research", "research", 23, gpus={"vendor": "nvidia"}), children[0])
    assert held_of("research", fleet, *fewer) == {"a100-sxm4-80gb": 9, "h100-sxm5-80gb": 2}


def test_what_a_grandchild_owns_is_not_its_grandparents() -> None:
    fleet = a_cluster(
        a_pool(nodes=1, cpus=96, memory="1Ti"),
        a_pool("a100", nodes=1, model="a100-sxm4-80gb", cpus=96, memory="1Ti"),
    )
    tree = (
        a_team("top"),
        a_team("middle", parent="top"),
        a_team("low", parent="middle"),
        a_quota("q-top", "top", 16, gpus={"vendor": "nvidia"}),
        a_quota("q-middle", "middle", 8),
        a_quota("q-low", "low", 5),
    )
    assert held_of("top", fleet, *tree) == {"a100-sxm4-80gb": 8, "h100-sxm5-80gb": 0}
    assert held_of("middle", fleet, *tree)["h100-sxm5-80gb"] == 3
    assert held_of("low", fleet, *tree)["h100-sxm5-80gb"] == 5
