"""What the members of teams may do in their namespaces: look, and create jobs where a quota leaves room for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes.emit import document
from renderers.kubernetes.scene import namespace_of
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from planner.specset import SpecSet

NAME: Final = "planner-members"
_API: Final = "rbac.authorization.k8s.io"
_LOOK: Final = ("get", "list", "watch")
_SEEN: Final = (
    ("", ("events", "pods", "pods/log", "services")),
    ("apps", ("deployments",)),
    ("batch", ("jobs",)),
    ("jobset.x-k8s.io", ("jobsets",)),
    ("keda.sh", ("scaledobjects",)),
    ("kubeflow.org", ("mpijobs", "pytorchjobs")),
    ("kueue.x-k8s.io", ("localqueues", "workloads")),
    ("leaderworkerset.x-k8s.io", ("leaderworkersets",)),
    ("ray.io", ("rayclusters", "rayjobs")),
    ("scheduling.run.ai", ("podgroups",)),
    ("scheduling.volcano.sh", ("podgroups",)),
    ("serving.kserve.io", ("inferenceservices",)),
    ("trainer.kubeflow.org", ("trainjobs",)),
)


def objects(specset: SpecSet, cluster: Cluster) -> Iterator[Manifest]:
    """A role and its binding for each namespace whose teams have members."""
    shared: dict[str, list[Team]] = {}
    for team in specset.teams:
        shared.setdefault(namespace_of(team), []).append(team)
    for namespace, teams in sorted(shared.items()):
        members = sorted({member for team in teams for member in team.members})
        if not members:
            continue
        names = {team.name for team in teams}
        creates = any(_leaves_room(quota.team in names, quota.unplanned) for quota in specset.quotas)
        addresses = tuple(sorted(f"team/{name}" for name in names))
        folder = f"{cluster.name}/{namespace}"
        yield Manifest(
            path=f"{folder}/role-{NAME}.yaml", text=document(_role(namespace, creates=creates)), addresses=addresses
        )
        yield Manifest(
            path=f"{folder}/rolebinding-{NAME}.yaml", text=document(_binding(namespace, members)), addresses=addresses
        )


def _leaves_room(own: bool, unplanned: int) -> bool:
    return own and unplanned > 0


def _metadata(namespace: str) -> dict[str, Any]:
    return {
        "name": NAME,
        "namespace": namespace,
        "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
    }


def _role(namespace: str, *, creates: bool) -> dict[str, Any]:
    rules = [{"apiGroups": [group], "resources": list(names), "verbs": list(_LOOK)} for group, names in _SEEN]
    if creates:
        rules.append({"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "delete"]})
    return {"apiVersion": f"{_API}/v1", "kind": "Role", "metadata": _metadata(namespace), "rules": rules}


def _binding(namespace: str, members: Sequence[str]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_API}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(namespace),
        "roleRef": {"apiGroup": _API, "kind": "Role", "name": NAME},
        "subjects": [{"apiGroup": _API, "kind": "User", "name": member} for member in members],
    }
