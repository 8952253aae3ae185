"""The kinds of Kubernetes objects that are imported: where each keeps its pods, and how many run together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from planner.discovery.imports.imported import NotImported
from planner.discovery.kubernetes.objects import Thing, at, mapping, mappings, seconds, text_of, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Alike pods of a workload: how many at once, and how many of such groups one after the other (an array)."""

    name: str
    pods: int
    template: Mapping[str, Any]
    array: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A workload without its kind. `replicas` is what a service has of such groups of pods; None for a job.

    `runs_itself`: what the containers run is the kind's own, and the object says apart what is to be done.
    """

    parts: tuple[Part, ...]
    limit_seconds: int | None = None
    retries: int | None = None
    replicas: int | None = None
    took_seconds: int | None = None
    runs_itself: bool = False
    untold: tuple[str, ...] = ()


Reader = Callable[[Thing], Shape]


def _job(thing: Thing) -> Shape:
    began, ended = (seconds(thing.status.get(key)) for key in ("startTime", "completionTime"))
    took = ended - began if began is not None and ended is not None and ended > began else None
    return _shape_of_job("main", thing.spec, 1, took)


def _shape_of_job(name: str, spec: Mapping[str, Any], replicas: int, took: int | None = None) -> Shape:
    """A batch Job: as many completions as run at once are a gang, more are an array of single pods."""
    parallel = whole(spec.get("parallelism"))
    parallel = 1 if parallel is None else parallel
    completions = whole(spec.get("completions"))
    array = ""
    if completions is not None and completions > parallel and completions > 1:
        array, parallel, took = f"0-{completions - 1}%{max(parallel, 1)}", 1, None
    if array and replicas > 1:
        raise NotImported("several jobs of more completions than run at once")
    return Shape(
        parts=(Part(name=name, pods=parallel * replicas, template=mapping(spec.get("template")), array=array),),
        limit_seconds=whole(spec.get("activeDeadlineSeconds")),
        retries=whole(spec.get("backoffLimit")),
        took_seconds=took,
    )


def _job_set(thing: Thing) -> Shape:
    shapes = [
        _shape_of_job(text_of(each.get("name")), mapping(at(each, "template", "spec")), _count(each.get("replicas")))
        for each in mappings(thing.spec.get("replicatedJobs"))
    ]
    if any(mappings(each.get("dependsOn")) for each in mappings(thing.spec.get("replicatedJobs"))):
        raise NotImported("its jobs wait for each other; import them one by one and write after")
    limits = [shape.limit_seconds for shape in shapes if shape.limit_seconds]
    return Shape(
        parts=tuple(part for shape in shapes for part in shape.parts),
        limit_seconds=max(limits, default=None),
        retries=whole(at(thing.spec, "failurePolicy", "maxRestarts")),
    )


def _count(value: Any) -> int:
    count = whole(value)
    return 1 if count is None else count


def _pytorch(thing: Thing) -> Shape:
    if thing.spec.get("elasticPolicy"):
        raise NotImported("it is elastic: write replicas with the least and the most it can use")
    return _of_roles(thing, "pytorchReplicaSpecs")


def _mpi(thing: Thing) -> Shape:
    return _of_roles(thing, "mpiReplicaSpecs")


def _of_roles(thing: Thing, key: str) -> Shape:
    """The replicas of the training operator's kinds, by their roles."""
    policy = mapping(thing.spec.get("runPolicy"))
    return Shape(
        parts=tuple(
            Part(name=name.lower(), pods=_count(spec.get("replicas")), template=mapping(spec.get("template")))
            for name, spec in sorted(mapping(thing.spec.get(key)).items())
            if isinstance(spec, dict)
        ),
        limit_seconds=whole(policy.get("activeDeadlineSeconds")),
        retries=whole(policy.get("backoffLimit")),
    )


def _train_job(thing: Thing) -> Shape:
    """A TrainJob has no pods of its own: what runs stands in its trainer, all else in the runtime that it names."""
    trainer = mapping(thing.spec.get("trainer"))
    resources = mapping(trainer.get("resourcesPerNode"))
    if not resources:
        raise NotImported("its resources stand in its runtime; write resourcesPerNode")
    container = {key: trainer[key] for key in ("image", "command", "args", "env") if key in trainer}
    template = {"spec": {"containers": [{"name": "node", "resources": resources, **container}]}}
    runtime = text_of(at(thing.spec, "runtimeRef", "name"))
    return Shape(
        parts=(Part(name="node", pods=_count(trainer.get("numNodes")), template=template),),
        limit_seconds=whole(thing.spec.get("activeDeadlineSeconds")),
        untold=(f"what its runtime {runtime} says is in the template only",) if runtime else (),
    )


