"""Projects of two hosts on a real engine at once, each container with the devices that the plan gave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.e2e.compose import projects
from tests.e2e.labs import trees
from tests.e2e.labs.compose.engine import IMAGE, Compose
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.trees import Planned

SAY = (
    'echo "$PLANNER_ADDRESS|${NVIDIA_VISIBLE_DEVICES-none}|$(cd /dev; echo dri/render*)|$(ls -d /dev/kfd)"'
    " >>/out/$NAME; "
    'trap "echo saved >>/out/$NAME; exit" TERM; while [ ! -e /out/go ]; do sleep 1; done'
)
"""What the container sees; then it waits for a word, and saves what it has when it is told to stop."""

POOLS: tuple[dict[str, Any], ...] = (
    {"name": "green", "nodes": ["till-nv"], "gpus": {"model": "l4", "count": 2}, "cpus": 4, "memory": "8Gi"},
    {
        "name": "red",
        "nodes": ["till-amd"],
        "gpus": {"model": "radeon-pro-w7900", "count": 2},
        "cpus": 4,
        "memory": "8Gi",
        "render_gid": 105,
        "render_nodes": [128, 129],
    },
)


def a_payload(name: str, model: str, out: Path, **fields: Any) -> dict[str, Any]:
    return builders.a_job(
        name,
        gpus={"model": model, "count": 1},
        image=IMAGE,
        command=["sh", "-c", SAY],
        env={"NAME": name},
        mounts=[{"host": str(out), "path": "/out"}],
        **fields,
    )


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    """Four jobs at once: two on a host of either vendor, one device each."""
    out = tmp_path / "out"
    out.mkdir()
    jobs = [
        a_payload(f"{model[:2]}{number}", model, out, checkpoint={"every": "10m", "restart": "1m"})
        for model in ("l4", "radeon-pro-w7900")
        for number in (1, 2)
    ]
    documents = (builders.a_cluster(*POOLS, name="shop", backend="compose"), *jobs)
    return Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))


def test_two_projects_run_at_once_each_with_its_own_devices(engine: Compose, planned: Planned, tmp_path: Path) -> None:
    folder, out = trees.rendered_into(tmp_path / "manifests", planned) / "shop", tmp_path / "out"
    started = [start(engine, project) for project in sorted(folder.glob("*/compose.yaml"))]
    wait_for(lambda: len(list(out.iterdir())) == 4, "four containers")
    assert len(engine.running()) == 4
    stop(engine, folder / "till-amd/compose.yaml")
    (out / "go").touch()
    wait_for(lambda: not engine.running(), "the end of all")
    assert len(started) == 2
    assert said(out, "l41", "l42") == [
        ["job/vision/l41|0|dri/render*|"],
        ["job/vision/l42|1|dri/render*|"],
    ]
    assert said(out, "ra1", "ra2") == [
        ["job/vision/ra1|none|dri/renderD128|/dev/kfd", "saved"],
        ["job/vision/ra2|none|dri/renderD129|/dev/kfd", "saved"],
    ]


def said(out: Path, *names: str) -> list[list[str]]:
    return [(out / name).read_text().splitlines() for name in names]


def start(engine: Compose, project: Path) -> str:
    """Start all services of a project, whatever their time."""
    files = ("--file", project, "--file", projects.in_the_sandbox(engine, project))
    return engine.tell(*files, "--profile", "*", "up", "--detach", cwd=project.parent)


def stop(engine: Compose, project: Path) -> str:
    files = ("--file", project, "--file", project.with_name("sandbox.yaml"))
    return engine.tell(*files, "--profile", "*", "stop", cwd=project.parent)


def test_starting_a_project_again_restarts_nothing(engine: Compose, planned: Planned, tmp_path: Path) -> None:
    project, out = trees.rendered_into(tmp_path / "manifests", planned) / "shop/till-nv/compose.yaml", tmp_path / "out"
    start(engine, project)
    wait_for(lambda: len(list(out.iterdir())) == 2, "two containers")
    start(engine, project)
    assert said(out, "l41", "l42") == [["job/vision/l41|0|dri/render*|"], ["job/vision/l42|1|dri/render*|"]]
    (out / "go").touch()
    wait_for(lambda: not engine.running(), "the end of both")
