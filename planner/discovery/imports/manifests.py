"""Jobs, JobSets and PyTorchJobs of Kubernetes as Job specs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from planner.discovery.imports.imported import (
    Imported,
    ImportWish,
    Refused,
    Result,
    job_name,
    lasting,
    stated,
    team_name,
)
from planner.discovery.imports.pods import NotImported, PodFields, pod_fields
from planner.discovery.kubernetes.devices import held
from planner.discovery.kubernetes.objects import Thing, at, mapping, mappings, text_of, whole
from planner.discovery.kubernetes.pods import ADDRESS
from planner.discovery.models import Models

_DROPPED: Final = frozenset({
    "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "ownerReferences",
    "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds",
})  # fmt: skip
_DROPPED_MARKS: Final = frozenset({
    "kubectl.kubernetes.io/last-applied-configuration", "controller-uid", "job-name",
    "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
})  # fmt: skip
_MAX_TIME: Final = "kueue.x-k8s.io/max-exec-time-seconds"
_PRIORITY: Final = "kueue.x-k8s.io/priority-class"
_PRIORITIES: Final = MappingProxyType({f"planner-p{level}": f"P{level}" for level in range(4)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Alike pods of a workload: how many at once, and how many of such groups one after the other (an array)."""

    name: str
    pods: int
    template: Mapping[str, Any]
    array: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A workload without its kind."""

    parts: tuple[_Part, ...]
    limit_seconds: int | None
    retries: int | None


def manifests(found: Iterable[Thing], wish: ImportWish, models: Models, originals: Mapping[str, bytes]) -> list[Result]:
    """Import workloads; what belongs to another object, or is the planner's own, is passed over in silence.

    `originals` has the text of objects by `kind/namespace/name` that may be kept as it is: it holds no values of
    environments.
    """
    return [
        _imported(thing, shape, wish, models, originals)
        for thing in found
        if (shape := _KINDS.get((thing.group, thing.kind))) is not None and not _is_passed_over(thing, shape, wish)
    ]


def _is_passed_over(thing: Thing, read: Callable[[Thing], _Shape], wish: ImportWish) -> bool:
    """The planner's own, parts of other objects, and work without devices where that is not asked for."""
    owned = ADDRESS in thing.annotations or bool(mappings(at(thing.tree, "metadata", "ownerReferences")))
    idle = (wish.devices_only or read in {_no_load, _not_read}) and not _holds_devices(thing.tree)
    return owned or idle


