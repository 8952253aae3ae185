"""A branch written without a checkout: nothing of the working tree moves, and no writer loses another's change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from planner import branch, workspace
from planner.branch import Entry, advance, entries, stored, taken_out, tip
from planner.diagnostics import Busy, UsageError
from planner.workspace import Workspace
from tests.planner.repositories import commit, git, isolate, repository

STATE = "planner-state"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit of specs."""
    isolate(monkeypatch)
    folder = repository(tmp_path / "repo")
    commit(folder, specs__a="a: 1\n")
    return folder


@pytest.fixture
def work(repo: Path) -> Iterator[Workspace]:
    """The repository, opened."""
    found = workspace.find(repo / "specs")
    assert found is not None
    with found:
        yield found


def put(work: Workspace, base: str | None, folder: Path, **texts: str) -> str:
    """Commit exactly these files on top of `base`."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return advance(work, STATE, base, stored(work, {name: folder / name for name in texts}), "State")


def held(repo: Path, ref: str = STATE) -> dict[str, str]:
    """The files of a commit, by git itself."""
    names = git(repo, "ls-tree", "-r", "--name-only", ref).splitlines()
    return {name: git(repo, "show", f"{ref}:{name}") for name in names}


def test_a_branch_is_begun_and_goes_on_and_the_working_tree_stays(repo: Path, work: Workspace, tmp_path: Path) -> None:
    (repo / "specs" / "a.yaml").write_text("a: 2\n")
    before = git(repo, "status", "--porcelain"), git(repo, "rev-parse", "HEAD")
    first = put(work, None, tmp_path / "one", a="1", b="ü\n\n")
    assert held(repo) == {"a": "1", "b": "ü"}
    second = put(work, first, tmp_path / "two", a="2")
    assert held(repo) == {"a": "2"}
    assert git(repo, "rev-parse", f"{second}^") == first
    assert (git(repo, "status", "--porcelain"), git(repo, "rev-parse", "HEAD")) == before
    assert git(repo, "log", "-1", "--format=%an", STATE) == "gpu-fleet-planner"


def test_nothing_is_committed_where_nothing_changed(work: Workspace, tmp_path: Path) -> None:
    first = put(work, None, tmp_path / "one", a="1")
    assert put(work, first, tmp_path / "one", a="1") == first


def test_what_others_changed_in_other_files_stays(repo: Path, work: Workspace, tmp_path: Path) -> None:
    base = put(work, None, tmp_path / "base", a="1", b="1", c="1")
    put(work, base, tmp_path / "theirs", a="1", b="2", c="1", d="new")
    put(work, base, tmp_path / "ours", a="2", b="1")
    assert held(repo) == {"a": "2", "b": "2", "d": "new"}


@pytest.mark.parametrize("ours", [{"a": "3"}, {}])
def test_a_file_that_both_changed_ends_the_later_one(
    ours: dict[str, str], repo: Path, work: Workspace, tmp_path: Path
) -> None:
    base = put(work, None, tmp_path / "base", a="1")
    put(work, base, tmp_path / "theirs", a="2")
    with pytest.raises(Busy, match="another run, which wrote 'a' too"):
        put(work, base, tmp_path / "ours", **ours)
    assert held(repo) == {"a": "2"}


def test_a_branch_that_moves_while_a_commit_is_made_is_tried_again(
    repo: Path, work: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = put(work, None, tmp_path / "base", a="1")
    make, count = branch.committed, iter(range(3))

    def slow(*given: object) -> str:
        made = make(*given)  # type: ignore[arg-type]
        if next(count) == 0:
            theirs = make(work, {**entries(work, base), "b": Entry("100644", entries(work, base)["a"].blob)}, base, "b")
            git(repo, "update-ref", f"refs/heads/{STATE}", theirs)
        return made

    monkeypatch.setattr(branch, "committed", slow)
    put(work, base, tmp_path / "ours", a="2")
    assert held(repo) == {"a": "2", "b": "1"}
    assert next(count) == 2


def test_a_branch_that_only_origin_has_is_gone_on_from(repo: Path, work: Workspace, tmp_path: Path) -> None:
    first = put(work, None, tmp_path / "one", a="1", b="1")
    git(repo, "update-ref", f"refs/remotes/origin/{STATE}", first)
    git(repo, "update-ref", "-d", f"refs/heads/{STATE}")
    assert tip(work, STATE) == first
    second = put(work, first, tmp_path / "two", a="2", b="1")
    assert git(repo, "rev-parse", f"{second}^") == first
    assert git(repo, "rev-parse", f"refs/heads/{STATE}") == second


def test_files_come_out_as_they_went_in(repo: Path, work: Workspace, tmp_path: Path) -> None:
    program = tmp_path / "submit.sh"
    program.write_text("#!/bin/sh\r\nexit\n", "utf-8", newline="")
    program.chmod(0o755)
    (repo / ".gitattributes").write_text("* text eol=crlf\n")
    made = advance(work, STATE, None, stored(work, {"work/hpc/submit.sh": program}), "State")
    taken_out(work, entries(work, made), tmp_path / "out")
    out = tmp_path / "out" / "work" / "hpc" / "submit.sh"
    assert out.read_bytes() == program.read_bytes()
    assert out.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["--force", "a..b", "a b", "", "x.lock", "a:b", "@{1}"])
def test_what_is_no_name_of_a_branch_is_refused(name: str, work: Workspace) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a branch"):
        tip(work, name)


def test_the_branch_that_is_checked_out_is_refused(work: Workspace) -> None:
    with pytest.raises(UsageError, match="'main' is checked out"):
        tip(work, "main")


def test_a_path_that_leads_out_of_the_folder_is_refused(work: Workspace, tmp_path: Path) -> None:
    made = put(work, None, tmp_path / "one", a="1")
    entry = entries(work, made)["a"]
    for path in ("../a", "/a", "x/../../a"):
        with pytest.raises(UsageError, match="does not stay inside"):
            taken_out(work, {path: entry}, tmp_path / "out")
