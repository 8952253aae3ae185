"""Specs read from commits of real repositories, in the states that laptops and CI really have them in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from planner import workspace
from planner.diagnostics import SpecError
from planner.source import FILE_BYTES, read_tree
from planner.workspace import HistoryError
from tests.planner.repositories import NOON, Open, clone, commit, git, repository


def test_a_commit_is_read_as_its_checkout_is(repo: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    specs = opened(Path("specs"))
    assert specs.files(specs.resolve("HEAD")) == read_tree(Path("specs"))
    assert [file.path for file in specs.files(specs.resolve("HEAD~1"))] == ["specs/a.yaml"]


def test_one_file_of_a_commit_is_read_alone(repo: Path, opened: Open) -> None:
    specs = opened(repo / "specs" / "a.yaml")
    (only,) = specs.files(specs.resolve("HEAD"))
    assert (only.path, only.text) == (f"{repo}/specs/a.yaml", b"name: a\n")


def test_what_is_not_a_spec_or_hidden_is_not_read(repo: Path, opened: Open) -> None:
    for name in ("README.md", ".hidden.yaml", ".cache/x.yaml", "run.sbatch"):
        (repo / "specs" / name).parent.mkdir(exist_ok=True)
        (repo / "specs" / name).write_text("x: 1\n")
    commit(repo)
    specs = opened(repo / "specs")
    found = specs.files(specs.resolve("main"))
    assert found == read_tree(repo / "specs")
    assert [Path(file.path).name for file in found] == ["a.yaml", "b.yaml", "run.sbatch"]


def test_specs_may_be_at_the_top_or_deep_and_the_planner_called_from_anywhere(
    repo: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo / "specs" / "jobs")
    for root, names in (("..", ["../a.yaml", "../jobs/b.yaml"]), (".", ["b.yaml"]), ("../..", 2)):
        specs = opened(Path(root))
        paths = [file.path for file in specs.files(specs.resolve("HEAD"))]
        assert paths == names if isinstance(names, list) else len(paths) == names


def test_a_tree_that_only_the_commit_has_is_read(repo: Path, opened: Open) -> None:
    shutil.rmtree(repo / "specs")
    specs = opened(repo / "specs")
    assert len(specs.files(specs.resolve("HEAD"))) == 2
    assert len(specs.uncommitted()) == 2


def test_a_tree_that_the_commit_lacks_is_said_to_be_missing(repo: Path, opened: Open) -> None:
    specs = opened(repo / "fleet")
    with pytest.raises(FileNotFoundError, match="in HEAD"):
        specs.files(specs.resolve("HEAD"))


def test_outside_a_repository_and_without_git_there_is_none(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert workspace.find(tmp_path / "elsewhere") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert workspace.find(repo / "specs") is None


def test_a_bare_repository_has_no_tree_of_specs(repo: Path, tmp_path: Path) -> None:
    bare = clone(repo, tmp_path / "bare.git", "--bare")
    assert workspace.find(bare) is None


def test_a_linked_worktree_is_read_as_its_own_checkout(repo: Path, tmp_path: Path, opened: Open) -> None:
    git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "HEAD~1")
    specs = opened(tmp_path / "linked" / "specs")
    head = specs.head()
    assert head is not None
    assert head.id == git(repo, "rev-parse", "main~1")
    assert len(specs.files(head)) == 1
    assert specs.uncommitted() == ()


def test_only_specs_count_as_uncommitted_whether_changed_new_removed_or_ignored(repo: Path, opened: Open) -> None:
    specs = opened(repo / "specs")
    (repo / "notes.yaml").write_text("x: 1\n")
    (repo / "specs" / "notes.txt").write_text("x\n")
    (repo / "specs" / ".draft.yaml").write_text("x: 1\n")
    assert specs.uncommitted() == ()
    (repo / ".gitignore").write_text("ignored.yaml\n")
    (repo / "specs" / "ignored.yaml").write_text("x: 1\n")
    (repo / "specs" / "jobs" / "ne w.yaml").write_text("x: 1\n")
    (repo / "specs" / "a.yaml").unlink()
    (repo / "specs" / "jobs" / "b.yaml").write_text("name: c\n")
    names = [Path(path).relative_to(repo / "specs").as_posix() for path in specs.uncommitted()]
    assert names == ["a.yaml", "ignored.yaml", "jobs/b.yaml", "jobs/ne w.yaml"]


@pytest.mark.parametrize("target", ["a.yaml", "jobs", "../../outside", "nowhere"])
@pytest.mark.parametrize("name", ["link.yaml", "link"])
def test_a_symbolic_link_is_refused_wherever_it_leads(repo: Path, opened: Open, name: str, target: str) -> None:
    (repo / "specs" / name).symlink_to(target)
    commit(repo)
    specs = opened(repo / "specs")
    if (name, target) == ("link", "a.yaml"):  # a link to a file that is no spec by its name: nobody reads it
        assert len(specs.files(specs.resolve("HEAD"))) == 2
        return
    with pytest.raises(SpecError) as error:
        specs.files(specs.resolve("HEAD"))
    assert [(item.code, item.place and Path(item.place.file).name) for item in error.value.diagnostics] == [
        ("SPEC115", name)
    ]


def test_a_submodule_is_not_read_but_said(repo: Path, tmp_path: Path, opened: Open) -> None:
    other = repository(tmp_path / "other")
    commit(other, x="name: x\n")
    git(repo, "submodule", "--quiet", "add", other.as_uri(), "specs/shared")
    commit(repo)
    specs = opened(repo / "specs")
    with pytest.raises(SpecError, match="a submodule"):
        specs.files(specs.resolve("HEAD"))


def test_specs_that_are_a_submodule_are_seen_in_their_own_history(repo: Path, tmp_path: Path, opened: Open) -> None:
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", repo.as_uri(), "fleet")
    commit(outer)
    specs = opened(outer / "fleet" / "specs")
    assert specs.head() is not None
    assert specs.resolve("HEAD").id == git(repo, "rev-parse", "main")
    assert len(specs.files(specs.resolve("HEAD~1"))) == 1


@pytest.mark.parametrize("root", ["fleet", "fleet/specs"])
def test_specs_in_a_submodule_that_is_not_checked_out_are_said_to_be(
    repo: Path, tmp_path: Path, opened: Open, root: str
) -> None:
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", repo.as_uri(), "fleet")
    commit(outer)
    bare = clone(outer, tmp_path / "plain")
    specs = opened(bare / root)
    with pytest.raises((SpecError, FileNotFoundError)):
        specs.files(specs.resolve("HEAD"))


def test_a_pointer_of_git_lfs_is_not_taken_for_a_spec(repo: Path, opened: Open) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    commit(repo, specs__big=pointer)
    specs = opened(repo / "specs")
    with pytest.raises(SpecError, match="Git LFS pointer"):
        specs.files(specs.resolve("HEAD"))
    with pytest.raises(SpecError, match="Git LFS pointer"):
        read_tree(repo / "specs")


def test_lines_that_a_checkout_ends_otherwise_mean_the_same(repo: Path, opened: Open) -> None:
    (repo / ".gitattributes").write_text("*.yaml text eol=crlf\n")
    commit(repo)
    for path in (repo / "specs").rglob("*.yaml"):
        path.unlink()
    git(repo, "checkout", "--", "specs")
    assert b"\r\n" in (repo / "specs" / "a.yaml").read_bytes()
    specs = opened(repo / "specs")
    assert specs.files(specs.resolve("HEAD")) == read_tree(repo / "specs")
    assert specs.uncommitted() == ()


@pytest.mark.parametrize(("size", "kept"), [(FILE_BYTES, FILE_BYTES), (FILE_BYTES + 9, FILE_BYTES + 1)])
def test_of_a_file_beyond_the_limit_no_more_is_read_than_tells_it(
    repo: Path, opened: Open, size: int, kept: int
) -> None:
    commit(repo, specs__c=b"#" * size)
    specs = opened(repo / "specs")
    assert [len(file.text) for file in specs.files(specs.resolve("HEAD"))] == [8, kept, 8]


def test_odd_names_of_files_are_read_and_shown_as_they_are(repo: Path, opened: Open) -> None:
    for name in ("ä ö.yaml", "*.yaml", '"q".yaml', "commit 1.yaml"):
        (repo / "specs" / name).write_text("x: 1\n")
    commit(repo, hour=5)
    specs = opened(repo / "specs")
    assert specs.files(specs.resolve("HEAD")) == read_tree(repo / "specs")
    times = specs.first_commits(specs.resolve("HEAD"))
    assert sorted(times) == sorted(file.path for file in read_tree(repo / "specs"))
    assert times[f"{repo}/specs/commit 1.yaml"] == NOON + 5 * 3_600


def test_a_repository_of_another_owner_is_not_read_and_the_way_out_is_said(
    repo: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    specs = opened(repo / "specs")
    with pytest.raises(HistoryError, match=f"git config --global --add safe.directory {repo}"):
        specs.head()
    assert "safe" not in (repo / ".git" / "config").read_text()


def test_a_file_of_a_commit_is_read_by_its_path(repo: Path, tmp_path: Path, opened: Open) -> None:
    commit(repo, plan="old")
    (repo / "link.yaml").symlink_to("plan.yaml")
    commit(repo, plan="new")
    specs = opened(repo / "specs")
    assert specs.bytes_of(specs.resolve("HEAD~1"), repo / "plan.yaml") == b"old"
    assert specs.bytes_of(specs.resolve("HEAD"), repo / "other.yaml") is None
    assert specs.bytes_of(specs.resolve("HEAD"), repo / "specs") is None
    assert specs.bytes_of(specs.resolve("HEAD"), tmp_path / "plan.yaml") is None


def test_objects_that_a_partial_clone_lacks_are_missing_and_not_fetched(
    repo: Path, tmp_path: Path, opened: Open
) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    partial = clone(repo, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    specs = opened(partial / "specs")
    before = sorted((partial / ".git" / "objects").rglob("*"))
    with pytest.raises(HistoryError):
        specs.files(specs.resolve("HEAD"))
    assert sorted((partial / ".git" / "objects").rglob("*")) == before


def test_reading_changes_nothing_in_the_repository(repo: Path, opened: Open) -> None:
    os.utime(repo / "specs" / "a.yaml", (1, 1))  # an index that is out of date would be refreshed by a plain status

    def state() -> list[tuple[str, int, int]]:
        paths = sorted(path for path in (repo / ".git").rglob("*") if path.is_file())
        return [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]

    before = state()
    specs = opened(repo / "specs")
    specs.files(specs.resolve("main"))
    specs.first_commits(specs.resolve("main"))
    assert specs.uncommitted() == ()
    assert state() == before
