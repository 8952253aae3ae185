"""A tree of teams in one cohort: a parent's queue has what its children's queues leave of its guarantee."""

from __future__ import annotations

import pytest
import yaml

from renderers import kubernetes
from tests.builders import Document, a_cluster, a_pool, a_quota, a_team, loaded, planned

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
