"""Specs in real repositories, in the states that laptops and CI really have them in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from planner import workspace
from planner.diagnostics import SpecError, UsageError
from planner.source import FILE_BYTES, read_tree
from planner.workspace import HistoryError, Workspace
from tests.planner.repositories import NOON, commit, git, isolate, repository

Open = Callable[[Path], Workspace]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this machine's settings out."""
    isolate(monkeypatch)


@pytest.fixture
def opened() -> Iterator[Open]:
    """Open trees of specs, and close them after the test."""
    with ExitStack() as stack:

        def one(root: Path) -> Workspace:
            found = workspace.find(root)
            assert found is not None
            return stack.enter_context(found)

        yield one


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits on main, of two spec files."""
    folder = repository(tmp_path / "repo")
    commit(folder, hour=0, specs__a="name: a\n")
    commit(folder, hour=2, specs__jobs__b="name: b\n")
    return folder


def clone(source: Path, target: Path, *flags: str) -> Path:
    git(source.parent, "clone", "--quiet", *flags, source.as_uri(), str(target))
    return target


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
