"""The verb: what it prints, what it writes, and with which exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli import main
from planner.discovery.facts import as_json
from tests.planner.discovery import machines
from tests.planner.discovery.bench import ROOT, Bench
from tests.planner.discovery.hosts import a_host


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A folder with the JSON of three hosts."""
    for number in (1, 2, 3):
        (tmp_path / f"h100-00{number}.json").write_text(as_json(a_host(f"h100-00{number}")))
    return tmp_path


def run(*arguments: str | Path) -> int:
    return main(["discover", *map(str, arguments)])


def test_people_read_cards_warnings_and_the_spec(bench: Bench) -> None:
    text = bench.run(machines.A100_MIG).stdout
    assert "a100  1 host: a100-07" in text
    assert "divided: 1 x 1g.5gb (4864 MiB), 1 x 2g.10gb (9984 MiB)" in text
    assert "warning: a100-07: GPU 0: nvmlDeviceGetMemoryInfo: Insufficient Permissions" in text
    assert "    gpus: {model: a100-sxm4-40gb, count: 2}\n" in text


def test_a_claim_beyond_the_card_is_shown_beside_what_is_planned(bench: Bench) -> None:
    assert "8 x cpx (24576 MiB, the driver claims 196592)" in bench.run(machines.CPX).stdout


def test_a_lost_card_is_shown_with_its_trouble(bench: Bench) -> None:
    assert "nvmlDeviceGetHandleByIndex: GPU is lost" in bench.run(machines.LOST).stdout


def test_many_hosts_become_pools_in_a_file(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = fleet / "cluster.yaml"
    files = sorted(fleet.glob("*.json"))
    assert run("--merge", *files, "--write", target, "--name", "dc1") == 0
    assert "nodes: h100-[001-003]\n" in target.read_text()
    assert "name: dc1\nbackend: slurm\n" in target.read_text()
    assert "h100  3 hosts: h100-[001-003]" in capsys.readouterr().out


def test_the_file_does_not_depend_on_the_order_of_hosts(fleet: Path) -> None:
    files = sorted(fleet.glob("*.json"))
    for name, order in (("a.yaml", files), ("b.yaml", files[::-1])):
        assert run("--merge", *order, "--write", fleet / name) == 0
    assert (fleet / "a.yaml").read_bytes() == (fleet / "b.yaml").read_bytes()


def test_check_writes_nothing_and_exits_2_until_the_file_agrees(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, files = fleet / "cluster.yaml", sorted(fleet.glob("*.json"))
    assert run("--merge", *files, "--write", target, "--check") == 2
    assert not target.exists()
    assert run("--merge", *files, "--write", target) == 0
    assert run("--merge", *files, "--write", target, "--check") == 0
    capsys.readouterr()
    before = target.read_text().replace("cpus: 192", "cpus: 384")
    target.write_text(before)
    assert run("--merge", *files, "--write", target, "--check") == 2
    assert "pool/discovered/h100: cpus: 384 -> 192\n" in capsys.readouterr().out
    assert target.read_text() == before


def test_check_tells_what_one_node_cannot_decide(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, files = fleet / "cluster.yaml", sorted(fleet.glob("*.json"))
    run("--merge", *files, "--write", target)
    (fleet / "h100-001.json").write_text(as_json(a_host("h100-001", cpus=64)))
    assert run("--merge", files[0], "--write", target, "--check") == 2
    assert "cpus: 192 -> 64; not all nodes of the pool were discovered: not written" in capsys.readouterr().out


def test_other_names_and_back_ends_can_be_given(fleet: Path) -> None:
    target = fleet / "c.yaml"
    assert run("--merge", *fleet.glob("*.json"), "--write", target, "--backend", "kubernetes", "--name", "dc1") == 0
    assert "name: dc1\nbackend: kubernetes\n" in target.read_text()


def test_a_container_can_name_its_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machines.NO_DRIVER.write_root(tmp_path)
    assert run("--root", tmp_path, "--node", "gpu-007", "--format", "json") == 0
    assert '"name": "gpu-007"' in capsys.readouterr().out


def test_a_host_without_a_usable_name_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--root", tmp_path, "--format", "json") == 0
    assert "give one with --node" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--check",), "--check needs --write FILE"),
        (("--merge",), "--merge needs the files to join"),
        (("kubernetes",), "files of a cluster --from and the back end"),
        (("--snapshot", "s.yaml"), "--snapshot need --from"),
        (("--format", "json", "--write", "x.yaml"), "--format json tells one host"),
        (("--merge", "missing.json"), "cannot read 'missing.json'"),
        (("--merge", "a.json", "--node", "b"), "--node names the host at hand"),
        (("--name", "Not A Name"), "--name: 'Not A Name' is not a name"),
        (("--format", "yaml"), "'yaml' is not one of text, json"),
    ],
)
def test_what_cannot_be_done_is_refused_with_64(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 64
    assert sentence in capsys.readouterr().err


def test_a_file_that_is_no_host_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert run("--merge", tmp_path / "a.json") == 64
    assert "a.json': it is not the output of 'planner discover --format json'" in capsys.readouterr().err


def test_a_broken_target_is_refused_with_3(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = fleet / "cluster.yaml"
    target.write_text("kind: [Cluster\n")
    assert run("--merge", *fleet.glob("*.json"), "--write", target) == 3
    assert "cluster.yaml:" in capsys.readouterr().err
    assert target.read_text() == "kind: [Cluster\n"


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "planner discover --merge *.json" in capsys.readouterr().out


def test_discovery_loads_neither_solvers_nor_renderers(tmp_path: Path) -> None:
    code = "import sys; from planner.cli import main; "
    code += f"main(['discover', '--root', {str(tmp_path)!r}]); "
    code += "heavy = {'ortools', 'numba', 'numpy', 'jinja2', 'git', 'solvers', 'renderers'}; "
    code += "print(*heavy & set(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr.strip() == ""


def test_help_asks_no_device_library() -> None:
    code = "import sys; from planner.cli import main; main(['discover', '--help']); "
    code += "print(*{'pynvml', 'amdsmi', 'pydantic', 'ruamel'} & set(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr.strip() == ""
