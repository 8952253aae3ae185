"""A tree of many small jobs, for measuring how fast specs are read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_FLEET: Final = """\
apiVersion: planner/v1
kind: Policy
name: default
horizon: {start: 2026-12-01T00:00:00Z, length: 7d}
---
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
pools:
  - {name: h100, nodes: "h100-[001-100]", gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 192, memory: 2Ti}
"""
_TEAM: Final = """\
apiVersion: planner/v1
kind: Team
name: team-{team}
"""
_JOB: Final = """\
apiVersion: planner/v1
kind: Job
name: job-{job:05d}
team: team-{team}
priority: P{priority}
image: registry.example/train:2.9-cu128
command: [torchrun, train.py, --seed, "{job}"]
gpus: {gpus}
duration: {hours}h
checkpoint: {{every: 20m, restart: 5m}}
"""
TEAMS: Final = 10


def write_tree(folder: Path, *, jobs: int, files: int) -> None:
    """Write a cluster, ten teams and `jobs` jobs in `files` files."""
    (folder / "fleet.yaml").write_text(_FLEET)
    (folder / "teams.yaml").write_text("---\n".join(_TEAM.format(team=team) for team in range(TEAMS)))
    for number in range(files):
        mine = range(number, jobs, files)
        (folder / f"jobs-{number:03d}.yaml").write_text("---\n".join(map(_job, mine)))


def _job(job: int) -> str:
    return _JOB.format(job=job, team=job % TEAMS, priority=job % 4, gpus=2 ** (job % 4), hours=1 + job % 30)
