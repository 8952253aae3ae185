"""A whole cluster: from objects to specs and a Snapshot that load."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from planner.cli import main
from planner.diagnostics import UsageError
from planner.source import SourceFile
from planner.specset import SpecSet, load
from tests.planner.discovery.kubernetes.objects import H100, SECRET, facts, h100, job, listed, mi300x, node, pod
from tests.planner.discovery.kubernetes.test_queues import FLAVOR, GPU, cluster_queue, local_queue

OBJECTS = (
    node("gpu-001", h100(gpu_clique="7b968a6d.1") | {"topology.kubernetes.io/rack": "r1"}),
    node("gpu-002", h100(gpu_clique="7b968a6d.1") | {"topology.kubernetes.io/rack": "r2"}, version="v1.30.9"),
    node("amd-1", mi300x(), resources={"amd.com/gpu": "8"}, spec={"unschedulable": True}),
    node("cpu-1", {}, resources={}),
    FLAVOR,
    cluster_queue("vision", ("h100", GPU, {"nominalQuota": 8, "borrowingLimit": 8})),
    local_queue("team-vision", "vision"),
    job("resnet-1", "job/vision/resnet"),
    pod("resnet-1-0", "gpu-002", devices=4, owner="resnet-1"),
    pod("notebook", "gpu-002", devices=2, namespace="nlp"),
)
JOB = """apiVersion: planner/v1
kind: Job
name: resnet
team: vision
image: registry.acme/train:2.9
command: [torchrun, train.py]
gpus: {count: 4, model: h100-sxm5-80gb}
duration: 10h
"""


def loaded(*paths: Path) -> SpecSet:
    result = load([SourceFile(path.name, path.read_bytes()) for path in paths])
    assert result.specset is not None, result.diagnostics
    return result.specset


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl that knows the objects, and has no KAI or Volcano; ResourceQuotas it may not read."""
    (tmp_path / "all.json").write_bytes(listed(*OBJECTS)[0].data)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/kubectl"
    program.write_text(
        "#!/bin/sh\n"
        'case "$2" in\n'
        f"nodes) cat {tmp_path}/all.json ;;\n"
        'queues.*) echo "error: the server doesn\'t have a resource type" >&2; exit 1 ;;\n'
        "resourcequotas) echo 'Forbidden: no' >&2; exit 1 ;;\n"
        '*) echo \'{"apiVersion": "v1", "kind": "List", "items": []}\' ;;\n'
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def run(*arguments: str | Path) -> int:
    return main(["discover", "--from", "kubernetes", "--name", "k1", *map(str, arguments)])


def test_a_cluster_becomes_specs_that_load(site: Path) -> None:
    assert run("--write", site / "k1.yaml", "--teams", site / "teams.yaml") == 0
    specs = loaded(site / "k1.yaml", site / "teams.yaml")
    pool = specs.pool("k1/h100")
    assert (pool.node_names(), pool.gpus[0].model) == (("gpu-001", "gpu-002"), H100)
    assert dict(pool.racks) == {"r1": ("gpu-001",), "r2": ("gpu-002",)}
    assert [nodes for _, nodes in pool.nvlink_domains] == [("gpu-001", "gpu-002")]
    assert (specs.pool("k1/mi300").devices_per_node, specs.pool("k1/cpu").devices_per_node) == (8, 0)
    assert specs.cluster("k1").backend.version == "1.30"
    assert specs.team("vision").namespace == "team-vision"
    quota = specs.quota("vision-h100-sxm5-80gb-k1")
    assert (quota.guaranteed, quota.limit) == (8, 16)


def test_a_snapshot_knows_the_planners_job_and_keeps_others_foreign(site: Path) -> None:
    specs, shot = site / "specs", site / "snapshot.yaml"
    specs.mkdir()
    run("--write", specs / "k1.yaml", "--teams", specs / "teams.yaml")
    (specs / "resnet.yaml").write_text(JOB)
    assert run("--specs", specs, "--snapshot", shot) == 0
    (snapshot,) = loaded(*sorted(specs.iterdir()), shot).snapshots
    assert [(each.job, [device.index for device in each.nodes[0].devices]) for each in snapshot.running] == [
        ("vision/resnet", [0, 1, 2, 3])
    ]
    assert [(each.owner, [device.index for device in each.nodes[0].devices]) for each in snapshot.foreign] == [
        ("nlp/notebook", [4, 5])
    ]
    assert [(each.pool, each.nodes[0].name, each.reason) for each in snapshot.down] == [
        ("k1/mi300", "amd-1", "cordoned")
    ]
    assert SECRET not in shot.read_text()


def test_only_what_failed_is_told_and_not_what_a_cluster_does_not_have(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--write", site / "k1.yaml") == 0
    told = capsys.readouterr()
    assert "resourcequotas" in told.out
    assert "run.ai" not in told.out
    assert SECRET not in told.out + told.err


def test_files_give_what_the_commands_give(site: Path) -> None:
    assert run("--write", site / "live.yaml") == 0
    parts = [site / f"{index}.json" for index in range(len(OBJECTS))]
    for path, thing in zip(parts, OBJECTS, strict=True):
        path.write_text(json.dumps(thing))
    assert run(*parts[::-1], "--write", site / "files.yaml") == 0
    assert (site / "files.yaml").read_bytes() == (site / "live.yaml").read_bytes()


def test_without_nodes_there_is_no_cluster() -> None:
    with pytest.raises(UsageError, match="kubectl get nodes -o json"):
        facts(pod("a", "n1"))
