"""The page on adopting a fleet shows what the verb really prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli import main
from tests.planner.discovery import machines
from tests.planner.discovery.bench import ROOT, Bench
from tests.planner.discovery.imports.workloads import SCRIPT
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
