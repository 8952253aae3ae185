"""What lets due work begin inside a cluster: a CronJob that asks what runs and then runs `planner apply --due`.

It has no shell and no write access but to the objects of work: it clones the specs with the branch of the state, writes
a Snapshot of the cluster, and opens the gates of what has come due. What it does not do is told by its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes.emit import document
from renderers.kubernetes.kinds import KINDS
from renderers.kubernetes.naming import k8s_literal
from renderers.kubernetes.scene import CLUSTER_FOLDER, namespace_of
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from planner.plan import Plan
    from planner.spec.backend import DueRunner
    from planner.spec.cluster import Cluster
    from planner.spec.team import Team

Tree = dict[str, Any]

NAME: Final = "planner-due"
SECRET_KEY: Final = "credentials"
_LONGEST_MINUTES: Final = 15
_HOUR_MINUTES: Final = 60
_DEADLINE_SECONDS: Final = 600
_RBAC: Final = "rbac.authorization.k8s.io"
_WORK: Final = "/work"
_FLEET: Final = "/work/fleet"
_SNAPSHOT: Final = "/work/now.yaml"
_CREDENTIALS: Final = "/etc/planner-git"
_READ: Final = (
    ("", ("nodes", "pods", "resourcequotas")),
    ("apps", ("deployments",)),
    ("batch", ("jobs",)),
    ("jobset.x-k8s.io", ("jobsets",)),
    ("kubeflow.org", ("mpijobs", "pytorchjobs")),
    ("kueue.x-k8s.io", ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "topologies")),
    ("leaderworkerset.x-k8s.io", ("leaderworkersets",)),
    ("ray.io", ("rayjobs",)),
    ("resource.k8s.io", ("resourceclaims", "resourceslices")),
    ("scheduling.run.ai", ("queues",)),
    ("scheduling.volcano.sh", ("queues",)),
    ("serving.kserve.io", ("inferenceservices",)),
    ("trainer.kubeflow.org", ("trainjobs",)),
)
"""What `planner discover --from kubernetes` lists."""


_ADMITTED: Final = (("kueue.x-k8s.io", ("workloads",)),)
"""What is made inactive while work is interrupted."""


def minutes_between(slot_seconds: int) -> int:
    """How many minutes lie between two runs: a quarter of an hour, less where slots are shorter, a part of an hour."""
    most = max(1, min(_LONGEST_MINUTES, slot_seconds // _HOUR_MINUTES))
    return next(minutes for minutes in range(most, 0, -1) if _HOUR_MINUTES % minutes == 0)


def objects(plan: Plan, teams: Sequence[Team], cluster: Cluster) -> Iterator[Manifest]:
    """The CronJob with its account and its rights; nothing where the cluster has no such runner."""
    runner = cluster.backend.due
    if runner is None:
        return
    account = _object("v1", "ServiceAccount", runner.namespace)
    role = {**_object(f"{_RBAC}/v1", "ClusterRole"), "rules": _rules(_READ, ("list",))}
    for tree in (account, role, _binding("ClusterRole", runner), _cron_job(plan, cluster, runner)):
        yield _manifest(cluster, tree)
    for namespace in sorted({namespace_of(team) for team in teams}):
        patches = [*_rules(_work(), ("get", "patch")), *_rules(_ADMITTED, ("list", "patch"))]
        yield _manifest(cluster, {**_object(f"{_RBAC}/v1", "Role", namespace), "rules": patches})
        yield _manifest(cluster, _binding("Role", runner, namespace))


def _manifest(cluster: Cluster, tree: Tree) -> Manifest:
    folder = tree["metadata"].get("namespace", CLUSTER_FOLDER)
    return Manifest(
        path=f"{cluster.name}/{folder}/{tree['kind'].lower()}-{NAME}.yaml",
        text=document(tree),
        addresses=(f"cluster/{cluster.name}",),
    )


def _object(api: str, kind: str, namespace: str = "") -> Tree:
    where = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": NAME, **where, "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}},
    }


def _work() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The kinds that work is released in, by their groups."""
    groups: dict[str, list[str]] = {}
    for kind in KINDS.values():
        groups.setdefault(kind.api.rpartition("/")[0], []).append(f"{kind.prefix}s")
    return tuple((group, tuple(sorted(names))) for group, names in sorted(groups.items()))


def _rules(groups: Iterable[tuple[str, Sequence[str]]], verbs: Sequence[str]) -> list[Tree]:
    return [{"apiGroups": [group], "resources": list(names), "verbs": list(verbs)} for group, names in groups]


def _binding(kind: str, runner: DueRunner, namespace: str = "") -> Tree:
    return {
        **_object(f"{_RBAC}/v1", f"{kind}Binding", namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": runner.namespace}],
    }


def _cron_job(plan: Plan, cluster: Cluster, runner: DueRunner) -> Tree:
    minutes = minutes_between(plan.inputs.slot_seconds)
    return {
        **_object("batch/v1", "CronJob", runner.namespace),
        "spec": {
            "schedule": f"*/{minutes} * * * *" if minutes > 1 else "* * * * *",
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": minutes * 60,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "spec": {
                    "backoffLimit": 0,
                    "activeDeadlineSeconds": _DEADLINE_SECONDS,
                    "template": {"spec": _pod(plan, cluster, runner)},
                }
            },
        },
    }


def _pod(plan: Plan, cluster: Cluster, runner: DueRunner) -> Tree:
    clone, snapshot, release = _steps(plan, cluster, runner)
    secret = {"name": "git", "secret": {"secretName": runner.secret, "items": [_CREDENTIAL]}} if runner.secret else None
    return {
        "serviceAccountName": NAME,
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [
            _container("clone", runner, clone, "/work", with_secret=runner.secret is not None),
            _container("snapshot", runner, snapshot, _FLEET),
        ],
        "containers": [_container("release", runner, release, _FLEET)],
        "volumes": [{"name": "work", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}, *([secret] if secret else ())],
    }


_CREDENTIAL: Final = {"key": SECRET_KEY, "path": SECRET_KEY}


def _steps(plan: Plan, cluster: Cluster, runner: DueRunner) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The three commands, one after the other; no value can be taken for an option."""
    store = ("-c", f"credential.helper=store --file={_CREDENTIALS}/{SECRET_KEY}") if runner.secret else ()
    specs = f"--specs={runner.specs}"
    return (
        ("git", *store, "clone", "--quiet", "--", runner.repository, _FLEET),
        ("planner", "discover", "--from=kubernetes", f"--name={cluster.name}", specs, f"--snapshot={_SNAPSHOT}"),
        (
            *("planner", "apply", "state/applied.lock.json", f"--digest={plan.digest}", "--due"),
            *(f"--snapshot={_SNAPSHOT}", specs, "--state=state", f"--state-branch={runner.state_branch}"),
            *(f"--cluster={cluster.name}", f"--context={cluster.name}="),
        ),
    )


def _container(name: str, runner: DueRunner, command: Sequence[str], folder: str, *, with_secret: bool = False) -> Tree:
    mounts: list[Tree] = [{"name": "work", "mountPath": _WORK}, {"name": "tmp", "mountPath": "/tmp"}]
    if with_secret:
        mounts.append({"name": "git", "mountPath": _CREDENTIALS, "readOnly": True})
    return {
        "name": name,
        "image": runner.image,
        "command": [k8s_literal(word) for word in command],
        "workingDir": folder,
        "env": [{"name": "HOME", "value": "/tmp"}, {"name": "GIT_TERMINAL_PROMPT", "value": "0"}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }
