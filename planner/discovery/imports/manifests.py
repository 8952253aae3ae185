"""Workloads of Kubernetes as specs of Jobs and Services."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from planner.discovery import past
from planner.discovery.imports.imported import (
    Imported,
    ImportWish,
    NotImported,
    Refused,
    Result,
    job_name,
    kept_up,
    lasting,
    stated,
    team_name,
    used,
)
from planner.discovery.imports.kinds import JOBS, KINDS, Part, Reader, Shape
from planner.discovery.imports.pods import PodFields, pod_fields
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
_WITH_VALUES: Final = frozenset({"runtimeEnvYAML"})
"""Texts in which a kind keeps variables with their values."""
_MAX_TIME: Final = "kueue.x-k8s.io/max-exec-time-seconds"
_PRIORITY: Final = "kueue.x-k8s.io/priority-class"
_PRIORITIES: Final = MappingProxyType({f"planner-p{level}": f"P{level}" for level in range(4)})

Pods = list[tuple[Part, PodFields]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What words for cards mean, and the texts of objects that may be kept as they are, since they hold no values of
    variables: by `kind/namespace/name`.
    """

    models: Models
    originals: Mapping[str, bytes]


def manifests(found: Sequence[Thing], wish: ImportWish, known: Known) -> list[Result]:
    """Import workloads; what belongs to another object, or is the planner's own, is passed over in silence."""
    names: dict[str, list[str]] = {}
    for thing in found:
        names.setdefault(thing.namespace, []).append(thing.name)
    return [
        _imported(thing, read, replace(wish, past=_runs_of(thing, wish, names[thing.namespace])), known)
        for thing in found
        if (read := KINDS.get((thing.group, thing.kind))) is not None and not _is_passed_over(thing, read, wish)
    ]


def _runs_of(thing: Thing, wish: ImportWish, names: Sequence[str]) -> tuple[past.Run, ...]:
    return past.of_pods(wish.past, thing.namespace, thing.name, names)


def _is_passed_over(thing: Thing, read: Reader, wish: ImportWish) -> bool:
    """The planner's own, parts of other objects, and work without devices where that is not asked for."""
    owned = ADDRESS in thing.annotations or bool(mappings(at(thing.tree, "metadata", "ownerReferences")))
    idle = (wish.devices_only or read not in JOBS) and not _holds_devices(thing.tree)
    return owned or idle


