"""Every rendered object before a real API server with Kueue's webhooks: accepted strictly, and applied twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.labs import trees
from tests.e2e.labs.kubernetes.cluster import Cluster

CLUSTERS = [item.name for item in trees.the_specs().specs.clusters if item.backend.type == "kubernetes"]


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was rendered for the repository's specs."""
    return trees.rendered_into(tmp_path_factory.mktemp("manifests"), trees.the_specs())


def objects(folder: Path) -> list[dict[str, Any]]:
    """All objects that the folder's kustomization lists."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))
    texts = [(folder / name).read_text("utf-8") for name in kustomization["resources"]]
    return [item for text in texts for item in yaml.load_all(text, Loader=yaml.CSafeLoader)]


def hold(cluster: Cluster, folder: Path) -> None:
    """Apply all but the jobs, and stop the queues: the planner's own gate is newer than the Kueue of the lab."""
    everything = objects(folder)
    cluster.apply_objects([item for item in everything if item["kind"] != "Job"])
    for item in everything:
        if item["kind"] == "ClusterQueue":
            change = '{"spec":{"stopPolicy":"Hold"}}'
            cluster.kubectl("patch", "clusterqueue", item["metadata"]["name"], "--type=merge", f"--patch={change}")


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_object_is_accepted_and_a_second_time_changes_nothing(
    cluster: Cluster, manifests: Path, name: str
) -> None:
    folder = manifests / name
    hold(cluster, folder)
    assert len(cluster.apply("-k", folder)) == len(objects(folder))
    assert stated(cluster.would_be("-k", folder), folder) == stated(cluster.live("-k", folder), folder)
    assert len(cluster.apply("-k", folder)) == len(objects(folder))


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_phase_is_accepted_and_changes_queues_and_replicas_alone(
    cluster: Cluster, manifests: Path, name: str
) -> None:
    hold(cluster, manifests / name)
    for turn, phase in enumerate(sorted((manifests / name).glob("phases/*/"))):
        assert {item["kind"] for item in objects(phase)} <= {"ClusterQueue", "Cohort", "Deployment"}
        if turn:
            assert stated(cluster.would_be("-k", phase), phase) != stated(cluster.live("-k", phase), phase)
        cluster.apply("-k", phase)
        assert stated(cluster.would_be("-k", phase), phase) == stated(cluster.live("-k", phase), phase)
        for item in objects(phase):
            held = nominal if item["kind"] != "Deployment" else replicas
            assert held(read(cluster, item)) == held(item)


def stated(found: Sequence[dict[str, Any]], folder: Path) -> dict[tuple[str, ...], object]:
    """Objects by their names without what controllers write meanwhile: status, and metadata that the folder lacks."""
    rendered = {identity(item): item["metadata"] for item in objects(folder)}
    assert {identity(item) for item in found} == set(rendered)
    held: dict[tuple[str, ...], object] = {}
    for item in found:
        meta = rendered[identity(item)]
        marks = {
            part: {key: item["metadata"][part].get(key) for key in meta[part]}
            for part in ("labels", "annotations")
            if part in meta
        }
        held[identity(item)] = {key: item[key] for key in item.keys() - {"metadata", "status"}} | {"metadata": marks}
    return held


def identity(item: dict[str, Any]) -> tuple[str, ...]:
    """What no two objects of a cluster share."""
    meta = item["metadata"]
    return item["apiVersion"].partition("/")[0], item["kind"], meta.get("namespace", ""), meta["name"]


def read(cluster: Cluster, item: dict[str, Any]) -> dict[str, Any]:
    """An object as the API server holds it."""
    group, _, version = item["apiVersion"].partition("/")
    plural, meta = f"{item['kind'].lower()}s", item["metadata"]
    space = f"namespaces/{meta['namespace']}/" if "namespace" in meta else ""
    return cluster.api.call("GET", f"/apis/{group}/{version}/{space}{plural}/{meta['name']}")


def replicas(deployment: dict[str, Any]) -> int:
    """How many replicas it is to have."""
    return int(deployment["spec"]["replicas"])


def nominal(queue: dict[str, Any]) -> list[tuple[str, str, int]]:
    """What a queue holds of devices, by flavor and resource."""
    return [
        (flavor["name"], resource["name"], int(resource["nominalQuota"]))
        for group in queue["spec"].get("resourceGroups", [])
        for flavor in group["flavors"]
        for resource in flavor["resources"]
        if "gpu" in resource["name"]
    ]
