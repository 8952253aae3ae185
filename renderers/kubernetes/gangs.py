"""Where objects of users keep their pods: which pods hold devices, how many there are, and what starts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from planner.catalog import vendors

Tree = dict[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Pods of one template: where it stands, how many pods it makes, and which container does the work."""

    path: Path
    count: int
    container: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """The parts that hold devices; `counts` are the fields that say how many pods there are, where one part says it."""

    parts: tuple[Part, ...]
    suspend: Path
    limit: Path | None
    counts: tuple[Path, ...] = ()
    completion_mode: Path | None = None


def gang_of(tree: Tree) -> Gang:
    """The gang in an object; parts are empty where several templates could be meant and none asks for devices."""
    return _READERS[tree["kind"]](tree)


def _job(tree: Tree) -> Gang:
    return Gang(
        parts=parts_of(tree, [(("spec", "template"), _count(tree["spec"]))]),
        suspend=("spec", "suspend"),
        limit=("spec", "activeDeadlineSeconds"),
        counts=(("spec", "completions"), ("spec", "parallelism")),
        completion_mode=("spec", "completionMode"),
    )


def _count(spec: Tree) -> int:
    return int(spec.get("completions") or spec.get("parallelism") or 1)


def _jobset(tree: Tree) -> Gang:
    jobs = tree["spec"].get("replicatedJobs", [])
    templates: list[tuple[Path, int]] = [
        (
            ("spec", "replicatedJobs", index, "template", "spec", "template"),
            int(job.get("replicas", 1)) * _count(job["template"]["spec"]),
        )
        for index, job in enumerate(jobs)
    ]
    parts = parts_of(tree, templates)
    at: Path = parts[0].path[:-1] if len(parts) == 1 else ()
    return Gang(
        parts=parts,
        suspend=("spec", "suspend"),
        limit=(*at, "activeDeadlineSeconds") if at else None,
        counts=((*at, "completions"), (*at, "parallelism")) if at else (),
        completion_mode=(*at, "completionMode") if at else None,
    )


def _pytorchjob(tree: Tree) -> Gang:
    return _of_roles(tree, "pytorchReplicaSpecs")


def _mpijob(tree: Tree) -> Gang:
    return _of_roles(tree, "mpiReplicaSpecs")


def _of_roles(tree: Tree, field: str) -> Gang:
    """The gang of an object whose `field` has a template for each role, as all kinds of the training operator have."""
    templates: list[tuple[Path, int]] = [
        (("spec", field, role, "template"), int(each.get("replicas", 1)))
        for role, each in tree["spec"].get(field, {}).items()
    ]
    return Gang(
        parts=parts_of(tree, templates),
        suspend=("spec", "runPolicy", "suspend"),
        limit=("spec", "runPolicy", "activeDeadlineSeconds"),
    )


def _rayjob(tree: Tree) -> Gang:
    cluster = tree["spec"].get("rayClusterSpec", {})
    templates: list[tuple[Path, int]] = [(("spec", "rayClusterSpec", "headGroupSpec", "template"), 1)]
    templates += [
        (("spec", "rayClusterSpec", "workerGroupSpecs", index, "template"), int(group.get("replicas", 1)))
        for index, group in enumerate(cluster.get("workerGroupSpecs", []))
    ]
    return Gang(parts=parts_of(tree, templates), suspend=("spec", "suspend"), limit=("spec", "activeDeadlineSeconds"))


def _trainjob(tree: Tree) -> Gang:
    return Gang(parts=(), suspend=("spec", "suspend"), limit=("spec", "activeDeadlineSeconds"))


_READERS: Final[Mapping[str, Callable[[Tree], Gang]]] = MappingProxyType(
    {
        "Job": _job,
        "JobSet": _jobset,
        "MPIJob": _mpijob,
        "PyTorchJob": _pytorchjob,
        "RayJob": _rayjob,
        "TrainJob": _trainjob,
    }
)
KINDS_WITH_TEMPLATES: Final = frozenset(_READERS)


def parts_of(tree: Tree, templates: list[tuple[Path, int]]) -> tuple[Part, ...]:
    """The parts that ask for devices; where none does, the only part that there is."""
    with_devices = tuple(_with_devices(tree, templates))
    if with_devices or len(templates) != 1:
        return with_devices
    return tuple(Part(path=path, count=count, container=0) for path, count in templates)


def _with_devices(tree: Tree, templates: list[tuple[Path, int]]) -> Iterator[Part]:
    for path, count in templates:
        node: Any = tree
        for step in path:
            node = node[step]
        for index, container in enumerate(node["spec"]["containers"]):
            if _asks_for_devices(container):
                yield Part(path=path, count=count, container=index)
                break


def _asks_for_devices(container: Tree) -> bool:
    resources = container.get("resources", {})
    asked = {*resources.get("requests", {}), *resources.get("limits", {})}
    return any(name.partition("/")[0] in domains() for name in asked) or bool(resources.get("claims"))


def domains() -> frozenset[str]:
    """What stands before the `/` in the names that vendors give their devices."""
    return frozenset(facts.resource.partition("/")[0] for facts in vendors().values() if facts.resource)
