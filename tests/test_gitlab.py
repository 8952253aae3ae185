"""The pipeline for GitLab: its script runs as it stands, against a clone of a local repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from planner.report.comment import BYTES
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import ALONE, commit, git, repository

ROOT = Path(__file__).parent.parent
PIPELINE: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "gitlab-ci.yml").read_text("utf-8"))


def test_the_script_plans_a_merge_request(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    base = commit(repo, hour=0, specs__fleet=FLEET, specs__jobs=job("a"))
    git(repo, "checkout", "--quiet", "-b", "edit")
    commit(repo, hour=1, specs__more=job("b"))
    (tmp_path / "bin").mkdir()
    for name, text in (
        ("pip", "exit 0"),
        ("planner", f'shift; exec "{sys.executable}" -m planner.cli plan --budget=0 "$@"'),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {
        **ALONE,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
    }
    script = "set -e\n" + "\n".join(PIPELINE["plan"]["script"])
    done = subprocess.run(
        ["sh", "-c", script], cwd=repo, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert "1 new, 2 of 2 jobs run" in done.stdout
    assert sorted(path.name for path in (repo / "plan").iterdir()) == ["base.lock.json", "plan.lock.json", "plan.md"]
    assert len((repo / "plan" / "plan.md").read_bytes()) <= BYTES


def test_only_the_note_has_a_secret_and_its_failure_turns_nothing_red() -> None:
    assert "PLANNER_TOKEN" not in yaml.safe_dump(PIPELINE["plan"])
    assert PIPELINE["plan-note"]["allow_failure"] is True
    assert "planner " not in "\n".join(PIPELINE["plan-note"]["script"]).replace("<!-- planner ", "")
