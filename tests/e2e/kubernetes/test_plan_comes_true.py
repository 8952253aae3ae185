"""A plan, squeezed into a minute, that Kueue and the scheduler carry out: flavors, nodes and order as planned."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.plan import Placement, Plan
from planner.specset import SpecSet
from tests import builders
from tests.e2e.labs import trees
from tests.e2e.labs.kubernetes.api import Object
from tests.e2e.labs.kubernetes.cluster import Cluster
from tests.e2e.labs.kubernetes.kubelets import Started, playing
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.timescale import scaled, seconds_of
from tests.e2e.labs.trees import Planned

SLOT_SECONDS = 10
SPARE_SECONDS = 3
PRODUCTS = {
    "h100-sxm5-80gb": ("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"),
    "mi300x": ("amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"),
    "a100-sxm4-40gb": ("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"),
}
"""How the vendors' own discovery labels a node."""

POOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "green",
        "nodes": "green-[1-3]",
        "gpus": {"model": "h100-sxm5-80gb", "count": 8},
        "cpus": 64,
        "memory": "512Gi",
        "taints": ["nvidia.com/gpu=present:NoSchedule"],
    },
    {
        "name": "red",
        "nodes": "red-[1-2]",
        "gpus": {"model": "mi300x", "count": 8},
        "cpus": 64,
        "memory": "512Gi",
        "taints": ["amd.com/gpu=present:NoSchedule"],
    },
)
CUT: dict[str, Any] = {
    "name": "cut",
    "nodes": "cut-1",
    "gpus": {"model": "a100-sxm4-40gb", "count": 2},
    "cpus": 64,
    "memory": "512Gi",
    "partitions": ["1g.5gb", "3g.20gb"],
}
"""A pool whose layout the planner chooses."""
SLICE = {"model": "a100-sxm4-40gb", "count": 1, "partition": "1g.5gb"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """A plan that was carried out: the pods that started, and each job with the workload that Kueue made of it."""

    planned: Planned
    started: tuple[Started, ...]
    workloads: dict[str, Object]
    jobs: dict[str, Object]


def two_vendors() -> Planned:
    """A gang, what waits for it, borrowed work beside it, work of the other vendor, and work on partitions."""
    documents = (
        builders.a_cluster(*POOLS, CUT, name="lab"),
        builders.a_quota("vision-h100", "vision", guaranteed=16),
        builders.a_quota("nlp-h100", "nlp", guaranteed=8, limit=16),
        builders.a_quota("vision-red", "vision", guaranteed=16, gpus={"model": "mi300x"}),
        builders.a_job("train", gpus={"model": "h100-sxm5-80gb", "count": 16, "nodes": 2}, duration="1h"),
        builders.a_job("evaluate", gpus={"model": "h100-sxm5-80gb", "count": 2}, duration="1h", after=["train"]),
        builders.a_job("ablate", "nlp", gpus={"model": "h100-sxm5-80gb", "count": 8}, duration="1h"),
        builders.a_job("distill", "nlp", gpus={"model": "h100-sxm5-80gb", "count": 16, "nodes": 2}, duration="1h"),
        builders.a_job("simulate", gpus={"model": "mi300x", "count": 16, "nodes": 2}, duration="2h"),
        builders.a_job("tune", gpus={"model": "mi300x", "count": 4}, duration="1h", array=3),
        builders.a_job("lesson", "nlp", gpus=SLICE, duration="1h", array=3),
        builders.a_job("probe", "nlp", gpus={"model": "a100-sxm4-40gb", "count": 1}, duration="1h"),
    )
    return Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))


def nodes_of(specs: SpecSet, plan: Plan | None = None) -> Iterator[Object]:
    """The nodes of the specs, labelled and tainted as their makers do, and cut as the plan says."""
    cut = plan.layouts if plan else ()
    for reference in specs.pools():
        pool = reference.pool
        label, product = PRODUCTS[pool.gpus[0].model]
        memory = f"{pool.memory.mib}Mi" if pool.memory else "1Gi"
        capacity = {"cpu": str(pool.cpus), "memory": memory, "pods": "110"}
        taints = [taint(text) for text in pool.taints]
        for name in pool.nodes.names:
            own = [each for each in cut if (each.pool, each.node) == (reference.key, name)]
            offered = Counter(f"nvidia.com/mig-{part.profile}" for each in own for part in each.windows[0].partitions)
            offered[f"{label.partition('/')[0]}/gpu"] = pool.gpus[0].count - len(own)
            here = {**capacity, **{resource: str(count) for resource, count in offered.items()}}
            yield {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {label: product, "kubernetes.io/hostname": name}},
                "spec": {"taints": taints},
                "status": {"capacity": here, "allocatable": here},
            }


