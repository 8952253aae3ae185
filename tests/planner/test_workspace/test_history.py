"""References, and what the history of a repository says: since when, where branches part, and when it is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.diagnostics import UsageError
from planner.workspace import HistoryError
from tests.planner.repositories import NOON, Open, clone, commit, git, repository


@pytest.mark.parametrize(
    "ref", ["--output=x", "-x", "", "a b;id", "main..feat", ":/msg", "HEAD:specs", "main@{u}", "x" * 201, "ä", "a\nb"]
)
def test_what_is_not_spelled_as_a_reference_never_reaches_git(repo: Path, opened: Open, ref: str) -> None:
    with pytest.raises(UsageError, match="is not the name"):
        opened(repo / "specs").resolve(ref)
    assert sorted(path.name for path in repo.iterdir()) == [".git", "specs"]


@pytest.mark.parametrize("ref", ["main", "HEAD", "HEAD~1", "HEAD^0", "refs/heads/main", "v1.0-rc/1"])
def test_branches_tags_and_expressions_are_resolved_to_an_id(repo: Path, opened: Open, ref: str) -> None:
    git(repo, "tag", "v1.0-rc/1")
    found = opened(repo / "specs").resolve(ref)
    assert found.id == git(repo, "rev-parse", f"{ref}^{{commit}}")
    assert (found.name, found.time, found.remark) == (ref, NOON + (0 if ref == "HEAD~1" else 7_200), "")


def test_an_unknown_reference_is_answered_with_the_nearest(repo: Path, opened: Open) -> None:
    with pytest.raises(UsageError, match="did you mean 'main'"):
        opened(repo / "specs").resolve("mian")


def test_an_annotated_tag_means_its_commit_and_a_blob_means_none(repo: Path, opened: Open) -> None:
    git(repo, "tag", "--annotate", "--message", "x", "v1")
    specs = opened(repo / "specs")
    assert specs.resolve("v1").id == git(repo, "rev-parse", "HEAD")
    with pytest.raises(UsageError):
        specs.resolve(git(repo, "rev-parse", "HEAD:specs/a.yaml"))


def test_of_a_tag_and_a_branch_of_one_name_the_tag_is_meant_and_that_is_said(repo: Path, opened: Open) -> None:
    git(repo, "tag", "both", "HEAD~1")
    git(repo, "branch", "both")
    specs = opened(repo / "specs")
    assert specs.resolve("both").id == git(repo, "rev-parse", "HEAD~1")
    assert "a tag and a branch" in specs.resolve("both").remark
    assert specs.resolve("refs/heads/both").id == git(repo, "rev-parse", "HEAD")
    assert specs.resolve("refs/heads/both").remark == ""


def test_a_detached_head_is_a_commit_like_any_other(repo: Path, opened: Open) -> None:
    git(repo, "checkout", "--quiet", "--detach", "HEAD~1")
    head = opened(repo / "specs").head()
    assert head is not None
    assert head.id == git(repo, "rev-parse", "main~1")


def test_before_the_first_commit_there_is_no_head_and_every_spec_is_uncommitted(tmp_path: Path, opened: Open) -> None:
    folder = repository(tmp_path / "new")
    (folder / "specs").mkdir()
    (folder / "specs" / "a.yaml").write_text("x: 1\n")
    specs = opened(folder / "specs")
    assert specs.head() is None
    assert specs.uncommitted() == (f"{folder}/specs/a.yaml",)


def test_a_file_waits_since_its_first_commit_through_edits_and_renames(repo: Path, opened: Open) -> None:
    commit(repo, hour=4, specs__a="name: a\nteam: x\n", specs__c="name: c\nlonger: text\nof: several\n")
    git(repo, "mv", "specs/c.yaml", "specs/jobs/d.yaml")
    commit(repo, hour=6)
    specs = opened(repo / "specs")
    times = specs.first_commits(specs.resolve("HEAD"))
    hours = {Path(path).name: (time - NOON) // 3_600 for path, time in times.items()}
    assert hours == {"a.yaml": 0, "b.yaml": 2, "d.yaml": 4}


def test_a_file_that_comes_back_waits_since_it_came_back(repo: Path, opened: Open) -> None:
    (repo / "specs" / "a.yaml").unlink()
    commit(repo, hour=4)
    commit(repo, hour=8, specs__a="name: a\n")
    specs = opened(repo / "specs")
    assert specs.first_commits(specs.resolve("HEAD"))[f"{repo}/specs/a.yaml"] == NOON + 8 * 3_600


def test_a_file_that_came_by_a_merge_waits_since_it_was_written(repo: Path, opened: Open) -> None:
    git(repo, "checkout", "--quiet", "-b", "feature")
    commit(repo, hour=3, specs__f="name: f\n")
    git(repo, "checkout", "--quiet", "main")
    commit(repo, hour=4)
    git(repo, "merge", "--quiet", "--no-ff", "--no-edit", "feature", hour=9)
    specs = opened(repo / "specs")
    assert specs.first_commits(specs.resolve("HEAD"))[f"{repo}/specs/f.yaml"] == NOON + 3 * 3_600


def test_a_shallow_clone_does_not_pretend_to_know_since_when_files_wait(
    repo: Path, tmp_path: Path, opened: Open
) -> None:
    specs = opened(clone(repo, tmp_path / "shallow", "--depth=1") / "specs")
    assert specs.first_commits(specs.resolve("HEAD")) == {}
    assert len(specs.files(specs.resolve("HEAD"))) == 2


def test_in_a_shallow_clone_a_missing_commit_is_put_down_to_that(repo: Path, tmp_path: Path, opened: Open) -> None:
    specs = opened(clone(repo, tmp_path / "shallow", "--depth=1") / "specs")
    for ref in ("HEAD~1", "origin/other"):
        with pytest.raises(HistoryError, match="fetch-depth: 0"):
            specs.resolve(ref)


@pytest.fixture
def forked(repo: Path) -> Path:
    """A branch beside main, each with two commits of its own."""
    git(repo, "checkout", "--quiet", "-b", "feature")
    commit(repo, hour=3, specs__f="name: f\n")
    commit(repo, hour=4, specs__f="name: ff\n")
    git(repo, "checkout", "--quiet", "main")
    commit(repo, hour=5, specs__m="name: m\n")
    commit(repo, hour=6, specs__m="name: mm\n")
    return repo


def test_two_branches_part_at_their_merge_base(forked: Path, opened: Open) -> None:
    specs = opened(forked / "specs")
    base = specs.merge_base(specs.resolve("main"), specs.resolve("feature"))
    assert (base.id, base.remark) == (git(forked, "rev-parse", "main~2"), "")


def test_a_merge_base_that_a_shallow_clone_lacks_is_an_error_and_never_guessed(
    forked: Path, tmp_path: Path, opened: Open
) -> None:
    shallow = clone(forked, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    specs = opened(shallow / "specs")
    with pytest.raises(HistoryError, match="no common ancestor here: this clone is shallow"):
        specs.merge_base(specs.resolve("HEAD"), specs.resolve("origin/feature"))


def test_a_merge_base_from_a_shallow_clone_is_used_with_a_warning(forked: Path, tmp_path: Path, opened: Open) -> None:
    shallow = clone(forked, tmp_path / "shallow", "--depth=3", "--no-single-branch")
    specs = opened(shallow / "specs")
    base = specs.merge_base(specs.resolve("HEAD"), specs.resolve("origin/feature"))
    assert base.id == git(forked, "rev-parse", "main~2")
    assert "may be older" in base.remark


def test_the_first_parent_of_a_merge_needs_two_commits_only(forked: Path, tmp_path: Path, opened: Open) -> None:
    git(forked, "merge", "--quiet", "--no-ff", "--no-edit", "feature", hour=9)
    specs = opened(clone(forked, tmp_path / "shallow", "--depth=2") / "specs")
    base = specs.merge_base(specs.resolve("HEAD^1"), specs.resolve("HEAD"))
    assert (base.id, base.remark) == (git(forked, "rev-parse", "main^1"), "")
    assert [Path(file.path).name for file in specs.files(base)] == ["a.yaml", "b.yaml", "m.yaml"]


def test_unrelated_histories_have_no_merge_base(repo: Path, opened: Open) -> None:
    git(repo, "checkout", "--quiet", "--orphan", "alone")
    commit(repo)
    specs = opened(repo / "specs")
    with pytest.raises(HistoryError, match="planner diff main"):
        specs.merge_base(specs.resolve("main"), specs.resolve("alone"))


def test_the_default_branch_is_the_remote_one_before_a_local_one(repo: Path, tmp_path: Path, opened: Open) -> None:
    assert opened(repo / "specs").default_branch().name == "main"
    copy = clone(repo, tmp_path / "copy")
    assert opened(copy / "specs").default_branch().name == "refs/remotes/origin/HEAD"
    git(copy, "remote", "set-head", "origin", "--delete")
    assert opened(copy / "specs").default_branch().name == "origin/main"


def test_without_a_default_branch_one_is_asked_for(repo: Path, opened: Open) -> None:
    git(repo, "branch", "--move", "main", "trunk")
    with pytest.raises(UsageError, match="--base"):
        opened(repo / "specs").default_branch()
