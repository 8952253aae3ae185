"""`planner plan` and `planner diff` in a repository: commits by name, the base of a change, and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner import lockfile
from planner.exits import Exit
from planner.plan import Plan
from planner.report.comment import MARK
from tests.planner.commands.conftest import FLEET, PLAN, Run, job
from tests.planner.repositories import commit, git, isolate, repository

DIFF = ("diff", "--budget", "0")
NO_START = FLEET.replace("start: 2026-12-01T00:00:00Z, ", "")


@pytest.fixture
def repo(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree of specs as the first commit of main, and a branch `edit` that is checked out."""
    isolate(monkeypatch)
    repository(here)
    (here / ".gitignore").write_text("*.json\n")
    commit(here, hour=1)
    git(here, "checkout", "--quiet", "-b", "edit")
    return here


def plan_in(folder: Path) -> Plan:
    return lockfile.read(folder / "plan.lock.json")


def effects(out: str) -> list[tuple[str, str]]:
    """The jobs that change and how, from the form for programs."""
    return [(each["address"], each["effect"]) for each in json.loads(out)["jobs"]]


def test_a_plan_records_the_commit_and_whether_specs_differ_from_it(run: Run, repo: Path) -> None:
    done = run(*PLAN)
    head = git(repo, "rev-parse", "HEAD")
    assert (plan_in(repo).inputs.commit, plan_in(repo).inputs.dirty) == (head, False)
    assert f"commit {head[:12]}" in done.out
    assert "not committed" not in done.err
    (repo / "specs" / "jobs.yaml").write_text("# a remark\n" + (repo / "specs" / "jobs.yaml").read_text())
    done = run(*PLAN)
    assert plan_in(repo).inputs.dirty is True
    assert "with uncommitted changes" in done.out
    assert "note: not committed as they are: specs/jobs.yaml\n" in done.err


def test_where_the_specs_come_from_does_not_change_the_digest_of_a_plan(run: Run, repo: Path) -> None:
    run(*PLAN)
    one = plan_in(repo)
    (repo / "plan.lock.json").unlink()
    commit(repo, "Change nothing", hour=9)
    run(*PLAN)
    assert one.inputs.commit != plan_in(repo).inputs.commit
    assert one.digest == plan_in(repo).digest


def test_a_job_waits_since_the_first_commit_of_its_file(run: Run, repo: Path) -> None:
    commit(repo, hour=5, specs__later=job("later"), specs__stated=job("stated", extra="submitted: 2026-11-01\n"))
    (repo / "specs" / "draft.yaml").write_text(job("draft"))
    run(*PLAN)
    since = {item.address: item.submitted for item in plan_in(repo).placements}
    assert since == {
        "job/vision/a": "2026-11-30T13:00:00Z",
        "job/vision/b": "2026-11-30T13:00:00Z",
        "job/vision/later": "2026-11-30T17:00:00Z",
        "job/vision/stated": "2026-11-01T00:00:00Z",
        "job/vision/draft": "2026-12-01T00:00:00Z",
    }


def test_what_the_previous_plan_says_of_waiting_is_kept(run: Run, repo: Path) -> None:
    (repo / "specs" / "draft.yaml").write_text(job("draft"))
    run(*PLAN)
    commit(repo, hour=6)
    run(*PLAN)
    placement = plan_in(repo).placement("job/vision/draft")
    assert placement is not None
    assert placement.submitted == "2026-12-01T00:00:00Z"


def test_no_job_waits_since_after_the_start(run: Run, repo: Path) -> None:
    commit(repo, hour=500, specs__future=job("future"))
    run(*PLAN)
    placement = plan_in(repo).placement("job/vision/future")
    assert placement is not None
    assert placement.submitted == "2026-12-01T00:00:00Z"


def test_without_any_other_start_a_plan_starts_at_the_time_of_the_commit(run: Run, repo: Path) -> None:
    (repo / "specs" / "fleet.yaml").write_text(NO_START)
    commit(repo, hour=3)
    assert run(*PLAN).code == Exit.OK
    assert plan_in(repo).inputs.start == "2026-11-30T15:00:00Z"


def test_a_commit_is_planned_without_a_checkout(run: Run, repo: Path) -> None:
    run(*PLAN, "--out", "main.json")
    commit(repo, specs__more=job("c"))
    (repo / "specs" / "more.yaml").write_text("broken: [\n")
    assert run(*PLAN, "--ref", "main", "--out", "ref.json").code == Exit.OK
    assert lockfile.read(repo / "ref.json").digest == lockfile.read(repo / "main.json").digest
    assert run(*PLAN, "--out", "x.json").code == Exit.INVALID