def _ray_job(thing: Thing) -> Shape:
    cluster = mapping(thing.spec.get("rayClusterSpec"))
    if not cluster:
        raise NotImported("it runs in a Ray cluster that is there already")
    if cluster.get("enableInTreeAutoscaling") is True:
        raise NotImported("its cluster grows and shrinks by itself: write replicas with the least and the most")
    groups = mappings(cluster.get("workerGroupSpecs"))
    head = Part(name="head", pods=1, template=mapping(at(cluster, "headGroupSpec", "template")))
    workers = (
        Part(
            name=text_of(each.get("groupName")) or "workers",
            pods=_count(each.get("replicas")),
            template=mapping(each.get("template")),
        )
        for each in groups
    )
    return Shape(
        parts=(head, *workers),
        limit_seconds=whole(thing.spec.get("activeDeadlineSeconds")),
        retries=whole(thing.spec.get("backoffLimit")),
        runs_itself=True,
    )


def _deployment(thing: Thing) -> Shape:
    part = Part(name="main", pods=1, template=mapping(thing.spec.get("template")))
    return Shape(parts=(part,), replicas=_count(thing.spec.get("replicas")))


def _leader_worker_set(thing: Thing) -> Shape:
    group = mapping(thing.spec.get("leaderWorkerTemplate"))
    size, worker, leader = _count(group.get("size")), mapping(group.get("workerTemplate")), group.get("leaderTemplate")
    parts = [Part(name="worker", pods=size - 1 if leader else size, template=worker)]
    if isinstance(leader, dict):
        parts.insert(0, Part(name="leader", pods=1, template=leader))
    return Shape(parts=tuple(parts), replicas=_count(thing.spec.get("replicas")))


def _inference_service(thing: Thing) -> Shape:
    """A predictor is a pod with more in it; a model that a serving runtime runs stands where a container would."""
    predictor = mapping(thing.spec.get("predictor"))
    if predictor.get("workerSpec"):
        raise NotImported("its predictor has several nodes, of which the object does not tell all")
    model = mapping(predictor.get("model"))
    containers = mappings(predictor.get("containers")) or ([{"name": "model", **model}] if model else [])
    template = {"spec": {**predictor, "containers": containers}}
    further = [key for key in ("transformer", "explainer") if thing.spec.get(key)]
    return Shape(
        parts=(Part(name="predictor", pods=1, template=template),),
        replicas=max(1, _count(predictor.get("minReplicas"))),
        untold=tuple(_of_predictor(predictor, further)),
    )


def _of_predictor(predictor: Mapping[str, Any], further: list[str]) -> Iterator[str]:
    least, most = _count(predictor.get("minReplicas")), whole(predictor.get("maxReplicas"))
    if most is not None and most > least:
        yield f"it grows by itself to {most} replicas; {max(1, least)} are written"
    for key in further:
        yield f"its {key} is in the template only"


def _refused(why: str) -> Reader:
    def refuse(thing: Thing) -> Shape:
        raise NotImported(why)

    return refuse


KINDS: Final[Mapping[tuple[str, str], Reader]] = MappingProxyType({
    ("batch", "Job"): _job,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("trainer.kubeflow.org", "TrainJob"): _train_job,
    ("kubeflow.org", "PyTorchJob"): _pytorch,
    ("kubeflow.org", "MPIJob"): _mpi,
    ("ray.io", "RayJob"): _ray_job,
    ("apps", "Deployment"): _deployment,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leader_worker_set,
    ("serving.kserve.io", "InferenceService"): _inference_service,
    ("apps", "StatefulSet"): _refused("its pods have volumes of their own, which replicas of a Service have not"),
    ("ray.io", "RayService"): _refused("no plan is laid over objects of kind RayService"),
    ("batch", "CronJob"): _refused("it comes again and again; import the Job that it makes"),
    ("batch.volcano.sh", "Job"): _refused("no plan is laid over Jobs of Volcano; a batch Job is queued there as well"),
})  # fmt: skip
"""The reader of each kind by group and kind; those that are refused only tell why."""
JOBS: Final = frozenset({_job, _job_set, _train_job, _pytorch, _mpi, _ray_job})
"""The readers of what runs to its end, which may also do without devices."""
