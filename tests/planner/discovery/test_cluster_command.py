"""Discovery of a cluster by the verb: live, from files, into files, and back through the loader."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.cli import main
from planner.source import SourceFile
from planner.specset import SpecSet, load
from tests.planner.discovery.slurm.site import FILES

MODEL = ("--model", "h100=h100-sxm5-80gb")
JOB = """apiVersion: planner/v1
kind: Job
name: resnet
team: vision
image: registry.acme/train:2.9
command: [torchrun, train.py]
gpus: {count: 8, model: h100-sxm5-80gb}
duration: 10h
"""
SECRET = "hunter2"


def run(*arguments: str | Path) -> int:
    return main(["discover", "--from", "slurm", "--name", "dc1", *MODEL, *map(str, arguments)])


def loaded(*paths: Path) -> SpecSet:
    result = load([SourceFile(path.name, path.read_bytes()) for path in paths])
    assert result.specset is not None, result.diagnostics
    return result.specset


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands in PATH that print what the real ones printed."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    named = {path.stem: path for path in FILES}
    programs = {
        "scontrol": 'case "$2 $3" in ' + " ".join(
            f'"{what} -o") cat {named[what]} ;;' for what in ("node", "partition", "topology", "reservation")
        ) + " esac",
        "squeue": f'[ "$1" = --json ] && cat {named["squeue"]}',
        "sacctmgr": "echo no database >&2; exit 1",
    }  # fmt: skip
    for name, body in programs.items():
        (bin_folder / name).write_text(f'#!/bin/sh\n[ "$TZ" = UTC ] || exit 9\n{body}\n')
        (bin_folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HF_TOKEN", SECRET)
    return tmp_path


def test_files_of_a_cluster_become_specs_that_load(tmp_path: Path) -> None:
    cluster, teams = tmp_path / "dc1.yaml", tmp_path / "teams.yaml"
    assert run(*FILES, "--write", cluster, "--teams", teams) == 0
    specs = loaded(cluster, teams)
    pool = specs.pool("dc1/h100")
    assert pool.node_names() == ("gpu1", "gpu2", "gpu3")
    assert (pool.gpus[0].model, pool.gpus[0].count, pool.gres_type, pool.features) == (
        "h100-sxm5-80gb", 8, "h100", ("hopper", "ib", "nvidia"),
    )  # fmt: skip
    assert pool.links == ()
    assert dict(pool.racks) == {"rack1": ("gpu1", "gpu2"), "rack2": ("gpu3",)}
    assert specs.cluster("dc1").backend.version == "22.05"
    assert specs.pool("dc1/mi300").partition == "amd"
    assert specs.quota("vision-h100-sxm5-80gb-dc1").guaranteed == 16
    assert specs.team("vision").parent == "research"


def test_the_order_of_files_makes_no_difference(tmp_path: Path) -> None:
    for name, files in (("a", FILES), ("b", FILES[::-1])):
        assert run(*files, "--write", tmp_path / f"{name}.yaml", "--teams", tmp_path / f"{name}-teams.yaml") == 0
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    assert (tmp_path / "a-teams.yaml").read_bytes() == (tmp_path / "b-teams.yaml").read_bytes()


def test_the_same_cluster_again_changes_nothing_and_agrees(tmp_path: Path) -> None:
    wanted = ("--write", tmp_path / "dc1.yaml", "--teams", tmp_path / "teams.yaml")
    assert run(*FILES, *wanted) == 0
    before = [(tmp_path / name).read_bytes() for name in ("dc1.yaml", "teams.yaml")]
    assert run(*FILES, *wanted) == 0
    assert run(*FILES, *wanted, "--check") == 0
    assert [(tmp_path / name).read_bytes() for name in ("dc1.yaml", "teams.yaml")] == before


def test_a_check_tells_what_people_wrote_differently_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, teams = tmp_path / "dc1.yaml", tmp_path / "teams.yaml"
    run(*FILES, "--write", cluster, "--teams", teams)
    cluster.write_text(cluster.read_text().replace("cpus: 192", "cpus: 256"))
    teams.write_text(teams.read_text().replace("limit: 16", "limit: 12"))
    capsys.readouterr()
    assert run(*FILES, "--write", cluster, "--teams", teams, "--check") == 2
    told = capsys.readouterr().out
    assert "pool/dc1/h100: cpus: 256 -> 192\n" in told
    assert "quota/vision-h100-sxm5-80gb-dc1: limit: 12 -> 16: not written\n" in told


def test_a_snapshot_loads_beside_the_specs_and_knows_their_jobs(site: Path) -> None:
    specs, shot = site / "specs", site / "snapshot.yaml"
    specs.mkdir()
    run(*FILES, "--write", specs / "dc1.yaml", "--teams", specs / "teams.yaml")
    (specs / "resnet.yaml").write_text(JOB)
    assert run("--specs", specs, "--snapshot", shot) == 0
    both = loaded(*sorted(specs.iterdir()), shot)
    (snapshot,) = both.snapshots
    (mine,) = snapshot.running
    assert (mine.job, mine.pool, [device.index for device in mine.nodes[0].devices]) == (
        "vision/resnet", "dc1/h100", list(range(8)),
    )  # fmt: skip
    assert [(use.pool, use.owner) for use in snapshot.foreign] == [
        ("dc1/mi300", "infra/ann"), ("dc1/mi300", "infra/ann"), ("dc1/h100", "nlp/ann"),
    ]  # fmt: skip
    assert [(each.pool, each.nodes[0].name, each.until) for each in snapshot.down] == [("dc1/h100", "gpu3", None)]
    assert SECRET not in shot.read_text()
    assert "odd name" not in shot.read_text()


def test_a_command_that_fails_costs_what_it_would_tell(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--write", site / "dc1.yaml") == 0
    assert "sacctmgr" in (told := capsys.readouterr().out)
    assert "no database" in told


def test_without_the_first_command_there_is_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "bin/scontrol").write_text("#!/bin/sh\necho down >&2; exit 1\n")
    assert run() == 1
    assert "'scontrol show node -o' failed: down" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "slurm", "--merge"), "leave out --merge"),
        (("--from", "slurm", "--format", "json"), "leave out --merge"),
        (("--from", "slurm", "--check"), "--check needs --write FILE or --teams FILE"),
        (("--from", "slurm", "--name", "DC 1"), "--name: "),
        (("--snapshot", "s.yaml"), "--snapshot need --from"),
        (("--model", "a=b"), "--model need --from"),
        (("--from", "slurm", "--at", "soon", "x"), "--at: "),
        (("--from", "slurm", "--at", "now", "no-such-file"), "cannot read 'no-such-file'"),
        (("--from", "slurm", "--snapshot", "s.yaml", "no-such-file"), "--snapshot from files needs --at TIME"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["discover", *arguments]) == 64
    assert message in capsys.readouterr().err
