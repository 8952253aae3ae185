"""`planner drift`: forms, exit codes, and the state that is kept on a branch."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from planner import lockfile
from planner.apply import lease
from planner.apply.recording import Recording
from planner.exits import Exit
from planner.report.drift import MARK
from tests.planner.commands.conftest import PLAN, Done, Run
from tests.planner.commands.test_apply import AT, applied, rewritten
from tests.planner.commands.test_apply_due import NOW
from tests.planner.repositories import commit, git, isolate, repository

STATE = ("--state-branch", "planner-state")


@pytest.fixture
def ready(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which a plan is applied and its state committed; `b` begins at once, `a` four hours later."""
    isolate(monkeypatch)
    repository(here)
    (here / ".gitignore").write_text("*.json\nstate/\nfleet/\n")
    commit(here)
    assert run(*PLAN).code == Exit.OK
    assert applied(run, *STATE).code == Exit.OK
    return here


def drift(run: Run, *flags: str, at: str = AT) -> Done:
    """Look at the recorded fleet with a snapshot in which nothing runs."""
    Path("now.yaml").write_text(NOW.format(at=at))
    return run("drift", "--record", "fleet", "--snapshot", "now.yaml", "--at", at, *flags)


def test_what_is_as_planned_is_said_to_be_so(run: Run, ready: Path) -> None:
    done = drift(run, "--detailed-exitcode")
    assert done.code == Exit.OK
    assert "everything is as planned, looked at Tue 2026-12-01 00:00" in done.out


@pytest.mark.parametrize(("flags", "code"), [((), Exit.OK), (("--detailed-exitcode",), Exit.CHANGES)])
def test_drift_ends_with_2_only_where_that_is_asked_for(
    flags: tuple[str, ...], code: Exit, run: Run, ready: Path
) -> None:
    done = drift(run, *flags, at="2026-12-01T01:00:00Z")
    assert done.code == code
    assert "vision/b" in done.out
    assert "it has not begun at 2026-12-01T01:00:00Z" in done.out


def test_a_file_that_somebody_edited_is_told_in_every_form(run: Run, ready: Path) -> None:
    recording = Recording(root=Path("fleet"))
    path = next(path for path in Path("fleet").glob("*/objects/*.json") if "nominalQuota" in path.read_text())
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "text": kept["text"].replace("nominalQuota", "nominalQuota: 99 #")}))
    assert any("nominalQuota: 99" in text for text in recording.objects().values())
    assert "Changed by hand" in drift(run).out
    found = json.loads(drift(run, "--format", "json").out)
    assert (found["format_version"], found["runs"]) == ("1.0", True)
    assert {item["kind"] for item in found["drift"]} == {"changed"}
    issue = drift(run, "--format", "markdown").out
    assert issue.startswith(f'{MARK} {{"digest":"sha256:')
    assert "| Seen |" in issue
    assert drift(run, "--format", "github").out.startswith("::warning title=changed::")


def test_without_a_snapshot_only_objects_are_compared_and_that_is_said(run: Run, ready: Path) -> None:
    done = run("drift", "--record", "fleet", "--at", "2026-12-01T12:00:00Z")
    assert done.code == Exit.OK
    assert "what runs was not compared: no snapshot was given" in done.out


def test_the_lock_may_be_on_a_branch(run: Run, ready: Path) -> None:
    shutil.rmtree("state")
    done = drift(run, "planner-state:applied.lock.json", "--no-objects")
    assert (done.code, "everything is as planned" in done.out) == (Exit.OK, True)
    assert not Path("state").exists()
    assert run("show", "planner-state:no.lock.json").err.startswith("error: there is no file 'no.lock.json' in planner")
    assert run("show", "planner-state:../x.json").code == Exit.USAGE
    assert run("show", "no-such:applied.lock.json").code == Exit.USAGE
    assert run("diff", "planner-state:applied.lock.json", "plan.lock.json").code == Exit.OK


def test_an_empty_state_folder_is_filled_from_the_branch(run: Run, ready: Path) -> None:
    before = {path.name: path.read_bytes() for path in Path("state").glob("*.json")}
    shutil.rmtree("state")
    assert drift(run, *STATE).code == Exit.OK
    assert {path.name: path.read_bytes() for path in Path("state").glob("*.json")} == before
    assert applied(run, *STATE).out.endswith("is applied: nothing had to change\n")
    assert git(ready, "rev-list", "--count", "planner-state") == "1"


def test_a_folder_that_nobody_changed_follows_the_branch(run: Run, ready: Path) -> None:
    shutil.copytree("state", "older")
    assert run("apply", "--pause", "team/vision", *STATE).code == Exit.OK
    assert applied(run, "--state", "older", *STATE).code == Exit.OK
    assert Path("older/paused.json").read_bytes() == Path("state/paused.json").read_bytes()
    assert git(ready, "rev-list", "--count", "planner-state") == "2"


def test_a_folder_and_a_branch_that_both_changed_are_left_to_people(run: Run, ready: Path) -> None:
    shutil.copytree("state", "older")
    assert run("apply", "--pause", "team/vision", *STATE).code == Exit.OK
    Path("older/inventory.json").write_text("what a killed run left")
    done = applied(run, "--state", "older", *STATE)
    assert done.code == Exit.BUSY
    assert "compare both, then remove older to go on from the branch" in done.err
    assert Path("older/inventory.json").read_text() == "what a killed run left"
    assert git(ready, "rev-list", "--count", "planner-state") == "2"


def test_a_run_that_found_the_lock_taken_commits_nothing(run: Run, ready: Path) -> None:
    (ready / "state" / "paused.json").write_text("half-way")
    lease.take(Path("state/apply.lock"), "ada", "an apply", lambda: 4_000_000_000)
    assert applied(run, *STATE).code == Exit.BUSY
    assert git(ready, "rev-list", "--count", "planner-state") == "1"


def test_a_failed_apply_leaves_its_state_on_the_branch_too(run: Run, ready: Path) -> None:
    plan = rewritten(Path("plan.lock.json"), previous_digest=lockfile.read(Path("state/applied.lock.json")).digest)
    (ready / "state" / "paused.json").write_text("not sealed, and not what this run reads")
    done = applied(run, "--allow-empty", *STATE, digest=plan.digest)
    assert done.code == Exit.OK, done.err
    assert "paused.json" in git(ready, "ls-tree", "--name-only", "planner-state")
