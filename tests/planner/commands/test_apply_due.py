"""`planner apply --due`, `--pause` and `--resume`: between plans, only work of the applied plan begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import lockfile
from planner.apply.recording import Recording
from planner.exits import Exit
from tests.planner.commands.conftest import PLAN, Done, Run, job
from tests.planner.commands.test_apply import AT, applied

OTHER = """apiVersion: planner/v1
kind: Cluster
name: dc2
backend: slurm
pools: [{name: l4, nodes: l4-1, gpus: {model: l4, count: 1}}]
"""
NOW = "apiVersion: planner/v1\nkind: Snapshot\nname: dc1\ntaken_at: {at}\n"


@pytest.fixture
def ready(run: Run, here: Path) -> Path:
    """A folder in which a plan is applied; `b` begins at once, `a` four hours later."""
    assert run(*PLAN).code == Exit.OK
    assert applied(run).code == Exit.OK
    return here


def due(run: Run, *flags: str, at: str = AT, snapshot: str = NOW) -> Done:
    """Release what is due at a time."""
    Path("now.yaml").write_text(snapshot.format(at=at))
    digest = lockfile.read(Path("state/applied.lock.json")).digest
    return run(
        "apply", "state/applied.lock.json", "--digest", digest, "--due", "--snapshot", "now.yaml", "--record", "fleet",
        "--at", at, *flags,
    )  # fmt: skip


def begun() -> list[str]:
    """The addresses of work that was let begin."""
    return [key.split()[1] for effect, key in Recording(root=Path("fleet")).log() if effect == "released"]


def test_work_begins_at_its_time_and_once(run: Run, ready: Path) -> None:
    done = due(run)
    assert (done.code, done.out) == (Exit.OK, "begins: job/vision/b in dc1\n1 due, 0 left\n")
    assert begun() == ["job/vision/b"]
    assert due(run).out == "1 due, 0 left\n"
    assert due(run, at="2026-12-01T04:00:00Z").code == Exit.OK
    assert begun() == ["job/vision/b", "job/vision/a"]


def test_a_dry_run_says_what_is_due_and_begins_nothing(run: Run, ready: Path) -> None:
    done = due(run, "--dry-run")
    assert done.out == "due: job/vision/b in dc1\n1 due; nothing was changed\n"
    assert begun() == []


def test_what_is_paused_does_not_begin_until_it_is_resumed(run: Run, ready: Path) -> None:
    assert run("apply", "--pause", "pool/dc1/h100").out == "paused: pool/dc1/h100\n"
    assert due(run).out == "left: job/vision/b: pool/dc1/h100 is paused\n0 due, 1 left\n"
    assert begun() == []
    assert run("apply", "--resume", "pool/dc1/h100").out == "paused: nothing\n"
    assert due(run).code == Exit.OK
    assert begun() == ["job/vision/b"]


def test_only_the_named_cluster_is_let_begin(run: Run, ready: Path) -> None:
    Path("specs/dc2.yaml").write_text(OTHER)
    assert run(*PLAN).code == Exit.OK
    assert applied(run).code == Exit.OK
    assert due(run, "--cluster", "dc2").out == "0 due, 0 left\n"
    assert begun() == []
    assert due(run, "--cluster", "dc2", "--cluster", "dc1").code == Exit.OK
    assert begun() == ["job/vision/b"]
    wrong = due(run, "--cluster", "dc3")
    assert wrong.code == Exit.USAGE
    assert "--cluster: 'dc3' is no cluster" in wrong.err


def test_a_plan_is_applied_to_all_clusters_or_none(run: Run, ready: Path) -> None:
    done = applied(run, "--cluster", "dc1")
    assert done.code == Exit.USAGE
    assert "--cluster needs --due" in done.err


@pytest.mark.parametrize(
    ("flag", "name", "told"),
    [
        ("--pause", "team/visoin", "did you mean 'team/vision'?"),
        ("--pause", "../x", "is no team or pool"),
        ("--resume", "team/vision", "is not paused; paused: nothing"),
    ],
)
def test_only_teams_and_pools_that_are_there_are_paused(flag: str, name: str, told: str, run: Run, ready: Path) -> None:
    done = run("apply", flag, name)
    assert done.code == Exit.USAGE
    assert told in done.err


RUNS = """
running:
- job: vision/a
  pool: dc1/h100
  started_at: 2026-11-30T23:00:00Z
  nodes: [{{name: h100-001, devices: [{{index: 0}}, {{index: 1}}, {{index: 2}}, {{index: 3}}]}}]
"""


def test_work_gives_way_to_what_is_worth_more_and_goes_on_after_it(run: Run, here: Path) -> None:
    saves = "checkpoint: {every: 1h, restart: 0s}\npriority: P3\n"
    soon = "priority: P0\nwindow: {deadline: 2026-12-01T05:00:00Z, deadline_is: hard}\n"
    Path("specs/jobs.yaml").write_text(job("a", gpus=4, extra=saves) + job("b", gpus=16, hours=4, extra=soon))
    Path("now.yaml").write_text((NOW + RUNS).format(at=AT))
    assert run(*PLAN, "--snapshot", "now.yaml").code == Exit.OK
    assert applied(run, "--allow-stopped", "4", "--snapshot", "now.yaml").code == Exit.OK
    told = "interrupted: job/vision/a in dc1 for job/vision/b\n"
    assert due(run, "--dry-run", snapshot=NOW + RUNS).out == (
        f"due: {told}due: job/vision/b in dc1\n2 due; nothing was changed\n"
    )
    assert due(run, snapshot=NOW + RUNS).out == f"{told}begins: job/vision/b in dc1\n2 due, 0 left\n"
    assert due(run, at="2026-12-01T04:00:00Z").out == "begins: job/vision/a in dc1\n1 due, 0 left\n"


def test_only_the_applied_plan_is_released(run: Run, ready: Path) -> None:
    Path("specs/jobs.yaml").write_text(job("a").replace("---\n", "", 1))
    assert run(*PLAN).code == Exit.OK
    Path("now.yaml").write_text(NOW.format(at=AT))
    digest = lockfile.read(Path("plan.lock.json")).digest
    done = run("apply", "--digest", digest, "--due", "--snapshot", "now.yaml", "--record", "fleet", "--at", AT)
    assert done.code == Exit.STALE
    assert "only work of the applied plan is released" in done.err
    assert due(run).code == Exit.STALE
    assert begun() == []


def test_nothing_begins_without_a_fresh_snapshot(run: Run, ready: Path) -> None:
    digest = lockfile.read(Path("state/applied.lock.json")).digest
    done = run("apply", "--digest", digest, "--due", "--record", "fleet", "--at", AT)
    assert done.code == Exit.USAGE
    assert "--due needs --snapshot" in done.err
    old = due(run, snapshot=NOW.replace("{at}", "2026-11-30T19:59:59Z"))
    assert old.code == Exit.STALE
    assert "the snapshot is more than 4h old" in old.err
    assert begun() == []
