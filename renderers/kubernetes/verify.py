"""Rendered objects, parsed back and held against the plan: what was written is what was decided."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes import scaling
from renderers.kubernetes.claims import is_claimed
from renderers.kubernetes.kinds import KINDS
from renderers.kubernetes.phases import is_of_a_phase
from renderers.kubernetes.pod import ADDRESS, node_names
from renderers.kubernetes.reading import pods_in, pods_over
from renderers.kubernetes.resources import requests_of
from renderers.kubernetes.serving import replica_sets
from renderers.kubernetes.serving_overlay import SERVED
from renderers.kubernetes.terms import begin_of
from renderers.payload import jobs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.kubernetes.reading import Pods
    from renderers.kubernetes.serving import ReplicaSet
    from renderers.payload import Payload

Tree = dict[str, Any]

WORKLOADS: Final = frozenset(kind.kind for kind in KINDS.values())
BUDGETS: Final = {kind.kind: kind.budget for kind in KINDS.values()}
WRITTEN: Final = (
    WORKLOADS
    | SERVED.keys()
    | frozenset(
        {
            "ClusterQueue",
            "ClusterRole",
            "ClusterRoleBinding",
            "ClusterTrainingRuntime",
            "Cohort",
            "ConfigMap",
            "CronJob",
            "DeviceClass",
            "HyperNode",
            "Kustomization",
            "LocalQueue",
            "Namespace",
            "PodDisruptionBudget",
            "PodGroup",
            "PriorityClass",
            "Queue",
            "ResourceClaimTemplate",
            "ResourceFlavor",
            "Role",
            "RoleBinding",
            "ScaledObject",
            "Service",
            "ServiceAccount",
            "Topology",
            "WorkloadPriorityClass",
        }
    )
)


def verify(
    documents: Mapping[str, Sequence[Any]],
    plan: Plan,
    specset: SpecSet,
    cluster: Cluster,
    degraded: Sequence[Degraded] = (),
) -> tuple[str, ...]:
    """What differs between the plan and the YAML files of a cluster, one sentence each; nothing when all is as planned.

    `documents` are the parsed documents of each file by its path, `degraded` says which jobs were left out on purpose.
    """
    faults = list(_shapes(documents))
    if faults:
        return tuple(faults)
    phases = {path: each for path, each in documents.items() if is_of_a_phase(path)}
    documents = {path: each for path, each in documents.items() if path not in phases}
    objects = [document for each in documents.values() for document in each]
    refused = {item.address for item in degraded if item.message.startswith("not written: ")}
    faults += _names(objects)
    faults += _listed(documents, cluster.name)
    for folder in sorted({path.rpartition("/")[0] for path in phases}):
        faults += _listed({path: each for path, each in phases.items() if path.startswith(f"{folder}/")}, folder)
    faults += _jobs(objects, [job for job in jobs_of(plan, specset, cluster) if job.address not in refused])
    faults += _replicas(
        objects,
        [each for each in replica_sets(plan, specset, cluster) if each.one.address not in refused],
        begin_of(plan),
    )
    return tuple(faults)


def _replicas(objects: Sequence[Tree], planned: Sequence[ReplicaSet], begin: int) -> Iterator[str]:
    """Whether as many replicas are written for each service as there are when the plan begins."""
    written, wanted = Counter[str](), Counter[str]()
    for item in objects:
        if item["kind"] == scaling.KIND:
            written[item["metadata"]["annotations"][ADDRESS]] += scaling.replicas_at(item, begin)
        elif (served := SERVED.get(item["kind"])) is not None:
            written[item["metadata"]["annotations"][ADDRESS]] += served.replicas(item)
    for each in planned:
        wanted[each.one.address] += each.at(begin)
    for address in sorted({*written, *wanted}):
        if written[address] != wanted[address]:
            yield f"{address}: replicas: written {written[address]}, planned {wanted[address]}"


def _shapes(documents: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    for path, found in sorted(documents.items()):
        if len(found) != 1 or not isinstance(found[0], dict):
            yield f"{path} holds {len(found)} documents, not one object"
        elif found[0].get("kind") not in WRITTEN:
            yield f"{path} is of the kind {found[0].get('kind')}, which is never written"


def _names(objects: Sequence[Tree]) -> Iterator[str]:
    counted = Counter(
        (item["apiVersion"], item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
        for item in objects
        if "metadata" in item
    )
    for (_, kind, namespace, name), times in sorted(counted.items()):
        if times > 1:
            yield f"{kind} {namespace}/{name} is written {times} times"
        if kind in WORKLOADS and len(name) > BUDGETS[kind]:
            yield f"{kind} {namespace}/{name} leaves no room for the names of its pods"


def _listed(documents: Mapping[str, Sequence[Any]], folder: str) -> Iterator[str]:
    own = f"{folder}/kustomization.yaml"
    listed = {f"{folder}/{path}" for path in documents[own][0]["resources"]} if own in documents else set()
    for path in sorted(listed ^ (documents.keys() - {own})):
        yield f"{path} is {'listed but not written' if path in listed else 'written but not listed'}"


def _jobs(objects: Sequence[Tree], planned: Sequence[Payload]) -> Iterator[str]:
    written: dict[str, Tree] = {}
    for item in objects:
        if item["kind"] in WORKLOADS:
            written[item["metadata"]["annotations"][ADDRESS]] = item
    addresses = {payload.address for payload in planned}
    yield from (f"{address} is planned but not written" for address in sorted(addresses - written.keys()))
    yield from (f"{address} is written but not planned" for address in sorted(written.keys() - addresses))
    for payload in planned:
        if payload.address in written:
            item = written[payload.address]
            yield from _job(pods_in(item) if payload.job.template is None else pods_over(item), payload)


def _job(found: Pods, payload: Payload) -> Iterator[str]:
    devices = {} if is_claimed(payload) else {name: str(amount) for name, amount in requests_of(payload)}
    facts: list[tuple[str, Any, Any]] = [
        ("pods", found.count, len(payload.nodes)),
        ("pods at once", found.at_once, len(payload.nodes)),
        ("time limit", found.limit_seconds, payload.placement.limit_seconds),
    ]
    for pod in found.pods:
        containers = pod["containers"]
        limits = containers[0]["resources"]["limits"]
        facts += [
            ("one container", len(containers), 1),
            ("image", containers[0]["image"], payload.image or containers[0]["image"]),
            ("devices", {name: str(amount) for name, amount in limits.items() if "/" in name}, devices),
            ("nodes", _hostnames(pod), node_names(payload)),
            ("claims", len(containers[0]["resources"].get("claims", ())), int(is_claimed(payload))),
        ]
    for what, seen, expected in facts:
        if seen != expected:
            yield f"{payload.address}: {what}: written {seen}, planned {expected}"


def _hostnames(pod: Tree) -> tuple[str, ...]:
    affinity = pod.get("affinity", {}).get("nodeAffinity")
    if affinity is None:
        return ()
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return tuple(terms[0]["matchExpressions"][0]["values"])
