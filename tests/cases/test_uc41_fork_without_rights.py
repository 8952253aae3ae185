"""UC-41: a pull request from a fork, whose token may not comment: the plan needs no right, and the comment no luck.

The shell steps of the action and the workflows run as they stand, against a clone of a local repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from planner.report.comment import BYTES
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import ALONE, commit, git, repository

ROOT: Final = Path(__file__).parent.parent.parent
TIGHT: Final[dict[str, Any]] = {
    "gpus": 16,
    "hours": 30,
    "extra": "required: true\nwindow: {deadline: 2026-12-02T12:00:00Z, deadline_is: hard}\n",
}
"""Of two jobs like this, only one has a place."""
WORKFLOWS: Final = ROOT / ".github" / "workflows"


def loaded(path: Path) -> dict[Any, Any]:
    """A workflow or action; YAML reads the key `on` as a truth value."""
    document: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return document


def step(path: Path, name: str) -> dict[str, Any]:
    """The step of that name."""
    document = loaded(path)
    jobs = document.get("jobs") or {"": document["runs"]}
    (found,) = [each for job in jobs.values() for each in job["steps"] if each.get("name") == name]
    return dict(found)


class Runner:
    """Runs shell steps with what GitHub gives them: a folder, files for outputs and the summary, and nothing else."""

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder = folder
        self.temporary = temporary
        self.bin = temporary / "bin"
        self.bin.mkdir(parents=True)
        quick = 'if [[ $verb = plan ]]; then set -- --budget=0 "$@"; fi'
        self.program("planner", f'verb=$1; shift; {quick}; exec "{sys.executable}" -m planner.cli "$verb" "$@"')
        self.summary.touch()
        self.outputs.touch()

    @property
    def summary(self) -> Path:
        """The file that the job's summary is written to."""
        return self.temporary / "summary.md"

    @property
    def outputs(self) -> Path:
        """The file that outputs are written to."""
        return self.temporary / "outputs"

    def program(self, name: str, script: str) -> None:
        """Put a program into the path of all steps."""
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run(self, found: dict[str, Any], values: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run one step as a runner's bash does; `values` stand for the expressions in its environment."""
        own = {name: _filled(text, values) for name, text in found.get("env", {}).items()}
        environment = {
            **ALONE, **own, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.temporary),
            "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.outputs),
            "RUNNER_TEMP": str(self.temporary), "GITHUB_ACTIONS": "true",
        }  # fmt: skip
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", found["run"]],
            cwd=self.folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip

    def told(self) -> dict[str, str]:
        """The outputs so far."""
        return dict(row.split("=", 1) for row in self.outputs.read_text().splitlines())


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: values[match[1]], text)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A full clone of a repository, detached at a commit that adds a job."""
    origin = repository(tmp_path / "origin")
    commit(origin, hour=0, specs__fleet=FLEET, specs__jobs=job("a"))
    git(origin, "checkout", "--quiet", "-b", "edit")
    commit(origin, hour=1, specs__more=job("b"))
    folder = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", "--branch=edit", origin.as_uri(), str(folder))
    git(folder, "checkout", "--quiet", "--detach")
    return Runner(folder, tmp_path / "runner")


def planned(runner: Runner, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the steps of the action but its installation."""
    given = {"specs": "specs", "base": "origin/main", "at": "", "effort": "quick", "state": "", "out": "plan", **inputs}
    values = {f"inputs.{name}": value for name, value in given.items()}
    done = runner.run(step(ROOT / "action.yml", "Plan"), values)
    outputs = {f"steps.plan.outputs.{name}": value for name, value in runner.told().items()}
    summed = runner.run(step(ROOT / "action.yml", "Summary"), values | outputs)
    assert summed.returncode == 0, summed.stderr
    return done


def verdict(runner: Runner) -> subprocess.CompletedProcess[str]:
    outputs = {f"steps.planner.outputs.{name}": value for name, value in runner.told().items()}
    return runner.run(step(WORKFLOWS / "plan.yml", "Verdict"), outputs)


def test_the_plan_needs_no_secret_no_cluster_and_no_right_but_to_read() -> None:
    text = (WORKFLOWS / "plan.yml").read_text("utf-8") + (ROOT / "action.yml").read_text("utf-8")
    assert "secrets." not in text
    assert "github.token" not in text
    document = loaded(WORKFLOWS / "plan.yml")
    assert document["permissions"] == {}
    assert [job["permissions"] for job in document["jobs"].values()] == [{"contents": "read"}]
    assert "pull_request_target" not in document[True]


