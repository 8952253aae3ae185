"""A Kubernetes cluster from lists of its objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from planner.diagnostics import UsageError
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.kubernetes.nodes import inventory
from planner.discovery.kubernetes.objects import Thing, mapping, things
from planner.discovery.kubernetes.pods import running
from planner.discovery.kubernetes.queues import queues, without_empty
from planner.discovery.models import Models

_KINDS: Final = (
    "nodes",
    "pods",
    "jobs.batch",
    "resourcequotas",
    "clusterqueues.kueue.x-k8s.io",
    "cohorts.kueue.x-k8s.io",
    "localqueues.kueue.x-k8s.io",
    "resourceflavors.kueue.x-k8s.io",
    "topologies.kueue.x-k8s.io",
    "queues.scheduling.run.ai",
    "queues.scheduling.volcano.sh",
)
_WORKLOADS: Final = (
    "jobs.batch",
    "cronjobs.batch",
    "deployments.apps",
    "statefulsets.apps",
    "jobsets.jobset.x-k8s.io",
    "pytorchjobs.kubeflow.org",
    "mpijobs.kubeflow.org",
    "trainjobs.trainer.kubeflow.org",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "rayjobs.ray.io",
)


def _commands(kinds: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(("kubectl", "get", kind, "--all-namespaces", "-o", "json") for kind in kinds)


COMMANDS: Final = _commands(_KINDS)
"""What is run, read-only; the first must succeed, and a kind that a cluster does not have is no trouble."""

WORKLOADS: Final = _commands(_WORKLOADS)
ABSENT: Final = "doesn't have a resource type"


def read(texts: Iterable[Text], models: Models, taken_at: int) -> ClusterFacts:
    """Everything that the objects tell; `UsageError` for a file that holds no objects, or where there are no nodes."""
    found = things(texts)
    if not any((thing.group, thing.kind) == ("", "Node") for thing in found):
        raise UsageError("none of the files holds nodes; the inventory comes from 'kubectl get nodes -o json'")
    stock = inventory(found, models)
    use, teams = running(found), queues(found, models)
    present = frozenset(str(device.vendor) for host in stock.hosts for device in host.devices)
    return ClusterFacts(
        back_end="kubernetes",
        version=_version(found),
        hosts=stock.hosts,
        tenants=teams.tenants,
        allowances=without_empty(teams.allowances, present),
        uses=use.uses,
        ended=use.ended,
        broken=stock.broken,
        waiting=use.waiting,
        untold=(*stock.untold, *teams.untold, *use.untold),
    )


def _version(found: Sequence[Thing]) -> str:
    """The least version of the nodes, which is what all of them understand."""
    nodes = (thing for thing in found if thing.kind == "Node")
    told = [str(mapping(node.status.get("nodeInfo")).get("kubeletVersion", "")) for node in nodes]
    matches = (re.match(r"v([0-9]{1,3})\.([0-9]{1,3})", version) for version in told)
    least = min(((int(match[1]), int(match[2])) for match in matches if match), default=None)
    return ".".join(map(str, least)) if least else ""
