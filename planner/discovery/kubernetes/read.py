"""A Kubernetes cluster from lists of its objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from planner.diagnostics import UsageError
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.kubernetes.nodes import inventory
from planner.discovery.kubernetes.objects import Thing, mapping, things
from planner.discovery.kubernetes.pods import running
from planner.discovery.kubernetes.queues import queues, without_empty
from planner.discovery.kubernetes.slices import Offered, claimed, offered
from planner.discovery.models import Models

_OWN: Final = (
    "jobsets.jobset.x-k8s.io",
    "pytorchjobs.kubeflow.org",
    "mpijobs.kubeflow.org",
    "trainjobs.trainer.kubeflow.org",
    "rayjobs.ray.io",
    "deployments.apps",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "inferenceservices.serving.kserve.io",
)
"""Kinds beside Jobs in which work of the planner, and work that is imported, is found."""
_KINDS: Final = (
    "nodes",
    "pods",
    "jobs.batch",
    *_OWN,
    "resourceslices.resource.k8s.io",
    "resourceclaims.resource.k8s.io",
    "resourcequotas",
    "clusterqueues.kueue.x-k8s.io",
    "cohorts.kueue.x-k8s.io",
    "localqueues.kueue.x-k8s.io",
    "resourceflavors.kueue.x-k8s.io",
    "topologies.kueue.x-k8s.io",
    "queues.scheduling.run.ai",
    "queues.scheduling.volcano.sh",
)
_WORKLOADS: Final = ("jobs.batch", *_OWN, "cronjobs.batch", "statefulsets.apps", "rayservices.ray.io")


def _commands(kinds: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(("kubectl", "get", kind, "--all-namespaces", "-o", "json") for kind in kinds)


COMMANDS: Final = _commands(_KINDS)
"""What is run, read-only; the first must succeed, and a kind that a cluster does not have is no trouble."""

WORKLOADS: Final = _commands(_WORKLOADS)
_QUEUEING: Final = MappingProxyType({"scheduling.run.ai": "kai", "scheduling.volcano.sh": "volcano"})
ABSENT: Final = "doesn't have a resource type"


def read(texts: Iterable[Text], models: Models, taken_at: int) -> ClusterFacts:
    """Everything that the objects tell; `UsageError` for a file that holds no objects, or where there are no nodes."""
    found = things(texts)
    if not any((thing.group, thing.kind) == ("", "Node") for thing in found):
        raise UsageError("none of the files holds nodes; the inventory comes from 'kubectl get nodes -o json'")
    offers = offered(found, models)
    stock = inventory(found, models, offers)
    use, teams = running(found, claimed(found, offers)), queues(found, models)
    present = frozenset(str(device.vendor) for host in stock.hosts for device in host.devices)
    return ClusterFacts(
        back_end="kubernetes",
        version=_version(found),
        options=tuple(_options(found, offers)),
        hosts=stock.hosts,
        tenants=teams.tenants,
        allowances=without_empty(teams.allowances, present),
        uses=use.uses,
        ended=use.ended,
        broken=stock.broken,
        waiting=use.waiting,
        untold=(*stock.untold, *teams.untold, *use.untold),
    )


def _options(found: Sequence[Thing], offers: Mapping[str, Offered]) -> Iterator[tuple[str, str]]:
    """What admits work, where one of the schedulers has queues and Kueue has none, and what hands out devices."""
    groups = {thing.group for thing in found if thing.kind in {"Queue", "ClusterQueue"}}
    if len(groups) == 1 and (queueing := _QUEUEING.get(groups.pop())):
        yield "queueing", queueing
    if any(offer.devices for offer in offers.values()):
        yield "devices", "dra"


def _version(found: Sequence[Thing]) -> str:
    """The least version of the nodes, which is what all of them understand."""
    nodes = (thing for thing in found if thing.kind == "Node")
    told = [str(mapping(node.status.get("nodeInfo")).get("kubeletVersion", "")) for node in nodes]
    matches = (re.match(r"v([0-9]{1,3})\.([0-9]{1,3})", version) for version in told)
    least = min(((int(match[1]), int(match[2])) for match in matches if match), default=None)
    return ".".join(map(str, least)) if least else ""
