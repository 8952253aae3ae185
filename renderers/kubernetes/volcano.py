"""Volcano: a queue for each team with what it deserves and may use at most, and a group for each job's pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes import topology
from renderers.kubernetes.claims import is_claimed
from renderers.kubernetes.emit import document
from renderers.kubernetes.priorities import priority_class
from renderers.kubernetes.quota import quantity
from renderers.kubernetes.resources import requests_of
from renderers.kubernetes.scene import CLUSTER_FOLDER
from renderers.kubernetes.team_queues import held_by, priorities, queue_name
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from renderers.kubernetes.scene import Scene
    from renderers.payload import Payload

SCHEDULER: Final = "volcano"
GROUP: Final = "scheduling.k8s.io/group-name"
API: Final = "scheduling.volcano.sh/v1beta1"


def fixed_objects(scene: Scene) -> Iterator[Manifest]:
    """Priorities, and the tree of nodes."""
    yield from priorities(scene)
    for tree in topology.hyper_nodes(scene.cluster):
        name = tree["metadata"]["name"]
        yield Manifest(
            path=f"{scene.cluster.name}/{CLUSTER_FOLDER}/hypernode-{name}.yaml",
            text=document(tree),
            addresses=(f"cluster/{scene.cluster.name}",),
        )


def quota_objects(scene: Scene, moment: int) -> Iterator[Manifest]:
    """The queues of teams as quotas are at a moment.

    What a team is guaranteed is what its queue deserves, and can be lent; only what it does not lend is held for it.
    Each names every resource: of one that is missing nothing could be taken back.
    """
    for team in scene.teams:
        held, name = held_by(scene, team.name, moment), queue_name(team.name)
        limit = {} if held.limit is None else {"capability": _quantities(held.limit)}
        tree = {
            "apiVersion": API,
            "kind": "Queue",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}},
            "spec": {
                "weight": held.weight,
                "reclaimable": True,
                "deserved": _quantities(held.guaranteed),
                "guarantee": {"resource": _quantities(held.kept)},
                **limit,
            },
        }
        path = f"{scene.cluster.name}/{CLUSTER_FOLDER}/queue-{name}.yaml"
        yield Manifest(path=path, text=document(tree), addresses=(f"team/{team.name}",))


def _quantities(amounts: Iterable[tuple[str, int]]) -> dict[str, str]:
    return {resource: quantity(resource, amount) for resource, amount in amounts}


def pod_group(payload: Payload, namespace: str, workload: str) -> dict[str, Any]:
    """The pods of a job as one: all of them start, or none."""
    count = len(payload.nodes)
    spec: dict[str, Any] = {
        "minMember": count,
        "queue": queue_name(payload.job.team),
        "priorityClassName": priority_class(payload.placement.priority),
    }
    if (asked := requests_of(payload)) and not is_claimed(payload):
        spec["minResources"] = {name: str(amount * count) for name, amount in asked}
    if (level := topology.wanted(payload)) is not None:
        label, required = level
        tier = topology.tier_of(payload.pool, label)
        spec["networkTopology"] = (
            {"mode": "hard", "highestTierAllowed": tier} if required and tier else {"mode": "soft"}
        )
    return {
        "apiVersion": API,
        "kind": "PodGroup",
        "metadata": {
            "name": workload,
            "namespace": namespace,
            "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
            "annotations": {"planner.dev/address": payload.address},
        },
        "spec": spec,
    }
