"""What every workflow of this repository keeps to, so that a pull request cannot run with more than it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parent.parent / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+")

every_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: str(path.name))


def steps(workflow: Path) -> list[dict[str, Any]]:
    """All steps of all jobs of a workflow."""
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values()
    return [step for job in jobs for step in job.get("steps", ())]


def test_there_are_workflows() -> None:
    assert WORKFLOWS


@every_workflow
def test_a_workflow_starts_without_permissions(workflow: Path) -> None:
    assert yaml.safe_load(workflow.read_text("utf-8"))["permissions"] == {}


@every_workflow
def test_an_action_is_pinned_to_a_commit_and_says_its_version(workflow: Path) -> None:
    used = re.findall(r"uses:\s*(.+)", workflow.read_text("utf-8"))
    assert [use for use in used if not use.startswith("./") and not PINNED.fullmatch(use.strip())] == []


@every_workflow
def test_no_expression_is_pasted_into_a_script(workflow: Path) -> None:
    assert [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")] == []


@every_workflow
def test_a_checkout_leaves_no_credentials_behind(workflow: Path) -> None:
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert [step for step in checkouts if step.get("with", {}).get("persist-credentials") is not False] == []
