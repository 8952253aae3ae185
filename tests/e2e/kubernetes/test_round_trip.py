"""Specs, rendered and carried out by a real control plane, and discovered from it again: the same fleet and work."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner import lockfile
from planner.plan import Plan
from planner.spec.service import Service
from planner.spec.snapshot import Snapshot
from planner.specset import SpecSet
from tests import builders
from tests.e2e.kubernetes.test_plan_comes_true import POOLS, applied, held, nodes_of
from tests.e2e.labs import trees
from tests.e2e.labs.cli import loaded, planner
from tests.e2e.labs.kubernetes import programs
from tests.e2e.labs.kubernetes.cluster import Cluster
from tests.e2e.labs.kubernetes.kubelets import playing
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.timescale import scaled
from tests.e2e.labs.trees import Planned

SECRET = "hunter2"
JOBS = (
    builders.a_job("train", gpus={"model": builders.H100, "count": 16, "nodes": 2}, duration="9h"),
    builders.a_job("simulate", "nlp", gpus={"model": "mi300x", "count": 8}, duration="9h"),
)
TEAMS = (
    builders.a_team("research"),
    builders.a_team("vision", parent="research"),
    builders.a_team("nlp", parent="research"),
)
QUOTAS = (
    builders.a_quota("research-h100", "research", guaranteed=22, limit=23, lend=5),
    builders.a_quota("vision-h100", "vision", guaranteed=16, weight=3),
    builders.a_quota("nlp-h100", "nlp", guaranteed=4, limit=8, lend=1),
    builders.a_quota("nlp-mi300x", "nlp", guaranteed=16, gpus={"model": "mi300x"}),
)
CHAT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "chat", "namespace": "nlp"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "chat"}},
        "template": {
            "metadata": {"labels": {"app": "chat"}},
            "spec": {
                "nodeSelector": {"kubernetes.io/hostname": "green-3"},
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "containers": [
                    {
                        "name": "main",
                        "image": "registry/chat:1",
                        "env": [{"name": "TOKEN", "value": SECRET}],
                        "resources": {"limits": {"nvidia.com/gpu": "2"}},
                    }
                ],
            },
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was planned, what was discovered while it ran, and the plan that is made of that."""

    planned: Planned
    specs: SpecSet
    services: tuple[Service, ...]
    snapshot: Snapshot
    again: Plan
    texts: str


def environment(cluster: Cluster) -> dict[str, str]:
    path = f"{programs.kubernetes()}:{os.environ['PATH']}"
    return {"PATH": path, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(cluster.root)}


@pytest.fixture
def found(cluster: Cluster, tmp_path: Path) -> Iterator[Found]:
    """Two jobs that run beside somebody else's Deployment, in the middle of it all."""
    documents = (builders.a_cluster(*POOLS, name="lab"), *TEAMS, *QUOTAS, *JOBS)
    made = Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))
    for node in nodes_of(made.specs):
        cluster.api.call("POST", "/api/v1/nodes", node)
    with playing(cluster.api) as kubelets:
        plan = scaled(made.plan, begin=int(time.time()), slot_seconds=600)
        jobs = applied(cluster, trees.rendered_into(tmp_path, Planned(specs=made.specs, plan=plan)) / "lab")
        kubelets.lasts |= dict.fromkeys(jobs, 3_600)
        cluster.apply_objects([*jobs.values(), CHAT])
        wait_for(lambda: placed(cluster) == 5, "five pods with a place")
        yield discovered(cluster, tmp_path, made)
    # Nobody plays the kubelets any longer, who would have to see pods end.
    cluster.kubectl("delete", "deployments,jobs", "--all", "--all-namespaces", "--cascade=background")
    cluster.kubectl("delete", "pods", "--all", "--all-namespaces", "--force", "--grace-period=0")


def placed(cluster: Cluster) -> int:
    """How many pods have a node."""
    return sum(bool(pod["spec"].get("nodeName")) for pod in held(cluster, "/api/v1/pods"))


def discovered(cluster: Cluster, folder: Path, made: Planned) -> Found:
    specs, theirs, shot, lock = (folder / name for name in ("specs", "theirs", "s.yaml", "plan.lock.json"))
    specs.mkdir()
    told, env = ("discover", "--from", "kubernetes", "--name", "lab"), environment(cluster)
    said = planner(*told, "--write", specs / "c.yaml", "--teams", specs / "t.yaml", env=env, cwd=folder)
    assert "what it would tell is missing" not in said, said
    found = loaded(specs)
    planner("import", "--from", "kubernetes", "--specs", specs, "--out", theirs, env=env, cwd=folder)
    for at, job in enumerate(JOBS):
        (specs / f"{at}.yaml").write_text(json.dumps(job))
    planner(*told, "--snapshot", shot, "--specs", specs, env=env, cwd=folder)
    planner("plan", specs, "--snapshot", shot, "--budget", 0, "--out", lock, env=env, cwd=folder)
    return Found(
        planned=made,
        specs=found,
        services=loaded(specs, theirs).services,
        snapshot=loaded(specs, shot).snapshots[0],
        again=lockfile.read(lock),
        texts="".join(path.read_text() for path in (*specs.rglob("*.*"), *theirs.rglob("*.*"), shot, lock)),
    )


def quotas(specs: SpecSet) -> set[tuple[object, ...]]:
    return {(item.team, item.gpus.models, item.guaranteed, item.limit, item.lend, item.weight) for item in specs.quotas}


def test_what_was_applied_is_found_again_and_the_next_plan_goes_on_with_it(found: Found) -> None:
    wanted = {pool.node_names(): pool for pool in found.planned.specs.cluster("lab").pools}
    pools = {pool.node_names(): pool for pool in found.specs.cluster("lab").pools}
    assert set(pools) == set(wanted)
    for nodes, pool in pools.items():
        was = wanted[nodes]
        assert [(group.model, group.count) for group in pool.gpus] == [(group.model, group.count) for group in was.gpus]
        assert (pool.cpus, pool.memory, pool.taints) == (was.cpus, was.memory, was.taints)
    assert {team.name: team.parent for team in found.specs.teams} == {
        "nlp": "research", "research": None, "vision": "research",
    }  # fmt: skip
    assert quotas(found.specs) == quotas(found.planned.specs)

    before = {item.address: item for item in found.planned.plan.placements}
    assert {(each.job, each.spec) for each in found.snapshot.running} == {
        (address.removeprefix("job/"), item.spec) for address, item in before.items()
    }
    (other,) = found.snapshot.foreign
    assert ([node.name for node in other.nodes], len(other.nodes[0].devices)) == (["green-3"], 4)

    after = {item.address: item for item in found.again.placements}
    assert (set(after), found.again.moves, found.again.preemptions) == (set(before), (), ())
    for address, item in after.items():
        now, then = ({node.name for node in each.segments[0].nodes} for each in (item, before[address]))
        assert now == then, address

    (chat,) = found.services
    assert (chat.name, chat.team, chat.replicas.min, chat.template) == ("chat", "nlp", 2, "chat.template.yaml")
    assert SECRET not in found.texts