def test_diff_compares_what_the_branch_adds_with_where_it_parted(run: Run, repo: Path) -> None:
    commit(repo, specs__more=job("c"))
    git(repo, "checkout", "--quiet", "main")
    commit(repo, specs__other=job("d"))
    git(repo, "checkout", "--quiet", "edit")
    (repo / "specs" / "draft.yaml").write_text(job("e"))
    done = run(*DIFF, "--format", "json")
    assert done.code == Exit.OK
    assert effects(done.out) == [("job/vision/c", "added"), ("job/vision/e", "added")]
    assert f"comparing merge base of main and HEAD ({git(repo, 'rev-parse', 'main~1')[:12]})" in done.err


def test_any_two_commits_can_be_compared_and_a_folder_or_lock_with_a_commit(run: Run, repo: Path) -> None:
    run(*PLAN)
    commit(repo, specs__more=job("c"))
    git(repo, "tag", "v2")
    for sides in (("main", "v2"), ("HEAD~1", "HEAD"), ("main",), ("plan.lock.json", "v2"), ("main", "specs")):
        assert effects(run(*DIFF, *sides, "--format", "json").out) == [("job/vision/c", "added")], sides
    assert effects(run(*DIFF, "v2", "main", "--format", "json").out) == [("job/vision/c", "removed")]
    assert run(*DIFF, "v2", "--detailed-exitcode").code == Exit.OK


def test_a_base_is_where_histories_part_and_a_commit_is_taken_as_it_is(run: Run, repo: Path) -> None:
    commit(repo, specs__more=job("c"))
    git(repo, "checkout", "--quiet", "main")
    commit(repo, specs__other=job("d"))
    git(repo, "checkout", "--quiet", "edit")
    assert effects(run(*DIFF, "--base", "main", "--format", "json").out) == [("job/vision/c", "added")]
    assert effects(run(*DIFF, "main", "--format", "json").out) == [
        ("job/vision/c", "added"),
        ("job/vision/d", "removed"),
    ]


def test_a_rename_is_followed_over_commits(run: Run, repo: Path) -> None:
    jobs = repo / "specs" / "jobs.yaml"
    jobs.write_text(jobs.read_text().replace("name: b\n", "name: better\nformerly: [job/vision/b]\n"))
    done = run(*DIFF)
    assert "was vision/b" in done.out
    assert "gone" not in done.out


def test_a_plan_of_record_is_not_solved_again(run: Run, repo: Path) -> None:
    (repo / ".gitignore").unlink()
    git(repo, "checkout", "--quiet", "main")
    run(*PLAN)
    commit(repo, "Keep the plan", hour=2)
    digest = plan_in(repo).digest
    git(repo, "checkout", "--quiet", "-B", "edit")
    (repo / "specs" / "more.yaml").write_text(job("c"))
    document = json.loads(run(*DIFF, "--format", "json").out)
    assert document["before"]["digest"] == digest
    run(*PLAN, "--base", "main", "--out", "new.json")
    assert lockfile.read(repo / "new.json").inputs.previous_digest == digest


def test_a_change_follows_the_plan_of_record_and_not_the_one_it_is_compared_with(run: Run, repo: Path) -> None:
    run(*PLAN, "--out", "applied.json", "--at", "2026-12-01T06:00:00Z")
    applied = lockfile.read(repo / "applied.json")
    commit(repo, specs__more=job("c"))
    run(*PLAN, "--base", "main", "--lock", "applied.json", "--base-out", "base.json")
    base = lockfile.read(repo / "base.json")
    assert base.digest != applied.digest
    assert base.inputs.previous_digest == plan_in(repo).inputs.previous_digest == applied.digest
    run(*PLAN, "--base", "main", "--out", "alone.json")
    assert lockfile.read(repo / "alone.json").inputs.previous_digest is None


def test_a_change_that_is_merged_and_planned_again_as_reviewed_is_the_same_plan(run: Run, repo: Path) -> None:
    run(*PLAN, "--ref", "main", "--out", "applied.json")
    commit(repo, hour=3, specs__more=job("c"))
    commit(repo, hour=5, specs__more=job("c", gpus=4))
    reviewed = (*PLAN, "--base", git(repo, "rev-parse", "main"), "--lock", "applied.json")
    run(*reviewed, "--out", "reviewed.json")
    git(repo, "checkout", "--quiet", "main")
    git(repo, "merge", "--quiet", "--squash", "edit")
    commit(repo, "Squashed", hour=9)
    run(*reviewed, "--out", "again.json", "--at", lockfile.read(repo / "reviewed.json").inputs.start)
    assert lockfile.read(repo / "again.json").digest == lockfile.read(repo / "reviewed.json").digest


