"""All files of one cluster: queues and quotas, each namespace with its jobs, and two lists of what there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from planner.spec.backend import Queueing, Workload
from planner.specset.manifests import manifest_template
from renderers import environment
from renderers.kubernetes import access, claims, due, kai, kueue, layouts, limits, services, volcano
from renderers.kubernetes.emit import document
from renderers.kubernetes.gangs import KINDS_WITH_TEMPLATES
from renderers.kubernetes.kinds import KINDS, runtime_name, runtime_of
from renderers.kubernetes.phases import files_of, phases_of
from renderers.kubernetes.scene import CLUSTER_FOLDER, namespace_of, scene_of
from renderers.kubernetes.serving import replica_sets
from renderers.kubernetes.serving_overlay import SERVED
from renderers.kubernetes.topology import node_labels
from renderers.kubernetes.workload import Setting, job_of
from renderers.manifest import Manifest, Rendered
from renderers.payload import jobs_of
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.catalog import Catalog
    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from planner.specset import SpecSet
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.phases import Phase
    from renderers.kubernetes.scene import Scene
    from renderers.kubernetes.serving import ReplicaSet
    from renderers.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWriter:
    """How one kind of queueing is written: what no quota changes, and what holds quotas at a moment."""

    fixed: Callable[[Scene], Iterable[Manifest]]
    quotas: Callable[[Scene, int], Iterable[Manifest]]


_WRITERS: Final[Mapping[Queueing, QueueWriter]] = MappingProxyType(
    {
        Queueing.KUEUE: QueueWriter(fixed=kueue.fixed_objects, quotas=kueue.quota_objects),
        Queueing.KAI: QueueWriter(fixed=kai.fixed_objects, quotas=kai.quota_objects),
        Queueing.VOLCANO: QueueWriter(fixed=volcano.fixed_objects, quotas=volcano.quota_objects),
    }
)


def render(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The files of a Kubernetes cluster, and what it cannot be held to."""
    cluster = layouts.as_laid_out(cluster, plan)
    scene = scene_of(plan, specset, cluster)
    manifests = [*_namespaces(specset.teams, cluster), *access.objects(specset, cluster)]
    manifests += claims.classes(cluster, specset.catalog)
    manifests += due.objects(plan, specset.teams, cluster)
    manifests += layouts.objects(cluster, specset.catalog)
    notes = list(limits.of_cluster(cluster, scene.flavors))
    cut = layouts.unmet(cluster, specset.catalog)
    notes += (limits.degraded(f"pool/{cluster.name}/{pool}", text) for pool, text in cut)
    serving = _serving(replica_sets(plan, specset, cluster), scene, notes)
    writer = _WRITERS.get(cluster.backend.queueing)

    def changing(moment: int) -> Iterator[Manifest]:
        if writer is not None:
            yield from writer.quotas(scene, moment)
        for made, team, flavor in serving:
            yield services.replicas_object(made, team, flavor, made.at(moment))

    manifests += (
        services.scaled(made, team, flavor, scene.begin) for made, team, flavor in serving if services.by_clock(made)
    )
    starts = {start for made, _, _ in serving for start, _ in made.steps}
    phases = phases_of(scene, {*(scene.moments() if writer else ()), *starts}, changing)
    manifests += (*(writer.fixed(scene) if writer else ()), *changing(scene.begin))
    manifests += services.fixed_objects([made for made, _, _ in serving], {team.name: team for team in specset.teams})
    for team in specset.teams:
        parts, queueing = scene.parts(team.name, scene.begin), cluster.backend.queueing
        in_trees = queueing is Queueing.KUEUE and kueue.holds_trees(cluster)
        notes += limits.of_team(team, parts, queueing, in_trees=in_trees)
    if phases:
        notes.append(limits.of_phases(cluster))
    teams = {team.name: team for team in specset.teams}
    payloads = jobs_of(plan, specset, cluster)
    manifests += _runtimes(payloads, cluster)
    for payload in payloads:
        setting = _setting(payload, teams[payload.job.team], scene.flavors, specset)
        made, said = _job(payload, setting)
        manifests += made
        notes += said
    lists = _lists(cluster, specset.catalog, manifests, phases)
    return Rendered(manifests=(*manifests, *files_of(phases), *lists), degraded=tuple(notes))


def _serving(sets: Sequence[ReplicaSet], scene: Scene, notes: list[Degraded]) -> list[tuple[ReplicaSet, Team, Flavor]]:
    """The replicas that can be written, each with its team and flavor; `notes` grow by what is to say of them."""
    teams, found = {team.name: team for team in scene.teams}, []
    for made in sets:
        team, flavor = teams[made.service.team], flavor_of(made.one, scene.flavors)
        try:
            services.replicas_object(made, team, flavor, 0)
        except Unsupported as reason:
            notes.append(limits.degraded(made.one.address, f"not written: {reason}."))
            continue
        found.append((made, team, flavor))
        told = (*limits.of_job(made.one), *services.notes_of(made, scene.begin))
        notes += (limits.degraded(made.one.address, text) for text in told)
    return found


