"""The lock file: written at once or not at all, read whole or refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planner import lockfile
from planner.diagnostics import PlannerError
from planner.plan import PlanError, to_json
from tests.planner.plans import a_placement, a_plan

ROOT = Path(__file__).parent.parent.parent

# Writes a lock and dies at one step: the name of the os function before whose call the process is killed.
KILLED = """
import os, signal, sys
from pathlib import Path
from planner import lockfile
step, target = sys.argv[1:]
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
if step == "rename":
    Path.replace = die
elif step == "write":
    lockfile._write_through = lambda path, text: (path.write_text(text[:5]), die())
else:
    setattr(os, step, die)
lockfile.write(Path(target), "new " * 1000)
"""


def test_a_plan_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    plan = a_plan([a_placement()])
    lockfile.write(tmp_path / "plan.lock.json", to_json(plan))
    assert lockfile.read(tmp_path / "plan.lock.json") == plan
    assert (tmp_path / "plan.lock.json").read_text() == to_json(plan)


def test_writing_makes_the_folder_and_leaves_nothing_else_in_it(tmp_path: Path) -> None:
    lockfile.write(tmp_path / "a" / "b" / "plan.lock.json", "text")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["plan.lock.json"]


def test_a_lock_is_readable_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        lockfile.write(tmp_path / "lock", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_lock_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    lockfile.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
def test_a_kill_before_the_rename_leaves_the_old_lock(step: str, tmp_path: Path) -> None:
    target = tmp_path / "plan.lock.json"
    target.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, step, target], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    assert all(path.name.startswith(".") for path in tmp_path.iterdir() if path != target)
    lockfile.write(target, "next")
    assert target.read_text() == "next"


def test_a_failure_while_writing_removes_the_half_written_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "plan.lock.json"
    target.write_text("old")

    def interrupt(_self: Path, _target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lockfile.write(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PlannerError, match=r"cannot write .*plan\.lock\.json"):
        lockfile.write(tmp_path / "file" / "plan.lock.json", "text")


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json", '{"format": "planner/plan/v2"}'])
def test_what_is_no_plan_is_refused_with_its_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(PlanError, match=r"some\.json: not a planner/plan/v1 file"):
        lockfile.read(path)


def test_a_plan_that_was_edited_by_hand_is_refused(tmp_path: Path) -> None:
    tree = json.loads(to_json(a_plan([a_placement()])))
    tree["placements"][0]["priority"] = "P0"
    (tmp_path / "lock").write_text(json.dumps(tree))
    with pytest.raises(PlanError, match="changed after it was made"):
        lockfile.read(tmp_path / "lock")


def test_a_folder_or_pipe_is_no_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("", "pipe"):
        with pytest.raises(PlanError, match="expected a plain file"):
            lockfile.read(tmp_path / name)
