"""KAI: a tree of queues in which all devices of a team are one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes import topology
from renderers.kubernetes.emit import document
from renderers.kubernetes.naming import dns_label
from renderers.kubernetes.scene import CLUSTER_FOLDER
from renderers.kubernetes.team_queues import held_by, priorities, queue_name
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from renderers.kubernetes.scene import Scene

SCHEDULER: Final = "kai-scheduler"
_API: Final = "scheduling.run.ai/v2"
_TOPOLOGY_API: Final = "kai.scheduler/v1alpha1"
_NO_LIMIT: Final = -1


def fixed_objects(scene: Scene) -> Iterator[Manifest]:
    """Priorities, topologies and the root of the queues."""
    yield from priorities(scene)
    yield from topologies(scene, _TOPOLOGY_API)
    yield _queue(scene, root_of(scene), _resources(_NO_LIMIT, _NO_LIMIT, 1), (f"cluster/{scene.cluster.name}",))


def topologies(scene: Scene, api: str) -> Iterator[Manifest]:
    """The topologies of a cluster's pools."""
    for levels in sorted({flavor.levels for flavor in scene.flavors if flavor.levels}):
        pools = sorted({pool for flavor in scene.flavors if flavor.levels == levels for pool in flavor.pools})
        yield Manifest(
            path=f"{scene.cluster.name}/{CLUSTER_FOLDER}/topology-{topology.name_of(levels)}.yaml",
            text=document(topology.tree_of(levels, api)),
            addresses=tuple(f"pool/{scene.cluster.name}/{pool}" for pool in pools),
        )


def root_of(scene: Scene) -> str:
    """The queue above those of teams."""
    return dns_label(f"planner-{scene.cluster.name}")


def quota_objects(scene: Scene, moment: int) -> Iterator[Manifest]:
    """The queues of teams as quotas are at a moment; all nine numbers are written, since 0 would block a resource."""
    for team in scene.teams:
        held = held_by(scene, team.name, moment)
        limit = _NO_LIMIT if held.limit_devices is None else held.limit_devices
        resources = _resources(held.devices, limit, held.weight)
        yield _queue(scene, queue_name(team.name), resources, (f"team/{team.name}",), parent=root_of(scene))


def _resources(quota: int, limit: int, weight: int) -> dict[str, Any]:
    """Devices as they are held; CPU and memory are not limited, so that they never stand in the way of a device."""
    free = {"quota": _NO_LIMIT, "limit": _NO_LIMIT, "overQuotaWeight": 1}
    return {"gpu": {"quota": quota, "limit": limit, "overQuotaWeight": weight}, "cpu": free, "memory": free}


def _queue(
    scene: Scene, name: str, resources: dict[str, Any], addresses: tuple[str, ...], parent: str = ""
) -> Manifest:
    tree = {
        "apiVersion": _API,
        "kind": "Queue",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}},
        "spec": {**({"parentQueue": parent} if parent else {}), "resources": resources},
    }
    return Manifest(
        path=f"{scene.cluster.name}/{CLUSTER_FOLDER}/queue-{name}.yaml", text=document(tree), addresses=addresses
    )