def test_what_may_comment_runs_nothing_of_the_change() -> None:
    document = loaded(WORKFLOWS / "plan-comment.yml")
    assert set(document[True]) == {"workflow_run"}
    (only,) = document["jobs"].values()
    checkouts = [each for each in only["steps"] if "checkout" in each.get("uses", "")]
    assert [each["with"] for each in checkouts] == [{"persist-credentials": False}]


def test_the_plan_of_a_fork_is_in_the_summary_and_the_artefact(runner: Runner) -> None:
    done = planned(runner)
    assert done.returncode == 0, done.stderr
    told = runner.told()
    assert (told["exit-code"], told["failure-reason"]) == ("0", "")
    lock = json.loads((runner.folder / told["lock-path"]).read_text())
    assert told["digest"] == lock["digest"]
    assert "1 new, 2 of 2 jobs run" in runner.summary.read_text().splitlines()[1]
    assert len((runner.folder / told["markdown-path"]).read_bytes()) <= BYTES
    assert verdict(runner).returncode == 0


@pytest.mark.parametrize(
    ("text", "code", "reason", "shown"),
    [
        (job("b").replace("gpus: 8", "gpuz: 8"), "3", "invalid", "SPEC202"),
        (job("b", **TIGHT) + job("c", **TIGHT), "4", "unsatisfied", "required work has no place"),
    ],
)
def test_a_change_that_cannot_be_planned_is_red_and_says_why_in_the_summary(
    runner: Runner, text: str, code: str, reason: str, shown: str
) -> None:
    commit(runner.folder, specs__more=text)
    done = planned(runner)
    assert done.returncode == 0, done.stderr
    assert (runner.told()["exit-code"], runner.told()["failure-reason"]) == (code, reason)
    assert shown in runner.summary.read_text()
    assert verdict(runner).returncode == 1
    assert ("::error file=specs/more.yaml" in done.stdout) is (code == "3")


@pytest.mark.parametrize("value", ["--help", "$(touch pwned)", "; touch pwned", "a b"])
def test_inputs_are_values_and_never_words_of_a_script(runner: Runner, value: str) -> None:
    done = planned(runner, specs=value)
    assert done.returncode == 0
    assert runner.told()["failure-reason"] == "usage"
    planned(runner, base=value)
    assert runner.told()["failure-reason"] == "usage"
    assert not (runner.folder / "pwned").exists()


def commented(runner: Runner, gh: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the steps that write and post a comment, with a `gh` that keeps its calls."""
    shutil.copytree(runner.folder / "plan", runner.temporary / "plan", dirs_exist_ok=True)
    (runner.temporary / "number").write_text("7\n")
    calls = runner.temporary / "calls"
    calls.touch()
    runner.program("gh", f'echo "$@" >>"{calls}"\n{gh}')
    values = {"github.token": "none", "github.repository": "acme/fleet"}
    done = runner.run(step(WORKFLOWS / "plan-comment.yml", "Write"), values)
    assert done.returncode == 0, done.stderr
    done = runner.run(step(WORKFLOWS / "plan-comment.yml", "Post"), values)
    return done, calls.read_text().splitlines()


def test_a_comment_is_posted_once_and_then_kept_up_to_date(runner: Runner) -> None:
    planned(runner)
    done, calls = commented(runner, "")
    assert done.returncode == 0, done.stderr
    assert "--method POST repos/acme/fleet/issues/7/comments" in calls[-1]
    text = (runner.temporary / "comment.md").read_text()
    assert "1 new, 2 of 2 jobs run" in text.splitlines()[1]
    done, calls = commented(runner, 'case "$*" in *--paginate*) echo 42 ;; esac')
    assert done.returncode == 0, done.stderr
    assert "--method PATCH repos/acme/fleet/issues/comments/42" in calls[-1]


def test_a_token_that_may_not_comment_turns_nothing_red(runner: Runner) -> None:
    planned(runner)
    done, calls = commented(runner, 'case "$*" in *--method*) echo "HTTP 403" >&2; exit 1 ;; esac')
    assert done.returncode == 0, done.stderr
    assert "may not comment" in done.stdout
    assert len(calls) == 2


def test_nothing_is_posted_where_nothing_changes_or_no_pull_request_is_open(runner: Runner) -> None:
    planned(runner, base="HEAD")
    done, calls = commented(runner, "")
    assert (done.returncode, [call for call in calls if "--method" in call]) == (0, [])
    (runner.temporary / "number").write_text("\n")
    values = {"github.token": "none", "github.repository": "acme/fleet"}
    done = runner.run(step(WORKFLOWS / "plan-comment.yml", "Post"), values)
    assert done.returncode == 0
    assert "nothing to post" in done.stdout
