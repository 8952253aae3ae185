"""One job of the plan as an object that waits suspended, with what it needs beside it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from planner.spec.backend import Workload
from renderers import environment
from renderers.kubernetes.admission import admission_of
from renderers.kubernetes.claims import template_of
from renderers.kubernetes.emit import document
from renderers.kubernetes.kinds import KINDS
from renderers.kubernetes.naming import dns_label, is_label, label_value, object_name
from renderers.kubernetes.overlay import laid_over
from renderers.kubernetes.pod import ADDRESS, WORKLOAD, PodStyle, pod_of
from renderers.payload import MASTER_PORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.diagnostics import Place
    from planner.specset.manifests import ManifestTemplate
    from renderers.kubernetes.admission import Admission
    from renderers.kubernetes.flavors import Flavor
    from renderers.payload import Payload

_OWN_PREFIX: Final = re.compile(
    r"(^|\.)(kubernetes\.io|k8s\.io|planner\.dev|kai\.scheduler|run\.ai|volcano\.sh|kubeflow\.org|ray\.io)$"
)
_OWN_NAME: Final = "priorityClassName"
"""What KAI reads as a priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a job is put: its namespace, the flavor of its nodes, and the kind of object that it becomes.

    `template` is an object of that kind over which the plan is laid, for the spec at `spec_place`.
    """

    namespace: str
    team_is_namespace: bool
    flavor: Flavor
    workload: Workload
    template: ManifestTemplate | None = None
    spec_place: Place | None = None


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
    admission = admission_of(payload, setting.flavor, setting.namespace, workload)
    claim = template_of(payload, setting.namespace, workload)
    style = _style(payload, setting, workload, admission)
    pod = pod_of(payload, workload, replace(style, claim_template=claim["metadata"]["name"] if claim else ""))
    content = json.dumps([payload.address, len(payload.nodes), kind.kind, pod], sort_keys=True)
    if setting.template is not None:
        content += json.dumps(setting.template.tree, sort_keys=True)
    name = object_name(workload, content, kind.budget)
    tree: dict[str, Any] = {
        "apiVersion": kind.api,
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": setting.namespace,
            "labels": _labels(payload, workload, admission),
            "annotations": _annotations(payload, admission),
        },
        "spec": kind.body(payload, pod) if _makes_spec(setting) else _laid_on(payload, setting),
    }
    files = [(f"{kind.prefix}-{name}.yaml", _text(payload, setting, tree, pod, notes))]
    if _has_service(payload, setting):
        files.append((f"service-{workload}.yaml", _service(payload, setting, workload)))
    if claim is not None:
        files.append((f"resourceclaimtemplate-{claim['metadata']['name']}.yaml", document(claim)))
    if admission.group is not None:
        files.append((f"podgroup-{workload}.yaml", document(admission.group)))
    return Written(files=tuple(files))


def _style(payload: Payload, setting: Setting, workload: str, admission: Admission) -> PodStyle:
    kind = KINDS[setting.workload]
    return PodStyle(
        container=kind.container,
        flavor=setting.flavor,
        environment=kind.environment(payload, workload),
        subdomain=workload if _has_service(payload, setting) else "",
        scheduler=admission.scheduler,
        priority_class=admission.priority_class,
        labels=admission.pod_labels,
        annotations=admission.pod_annotations,
        needs_image=setting.template is None,
    )


def _has_service(payload: Payload, setting: Setting) -> bool:
    """Whether the parts of the gang meet below a Service of ours; other kinds bring their own."""
    return payload.is_gang and setting.workload is Workload.JOB


def _makes_spec(setting: Setting) -> bool:
    """Whether the body of the kind is written; over a template only that of a TrainJob, which has no pod to lay on."""
    return setting.template is None or setting.workload is Workload.TRAINJOB


def _laid_on(payload: Payload, setting: Setting) -> dict[str, Any]:
    spec: dict[str, Any] = {"activeDeadlineSeconds": payload.placement.limit_seconds}
    if setting.workload is Workload.RAYJOB and payload.command:
        spec["entrypoint"] = environment.shell_value(payload.command)
    return spec


def _text(payload: Payload, setting: Setting, tree: dict[str, Any], pod: dict[str, Any], notes: Sequence[str]) -> str:
    if setting.template is None or setting.spec_place is None:
        return document(tree, notes)
    if setting.workload is Workload.RAYJOB:
        # What a Ray container runs is Ray; the command of the job is the entry point.
        pod["spec"]["containers"][0].pop("command", None)
    overlay = laid_over(setting.template, setting.spec_place, tree, pod, len(payload.nodes))
    return document(overlay.tree, notes, changes=overlay.changes)


def _service(payload: Payload, setting: Setting, workload: str) -> str:
    return environment.render(
        "kubernetes/service.yaml.j2",
        name=workload,
        namespace=setting.namespace,
        address=payload.address,
        workload=workload,
        port=MASTER_PORT,
    )


def _labels(payload: Payload, workload: str, admission: Admission) -> dict[str, str]:
    labels = {key: value for key, value in payload.job.labels if _is_free(key) and is_label(key, value)}
    labels |= {
        "app.kubernetes.io/managed-by": "gpu-fleet-planner",
        "planner.dev/team": label_value(payload.job.team),
        WORKLOAD: workload,
    }
    return dict(sorted((labels | dict(admission.labels)).items()))


def _is_free(key: str) -> bool:
    """Whether a user may set this label: those of Kubernetes and of the planner decide what happens to the job."""
    prefix, slash, _ = key.rpartition("/")
    return key != _OWN_NAME and (not slash or _OWN_PREFIX.search(prefix) is None)


def _annotations(payload: Payload, admission: Admission) -> dict[str, str]:
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
    annotations |= dict(admission.annotations)
    return dict(sorted((key, value) for key, value in annotations.items() if value))
