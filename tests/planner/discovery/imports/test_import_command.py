"""The verb `import`: what it writes, what it never replaces, and that the result loads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from planner.cli import main
from planner.source import read_tree
from planner.specset import load
from tests.planner.discovery.imports.workloads import SCRIPT, SECRET, job, job_set, pod, pytorch, replicated

TREE = """apiVersion: planner/v1
kind: Cluster
name: k1
backend: kubernetes
pools:
  - {name: h100, nodes: 16, gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 192, memory: 2Ti, features: [ib, hopper]}
---
apiVersion: planner/v1
kind: Team
name: vision
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with three manifests and a script."""
    (tmp_path / "train.sbatch").write_text(SCRIPT)
    secret = pod(env=[{"name": "TOKEN", "value": SECRET}])
    trees = {"job": job(secret, activeDeadlineSeconds=3600), "set": job_set(replicated("w", pod(), replicas=2)),
             "pt": pytorch(pod(), pod({"nvidia.com/gpu": 4}), 3)}  # fmt: skip
    for name, tree in trees.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    return tmp_path


def files(work: Path) -> list[str]:
    return [str(path) for path in sorted(work.iterdir()) if path.is_file()]


def test_everything_that_is_imported_loads(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", *files(work), "--duration", "20h", "--out", str(work / "specs")]) == 0
    (work / "specs/fleet.yaml").write_text(TREE)
    result = load(read_tree(work / "specs"))
    assert result.specset is not None, result.diagnostics
    assert sorted(spec.name for spec in result.specset.jobs) == ["js", "llama-pretrain", "pt", "resnet"]
    script = result.specset.attachment("job/vision/llama-pretrain", "llama-pretrain.sbatch")
    assert script == SCRIPT.encode()
    told = capsys.readouterr()
    assert "Job vision/resnet -> job/vision/resnet\n" in told.err
    assert "  values of TOKEN are not written" in told.err
    written = b"".join(path.read_bytes() for path in (work / "specs").rglob("*") if path.is_file())
    assert SECRET.encode() not in written
    assert SECRET not in told.out + told.err


def test_the_order_of_files_makes_no_difference_and_again_changes_nothing(work: Path) -> None:
    for out, order in (("a", files(work)), ("b", files(work)[::-1]), ("a", files(work))):
        assert main(["import", *order, "--duration", "20h", "--out", str(work / out)]) == 0
    trees = [{path.relative_to(work / out): path.read_bytes() for path in sorted((work / out).rglob("*.*"))}
             for out in ("a", "b")]  # fmt: skip
    assert trees[0] == trees[1]


def test_a_file_that_says_something_else_is_not_replaced_and_nothing_is_written(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = work / "specs/vision/resnet.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("# mine\n")
    assert main(["import", *files(work), "--duration", "20h", "--out", str(work / "specs")]) == 1
    assert "are there already and hold something else" in capsys.readouterr().err
    assert [path.name for path in mine.parent.iterdir()] == ["resnet.yaml"]
    assert mine.read_text() == "# mine\n"


def test_a_namespace_or_account_of_the_specs_is_its_team(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "specs").mkdir()
    team = "{apiVersion: planner/v1, kind: Team, name: cv, namespace: vision, account: vision}\n"
    (work / "specs/teams.yaml").write_text(team)
    told = ["--duration", "20h", "--specs", str(work / "specs")]
    assert main(["import", str(work / "train.sbatch"), str(work / "job.json"), *told]) == 0
    assert capsys.readouterr().out.count("\nteam: cv\n") == 2
    assert main(["import", str(work / "job.json"), *told[:2], "--specs", str(work / "none")]) == 0
    assert "\nteam: vision\n" in capsys.readouterr().out


def test_without_a_folder_specs_are_shown(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(work / "train.sbatch")]) == 0
    assert capsys.readouterr().out.startswith("apiVersion: planner/v1\nkind: Job\nname: llama-pretrain\n")


def test_a_cluster_is_read_by_kubectl(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = work / "bin/kubectl"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$2" in jobs.batch) cat {work}/job.json ;;\n'
        '*) echo "the server doesn\'t have a resource type" >&2; exit 1 ;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert main(["import", "--from", "kubernetes", "--out", str(work / "specs")]) == 0
    assert sorted(path.name for path in (work / "specs/vision").iterdir()) == ["resnet.template.yaml", "resnet.yaml"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say what to import"),
        (("x.yaml", "--from", "kubernetes"), "say what to import"),
        (("x.yaml", "--team", "Not A Name"), "--team: "),
        (("x.yaml", "--duration", "5"), "--duration: "),
        (("no-such-file",), "cannot read 'no-such-file'"),
        (("x.yaml", "--model", "a"), "write WORD=MODEL"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", *arguments]) == 64
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_workload_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.yaml").write_text("a: 1\n")
    assert main(["import", str(tmp_path / "x.yaml")]) == 64
    assert "neither a manifest of Kubernetes, nor a compose file" in capsys.readouterr().err
    (tmp_path / "x.yaml").write_text("a: [\n")
    assert main(["import", str(tmp_path / "x.yaml")]) == 3
