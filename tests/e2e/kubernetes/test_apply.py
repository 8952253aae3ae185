"""Apply by the real kubectl: made once, found again, changed in place, and removed without a trace but namespaces."""

from __future__ import annotations

import json
import os
from pathlib import Path

from planner.apply import lease, run
from planner.apply.backend import Programs
from planner.apply.collect import Rendering, items_of
from planner.apply.item import Item, Presence, Rank
from planner.apply.kubernetes import MANAGER, MARK, Kubernetes
from planner.apply.run import Outcome, Request
from planner.apply.state import State
from renderers import render
from tests import builders
from tests.e2e.labs import trees
from tests.e2e.labs.kubernetes import programs
from tests.e2e.labs.kubernetes.cluster import Cluster
from tests.e2e.labs.processes import wait_for

NAME = "dc1"


def the_items(planned: trees.Planned) -> tuple[Item, ...]:
    """The objects of one cluster."""
    files = render(planned.plan, planned.specs).manifests
    every = [Rendering(path=file.path, text=file.text, addresses=file.addresses) for file in files]
    return tuple(item for item in items_of(every, planned.specs) if item.record.cluster == NAME)


def a_backend(cluster: Cluster) -> Kubernetes:
    """The control plane as apply sees it."""
    path = f"{programs.kubernetes()}:{os.environ['PATH']}"
    environment = {"PATH": path, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(cluster.root)}
    return Kubernetes(context="lab", runner=Programs(environment))


def apply(root: Path, cluster: Cluster, planned: trees.Planned, items: tuple[Item, ...]) -> Outcome:
    """One whole run."""
    state = State(root=root)
    request = Request(
        plan=planned.plan, items=items, clusters=(NAME,), backends={NAME: a_backend(cluster)}, again="again"
    )
    with lease.held(state.lease, "tester", "a test", lambda: 0) as held:
        return run.apply(request, state, state.known(), held)


def ours(cluster: Cluster, kinds: str) -> set[str]:
    """The names of our objects of these kinds."""
    text = cluster.kubectl("get", kinds, "--all-namespaces", f"--selector={MARK}={MANAGER}", "--output=json")
    return {item["metadata"]["name"] for item in json.loads(text)["items"]}


def identities(cluster: Cluster) -> set[tuple[str, str]]:
    """Name and identity of every job: an identity ends with its object."""
    text = cluster.kubectl("get", "jobs", "--all-namespaces", "--output=json")
    return {(item["metadata"]["name"], item["metadata"]["uid"]) for item in json.loads(text)["items"]}


def drifted(cluster: Cluster, backend: Kubernetes, items: tuple[Item, ...]) -> None:
    """Edit a quota, take a service away and mark a stranger as ours by hand; each is told, then put right."""
    text = cluster.kubectl("get", "clusterqueues", f"--selector={MARK}={MANAGER}", "--output=json")
    queue = next(item for item in json.loads(text)["items"] if item["spec"].get("resourceGroups"))
    name, groups = queue["metadata"]["name"], json.dumps(queue["spec"]["resourceGroups"])
    resource = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    edited = json.loads(groups)
    edited[0]["flavors"][0]["resources"][0]["nominalQuota"] = "7777"
    for wanted, standing in ((edited, ["changed"]), (json.loads(groups), [])):
        patch = json.dumps({"spec": {"resourceGroups": wanted}})
        cluster.kubectl("patch", "clusterqueue", name, "--type=merge", f"--patch={patch}")
        found = list(backend.departures(NAME, items))
        assert [item.standing.value for item in found] == standing
        assert all(resource["name"] in item.field and item.seen == '"7777"' for item in found)
    cluster.kubectl("create", "namespace", "stranger")
    cluster.kubectl("label", "namespace", "stranger", f"{MARK}={MANAGER}")
    assert [(item.standing.value, item.key) for item in backend.departures(NAME, items)] == [
        ("extra", "Namespace//stranger")
    ]
    cluster.kubectl("label", "namespace", "stranger", f"{MARK}-")


def test_a_fleet_is_made_found_changed_and_removed(cluster: Cluster, tmp_path: Path) -> None:
    planned = trees.the_specs()
    items, backend = the_items(planned), a_backend(cluster)
    assert set(backend.presence(items).values()) == {Presence.ABSENT}
    assert len(apply(tmp_path / "state", cluster, planned, items).steps) == len(items)
    assert set(backend.presence(items).values()) == {Presence.OURS}
    assert apply(tmp_path / "state", cluster, planned, items).steps == ()
    assert list(backend.departures(NAME, items)) == [], "what nobody touched has not drifted"

    before = identities(cluster)
    request = Request(
        plan=planned.plan, items=items, clusters=(NAME,), backends={NAME: backend}, again="again", adopts=True
    )
    lost = State(root=tmp_path / "lost")
    with lease.held(lost.lease, "tester", "a test", lambda: 0) as held:
        run.apply(request, lost, lost.known(), held)
    assert identities(cluster) == before, "work was made anew"
    drifted(cluster, backend, items)

    left = apply(tmp_path / "state", cluster, planned, ()).left
    assert {record.rank for record in left} == {Rank.NAMESPACE}
    assert ours(cluster, "jobs,services,localqueues,roles,rolebindings") == set()
    assert ours(cluster, "namespaces") != set()


def suspended(cluster: Cluster, address: str) -> bool:
    """Whether the job at an address is suspended."""
    items = json.loads(cluster.kubectl("get", "jobs", "--all-namespaces", "--output=json"))["items"]
    job = next(item for item in items if item["metadata"]["annotations"].get("planner.dev/address") == address)
    return bool(job["spec"]["suspend"])


def test_work_that_was_admitted_is_interrupted_and_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    jobs = [builders.a_job("short", gpus=1), builders.a_job("long", gpus=1)]
    backend_of_lab = {"type": "kubernetes", "kueue_version": "0.17"}
    fleet = builders.a_cluster(builders.a_pool(), backend=backend_of_lab)
    documents = (fleet, builders.a_quota(guaranteed=8), *jobs)
    planned = trees.Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))
    items, backend = the_items(planned), a_backend(cluster)
    apply(tmp_path / "state", cluster, planned, items)
    address = "job/vision/long"
    record = next(item.record for item in items if item.record.is_workload and address in item.record.addresses)
    assert backend.release(record, address) is True
    for _ in range(2):
        wait_for(lambda: not suspended(cluster, address), "admission")
        assert backend.release(record, address) is False
        assert backend.interrupt(record, address) is True
        wait_for(lambda: suspended(cluster, address), "the interruption")
        assert backend.interrupt(record, address) is False
        assert backend.release(record, address) is True
    assert suspended(cluster, "job/vision/short"), "what is not due waits"