def _holds_devices(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(held(mapping(value.get("limits")))) or any(map(_holds_devices, value.values()))
    return isinstance(value, list) and any(map(_holds_devices, value))


def key_of(thing: Thing) -> str:
    """What an object is called among the originals."""
    return f"{thing.kind}/{thing.namespace}/{thing.name}"


def _imported(thing: Thing, read: Reader, wish: ImportWish, known: Known) -> Result:
    subject = f"{thing.kind} {thing.namespace or 'default'}/{thing.name}"
    try:
        shape = read(thing)
        pods, told = _gang(shape, known.models)
        team = team_name(wish, thing.namespace)
        if not team:
            raise NotImported("it does not say whose it is: say it with --team")
        fields, doubt = _as_job(thing, shape, pods, wish) if shape.replicas is None else _as_service(shape, pods, wish)
    except NotImported as why:
        return Refused(subject=subject, reason=str(why))
    return Imported(
        subject=subject,
        kind="Job" if shape.replicas is None else "Service",
        name=job_name(thing.name),
        team=team,
        fields=stated({"priority": _PRIORITIES.get(thing.labels.get(_PRIORITY, ""))} | fields),
        template=known.originals.get(key_of(thing)) or _template(thing),
        suffix=".template.yaml",
        untold=(*doubt, *told, *shape.untold, *_unsaid(thing), *_differing(pods), *_of_pods(pods)),
    )


def _gang(shape: Shape, models: Models) -> tuple[Pods, list[str]]:
    """The pods that make the gang: those that hold devices, where any does."""
    pods = [(part, pod_fields(part.template, models)) for part in shape.parts if part.pods]
    if not pods:
        raise NotImported("it has no pods")
    holding = [(part, pod) for part, pod in pods if pod.devices]
    without = [part.name for part, pod in pods if not pod.devices] if holding else []
    return holding or pods, [f"{name} holds no devices and is in the template only" for name in without]


def _as_job(thing: Thing, shape: Shape, pods: Pods, wish: ImportWish) -> tuple[dict[str, Any], tuple[str, ...]]:
    own = past.Run(tenant=thing.namespace, name=thing.name, part="", seconds=shape.took_seconds)
    limit = shape.limit_seconds or whole(thing.labels.get(_MAX_TIME))
    duration, doubt = lasting(wish, limit, wish.past if past.lengths(wish.past) else (own,))
    if duration is None:
        raise NotImported("it does not say how long it takes: say it with --duration")
    part, pod = pods[0]
    common = {key: value for key, value in pod.fields.items() if not (shape.runs_itself and key == "command")}
    fields = {**common, **_gpus(pods), "duration": duration, "array": part.array, "retries": shape.retries}
    return fields, (*doubt, *used(wish))


def _as_service(shape: Shape, pods: Pods, wish: ImportWish) -> tuple[dict[str, Any], tuple[str, ...]]:
    """As many replicas as there are, by a load of one for each: what it really is no object tells."""
    pod, (kept, load) = pods[0][1], kept_up(shape.replicas or 0)
    gpus = _gpus(pods)
    if "roles" in gpus:
        raise NotImported("the pods of a replica hold unlike devices")
    return {**pod.fields, **gpus, **kept, **_answering(pods[0][0].template)}, (load, *used(wish))


def _answering(template: Mapping[str, Any]) -> dict[str, Any]:
    """The port on which the server answers, and where it says that it is ready."""
    containers = mappings(at(template, "spec", "containers"))
    ports = [whole(port.get("containerPort")) for each in containers for port in mappings(each.get("ports"))]
    probes = [at(each, "readinessProbe", "httpGet", "path") for each in containers]
    path = next((text for text in map(text_of, probes) if text), "")
    return {"port": next(filter(None, ports), None), "health": {"path": path} if path else None}


def _gpus(pods: Pods) -> dict[str, Any]:
    """Alike pods as one gang, unlike ones as roles on devices of one model. A pod is a node's part of the gang."""
    requests = [dict(pod.request) | {"devices": pod.devices} for _, pod in pods]
    if all(each == requests[0] for each in requests):
        return {"gpus": _request(pods[0][1], sum(part.pods for part, _ in pods))}
    kinds = [{key: value for key, value in each.items() if key in {"model", "vendor"}} for each in requests]
    if any(kind != kinds[0] for kind in kinds):
        raise NotImported("its parts hold devices of different models")
    roles = [
        {"name": part.name, "gpus": {"count": pod.devices} | _partition(pod), "replicas": part.pods}
        for part, pod in pods
    ]
    return {"roles": roles, "variants": [{"name": next(iter(kinds[0].values())), **kinds[0]}]}


def _partition(pod: PodFields) -> dict[str, Any]:
    return {key: value for key, value in pod.request.items() if key == "partition"}


def _request(pod: PodFields, pods: int) -> Any:
    if not pod.devices:
        if pods > 1:
            raise NotImported("it has several pods without devices, which is no gang that a Job can ask for")
        return {"count": 0}
    return {"count": pod.devices * pods} | ({"nodes": pods} if pods > 1 else {}) | dict(pod.request)


def _differing(pods: Pods) -> Iterator[str]:
    first = pods[0][1].fields
    for part, pod in pods[1:]:
        keys = sorted(key for key in {*first, *pod.fields} if first.get(key) != pod.fields.get(key))
        if keys:
            yield f"{part.name} differs from {pods[0][0].name} in {', '.join(keys)}: in the template only"


def _of_pods(pods: Pods) -> Iterable[str]:
    return dict.fromkeys(each for _, one in pods for each in one.untold)


def _unsaid(thing: Thing) -> Iterator[str]:
    said = {_MAX_TIME} | ({_PRIORITY} if thing.labels.get(_PRIORITY) in _PRIORITIES else set())
    for key in sorted(thing.labels):
        if key.startswith("kueue.x-k8s.io/") and key not in said:
            yield f"label {key}={thing.labels[key]} is in the template only"
    for key in sorted(_WITH_VALUES & thing.spec.keys()):
        yield f"{key} may hold values of variables and is not written"


def _template(thing: Thing) -> bytes:
    """The object without what its cluster added and without values of environments. JSON is YAML, and keeps types."""
    tree = {key: value for key, value in cleaned(thing.tree).items() if key != "status"}
    return (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode()


def cleaned(value: Any, inside: str = "") -> Any:
    """A tree without what clusters add to objects; of variables only names and references stay."""
    if isinstance(value, dict):
        marks = _DROPPED_MARKS if inside in {"labels", "annotations"} else _WITH_VALUES
        dropped = _DROPPED if inside == "metadata" else marks
        kept = {key: cleaned(each, key) for key, each in value.items() if key not in dropped}
        return {key: each for key, each in kept.items() if not (inside == "env" and key == "value")}
    if isinstance(value, list):
        return [cleaned(each, inside) for each in value]
    return value
