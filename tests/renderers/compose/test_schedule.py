"""The schedule of a host: run minute by minute against a stand-in for the engine, and against real processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from planner.units import parse_time
from tests.renderers.compose.edge import GREEN, Edge, Planned, a_cluster, an_edge, several
from tests.renderers.fleet import HOUR, START, a_node

BEGIN = parse_time(START, "UTC")
LIMIT = 9_000
ENGINE = f"""#!{sys.executable} -S
import json, os, signal, sys
path, words = os.environ["STATE"], sys.argv[1:]
with open(path) as file:
    state = json.load(file)
def save():
    with open(path + ".new", "w") as file:
        json.dump(state, file)
    os.rename(path + ".new", path)
def count():
    state["calls"].append(" ".join(words))
    save()
    if state["kill"] == len(state["calls"]):
        os.killpg(0, signal.SIGKILL)
def ends(container, code):
    container.update(status="exited", code=code)
if words[0] == "ps":
    asked = [word for before, word in zip(words, words[1:]) if before == "--filter"]
    for one in state["containers"]:
        labels = {{"label=planner.dev/address=" + one["address"], "label=planner.dev/spec-hash=" + one["spec"],
                  "label=planner.dev/address", "label=com.docker.compose.project=" + one["project"],
                  "status=" + one["status"], "exited=%d" % one["code"]}}
        if set(asked) <= labels and ("--all" in words or one["status"] == "running"):
            print(one["id"])
    sys.exit()
count()
if state["broken"]:
    sys.exit(1)
if words[0] == "stop":
    ends(next(one for one in state["containers"] if one["id"] == words[-1]), 137)
elif "stop" in words:
    for one in state["containers"]:
        if one["name"] == words[-1] and one["status"] == "running":
            ends(one, 143)
else:
    name = words[-1]
    state["containers"] = [one for one in state["containers"] if one["name"] != name]
    state["last"] += 1
    address, spec = state["known"][name]
    state["containers"].append(dict(id="c%d" % state["last"], name=name, address=address, spec=spec,
                                    status="running", code=0, project=state["project"]))
save()
"""


class Host:
    """A host's folder, with programs that act as its engine and Compose."""

    def __init__(self, folder: Path, edge: Edge, host: str = "till-nv") -> None:
        self.folder, self.engine = folder / host, folder / "engine.json"
        self.put(edge)
        (folder / "docker").write_text(ENGINE)
        (folder / "docker").chmod(0o755)
        known = {
            name: (service["x-planner"]["address"], service["labels"]["planner.dev/spec-hash"])
            for name, service in edge.project(host)["services"].items()
        } if edge.projects() else {}  # fmt: skip
        self.state: dict[str, Any] = {
            "containers": [], "calls": [], "known": known, "last": 0, "kill": 0, "broken": False,
            "project": "store-till-nv",
        }  # fmt: skip
        self.save()

    def put(self, edge: Edge) -> None:
        """Put the files of a plan where the last one's are."""
        for manifest in edge.rendered.manifests:
            path = self.folder.parent / manifest.path.partition("/")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(manifest.text)

    def save(self, **values: Any) -> None:
        """Make the engine what `state` says, with further values."""
        self.state |= values
        self.engine.write_text(json.dumps(self.state))

    def minute(self, at: int, *, check: bool = True, **environment: str) -> list[str]:
        """Run the schedule so many seconds after the plan's start; the lines that it prints."""
        base = {"PATH": f"{self.folder.parent}:{os.environ['PATH']}", "STATE": str(self.engine)}
        done = subprocess.run(
            ["sh", self.folder / "schedule.sh", str(BEGIN + at)],
            env=base | environment, text=True, capture_output=True, check=check, start_new_session=True,
        )  # fmt: skip
        self.state = json.loads(self.engine.read_text())
        return done.stdout.splitlines()

    def ends(self, name: str, code: int) -> None:
        """Let a container end by itself."""
        for container in self.state["containers"]:
            if container["name"] == name:
                container.update(status="exited", code=code)
        self.save()

    def running(self) -> list[str]:
        """The services that run."""
        return [item["name"] for item in self.state["containers"] if item["status"] == "running"]


ONE = (a_node("till-nv", 0),)


def a_chain(**backend: str) -> Edge:
    """Two jobs one after the other on one device, the second after the first."""
    jobs: dict[str, Planned] = {
        "prep": (("command: [a]", "gpus: 1"), ONE, "green", 0),
        "train": (("command: [a]", "gpus: 1", "after: [prep]", "retries: 1"), ONE, "green", 2),
    }
    return several(jobs, cluster=a_cluster(GREEN, **backend))


