"""What GitHub reads of this repository beside its workflows: owners, updates and templates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner import pipeline

ROOT = Path(__file__).parent.parent
GITHUB = ROOT / ".github"
NOT_YET = ("/plan.approved.json",)
"""What a run of replan makes."""


def owned() -> list[tuple[str, str]]:
    """The patterns of CODEOWNERS with their owners, in order: the last that fits counts."""
    lines = (GITHUB / "CODEOWNERS").read_text("utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(pattern, owner) for pattern, _, owner in pairs]


def documents(folder: str) -> dict[str, Any]:
    """The YAML files of a folder of `.github`."""
    return {path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted((GITHUB / folder).glob("*.yml"))}


def test_everything_that_has_an_owner_exists() -> None:
    patterns = [pattern for pattern, _ in owned() if pattern != "*" and pattern not in NOT_YET]
    assert [pattern for pattern in patterns if not (ROOT / pattern.strip("/")).exists()] == []


def test_the_work_of_a_team_belongs_to_those_who_answer_for_it() -> None:
    specset = pipeline.load(ROOT / "specs").specset
    assert specset is not None
    working = {job.team for job in specset.jobs}
    wanted = [(f"/specs/jobs/{team.name}/", " ".join(team.owners)) for team in specset.teams if team.name in working]
    jobs = [(pattern, owner) for pattern, owner in owned() if pattern.startswith("/specs/jobs/")]
    assert sorted(jobs) == sorted(wanted)


def test_what_decides_over_everybody_belongs_to_the_platform_team() -> None:
    owners = dict(owned())
    for pattern in ("/.github/", "/.ci/", "/action.yml", "/plan.approved.json", "/specs/policy.yaml", "/specs/teams/"):
        assert owners[pattern] == "@acme/platform"


def test_updates_are_looked_for_wherever_something_is_pinned() -> None:
    found = {entry["package-ecosystem"]: entry for entry in documents("")["dependabot.yml"]["updates"]}
    modules = {f"/{path.parent.relative_to(ROOT)}" for top in (".ci", "tests") for path in (ROOT / top).rglob("go.mod")}
    assert set(found["gomod"]["directories"]) == modules
    actions = {f"/{path.parent.parent.relative_to(ROOT)}/*" for path in (GITHUB / "actions").glob("*/action.yml")}
    assert set(found["github-actions"]["directories"]) == {"/", *actions}
    assert all(entry["cooldown"]["default-days"] >= 7 for entry in found.values())


def test_a_template_of_an_issue_asks_for_what_shows_the_fault() -> None:
    for name, form in documents("ISSUE_TEMPLATE").items():
        if name != "config.yml":
            assert form["name"]
            assert form["description"]
            assert any(field["validations"]["required"] for field in form["body"])


@pytest.mark.parametrize(("surroundings", "code"), [({}, 0), ({"CI": "false"}, 0), ({"CI": "true"}, 1)])
def test_without_go_workflows_are_not_checked_and_only_on_a_machine_of_somebody_that_is_no_failure(
    surroundings: dict[str, str], code: int, tmp_path: Path
) -> None:
    for name in ("sh", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        [ROOT / ".ci" / "actionlint" / "run"],
        env={"PATH": str(tmp_path), **surroundings}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert "actionlint is skipped: it is built with Go, which is not installed" in done.stderr