def test_work_of_a_change_waits_since_the_start_whatever_its_commits_say(run: Run, repo: Path) -> None:
    commit(repo, hour=-9_000, specs__more=job("c"))
    since = {}
    for name, flags in (("change.json", ("--base", "main")), ("alone.json", ())):
        run(*PLAN, *flags, "--out", name)
        since[name] = {item.address: item.submitted for item in lockfile.read(repo / name).placements}
    assert since["change.json"]["job/vision/a"] == since["alone.json"]["job/vision/a"] == "2026-11-30T13:00:00Z"
    assert since["change.json"]["job/vision/c"] == "2026-12-01T00:00:00Z"
    assert since["alone.json"]["job/vision/c"] < "2026"


def test_a_lock_that_cannot_be_read_in_a_commit_is_said_and_not_used(run: Run, repo: Path) -> None:
    (repo / ".gitignore").unlink()
    (repo / "plan.lock.json").write_text("{}")
    commit(repo)
    done = run(*DIFF, "HEAD", "--detailed-exitcode")
    assert done.code == Exit.OK
    assert "note: plan.lock.json in" in done.err


def test_a_change_is_planned_against_its_base_and_told_in_one_comment(run: Run, repo: Path) -> None:
    (repo / "specs" / "more.yaml").write_text(job("c"))
    commit(repo)
    done = run(*PLAN, "--base", "main", "--format", "markdown")
    assert done.code == Exit.OK
    first, second = done.out.splitlines()[:2]
    header = json.loads(first.removeprefix(MARK).removesuffix(" -->"))
    assert header["digest"] == plan_in(repo).digest
    assert header["base"] == git(repo, "rev-parse", "main")
    assert header["head"] == git(repo, "rev-parse", "HEAD")
    assert "1 new, 3 of 3 jobs run" in second
    assert "| `vision/c` |" in done.out


def test_a_change_is_shown_as_text_with_what_it_changes(run: Run, repo: Path) -> None:
    (repo / "specs" / "more.yaml").write_text(job("c"))
    done = run(*PLAN, "--base", "main", "--detailed-exitcode")
    assert done.code == Exit.CHANGES
    assert "Runs  3 jobs" in done.out
    assert "+ 1 new   = 2 unchanged" in done.out


def test_the_base_decides_what_is_safe_and_denied(run: Run, repo: Path) -> None:
    (repo / "specs" / "fleet.yaml").write_text(
        FLEET.replace("currency: USD\n", "currency: USD\nsafety: {max_moved: 100%}\n", 1)
    )
    commit(repo)
    assert "the base's hold for this plan" in run(*PLAN, "--base", "main").err
    assert "the base's hold" not in run(*PLAN, "--base", "HEAD").err


@pytest.mark.parametrize("broken", ["not: [a spec\n", None])
def test_a_change_that_mends_its_base_is_planned_without_comparison(run: Run, repo: Path, broken: str | None) -> None:
    fleet = (repo / "specs" / "fleet.yaml").read_text()
    jobs = (repo / "specs" / "jobs.yaml").read_text()
    git(repo, "checkout", "--quiet", "main")
    if broken is None:
        git(repo, "rm", "--quiet", "-r", "specs")
    else:
        (repo / "specs" / "fleet.yaml").write_text(broken)
    commit(repo)
    git(repo, "checkout", "--quiet", "-B", "edit")
    commit(repo, specs__fleet=fleet, specs__jobs=jobs)
    done = run(*PLAN, "--base", "main", "--format", "markdown")
    assert done.code == Exit.OK
    assert "note: no comparison with merge base of main and HEAD" in done.err
    assert "2 of 2 jobs run" in done.out
    refused = run(*DIFF)
    assert refused.code == (Exit.INVALID if broken else Exit.USAGE)
    assert git(repo, "rev-parse", "main")[:12] in refused.err