def test_a_job_starts_at_its_time_and_no_earlier(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    assert host.minute(-1) == []
    assert host.minute(0) == ["vision.prep: started"]
    assert host.state["calls"] == [
        "compose --file compose.yaml --profile vision.prep up --detach --no-deps --force-recreate vision.prep"
    ]
    assert host.minute(60) == []
    assert len(host.state["calls"]) == 1


def test_a_job_starts_after_those_that_it_waits_for_and_once_its_devices_are_free(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    host.minute(0)
    (waits,) = host.minute(2 * HOUR)
    assert waits.startswith("vision.train: waits for vision.prep-")
    host.ends("vision.prep", 0)
    assert host.minute(2 * HOUR + 60) == ["vision.prep: done", "vision.train: started"]
    host.ends("vision.train", 0)
    assert host.minute(2 * HOUR + 120) == ["vision.train: done"]
    assert host.minute(2 * HOUR + 180) == []
    assert len(host.state["calls"]) == 2


def test_a_job_waits_while_an_earlier_one_still_has_its_device(tmp_path: Path) -> None:
    jobs: dict[str, Planned] = {
        "first": (("command: [a]", "gpus: 1"), ONE, "green", 0),
        "second": (("command: [a]", "gpus: 1"), ONE, "green", 2),
        "beside": (("command: [a]", "gpus: 1"), (a_node("till-nv", 1),), "green", 2),
    }
    host = Host(tmp_path, several(jobs))
    host.minute(0)
    printed = host.minute(2 * HOUR)
    assert printed[0] == "vision.beside: started"
    assert "still has its devices" in printed[1]
    host.ends("vision.first", 1)
    assert "vision.second: started" in host.minute(2 * HOUR + 60)


@pytest.mark.parametrize(("after", "stops"), [(LIMIT - 60, False), (LIMIT, True), (LIMIT + 600, True)])
def test_a_job_is_stopped_at_its_limit_and_its_children_never_start(tmp_path: Path, after: int, stops: bool) -> None:
    host = Host(tmp_path, a_chain())
    host.minute(0)
    printed = host.minute(after)
    assert ("vision.prep: stopped at its limit of 9000 s" in printed) == stops
    assert host.running() == ([] if stops else ["vision.prep"])
    if stops:
        assert "compose --file compose.yaml --profile vision.prep stop --timeout 120 vision.prep" in host.state["calls"]
        assert any("waits for vision.prep" in line for line in host.minute(after + 60))


def test_a_failed_job_is_tried_as_often_as_it_says(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    host.minute(0)
    host.ends("vision.prep", 0)
    host.minute(2 * HOUR)
    host.ends("vision.train", 1)
    assert host.minute(2 * HOUR + 60) == ["vision.train: failed, tried again", "vision.train: started"]
    host.ends("vision.train", 1)
    assert host.minute(2 * HOUR + 120) == ["vision.train: failed"]
    assert host.minute(2 * HOUR + 180) == []


def test_what_has_ended_is_known_even_when_its_container_is_gone(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    host.minute(0)
    host.ends("vision.prep", 0)
    host.minute(60)
    host.save(containers=[])
    assert host.minute(120) == []


def test_a_container_that_vanished_before_its_end_is_started_again(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    host.minute(0)
    host.save(containers=[])
    assert host.minute(60) == ["vision.prep: started"]


def test_what_the_plan_does_not_know_is_stopped_before_anything_starts_and_others_are_left_alone(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path, a_chain())
    gone = {"name": "vision.gone", "address": "job/vision/gone", "spec": "sha256:0", "status": "running", "code": 0}
    other = gone | {"id": "c8", "project": "of-others"}
    host.save(containers=[gone | {"id": "c7", "project": "store-till-nv"}, other])
    printed = host.minute(0)
    assert printed == ["c7: stopped, since the plan does not know it", "vision.prep: started"]
    assert host.state["calls"][0] == "stop --time 120 c7"


def test_another_spec_is_another_run(tmp_path: Path) -> None:
    host = Host(tmp_path, an_edge("gpus: 1", "command: [a]", node=a_node("till-nv", 0)))
    host.minute(0)
    host.ends("vision.job", 0)
    host.minute(60)
    changed = an_edge("gpus: 1", "command: [b]", node=a_node("till-nv", 0))
    host.put(changed)
    assert host.minute(120) == ["vision.job: started"]


def test_a_start_that_fails_is_told_and_tried_the_next_minute(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    host.save(broken=True)
    with pytest.raises(subprocess.CalledProcessError):
        host.minute(0)
    host.save(broken=False)
    assert host.minute(60) == ["vision.prep: started"]


def test_killed_at_any_call_and_run_again_it_ends_where_an_unbroken_run_does(tmp_path: Path) -> None:
    def lived(folder: Path, kill: int) -> tuple[list[tuple[str, str]], list[str]]:
        folder.mkdir()
        host = Host(folder, a_chain())
        host.save(kill=kill)
        for at, ended in ((0, ""), (60, ""), (120, "vision.prep"), (2 * HOUR, ""), (2 * HOUR + LIMIT + 60, "")):
            if ended:
                host.ends(ended, 0)
            host.minute(at, check=False)
            host.minute(at + 1, check=False)
        notes = sorted(path.name.rpartition("-")[0] + path.suffix for path in (host.folder / "state").glob("*.[df]*"))
        return [(item["name"], item["status"]) for item in host.state["containers"]], notes

    whole = lived(tmp_path / "whole", 0)
    assert whole[1] == ["vision.prep.done", "vision.train.failed"]
    for kill in (1, 2, 3):
        assert lived(tmp_path / f"killed-{kill}", kill) == whole


def test_a_host_may_have_commands_of_its_own(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    shutil.move(tmp_path / "docker", tmp_path / "podman")
    (tmp_path / "secrets.env").write_text("")
    host.minute(0, PLANNER_ENGINE="podman", PLANNER_COMPOSE="podman --url here compose")
    assert host.state["calls"][0].startswith("--url here compose --file compose.yaml ")


def test_what_a_host_lays_over_its_project_is_used(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    (host.folder / "compose.override.yaml").write_text("{}")
    host.minute(0)
    assert host.state["calls"][0].startswith("compose --file compose.yaml --file compose.override.yaml --profile ")


def test_only_one_run_of_the_schedule_acts_at_a_time(tmp_path: Path) -> None:
    host = Host(tmp_path, a_chain())
    (host.folder / "state").mkdir()
    with subprocess.Popen(
        ["flock", host.folder / "state/lock", "sh", "-c", "echo held; read -r _"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        holder.stdout.readline()
        assert host.minute(0) == []
        holder.communicate("go\n")
    assert host.minute(0) == ["vision.prep: started"]


APPTAINER = """#!/bin/sh
echo "$CUDA_VISIBLE_DEVICES ${ROCR_VISIBLE_DEVICES-none} $*" >>"$SAID"
case $* in
    *wait*) trap 'echo saved >>"$SAID"; exit 1' TERM; sleep 30 & wait ;;
    *fail*) exit 3 ;;
esac
"""


def a_native_host(folder: Path, *words: str) -> Host:
    """A host on which a job runs the words, and an `apptainer` that notes how it was called."""
    cluster = a_cluster(GREEN, "{type: compose, engine: apptainer, scheduler: cron}")
    fields = (f"command: [{', '.join(words)}]", "gpus: 2", "env: {A: '1'}", "mounts: [{host: /data, path: /in}]")
    host = Host(folder, an_edge(*fields, node=a_node("till-nv", 1, 3), cluster=cluster))
    (folder / "apptainer").write_text(APPTAINER)
    (folder / "apptainer").chmod(0o755)
    return host


def eventually(path: Path) -> str:
    """The text of a file once it is there."""
    for _ in range(200):
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


def run_of(host: Host) -> str:
    """The name under which the only job's state is kept."""
    (pid,) = (host.folder / "state").glob("*.pid")
    return pid.stem


def test_without_an_engine_a_job_runs_with_its_devices_and_its_end_is_noted(tmp_path: Path) -> None:
    host = a_native_host(tmp_path, "train")
    said = tmp_path / "said"
    assert host.minute(0, SAID=str(said), ROCR_VISIBLE_DEVICES="9") == ["vision.job: started"]
    assert eventually(said) == "1,3 none exec --nv --bind /data:/in docker://registry.acme/train:1 train\n"
    assert eventually(host.folder / "state" / f"{run_of(host)}.code") == "0\n"
    assert host.minute(60) == ["vision.job: done"]


def test_without_an_engine_a_failure_is_noted_too(tmp_path: Path) -> None:
    host = a_native_host(tmp_path, "fail")
    host.minute(0, SAID=str(tmp_path / "said"))
    assert eventually(host.folder / "state" / f"{run_of(host)}.code") == "3\n"
    assert host.minute(60) == ["vision.job: failed"]


def test_without_an_engine_a_job_is_told_at_its_limit_and_can_save_its_work(tmp_path: Path) -> None:
    host = a_native_host(tmp_path, "wait")
    said = tmp_path / "said"
    host.minute(0, SAID=str(said))
    eventually(said)
    assert host.minute(60) == []
    assert host.minute(LIMIT + 60) == ["vision.job: stopped at its limit of 9000 s"]
    assert said.read_text().splitlines()[1:] == ["saved"]


def test_without_an_engine_work_that_was_killed_with_its_keeper_has_failed(tmp_path: Path) -> None:
    host = a_native_host(tmp_path, "wait")
    host.minute(0, SAID=str(tmp_path / "said"))
    eventually(tmp_path / "said")
    pid = int((host.folder / "state" / f"{run_of(host)}.pid").read_text())
    os.killpg(pid, 9)
    time.sleep(0.2)
    assert host.minute(60) == ["vision.job: failed"]


def test_a_secret_must_be_there_where_a_script_needs_one(tmp_path: Path) -> None:
    cluster = a_cluster(GREEN, "{type: compose, engine: apptainer}")
    fields = ("command: [train]", "gpus: 1", "env: {T: {secret: hf, key: t}}")
    host = Host(tmp_path, an_edge(*fields, node=a_node("till-nv", 0), cluster=cluster))
    (tmp_path / "apptainer").write_text('#!/bin/sh\necho "$T" >"$SAID"\n')
    (tmp_path / "apptainer").chmod(0o755)
    (host.folder / "secrets.env").write_text("T='a b$c'\n")
    host.minute(0, SAID=str(tmp_path / "said"))
    assert eventually(tmp_path / "said") == "a b$c\n"
