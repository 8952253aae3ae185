"""The scripts of the repository's specs, and the program that submits them, before a real Slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from planner.hosts import expand, fold
from tests.e2e.labs import trees
from tests.e2e.labs.processes import attempt
from tests.e2e.labs.slurm.site import Site
from tests.e2e.labs.timescale import scaled
from tests.e2e.labs.trees import Planned

DAY = 86_400


@pytest.fixture(scope="module")
def planned() -> Planned:
    """The specs, planned for tomorrow, whatever day it is."""
    made = trees.the_specs()
    begin = (int(time.time()) // DAY + 1) * DAY
    plan = scaled(made.plan, begin=begin, slot_seconds=made.plan.inputs.slot_seconds)
    return Planned(specs=made.specs, plan=plan)


@pytest.fixture
def folder(planned: Planned, tmp_path: Path) -> Path:
    """What was rendered for the campus."""
    return trees.rendered_into(tmp_path, planned) / "hpc"


def expected_jobs(planned: Planned) -> int:
    return sum(item.segments[0].cluster == "hpc" for item in planned.plan.placements)


def test_every_script_is_accepted(site: Site, folder: Path, planned: Planned) -> None:
    scripts = sorted(folder.glob("jobs/*.sbatch"))
    assert len(scripts) == expected_jobs(planned)
    for script in scripts:
        answer = attempt("sbatch", "--test-only", script, env=site.environment)
        assert answer.returncode == 0, f"{script.name}: {answer.stderr}"


def test_every_job_asks_for_what_the_plan_gives_it(empty_site: Site, folder: Path, planned: Planned) -> None:
    empty_site.tell("sh", folder / "submit.sh")
    asked = {
        address(comment): (nodes, gres)
        for comment, nodes, gres in (
            line.split("|")
            for line in empty_site.tell("squeue", "-h", "-O", "Comment:200|,ReqNodes:200|,tres:200").splitlines()
        )
    }
    for item in planned.plan.placements:
        segment = item.segments[0]
        if segment.cluster == "hpc":
            nodes, tres = asked[item.address]
            assert sorted(expand(nodes.strip())) == sorted(node.name for node in segment.nodes)
            assert devices(tres) == item.gpus, item.address


def devices(tres: str) -> int:
    asked = dict(part.split("=") for part in tres.strip().split(","))
    return int(asked.get("gres/gpu", 0))


def address(comment: str) -> str:
    return comment.strip().removeprefix("planner:").rpartition("@")[0]


def test_submitting_again_changes_nothing(empty_site: Site, folder: Path, planned: Planned) -> None:
    first = empty_site.tell("sh", folder / "submit.sh")
    before = empty_site.tell("squeue", "-h", "-o", "%A %j %T %E %S")
    second = empty_site.tell("sh", folder / "submit.sh")
    assert first.count(": submitted as ") == len(before.splitlines()) == expected_jobs(planned)
    assert second.count(": already queued as ") == len(second.splitlines()) == expected_jobs(planned)
    assert empty_site.tell("squeue", "-h", "-o", "%A %j %T %E %S") == before


def test_a_submission_that_was_killed_is_taken_up_again(
    empty_site: Site, folder: Path, planned: Planned, tmp_path: Path
) -> None:
    killed = submit_and_kill(empty_site, folder, tmp_path / "bin", after=7)
    assert killed == -signal.SIGKILL
    assert len(empty_site.queue("%A")) == 7
    empty_site.tell("sh", folder / "submit.sh")
    names = empty_site.tell("squeue", "-h", "-o", "%j").split()
    assert len(names) == len(set(names)) == expected_jobs(planned)


def submit_and_kill(site: Site, folder: Path, shims: Path, *, after: int) -> int:
    """Run the program with an sbatch that submits, and kills it right after so many jobs."""
    shims.mkdir()
    shim = shims / "sbatch"
    shim.write_text(
        "#!/bin/sh\n"
        f"PATH={os.environ['PATH']}\n"
        'sbatch "$@" || exit\n'
        f'echo >>{shims}/count; [ "$(wc -l <{shims}/count)" -lt {after} ] || kill -9 0\n'
    )
    shim.chmod(0o755)
    environment = site.environment | {"PATH": f"{shims}:{site.environment['PATH']}"}
    command = ["sh", str(folder / "submit.sh")]
    return subprocess.run(command, env=environment, check=False, capture_output=True, start_new_session=True).returncode


@pytest.mark.parametrize(
    "names",
    [
        ("gpu-001", "gpu-002", "gpu-003", "gpu-010"),
        ("n9", "n10", "n11"),
        ("rack1-node01", "rack1-node02", "rack2-node01"),
        ("a", "b7", "b8"),
        tuple(f"gpu-{number:03}" for number in range(98, 103)),
    ],
)
def test_folded_hosts_are_what_slurm_unfolds(site: Site, names: tuple[str, ...]) -> None:
    assert site.tell("scontrol", "show", "hostnames", fold(names)).split() == list(names)