def test_errors_in_a_commit_are_said_to_be_there(run: Run, repo: Path) -> None:
    good = (repo / "specs" / "jobs.yaml").read_text()
    bad = commit(repo, specs__jobs=good.replace("gpus: 8", "gpuz: 8"))
    commit(repo, specs__jobs=good)
    done = run(*DIFF, "HEAD~1")
    assert done.code == Exit.INVALID
    assert f"{bad[:12]}:specs/jobs.yaml:" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("diff", "nowhere"), "no directory or lock file 'nowhere', and no commit: there is no branch"),
        (("diff", "--output=x"), "No such option"),
        (("diff", "--", "--output=x"), "is not the name of a branch, tag or commit"),
        (("diff", "main", "--base", "main"), "give one of them"),
        (("plan", "--ref", "mian"), "did you mean 'main'?"),
        (("plan", "--base", "a..b"), "is not the name of a branch, tag or commit"),
        (("diff", "main", "--specs", "elsewhere"), "there is no 'elsewhere' in main"),
    ],
)
def test_a_commit_that_cannot_be_meant_ends_with_64(
    run: Run, repo: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert message in done.err


def test_of_a_tag_and_a_branch_of_one_name_it_is_said_which_is_meant(run: Run, repo: Path) -> None:
    git(repo, "tag", "main", "HEAD")
    assert "note: main is a tag and a branch" in run(*DIFF, "main").err


def test_both_sides_start_with_the_later_commit(run: Run, repo: Path) -> None:
    (repo / "specs" / "fleet.yaml").write_text(NO_START)
    commit(repo, hour=7)
    done = run(*DIFF, "--format", "markdown")
    assert '"at":"2026-11-30T19:00:00Z"' in done.out.splitlines()[0]
    assert "nothing changes" in done.out.splitlines()[1]


def test_the_base_plan_is_written_too_so_that_the_two_can_be_compared_later(run: Run, repo: Path) -> None:
    (repo / "specs" / "more.yaml").write_text(job("c"))
    run(*PLAN, "--base", "main", "--base-out", "base.json")
    done = run("diff", "base.json", "plan.lock.json", "--format", "markdown")
    assert f'"base":"{git(repo, "rev-parse", "main")}"' in done.out.splitlines()[0]
    assert "1 new, 3 of 3 jobs run" in done.out.splitlines()[1]


def test_show_prints_a_plan_as_a_comment(run: Run, repo: Path) -> None:
    made = run(*PLAN, "--format", "markdown").out
    assert run("show", "--format", "markdown").out == made
    assert "| **h100-sxm5-80gb** | nvidia |" in run("show", "catalog", "--format", "markdown").out


def test_the_specs_of_a_commit_are_validated_where_they_are(run: Run, repo: Path) -> None:
    good = (repo / "specs" / "jobs.yaml").read_text()
    bad = commit(repo, specs__jobs=good.replace("gpus: 8", "gpuz: 8"))
    (repo / "specs" / "jobs.yaml").write_text(good)
    assert run("validate").code == Exit.OK
    done = run("validate", "--ref", "HEAD")
    assert done.code == Exit.INVALID
    assert f"{bad[:12]}:specs/jobs.yaml:" in done.out
    assert run("validate", "--ref", "main").code == Exit.OK


def test_on_github_what_has_no_place_is_annotated_whatever_the_form(
    run: Run, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = "".join(
        job(f"c{number}", gpus=16, hours=40, extra="window: {deadline: 2026-12-03, deadline_is: hard}\n")
        for number in range(2)
    )
    (repo / "specs" / "more.yaml").write_text(crowd)
    assert "::" not in run(*PLAN, "--format", "json").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run(*PLAN, "--format", "markdown")
    assert "::warning file=specs/more.yaml,line=" in done.err
    assert done.out.startswith(MARK)


def test_specs_are_compared_after_the_plan_where_both_sides_have_them(run: Run, repo: Path) -> None:
    (repo / "specs" / "more.yaml").write_text(job("c", extra="title: small\n"))
    commit(repo)
    (repo / "specs" / "more.yaml").write_text(job("c", extra="title: smaller\n"))
    done = run(*DIFF, "HEAD", "--detailed-exitcode")
    assert done.code == Exit.CHANGES
    assert "nothing changes" in done.out
    assert '"small" → "smaller"' in done.out
    assert run(*DIFF, "HEAD", "--what", "plan", "--detailed-exitcode").code == Exit.OK
    document = json.loads(run(*DIFF, "HEAD", "--format", "json").out)
    assert [(item["address"], item["edit"]) for item in document["specs"]] == [("job/vision/c", "changed")]
    assert "<summary><b>Specs</b> · 1 spec</summary>" in run(*DIFF, "HEAD", "--format", "markdown").out


def test_manifests_are_compared_when_they_are_asked_for(run: Run, repo: Path) -> None:
    (repo / "specs" / "more.yaml").write_text(job("c"))
    assert "Manifests" not in run(*DIFF).out
    out = run(*DIFF, "--what", "plan,specs,manifests").out
    assert out.index("New  1 job") < out.index("Specs  1 spec") < out.index("Manifests  ")
    assert "+++ b/dc1/" in run(*DIFF, "--what", "manifests", "--full").out


@pytest.mark.parametrize(
    ("what", "message"), [("plans", "'plans' is not one of"), ("manifests", "needs specs on both sides")]
)
def test_what_cannot_be_compared_ends_with_64(run: Run, repo: Path, what: str, message: str) -> None:
    run(*PLAN)
    done = run(*DIFF, "plan.lock.json", "specs", "--what", what)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert message in done.err
