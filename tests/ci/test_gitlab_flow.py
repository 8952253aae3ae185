"""The pipeline for GitLab from a merge request to an applied fleet: its scripts run as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.ci.runner import ROOT
from tests.ci.site import LOOK, MIDNIGHT, Site, a_job
from tests.e2e.labs.requirements import program
from tests.planner.repositories import ALONE, commit, git

pytestmark = pytest.mark.slow
PIPELINE: Final[dict[str, Any]] = yaml.safe_load((ROOT / "docs" / "gitlab-ci.yml").read_text("utf-8"))


class Project(Site):
    """A project on GitLab."""

    def ran(self, job: str, at: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script of one job in a fresh clone of a commit."""
        place = self.root / f"job-{len(list(self.root.glob('job-*'))) + 1}"
        git(self.root, "clone", "--quiet", str(self.forge.origin), place.name)
        git(place, "fetch", "--quiet", "origin", at)
        git(place, "checkout", "--quiet", "--detach", at)
        own = PIPELINE[job]
        before = PIPELINE[own["extends"]]["before_script"] if "extends" in own else []
        environment = {
            **ALONE,
            "PATH": self.forge.path, "HOME": str(place), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT),
            "FORGE": str(self.forge.kept), "CLOCK": str(self.root / "now"), "INTERPRETER": sys.executable,
            "CI_API_V4_URL": "https://gitlab.example/api/v4", "CI_PROJECT_ID": "7", "CI_SERVER_HOST": "gitlab.example",
            "CI_PROJECT_PATH": "acme/fleet", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_SHA": at, "CI_JOB_TOKEN": "j0b",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{self.forge.origin}.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://planner:t0ken@gitlab.example/acme/fleet.git",
            "PLANNER_APPLY_TOKEN": "t0ken", "PLANNER_BOT": "planner-bot", "PLANNER_DISCOVER": LOOK,
            "PLANNER_BACKEND": self.forge.variables["PLANNER_BACKEND"], **variables,
        }  # fmt: skip
        script = "set -eo pipefail\n" + "\n".join([*before, *own["script"]])
        command = ["bash", "-c", script]
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)

    def noted(self, author: str = "planner-bot", **files: str) -> dict[str, Any]:
        """Open a merge request, plan it, and note the plan as `author`."""
        pull = self.pull_request(hour=3, **files)
        done = self.ran("plan", pull["head"]["sha"], CI_MERGE_REQUEST_DIFF_BASE_SHA=pull["base"]["sha"])
        assert done.returncode == 0, done.stderr
        (note,) = sorted(self.root.glob("job-*/plan/plan.md"), key=os.path.getmtime)[-1:]
        self.kept.add("comments", issue=pull["number"], author={"username": author}, body=note.read_text("utf-8"))
        return pull

    def applied_after_merge(self, pull: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """Merge as one commit, and run what follows."""
        before = self.main
        git(self.here, "fetch", "--quiet", "origin")
        git(self.here, "checkout", "--quiet", "--detach", "origin/main")
        git(self.here, "merge", "--quiet", "--squash", pull["head"]["sha"])
        after = commit(self.here, "Edit (squashed)", hour=9)
        git(self.here, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        self.kept.change("pulls", pull["number"], commit=after, state="merged", iid=pull["number"])
        return self.ran("fleet-apply", after, CI_COMMIT_BEFORE_SHA=before)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with nothing applied."""
    program("jq", "jq")
    return Project(tmp_path)


def test_what_was_noted_is_applied_after_the_merge_and_begins_in_time(project: Project) -> None:
    for name in ("b", "c"):
        done = project.applied_after_merge(project.noted(**{f"specs__{name}": a_job(name)}))
        assert done.returncode == 0, done.stderr
    assert project.jobs() == {"a", "b", "c"}
    assert "<!-- state " in project.comments()[-1]
    project.clock(MIDNIGHT)
    done = project.ran("fleet-advance", project.main, PLANNER_TASK="advance")
    assert done.returncode == 0, done.stderr
    assert sum(effect == "released" for effect, _ in project.fleet.log()) == 2, "two nodes for three jobs"
    assert "t0ken" not in done.stdout + done.stderr


def test_what_was_not_noted_by_the_bot_is_planned_anew_and_applied_once_that_is_merged(project: Project) -> None:
    done = project.applied_after_merge(project.noted("mallory", specs__more=a_job("b")))
    assert done.returncode == 5
    assert not project.fleet.objects()
    (started,) = (each["inputs"] for each in project.kept.read()["started"])
    assert started == {
        "token": "j0b", "ref": "main", "variables[PLANNER_TASK]": "replan", "variables[PLANNER_ASK]": "true",
    }  # fmt: skip
    for _ in range(2):
        done = project.ran("fleet-replan", project.main, PLANNER_TASK="replan", PLANNER_ASK="true")
        assert done.returncode == 0, done.stderr
    (request,) = (each for each in project.kept.read()["pulls"] if each.get("source_branch") == "planner/replan")
    assert "2 of 2 jobs run" in request["description"]
    before = project.main
    git(project.here, "fetch", "--quiet", "origin")
    git(project.here, "push", "--quiet", "origin", "origin/planner/replan:refs/heads/main")
    done = project.ran("fleet-apply", project.main, CI_COMMIT_BEFORE_SHA=before)
    assert done.returncode == 0, done.stderr
    assert project.jobs() == {"a", "b"}
    done = project.ran("fleet-replan", project.main, PLANNER_TASK="replan")
    assert "nothing had to change" in done.stdout, done.stderr


def test_one_issue_tells_of_drift_while_there_is_any(project: Project) -> None:
    assert project.applied_after_merge(project.noted(specs__more=a_job("b"))).returncode == 0
    path = next(path for path in project.fleet.root.rglob("*.json") if "job-a-" in path.read_text())
    text = path.read_text()
    path.unlink()
    for _ in range(2):
        done = project.ran("fleet-drift", project.main, PLANNER_TASK="drift")
        assert done.returncode == 0, done.stderr
    (issue,) = project.kept.read()["issues"]
    assert (issue["open"], "job-a-" in issue["description"]) == (True, True)
    path.write_text(text)
    assert project.ran("fleet-drift", project.main, PLANNER_TASK="drift").returncode == 0
    (issue,) = project.kept.read()["issues"]
    assert not issue["open"]


def test_what_changes_the_fleet_runs_on_the_default_branch_alone_and_one_at_a_time() -> None:
    assert PIPELINE[".fleet"]["resource_group"] == "planner-fleet"
    fleet = {name: job for name, job in PIPELINE.items() if job.get("extends") == ".fleet"}
    assert sorted(fleet) == ["fleet-advance", "fleet-apply", "fleet-drift", "fleet-replan"]
    for job in fleet.values():
        (rule,) = job["rules"]
        assert "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $PLANNER_APPLY_TOKEN" in rule["if"]
