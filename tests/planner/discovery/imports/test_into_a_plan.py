"""Work of every kind, imported, planned and written again: each object keeps what it was, and has its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner import pipeline
from planner.cli import main
from planner.source import read_tree
from planner.specset import load
from renderers import render
from tests.builders import START
from tests.planner.discovery.imports.test_kinds import MPI, PREDICTOR, RAY, SERVER, TRAINER
from tests.planner.discovery.imports.workloads import SECRET, a, job, job_set, pod, pytorch, replicated
from tests.renderers.kubernetes.reading import documents

FLEET = """apiVersion: planner/v1
kind: Cluster
name: k1
backend: kubernetes
pools:
  - {name: h100, nodes: 16, gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 192, memory: 2Ti}
  - {name: h200, nodes: 2, gpus: {model: h200-sxm5-141gb, count: 8}, cpus: 192, memory: 2Ti}
---
apiVersion: planner/v1
kind: Team
name: vision
"""
DEPLOYMENT = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": SERVER}
GROUPS = {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": SERVER}}
WORKLOADS: tuple[dict[str, Any], ...] = (
    job(),
    job_set(replicated("driver", pod({})), replicated("w", pod(), replicas=2)),
    pytorch(pod(), pod(), 1),
    a("TrainJob", "trainer.kubeflow.org/v1alpha1", {"trainer": TRAINER, "runtimeRef": {"name": "torch"}}),
    a("RayJob", "ray.io/v1", RAY),
    a("MPIJob", "kubeflow.org/v2beta1", MPI),
    a("Deployment", "apps/v1", DEPLOYMENT),
    a("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", GROUPS),
    a("InferenceService", "serving.kserve.io/v1beta1", {"predictor": PREDICTOR}),
)


def imported(folder: Path) -> Path:
    """The specs and templates of all workloads, beside a fleet that is large enough for them."""
    for at, tree in enumerate(WORKLOADS):
        named = {**tree, "metadata": {**tree["metadata"], "name": f"work-{at}"}}
        (folder / f"{at}.json").write_text(json.dumps(named))
    files = [str(path) for path in sorted(folder.glob("*.json"))]
    assert main(["import", *files, "--duration", "2h", "--out", str(folder / "specs")]) == 0
    (folder / "specs/fleet.yaml").write_text(FLEET)
    return folder / "specs"


def test_every_kind_is_planned_and_written_again_over_what_it_was(tmp_path: Path) -> None:
    result = load(read_tree(imported(tmp_path)))
    assert result.specset is not None, result.diagnostics
    plan = pipeline.plan(result.specset, start=START, budget=0).plan
    assert plan.unplaced == ()
    made = render(plan, result.specset)
    assert [each for each in made.degraded if each.message.startswith("not written")] == []
    kinds = {tree["kind"] for tree in WORKLOADS}
    written = [item for each in documents(made).values() for item in each if item["kind"] in kinds]
    assert {item["kind"] for item in written} == kinds
    assert len(written) == len(WORKLOADS)
    assert SECRET not in json.dumps(written)
