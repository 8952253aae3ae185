"""What other repositories take from this one: the composite action and the hooks of pre-commit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli import VERBS, main

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def test_no_expression_of_the_action_is_pasted_into_a_script() -> None:
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []


def test_every_step_of_the_action_has_a_name_and_its_shell_stops_at_the_first_error() -> None:
    for step in ACTION["runs"]["steps"]:
        assert step["name"]
        assert step["shell"] == "bash"
        assert step["run"].startswith("set -euo pipefail\n")


def test_every_output_and_input_of_the_action_is_told_and_used() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, entry in ACTION["inputs"].items():
        assert entry["description"]
        assert f"${{{{ inputs.{name} }}}}" in text
    for name, entry in ACTION["outputs"].items():
        assert entry["description"]
        assert f'"{name}=' in text or f'echo "{name}=' in text


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_runs_a_verb_once_for_all_files(hook: dict[str, Any]) -> None:
    program, verb, *flags = hook["entry"].split()
    assert (program, hook["language"], hook["pass_filenames"]) == ("planner", "python", False)
    assert verb in VERBS
    assert main([verb, *flags, "--help"]) == 0


@pytest.mark.parametrize(
    ("path", "touched"),
    [
        ("specs/jobs/a.yaml", True), ("specs/a.yml", True), ("specs/load.csv", True), ("specs/README.md", False),
        ("other/specs/a.yaml", False), ("specs.yaml", False),
    ],
)  # fmt: skip
def test_specs_are_validated_when_a_commit_touches_them(path: str, touched: bool) -> None:
    validate = next(hook for hook in HOOKS if hook["id"] == "planner-validate")
    assert bool(re.search(validate["files"], path)) is touched
