"""One job of the plan as an object that waits suspended, with what it needs beside it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner.spec.backend import Workload
from renderers import environment
from renderers.kubernetes.emit import document
from renderers.kubernetes.kinds import KINDS
from renderers.kubernetes.kueue import priority_class
from renderers.kubernetes.naming import dns_label, is_label, label_value, object_name
from renderers.kubernetes.pod import ADDRESS, WORKLOAD, PodStyle, pod_of
from renderers.payload import MASTER_PORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from renderers.kubernetes.flavors import Flavor
    from renderers.payload import Payload

GATE: Final = "planner.dev/planned-start"
_OWN_PREFIX: Final = re.compile(r"(^|\.)(kubernetes\.io|k8s\.io|planner\.dev)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a job is put: its namespace, its queue (empty where nothing queues), and how its planned start is held.

    `is_gated` says that the queue itself waits for `GATE` to go; otherwise the job joins its queue when it is released.
    """

    namespace: str
    team_is_namespace: bool
    queue: str
    is_gated: bool
    flavor: Flavor
    workload: Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The objects of one job: for each the path below its namespace's folder, and its text."""

    files: tuple[tuple[str, str], ...]


def job_of(payload: Payload, setting: Setting, notes: Sequence[str] = ()) -> Written:
    """The object of `payload`, and the Service of a gang where its kind brings none.

    `Unsupported` where no object would do what the plan says. `notes` say in the file what is not enforced.
    """
    kind = KINDS[setting.workload]
    workload = dns_label(payload.name if setting.team_is_namespace else f"{payload.job.team}/{payload.name}")
    has_service = payload.is_gang and setting.workload is Workload.JOB
    style = PodStyle(
        container=kind.container,
        flavor=setting.flavor,
        environment=kind.environment(payload, workload),
        subdomain=workload if has_service else "",
    )
    pod = pod_of(payload, workload, style)
    content = json.dumps([payload.address, len(payload.nodes), kind.kind, pod], sort_keys=True)
    name = object_name(workload, content, kind.budget)
    tree: dict[str, Any] = {
        "apiVersion": kind.api,
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": setting.namespace,
            "labels": _labels(payload, setting, workload),
            "annotations": _annotations(payload, setting),
        },
        "spec": kind.body(payload, pod),
    }
    files = [(f"{kind.prefix}-{name}.yaml", document(tree, notes))]
    if has_service:
        files.append((f"service-{workload}.yaml", _service(payload, setting, workload)))
    return Written(files=tuple(files))


def _service(payload: Payload, setting: Setting, workload: str) -> str:
    return environment.render(
        "kubernetes/service.yaml.j2",
        name=workload,
        namespace=setting.namespace,
        address=payload.address,
        workload=workload,
        port=MASTER_PORT,
    )


def _labels(payload: Payload, setting: Setting, workload: str) -> dict[str, str]:
    labels = {key: value for key, value in payload.job.labels if _is_free(key) and is_label(key, value)}
    labels |= {
        "app.kubernetes.io/managed-by": "gpu-fleet-planner",
        "planner.dev/team": label_value(payload.job.team),
        WORKLOAD: workload,
    }
    if setting.queue:
        labels["kueue.x-k8s.io/priority-class"] = priority_class(payload.placement.priority)
    if setting.queue and setting.is_gated:
        labels["kueue.x-k8s.io/queue-name"] = setting.queue
    return dict(sorted(labels.items()))


def _is_free(key: str) -> bool:
    """Whether a user may set this label: those of Kubernetes and of the planner decide what happens to the job."""
    prefix, slash, _ = key.rpartition("/")
    return not slash or _OWN_PREFIX.search(prefix) is None


def _annotations(payload: Payload, setting: Setting) -> dict[str, str]:
    job, labels = payload.job, dict(payload.job.labels)
    annotations = {
        ADDRESS: payload.address,
        "planner.dev/spec-hash": payload.placement.spec,
        "planner.dev/start": payload.segment.start,
        "planner.dev/end": payload.segment.end,
        "planner.dev/title": job.title,
        "planner.dev/description": job.description,
    }
    if not all(_is_free(key) and is_label(key, value) for key, value in labels.items()):
        annotations["planner.dev/labels"] = json.dumps(labels, sort_keys=True, ensure_ascii=False)
    if setting.queue:
        annotations |= (
            {"kueue.x-k8s.io/admission-gated-by": GATE} if setting.is_gated else {"planner.dev/queue": setting.queue}
        )
    return dict(sorted((key, value) for key, value in annotations.items() if value))