def taint(text: str) -> dict[str, str]:
    """A taint of the form key=value:Effect."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


@pytest.fixture
def lived(cluster: Cluster, tmp_path: Path) -> Lived:
    """The scenario, released job by job when it is due, and carried out."""
    made = two_vendors()
    for node in nodes_of(made.specs, made.plan):
        cluster.api.call("POST", "/api/v1/nodes", node)
    with playing(cluster.api) as kubelets:
        planned = Planned(
            specs=made.specs, plan=scaled(made.plan, begin=int(time.time()) + 5, slot_seconds=SLOT_SECONDS)
        )
        kubelets.lasts |= {
            item.address: seconds_of(item.finish) - seconds_of(item.start) - SPARE_SECONDS
            for item in planned.plan.placements
        }
        jobs = applied(cluster, trees.rendered_into(tmp_path, planned) / "lab")
        release(cluster, planned, jobs)
        wait_for(lambda: all(done(job) for job in held(cluster, "/apis/batch/v1/jobs")), "the end of all jobs", every=1)
    assert kubelets.faults == []
    result = Lived(
        planned=planned,
        started=tuple(kubelets.started),
        workloads=workloads(cluster),
        jobs={address(job): job for job in held(cluster, "/apis/batch/v1/jobs")},
    )
    print(told(result))
    return result


def applied(cluster: Cluster, folder: Path) -> dict[str, Object]:
    """Apply all but the jobs; these by address."""
    names = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))["resources"]
    found = [item for name in names for item in yaml.safe_load_all((folder / name).read_text("utf-8"))]
    cluster.apply_objects([item for item in found if item["kind"] != "Job"])
    return {address(item): item for item in found if item["kind"] == "Job"}


def release(cluster: Cluster, planned: Planned, jobs: dict[str, Object]) -> None:
    """Hand each job over when its time has come."""
    for item in sorted(planned.plan.placements, key=lambda item: item.start):
        time.sleep(max(0.0, seconds_of(item.start) - time.time()))
        cluster.apply_objects([jobs[item.address]])


def held(cluster: Cluster, path: str) -> list[Object]:
    return cluster.api.items(path)


def address(item: Object) -> str:
    found: str = item["metadata"]["annotations"]["planner.dev/address"]
    return found


def done(job: Object) -> bool:
    return any(
        item["type"] in ("Complete", "Failed") and item["status"] == "True"
        for item in job["status"].get("conditions", [])
    )


def workloads(cluster: Cluster) -> dict[str, Object]:
    """What Kueue holds of each job, by the job's uid."""
    found = held(cluster, "/apis/kueue.x-k8s.io/v1beta2/workloads")
    return {owner["uid"]: item for item in found for owner in item["metadata"]["ownerReferences"]}


def told(lived: Lived) -> str:
    """Planned against actual, a line for each job; starts in seconds after the plan's."""
    begin = seconds_of(lived.planned.plan.inputs.start)
    return "\n".join(
        f"{item.address:24} planned {seconds_of(item.start) - begin:3} on {','.join(planned_nodes(item)):16}"
        f" actual {min(pod.at for pod in pods(lived, item)) - begin:5.1f} on {','.join(actual_nodes(lived, item))}"
        for item in lived.planned.plan.placements
    )


def planned_nodes(item: Placement) -> list[str]:
    return sorted(node.name for node in item.segments[0].nodes)


def pods(lived: Lived, item: Placement) -> list[Started]:
    return [pod for pod in lived.started if pod.address == item.address]


def actual_nodes(lived: Lived, item: Placement) -> list[str]:
    return sorted(pod.node for pod in pods(lived, item))


def test_flavors_nodes_and_order_are_as_planned(lived: Lived) -> None:
    placements = lived.planned.plan.placements
    assert {job["status"].get("succeeded") for job in lived.jobs.values()} <= {1, 2}
    assert len(lived.jobs) == len(placements)
    for item in placements:
        late = max(pod.at for pod in pods(lived, item)) - seconds_of(item.start)
        assert actual_nodes(lived, item) == planned_nodes(item), item.address
        assert flavors(lived, item) == {item.segments[0].model}, item.address
        assert 0 <= late < SLOT_SECONDS, f"{item.address} starts {late:.1f} s late"


def flavors(lived: Lived, item: Placement) -> set[str]:
    """The flavors from which Kueue gave devices."""
    admission = lived.workloads[lived.jobs[item.address]["metadata"]["uid"]]["status"]["admission"]
    return {
        flavor
        for part in admission["podSetAssignments"]
        for resource, flavor in part["flavors"].items()
        if "/" in resource
    }
