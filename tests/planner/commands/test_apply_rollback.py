"""Going back to the plan that was applied before, under the same rails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from planner import lockfile
from planner.exits import Exit
from tests.planner.commands.conftest import PLAN, Run, job
from tests.planner.commands.test_apply import applied, jobs


@pytest.fixture
def committed(run: Run, here: Path) -> Path:
    """A repository in which two plans were made and applied, of two commits; the second has one job more."""
    git("init", "--quiet", "--initial-branch=main")
    for text in (None, job("a") + job("b", gpus=16, hours=4) + job("c")):
        if text is not None:
            Path("specs/jobs.yaml").write_text(text)
        git("add", "specs")
        git("commit", "--quiet", "--message=specs")
        assert run(*PLAN).code == Exit.OK
        assert applied(run).code == Exit.OK
    return here


def git(*words: str) -> None:
    """Run git as nobody in particular."""
    who = ("-c", "user.name=ann", "-c", "user.email=ann@example", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *who, *words), check=True, capture_output=True)


def test_the_plan_before_comes_back_with_the_specs_of_its_commit(run: Run, committed: Path) -> None:
    assert jobs() == {"job-a", "job-b", "job-c"}
    before = lockfile.read(Path("state/previous.lock.json"))
    nine = "2026-12-01T09:00:00Z"
    assert applied(run, "--rollback", digest=before.digest, at=nine).code == Exit.BLOCKED
    done = applied(run, "--rollback", "--allow-stopped", "8", digest=before.digest, at=nine)
    assert done.code == Exit.OK, done.err
    assert jobs() == {"job-a", "job-b"}
    assert lockfile.read(Path("state/applied.lock.json")).digest == before.digest
    after = lockfile.read(Path("state/previous.lock.json"))
    assert applied(run, "--rollback", digest=after.digest).code == Exit.OK
    assert jobs() == {"job-a", "job-b", "job-c"}


def test_going_back_needs_the_digest_of_what_was_before(run: Run, committed: Path) -> None:
    done = applied(run, "--rollback")
    assert done.code == Exit.STALE
    assert "state/previous.lock.json is not the plan that was reviewed" in done.err
    assert jobs() == {"job-a", "job-b", "job-c"}


def test_going_back_keeps_to_the_rails(run: Run, committed: Path) -> None:
    Path("specs/jobs.yaml").write_text(job("c", gpus=16).replace("---\n", "", 1))
    git("add", "specs")
    git("commit", "--quiet", "--message=only c")
    assert run(*PLAN).code == Exit.OK
    assert applied(run, "--allow-stopped", "16", "--allow-moved", "16").code == Exit.OK
    before = lockfile.read(Path("state/previous.lock.json"))
    done = applied(run, "--rollback", digest=before.digest)
    assert done.code == Exit.BLOCKED
    assert "safety.max_stopped: it stops 16 devices" in done.err
    assert applied(run, "--rollback", "--allow-stopped", "16", digest=before.digest).code == Exit.OK


def test_before_a_second_plan_there_is_nothing_to_go_back_to(run: Run, here: Path) -> None:
    assert run(*PLAN).code == Exit.OK
    assert applied(run).code == Exit.OK
    done = applied(run, "--rollback")
    assert done.code == Exit.USAGE
    assert "there is no lock file 'state/previous.lock.json'" in done.err