def flavor_of(payload: Payload, flavors: Sequence[Flavor]) -> Flavor:
    """The flavor of the nodes that a payload runs on."""
    vendor = payload.facts.vendor if payload.facts else None
    candidates = [flavor for flavor in flavors if payload.pool.name in flavor.pools]
    return next((item for item in candidates if item.vendor == vendor), candidates[0])


def _namespaces(teams: Sequence[Team], cluster: Cluster) -> Iterator[Manifest]:
    owners: dict[str, list[str]] = {}
    if cluster.backend.due is not None:
        owners[cluster.backend.due.namespace] = [f"cluster/{cluster.name}"]
    for team in teams:
        owners.setdefault(namespace_of(team), []).append(f"team/{team.name}")
    for namespace, addresses in sorted(owners.items()):
        yield Manifest(
            path=f"{cluster.name}/{namespace}/namespace.yaml",
            text=environment.render("kubernetes/namespace.yaml.j2", namespace=namespace),
            addresses=tuple(sorted(addresses)),
        )


def _runtimes(payloads: Sequence[Payload], cluster: Cluster) -> Iterator[Manifest]:
    """The training runtimes that TrainJobs refer to: one for each vendor that has any."""
    if cluster.backend.workload is not Workload.TRAINJOB:
        return
    used = {runtime_name(payload): payload for payload in payloads}
    for name, payload in sorted(used.items()):
        yield Manifest(
            path=f"{cluster.name}/{CLUSTER_FOLDER}/runtime-{name}.yaml",
            text=document(runtime_of(payload)),
            addresses=(f"cluster/{cluster.name}",),
        )


def _job(payload: Payload, setting: Setting) -> tuple[list[Manifest], list[Degraded]]:
    folder, address = f"{payload.cluster.name}/{setting.namespace}", (payload.address,)
    notes = limits.of_job(payload)
    try:
        written = job_of(payload, setting, notes)
    except Unsupported as reason:
        return [], [limits.degraded(payload.address, f"not written: {reason}.")]
    made = [Manifest(path=f"{folder}/{name}", text=text, addresses=address) for name, text in written.files]
    return made, [limits.degraded(payload.address, text) for text in notes]


def _setting(payload: Payload, team: Team, flavors: Sequence[Flavor], specset: SpecSet) -> Setting:
    setting = Setting(
        namespace=namespace_of(team),
        team_is_namespace=namespace_of(team) == team.name,
        flavor=flavor_of(payload, flavors),
        workload=payload.cluster.backend.workload,
    )
    name = payload.job.template
    if name is None or not limits.is_manifest(name):
        return setting
    template = manifest_template(specset, payload.address, name, KINDS_WITH_TEMPLATES)
    workload = next(word for word, kind in KINDS.items() if kind.kind == template.tree["kind"])
    return replace(setting, workload=workload, template=template, spec_place=specset.place(payload.address))


def _lists(
    cluster: Cluster, catalog: Catalog, manifests: Sequence[Manifest], phases: Sequence[Phase]
) -> tuple[Manifest, Manifest]:
    """What Kustomize applies, in the order in which objects need each other, and what belongs to which address."""
    within = len(cluster.name) + 1
    paths = [manifest.path[within:] for manifest in sorted(manifests, key=_order)]
    index: dict[str, list[str]] = {}
    for manifest in sorted(manifests):
        for address in manifest.addresses:
            index.setdefault(address, []).append(manifest.path[within:])
    found = node_labels(cluster)
    for node, each in layouts.labels(cluster, catalog).items():
        found.setdefault(node, {}).update(each)
    times = [{"start": phase.start, "folder": phase.folder[within:]} for phase in phases]
    text = (
        json.dumps(
            {"addresses": index, "phases": times, "nodeLabels": found},
            indent=2,
            sort_keys=True,
            ensure_ascii=False,
        )
        + "\n"
    )
    kustomization = environment.render("kubernetes/kustomization.yaml.j2", paths=paths)
    return (
        Manifest(path=f"{cluster.name}/kustomization.yaml", text=kustomization),
        Manifest(path=f"{cluster.name}/index.json", text=text),
    )


_ORDER: Final = (
    *("namespace", "serviceaccount", "clusterrole", "clusterrolebinding", "role", "rolebinding"),
    *("configmap", "priority", "topology", "hypernode", "deviceclass"),
    *("flavor", "cohort", "queue", "resourceclaimtemplate"),
    *("runtime", "service", "poddisruptionbudget", "podgroup"),
    *(kind.lower() for kind in SERVED),
    "scaledobject",
    *(kind.prefix for kind in KINDS.values()),
    "cronjob",
)


def _order(manifest: Manifest) -> tuple[int, bool, str]:
    _, folder, file = manifest.path.split("/")
    kind = file.partition("-")[0].removesuffix(".yaml")
    return _ORDER.index(kind), folder != CLUSTER_FOLDER, manifest.path
