"""What every workflow of this repository keeps to, so that a pull request cannot run with more than it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = [ROOT / "action.yml", *sorted((ROOT / ".github" / "actions").glob("*/action.yml"))]
OF_THE_FLEET = ("advance", "apply", "drift", "replan")
PINNED = re.compile(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+")

every_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: str(path.name))
everything = pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: f"{path.parent.name}/{path.name}")


def steps(path: Path) -> list[dict[str, Any]]:
    """All steps of all jobs of a workflow, or those of an action."""
    content = yaml.safe_load(path.read_text("utf-8"))
    jobs = [content["runs"]] if "runs" in content else content["jobs"].values()
    return [step for job in jobs for step in job.get("steps", ())]


def test_there_are_workflows() -> None:
    assert WORKFLOWS


@every_workflow
def test_a_workflow_starts_without_permissions(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text("utf-8"))["permissions"] == {}


@everything
def test_an_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    used = re.findall(r"uses:\s*(.+)", path.read_text("utf-8"))
    assert [use for use in used if not use.startswith("./") and not PINNED.fullmatch(use.strip())] == []


@everything
def test_no_expression_is_pasted_into_a_script(path: Path) -> None:
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


@everything
def test_a_script_of_many_lines_stops_at_the_first_error(path: Path) -> None:
    scripts = [step["run"] for step in steps(path) if "\n" in step.get("run", "")]
    assert [script for script in scripts if not script.startswith("set -euo pipefail\n")] == []


@pytest.mark.parametrize("name", OF_THE_FLEET)
def test_what_changes_the_fleet_runs_one_at_a_time_and_is_never_cut_short(name: str) -> None:
    content = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    assert content["concurrency"] == {"group": "planner-fleet", "cancel-in-progress": False, "queue": "max"}


def test_a_secret_is_only_where_an_environment_guards_it() -> None:
    loose = []
    for workflow in WORKFLOWS:
        for name, job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].items():
            if "secrets." in yaml.safe_dump(job) and "environment" not in job:
                loose.append(f"{workflow.name}: {name}")
    assert loose == []


@every_workflow
def test_a_checkout_leaves_no_credentials_behind(workflow: Path) -> None:
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert [step for step in checkouts if step.get("with", {}).get("persist-credentials") is not False] == []
