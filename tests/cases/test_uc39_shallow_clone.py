"""UC-39: CI cloned one commit, and the base of the change is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli import main
from planner.exits import Exit
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import commit, git, isolate, repository

DIFF = ("diff", "--budget", "0", "--detailed-exitcode")


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose branch `edit` adds a job, and whose main has moved on since."""
    isolate(monkeypatch)
    folder = repository(tmp_path / "origin")
    commit(folder, hour=0, specs__fleet=FLEET, specs__jobs=job("a"))
    git(folder, "checkout", "--quiet", "-b", "edit")
    commit(folder, hour=1, specs__more=job("b"))
    git(folder, "checkout", "--quiet", "main")
    commit(folder, hour=2, specs__other=job("c"))
    return folder


def cloned(origin: Path, monkeypatch: pytest.MonkeyPatch, *flags: str) -> Path:
    """A clone with `edit` checked out, as a runner makes it, made the current folder."""
    folder = origin.parent / "clone"
    git(origin.parent, "clone", "--quiet", "--branch=edit", *flags, origin.as_uri(), str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("flags", [("--depth=1",), ("--depth=1", "--no-single-branch")])
@pytest.mark.parametrize("arguments", [("--base", "origin/main"), ()])
def test_a_missing_base_is_said_with_its_cause_and_cure_and_is_no_difference(
    origin: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    arguments: tuple[str, ...],
) -> None:
    cloned(origin, monkeypatch, *flags)
    code = main([*DIFF, *arguments])
    shown = capsys.readouterr()
    assert code in ({Exit.FAILURE} if arguments else {Exit.FAILURE, Exit.USAGE})
    assert code != Exit.CHANGES
    assert shown.out == ""
    assert "this clone is shallow" in shown.err
    assert "fetch-depth: 0" in shown.err


def test_a_full_clone_is_compared_with_where_the_branch_parted_though_the_base_moved_on(
    origin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloned(origin, monkeypatch)
    assert main([*DIFF, "--base", "origin/main"]) == Exit.CHANGES
    assert "+ 1 new   = 1 unchanged" in capsys.readouterr().out


def test_a_later_shallow_fetch_that_cuts_the_history_is_noticed(
    origin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cloned(origin, monkeypatch)
    git(folder, "fetch", "--quiet", "--depth=1", "origin", "main")
    code = main([*DIFF, "--base", "origin/main"])
    shown = capsys.readouterr()
    assert (code, shown.out) == (Exit.FAILURE, "")
    assert "this clone is shallow" in shown.err


def test_both_tips_are_compared_as_they_are_only_on_request(
    origin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloned(origin, monkeypatch, "--depth=1", "--no-single-branch")
    assert main([*DIFF, "origin/main"]) == Exit.CHANGES
    out = capsys.readouterr().out
    assert "+ 1 new" in out
    assert "- 1 gone" in out


def test_the_merge_commit_of_a_pull_request_and_its_parent_are_enough(
    origin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(origin, "checkout", "--quiet", "-b", "merged", "main")
    git(origin, "merge", "--quiet", "--no-ff", "--no-edit", "edit", hour=3)
    folder = origin.parent / "runner"
    git(origin.parent, "clone", "--quiet", "--depth=2", "--branch=merged", origin.as_uri(), str(folder))
    monkeypatch.chdir(folder)
    assert main([*DIFF, "--base", "HEAD^1"]) == Exit.CHANGES
    assert "+ 1 new   = 2 unchanged" in capsys.readouterr().out
