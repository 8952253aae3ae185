"""The page on adopting a fleet shows what the verb really prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.catalog import Vendor
from planner.cli import main
from planner.discovery.facts import Device, HostFacts, as_json
from tests.planner.discovery import machines
from tests.planner.discovery.bench import ROOT, Bench
from tests.planner.discovery.compose.test_read import requested
from tests.planner.discovery.imports.workloads import SCRIPT
from tests.planner.discovery.kubernetes.objects import h100, job, listed, node, pod
from tests.planner.discovery.kubernetes.test_queues import FLAVOR, cluster_queue, local_queue
from tests.planner.discovery.machines import Machine
from tests.planner.discovery.slurm.site import FILES

PAGE = (Path(ROOT) / "docs/adopt.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("machine", "arguments"),
    [(machines.H100, ("--name", "dc1")), (machines.A100_MIG, ()), (machines.CPX, ())],
    ids=["a host", "MIG", "AMD partitions"],
)
def test_output_on_the_page_is_real(bench: Bench, machine: Machine, arguments: tuple[str, ...]) -> None:
    printed = bench.run(machine, *arguments).stdout
    shown = printed if arguments else printed.split("\n\n# Spec", maxsplit=1)[0]
    command = " ".join(("planner discover", *arguments))
    assert f"```console\n$ {command}\n{shown.rstrip()}\n```" in PAGE


def test_the_slurm_cluster_on_the_page_is_real(capsys: pytest.CaptureFixture[str]) -> None:
    told = ("--from", "slurm", "--name", "dc1", "--model", "h100=h100-sxm5-80gb", "--at", "2026-11-30T21:20:00Z")
    assert main(["discover", *told, *map(str, FILES)]) == 0
    shown = capsys.readouterr().out.rstrip()
    assert f"$ planner discover {' '.join(told)} *.txt squeue.json\n{shown}\n```" in PAGE


def test_the_import_on_the_page_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.sbatch").write_text(SCRIPT)
    assert main(["import", "train.sbatch", "--duration", "24h", "--out", "specs"]) == 0
    command = "planner import train.sbatch --duration 24h --out specs"
    assert f"$ {command}\n{capsys.readouterr().err}$ cat specs/vision/llama-pretrain.yaml\n" in PAGE
    assert f"yaml\n{Path('specs/vision/llama-pretrain.yaml').read_text()}```" in PAGE


def test_the_kubernetes_cluster_on_the_page_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rack = {"topology.kubernetes.io/rack": "r1"}
    queue = cluster_queue("vision", ("h100", "nvidia.com/gpu", {"nominalQuota": 8, "borrowingLimit": 4}))
    running = job("resnet-4be1", "job/vision/resnet", spec={"activeDeadlineSeconds": 36_000})
    objects = (
        *(node(f"gpu-{at}", h100() | rack) for at in (1, 2)), node("gpu-3", h100() | rack, ready="False"),
        FLAVOR, queue, local_queue("team-vision", "vision"), running,
        pod("resnet-4be1-x", "gpu-1", devices=8, owner="resnet-4be1"), pod("notebook", "gpu-2", namespace="nlp"),
    )  # fmt: skip
    Path("objects.json").write_bytes(listed(*objects)[0].data)
    told = "discover --from kubernetes --name k1 --at 2026-11-30T21:20:00Z objects.json"
    assert main(told.split()) == 0
    assert f"$ planner {told}\n{capsys.readouterr().out.rstrip()}\n```" in PAGE


def test_the_compose_host_on_the_page_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    l4 = Device(index=0, vendor=Vendor.NVIDIA, name="NVIDIA L4", uuid="GPU-6f2a", memory_mib=23_034)
    till = HostFacts(name="till-17", architecture="amd64", cpus=16, memory_mib=64_000, devices=(l4,))
    Path("till-17.host.json").write_text(as_json(till))
    named = {"Name": "/chat-vllm-1", "Config": {"Labels": {"com.docker.compose.project": "chat"}}}
    Path("till-17.containers.json").write_text(json.dumps([requested("GPU-6f2a") | named]))
    told = "discover --from compose --name shop --at 2026-11-30T21:20:00Z"
    assert main([*told.split(), "till-17.host.json", "till-17.containers.json"]) == 0
    assert f"$ planner {told} till-17.*.json\n{capsys.readouterr().out.rstrip()}\n```" in PAGE
