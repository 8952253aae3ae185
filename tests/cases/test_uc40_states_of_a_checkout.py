"""UC-40: a detached HEAD, a checkout of another owner, a linked worktree: the states that CI is really in."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import lockfile
from planner.cli import main
from planner.exits import Exit
from planner.plan import Inputs
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import commit, git, isolate, repository

PLAN = ("plan", "--budget", "0")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a fleet and a job, made the current folder."""
    isolate(monkeypatch)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = repository(tmp_path / "repo")
    commit(folder, hour=0, specs__fleet=FLEET, specs__jobs=job("a"))
    monkeypatch.chdir(folder)
    return folder


def inputs_of(folder: Path) -> Inputs:
    """What the plan in a folder says that it was made from."""
    return lockfile.read(folder / "plan.lock.json").inputs


def test_a_detached_checkout_is_planned_and_compared_by_its_commit(repo: Path) -> None:
    (repo / ".gitignore").write_text("plan.lock.json\n")
    head = commit(repo, hour=1, specs__more=job("b"))
    git(repo, "checkout", "--quiet", "--detach")
    assert main(PLAN) == Exit.OK
    assert (inputs_of(repo).commit, inputs_of(repo).dirty) == (head, False)
    assert main(["diff", "--budget", "0", "--base", "main~1", "--detailed-exitcode"]) == Exit.CHANGES


def test_a_checkout_of_another_owner_is_answered_with_the_way_out_and_no_settings_change(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for arguments in (PLAN, ("diff", "--budget", "0")):
        assert main(arguments) == Exit.FAILURE
        assert f"git config --global --add safe.directory {repo}" in capsys.readouterr().err
    assert not (tmp_path / "gitconfig").exists()


def test_a_linked_worktree_is_planned_as_its_own_checkout(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    head = commit(tmp_path / "side", hour=1, specs__more=job("b"))
    monkeypatch.chdir(tmp_path / "side")
    assert main(PLAN) == Exit.OK
    assert inputs_of(tmp_path / "side").commit == head


def test_specs_that_are_a_submodule_are_planned_by_the_commit_of_the_submodule(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", repo.as_uri(), "fleet")
    commit(outer)
    monkeypatch.chdir(outer)
    assert main([*PLAN, "fleet/specs", "--out", "plan.lock.json"]) == Exit.OK
    assert inputs_of(outer).commit == git(repo, "rev-parse", "HEAD")


def test_outside_a_repository_plan_works_and_diff_says_why_it_does_not(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain"
    (repo / "specs").rename(plain.with_name("specs"))
    plain.mkdir()
    plain.with_name("specs").rename(plain / "specs")
    monkeypatch.chdir(plain)
    assert main(PLAN) == Exit.OK
    assert (inputs_of(plain).commit, inputs_of(plain).dirty) == (None, False)
    capsys.readouterr()
    assert main(["diff"]) == Exit.USAGE
    assert "specs is in no git repository" in capsys.readouterr().err
    assert main(["diff", "HEAD~1"]) == Exit.USAGE
    assert "specs is in no git repository" in capsys.readouterr().err


def test_before_the_first_commit_plan_works_and_diff_says_why_it_does_not(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = repository(tmp_path / "new")
    (repo / "specs").rename(new / "specs")
    monkeypatch.chdir(new)
    assert main(PLAN) == Exit.OK
    assert inputs_of(new).commit is None
    capsys.readouterr()
    assert main(["diff"]) == Exit.USAGE
    assert "there is no commit yet" in capsys.readouterr().err


def test_what_is_not_committed_is_shown_in_the_header_of_the_plan(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "specs" / "more.yaml").write_text(job("b"))
    assert main(PLAN) == Exit.OK
    shown = capsys.readouterr()
    assert "with uncommitted changes" in " ".join(shown.out.split("horizon")[0].split())
    assert "specs/more.yaml" in shown.err
    assert inputs_of(repo).dirty is True
