"""A small tree of specs, and ways to run the command line over it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.cli import main

ROOT = Path(__file__).parent.parent.parent.parent

PLAN = ("plan", "--budget", "0")
"""Plan without improving: enough for every question that is not about the search."""

FLEET = """\
apiVersion: planner/v1
kind: Policy
name: default
horizon: {start: 2026-12-01T00:00:00Z, length: 2d, slot: 1h}
currency: USD
---
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
pools:
  - {name: h100, nodes: "h100-[001-002]", gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 64, memory: 1Ti}
---
apiVersion: planner/v1
kind: Team
name: vision
"""


def job(name: str, *, gpus: int = 8, hours: int = 6, extra: str = "") -> str:
    """A job of the team of the tree."""
    return (
        f"---\napiVersion: planner/v1\nkind: Job\nname: {name}\nteam: vision\nimage: registry.example/train:1\n"
        f"command: [train]\ngpus: {gpus}\nduration: {{h100-sxm5-80gb: {hours}h}}\n{extra}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a run ended and what it said."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tree of specs in `specs`, made the current one; output is 100 columns wide without colours."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "fleet.yaml").write_text(FLEET)
    (tmp_path / "specs" / "jobs.yaml").write_text(job("a") + job("b", gpus=16, hours=4))
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process, in the folder with the tree."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return Done(code=code, out=captured.out, err=captured.err)

    return call


def process(folder: Path, arguments: Sequence[str], program: str = "", **environment: str) -> subprocess.Popen[str]:
    """Start the command line as a process of its own; `program` replaces the usual start of it."""
    code = program or "import sys; from planner.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