def _holds_devices(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(held(mapping(value.get("limits")))) or any(map(_holds_devices, value.values()))
    return isinstance(value, list) and any(map(_holds_devices, value))


def key_of(thing: Thing) -> str:
    """What an object is called among the originals."""
    return f"{thing.kind}/{thing.namespace}/{thing.name}"


def _imported(
    thing: Thing, read: Callable[[Thing], _Shape], wish: ImportWish, models: Models, originals: Mapping[str, bytes]
) -> Result:
    subject = f"{thing.kind} {thing.namespace or 'default'}/{thing.name}"
    try:
        shape = read(thing)
        pods = [(part, pod_fields(part.template, models)) for part in shape.parts if part.pods]
        gpus = _gpus(pods)
    except NotImported as why:
        return Refused(subject=subject, reason=str(why))
    duration, doubt = lasting(wish, shape.limit_seconds or whole(thing.labels.get(_MAX_TIME)))
    team = team_name(wish, thing.namespace)
    if duration is None or not team:
        missing = "how long it takes: say it with --duration" if duration is None else "whose it is: say it with --team"
        return Refused(subject=subject, reason=f"it does not say {missing}")
    part, pod = pods[0]
    fields = {
        "priority": _PRIORITIES.get(thing.labels.get(_PRIORITY, "")),
        **pod.fields,
        **gpus,
        "duration": duration,
        "array": part.array,
        "retries": shape.retries,
    }
    return Imported(
        subject=subject,
        name=job_name(thing.name),
        team=team,
        fields=stated(fields),
        template=originals.get(key_of(thing)) or _template(thing),
        suffix=".template.yaml",
        untold=(
            *doubt,
            *_unsaid(thing),
            *_differing(pods),
            *dict.fromkeys(each for _, one in pods for each in one.untold),
        ),
    )


def _gpus(pods: list[tuple[_Part, PodFields]]) -> dict[str, Any]:
    """Alike pods as one gang, unlike ones as roles. A pod is a node's part of the gang."""
    if not pods:
        raise NotImported("it has no pods")
    requests = [dict(pod.request) | {"devices": pod.devices} for _, pod in pods]
    if all(each == requests[0] for each in requests):
        total = sum(part.pods for part, _ in pods)
        return {"gpus": _request(pods[0][1], total)}
    if any(not pod.devices for _, pod in pods):
        raise NotImported("some of its pods hold devices and others none")
    roles = [{"name": part.name, "gpus": _request(pod, 1), "replicas": part.pods} for part, pod in pods]
    return {"roles": [role if role["replicas"] != 1 else role | {"replicas": 1} for role in roles]}


def _request(pod: PodFields, pods: int) -> Any:
    if not pod.devices:
        if pods > 1:
            raise NotImported("it has several pods without devices, which is no gang that a Job can ask for")
        return {"count": 0}
    return {"count": pod.devices * pods} | ({"nodes": pods} if pods > 1 else {}) | dict(pod.request)


def _differing(pods: list[tuple[_Part, PodFields]]) -> Iterable[str]:
    first = pods[0][1].fields
    for part, pod in pods[1:]:
        keys = sorted(key for key in {*first, *pod.fields} if first.get(key) != pod.fields.get(key))
        if keys:
            yield f"{part.name} differs from {pods[0][0].name} in {', '.join(keys)}: in the template only"


def _unsaid(thing: Thing) -> Iterable[str]:
    known = {_MAX_TIME} | ({_PRIORITY} if thing.labels.get(_PRIORITY) in _PRIORITIES else set())
    for key in sorted(thing.labels):
        if key.startswith("kueue.x-k8s.io/") and key not in known:
            yield f"label {key}={thing.labels[key]} is in the template only"


def _job(thing: Thing) -> _Shape:
    return _shape_of_job("main", thing.spec, 1)


def _shape_of_job(name: str, spec: Mapping[str, Any], replicas: int) -> _Shape:
    """A batch Job: as many completions as run at once are a gang, more are an array of single pods."""
    parallel = whole(spec.get("parallelism"))
    parallel = 1 if parallel is None else parallel
    completions = whole(spec.get("completions"))
    array = ""
    if completions is not None and completions > parallel and completions > 1:
        array, parallel = f"0-{completions - 1}%{max(parallel, 1)}", 1
    if array and replicas > 1:
        raise NotImported("several jobs of more completions than run at once")
    part = _Part(name=name, pods=parallel * replicas, template=mapping(spec.get("template")), array=array)
    return _Shape(
        parts=(part,), limit_seconds=whole(spec.get("activeDeadlineSeconds")), retries=whole(spec.get("backoffLimit"))
    )


def _job_set(thing: Thing) -> _Shape:
    shapes = [
        _shape_of_job(text_of(each.get("name")), mapping(at(each, "template", "spec")), _replicas(each.get("replicas")))
        for each in mappings(thing.spec.get("replicatedJobs"))
    ]
    if any(mappings(each.get("dependsOn")) for each in mappings(thing.spec.get("replicatedJobs"))):
        raise NotImported("its jobs wait for each other; import them one by one and write after")
    limits = [shape.limit_seconds for shape in shapes if shape.limit_seconds]
    return _Shape(
        parts=tuple(part for shape in shapes for part in shape.parts),
        limit_seconds=max(limits, default=None),
        retries=whole(at(thing.spec, "failurePolicy", "maxRestarts")),
    )


def _replicas(value: Any) -> int:
    count = whole(value)
    return 1 if count is None else count


def _pytorch(thing: Thing) -> _Shape:
    specs = mapping(thing.spec.get("pytorchReplicaSpecs"))
    if thing.spec.get("elasticPolicy"):
        raise NotImported("it is elastic: write replicas with the least and the most it can use")
    policy = mapping(thing.spec.get("runPolicy"))
    return _Shape(
        parts=tuple(
            _Part(name=name.lower(), pods=_replicas(spec.get("replicas")), template=mapping(spec.get("template")))
            for name, spec in sorted(specs.items())
            if isinstance(spec, dict)
        ),
        limit_seconds=whole(policy.get("activeDeadlineSeconds")),
        retries=whole(policy.get("backoffLimit")),
    )


def _no_load(thing: Thing) -> _Shape:
    raise NotImported("a Service needs its load and how long a request takes, which no object tells")


def _not_read(thing: Thing) -> _Shape:
    raise NotImported(f"objects of kind {thing.kind} are not imported")


_KINDS: Final[Mapping[tuple[str, str], Callable[[Thing], _Shape]]] = MappingProxyType({
    ("batch", "Job"): _job,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("kubeflow.org", "PyTorchJob"): _pytorch,
    ("apps", "Deployment"): _no_load,
    ("apps", "StatefulSet"): _no_load,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _no_load,
    ("batch", "CronJob"): _not_read,
    ("trainer.kubeflow.org", "TrainJob"): _not_read,
    ("kubeflow.org", "MPIJob"): _not_read,
    ("ray.io", "RayJob"): _not_read,
    ("batch.volcano.sh", "Job"): _not_read,
})  # fmt: skip


def _template(thing: Thing) -> bytes:
    """The object without what its cluster added and without values of environments. JSON is YAML, and keeps types."""
    tree = {key: value for key, value in cleaned(thing.tree).items() if key != "status"}
    return (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()


def cleaned(value: Any, inside: str = "") -> Any:
    """A tree without what clusters add to objects; of variables only names and references stay."""
    if isinstance(value, dict):
        dropped = _DROPPED if inside == "metadata" else _DROPPED_MARKS if inside in {"labels", "annotations"} else ()
        kept = {key: cleaned(each, key) for key, each in value.items() if key not in dropped}
        return {key: each for key, each in kept.items() if not (inside == "env" and key == "value")}
    if isinstance(value, list):
        return [cleaned(each, inside) for each in value]
    return value
