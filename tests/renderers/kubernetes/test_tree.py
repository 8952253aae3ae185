"""The folder of a cluster as a whole."""

from __future__ import annotations

import json
from typing import Any

import kubernetes_validate
import pytest

from planner.spec.backend import Workload
from renderers import Rendered, kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, schema_faults

CORE = frozenset({"Job", "Namespace", "Service"})


def a_tree(backend: str = "kubernetes") -> Rendered:
    """A gang, a small job and a job without devices."""
    specs = specset_of(
        FLEET.replace("backend: kubernetes", f"backend: {backend}", 1),
        a_job("gang", "gpus: 16", "command: [torchrun, train.py]", "env: {T: {secret: hf, key: token}}"),
        a_job("small", "gpus: 1", "command: [run]", "mounts: [{path: /data, claim: pvc}]", team="nlp"),
        a_job("plain", "gpus: 0", "command: [run]", "cpus: 2", "memory: 1Gi"),
    )
    nodes: dict[str, tuple[str, tuple[Any, ...]]] = {
        "job/vision/gang": ("dc1/h100", (a_node("h100-001", *range(8)), a_node("h100-002", *range(8)))),
        "job/nlp/small": ("dc1/h100", (a_node("h100-003", 0),)),
        "job/vision/plain": ("dc1/login", (a_node("cpu-1"),)),
    }
    placements = [
        a_placement(address, a_segment(pool, *where, specs=specs), specs=specs)
        for address, (pool, where) in nodes.items()
    ]
    return kubernetes.render(plan_of(*placements, specs=specs), specs, specs.clusters[0])


@pytest.mark.parametrize(
    "backend",
    [
        "kubernetes",
        '{type: kubernetes, kueue_version: "0.14"}',
        "{type: kubernetes, queueing: none}",
        *(
            f"{{type: kubernetes, queueing: {name}, workload: {kind}}}"
            for name in ("kai", "volcano")
            for kind in Workload
        ),
        *(f"{{type: kubernetes, workload: {kind}}}" for kind in Workload),
    ],
)
def test_every_object_is_what_its_schema_allows(backend: str) -> None:
    assert schema_faults(a_tree(backend)) == []


def test_core_objects_pass_the_strict_schemas_of_kubernetes_itself() -> None:
    checked = [item for each in documents(a_tree()).values() for item in each if item["kind"] in CORE]
    assert {item["kind"] for item in checked} == CORE
    for item in checked:
        kubernetes_validate.validate(item, "1.37", strict=True)


def test_kustomize_applies_everything_and_what_is_needed_first() -> None:
    found = documents(a_tree())
    paths = found.pop("dc1/kustomization.yaml")[0]["resources"]
    assert sorted(f"dc1/{path}" for path in paths) == sorted(found)
    kinds = [found[f"dc1/{path}"][0]["kind"] for path in paths]
    first = {kind: kinds.index(kind) for kind in kinds}
    order = [
        "Namespace",
        "WorkloadPriorityClass",
        "ResourceFlavor",
        "Cohort",
        "ClusterQueue",
        "LocalQueue",
        "Service",
        "Job",
    ]
    assert sorted(first, key=lambda kind: first[kind]) == order


def test_the_index_says_what_belongs_to_whom() -> None:
    result = a_tree()
    (index,) = [json.loads(item.text) for item in result.manifests if item.path == "dc1/index.json"]
    paths = {item.path.removeprefix("dc1/") for item in result.manifests}
    listed = {path for each in index["addresses"].values() for path in each}
    assert listed == paths - {"kustomization.yaml", "index.json"}
    (job, service) = index["addresses"]["job/vision/gang"]
    assert job.startswith("vision/job-gang-") and service == "vision/service-gang.yaml"
    assert "_cluster/flavor-h100-sxm5-80gb.yaml" in index["addresses"]["pool/dc1/h100"]


@pytest.mark.parametrize("queueing", ["kai", "volcano", "none"])
def test_no_other_queueing_is_taken_for_kueue(queueing: str) -> None:
    result = a_tree(f"{{type: kubernetes, queueing: {queueing}}}")
    assert not any("kueue" in item.text for item in result.manifests if "/role-" not in item.path)
