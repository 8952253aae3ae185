"""What the CronJob runs, run with the rights of its own account: due work begins, and nothing else may be touched."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from planner import lockfile
from planner.units import format_time
from tests import builders
from tests.e2e.kubernetes.test_plan_comes_true import POOLS, held, nodes_of
from tests.e2e.kubernetes.test_round_trip import environment
from tests.e2e.labs.cli import ROOT, loaded, planner
from tests.e2e.labs.kubernetes.cluster import Cluster
from tests.e2e.labs.processes import attempt, run

SLOT_SECONDS = 3_600
ACCOUNT = "system:serviceaccount:planner:planner-due"
WHO = ("AUTHOR", "COMMITTER")
QUEUE = "kueue.x-k8s.io/queue-name"
JOBS = (
    builders.a_job("first", gpus={"model": builders.H100, "count": 8}, duration="2h"),
    builders.a_job("second", gpus={"model": builders.H100, "count": 8}, duration="2h", after=["first"]),
)
RIGHTS = {
    ("patch", "jobs.batch", "--namespace=vision"): "yes",
    ("patch", "workloads.kueue.x-k8s.io", "--namespace=vision"): "yes",
    ("create", "workloads.kueue.x-k8s.io", "--namespace=vision"): "no",
    ("list", "nodes"): "yes",
    ("create", "jobs.batch", "--namespace=vision"): "no",
    ("delete", "jobs.batch", "--namespace=vision"): "no",
    ("patch", "jobs.batch", "--namespace=kube-system"): "no",
    ("patch", "clusterqueues.kueue.x-k8s.io"): "no",
    ("get", "secrets", "--namespace=vision"): "no",
}


def specs_in(folder: Path, repository: Path) -> None:
    """A fleet whose cluster has a runner that clones `repository`, and two jobs, one after the other."""
    backend = {
        "type": "kubernetes",
        "kueue_version": "0.17",
        "due": {"image": "registry/planner:1", "repository": str(repository)},
    }
    fleet: tuple[dict[str, Any], ...] = (
        builders.a_cluster(*POOLS, name="lab", backend=backend),
        builders.a_quota("vision-h100", "vision", guaranteed=16),
    )
    folder.mkdir(parents=True)
    for number, file in enumerate(builders.files((*fleet, *JOBS))):
        (folder / f"{number}.yaml").write_bytes(file.text)


def as_account(cluster: Cluster, folder: Path) -> dict[str, str]:
    """The environment of a pod of the account: kubectl has its token and nothing else."""
    token = cluster.kubectl("create", "token", "planner-due", "--namespace=planner").strip()
    configuration = json.loads(cluster.kubeconfig.read_text())
    configuration["users"][0]["user"] = {"token": token}
    (folder / "kubeconfig").write_text(json.dumps(configuration))
    return environment(cluster) | {"KUBECONFIG": str(folder / "kubeconfig"), "PYTHONPATH": str(ROOT)}


def carry_out(cluster: Cluster, folder: Path) -> str:
    """Run what the CronJob's containers run, one after the other, in a folder of ours; give what the last says."""
    (job,) = held(cluster, "/apis/batch/v1/namespaces/planner/cronjobs")
    pod, env, said = job["spec"]["jobTemplate"]["spec"]["template"]["spec"], as_account(cluster, folder), ""
    for container in (*pod["initContainers"], *pod["containers"]):
        program, *words = (word.replace("/work", str(folder)) for word in container["command"])
        command = (sys.executable, "-m", "planner.cli") if program == "planner" else (program,)
        said = run(*command, *words, env=env, cwd=Path(container["workingDir"].replace("/work", str(folder))))
    return said


def queued(cluster: Cluster) -> set[str]:
    """The jobs that have joined their queue."""
    return {
        item["metadata"]["annotations"]["planner.dev/address"]
        for item in held(cluster, "/apis/batch/v1/jobs")
        if QUEUE in item["metadata"].get("labels", {})
    }


def answer(cluster: Cluster, *words: str) -> str:
    """Whether the account may do something, as the API server says it: yes or no."""
    program = Path(environment(cluster)["PATH"].partition(os.pathsep)[0]) / "kubectl"
    asked = attempt(program, f"--kubeconfig={cluster.kubeconfig}", "auth", "can-i", *words, f"--as={ACCOUNT}")
    return asked.stdout.split()[-1]


@pytest.fixture
def ready(cluster: Cluster, tmp_path: Path) -> Cluster:
    """A fleet in a repository, planned from now on and applied, with its state on a branch."""
    home = tmp_path / "home"
    specs_in(home / "specs", home)
    env = environment(cluster) | {f"GIT_{who}_{what}": "lab" for who in WHO for what in ("NAME", "EMAIL")}
    for node in nodes_of(loaded(home / "specs")):
        cluster.api.call("POST", "/api/v1/nodes", node)
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "."), ("commit", "--quiet", "--message=Begin")):
        run("git", *words, cwd=home, env=env)
    lock = tmp_path / "plan.lock.json"
    begin = format_time(int(time.time()) // SLOT_SECONDS * SLOT_SECONDS)
    planner("plan", "specs", "--at", begin, "--budget", 0, "--out", lock, env=env, cwd=home)
    chosen = ("--digest", lockfile.read(lock).digest, "--context", "lab=lab", "--state", tmp_path / "state")
    planner("apply", lock, *chosen, "--state-branch", "planner-state", env=env, cwd=home)
    return cluster


def test_what_is_due_begins_with_the_rights_of_the_runner_and_a_second_run_finds_nothing_to_do(
    ready: Cluster, tmp_path: Path
) -> None:
    assert queued(ready) == set()
    for turn in ("one", "two"):
        (tmp_path / turn).mkdir()
        said = carry_out(ready, tmp_path / turn)
        assert queued(ready) == {"job/vision/first"}
        assert ("begins: job/vision/first in lab" in said) is (turn == "one")
        assert said.endswith("1 due, 0 left\n")


def test_the_runner_may_do_nothing_else(ready: Cluster) -> None:
    told = {words: answer(ready, *words) for words in RIGHTS}
    assert told == RIGHTS
