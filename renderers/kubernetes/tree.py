"""All files of one cluster: queues and quotas, each namespace with its jobs, and two lists of what there is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from planner.spec.backend import Queueing
from planner.spec.envelope import Priority
from renderers import environment
from renderers.kubernetes import limits, versions
from renderers.kubernetes.flavors import CPU, MEMORY, flavors_of
from renderers.kubernetes.naming import dns_label
from renderers.kubernetes.quota import Amount, amounts, holding, parts_of, spare
from renderers.kubernetes.workload import Setting, job_of, priority_class
from renderers.manifest import Manifest, Rendered
from renderers.payload import jobs_of
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from planner.specset import SpecSet
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.quota import Holding, Part
    from renderers.payload import Payload

PRIORITIES: Final = (
    (Priority.P0, 4_000, "core business"),
    (Priority.P1, 3_000, "important"),
    (Priority.P2, 2_000, "normal"),
    (Priority.P3, 1_000, "experiment"),
)
CLUSTER_FOLDER: Final = "_cluster"
"""Objects without a namespace; no namespace can have this name."""


def render(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The files of a Kubernetes cluster, and what it cannot be held to."""
    flavors = flavors_of(cluster, specset.catalog)
    parts = {team.name: parts_of(team.name, plan, specset) for team in specset.teams}
    queueing = cluster.backend.queueing is Queueing.KUEUE
    manifests = list(_namespaces(specset.teams, cluster))
    if queueing:
        manifests += _queues(cluster, flavors, specset.teams, parts)
    notes = list(limits.of_cluster(cluster, flavors))
    for team in specset.teams:
        notes += limits.of_team(team, parts[team.name]) if queueing else ()
    teams = {team.name: team for team in specset.teams}
    for payload in jobs_of(plan, specset, cluster):
        made, said = _job(payload, teams[payload.job.team], flavors, queueing=queueing)
        manifests += made
        notes += said
    return Rendered(manifests=(*manifests, *_lists(cluster, manifests)), degraded=tuple(notes))


def namespace_of(team: Team) -> str:
    """The namespace of a team."""
    return team.namespace or team.name


def queue_of(team: str, flavor: Flavor) -> str:
    """The name of a team's queue for the flavors of one vendor."""
    return dns_label(f"{team}-{flavor.queue}")


def _namespaces(teams: Sequence[Team], cluster: Cluster) -> Iterator[Manifest]:
    owners: dict[str, list[str]] = {}
    for team in teams:
        owners.setdefault(namespace_of(team), []).append(f"team/{team.name}")
    for namespace, addresses in sorted(owners.items()):
        yield Manifest(
            path=f"{cluster.name}/{namespace}/namespace.yaml",
            text=environment.render("kubernetes/namespace.yaml.j2", namespace=namespace),
            addresses=tuple(sorted(addresses)),
        )


def _queues(
    cluster: Cluster, flavors: Sequence[Flavor], teams: Sequence[Team], parts: Mapping[str, Sequence[Part]]
) -> Iterator[Manifest]:
    version = versions.parse(cluster.backend.kueue_version)
    api = versions.since(versions.KUEUE_APIS, version)
    yield from _priorities(cluster, api)
    yield from _flavors(cluster, flavors, api)
    for queue in sorted({flavor.queue for flavor in flavors}):
        group = [flavor for flavor in flavors if flavor.queue == queue]
        held = {team.name: [holding(parts[team.name], flavor, cluster.name) for flavor in group] for team in teams}
        if version >= versions.COHORT_OBJECTS:
            yield _cohort(cluster, queue, group, [one for each in held.values() for one in each], api)
        for team in teams:
            yield from _team_queues(cluster, team, group, held[team.name], version)


def _priorities(cluster: Cluster, api: str) -> Iterator[Manifest]:
    for priority, value, description in PRIORITIES:
        name = priority_class(priority)
        yield Manifest(
            path=f"{cluster.name}/{CLUSTER_FOLDER}/priority-{name}.yaml",
            text=environment.render(
                "kubernetes/priority_class.yaml.j2", api=api, name=name, value=value, description=description
            ),
            addresses=(f"cluster/{cluster.name}",),
        )


def _flavors(cluster: Cluster, flavors: Sequence[Flavor], api: str) -> Iterator[Manifest]:
    for flavor in flavors:
        pools = tuple(f"pool/{cluster.name}/{pool}" for pool in flavor.pools)
        yield Manifest(
            path=f"{cluster.name}/{CLUSTER_FOLDER}/flavor-{flavor.name}.yaml",
            text=environment.render(
                "kubernetes/resource_flavor.yaml.j2", api=api, flavor=flavor, pools=",".join(flavor.pools)
            ),
            addresses=pools,
        )


def _covered(group: Sequence[Flavor]) -> tuple[str, ...]:
    """The resources that are admitted together: CPU and memory first, as every flavor of the group must list them."""
    devices = {name for flavor in group for name, _ in flavor.capacity} - {CPU, MEMORY}
    return (CPU, MEMORY, *sorted(devices))


def _cohort(cluster: Cluster, queue: str, group: Sequence[Flavor], held: Sequence[Holding], api: str) -> Manifest:
    """What no team is guaranteed stands in the cohort itself, so that it is borrowed before anything of a team."""
    resources = _covered(group)
    rows = [
        (
            flavor.name,
            [
                Amount(resource=name, nominal=spare(flavor, [one for one in held if one.flavor == flavor.name], name))
                for name in resources
            ],
        )
        for flavor in group
    ]
    name = cohort_name(cluster, queue)
    return Manifest(
        path=f"{cluster.name}/{CLUSTER_FOLDER}/cohort-{name}.yaml",
        text=environment.render("kubernetes/cohort.yaml.j2", api=api, name=name, resources=resources, flavors=rows),
        addresses=tuple(sorted({f"pool/{cluster.name}/{pool}" for flavor in group for pool in flavor.pools})),
    )


def cohort_name(cluster: Cluster, queue: str) -> str:
    """The name of the cohort in which the queues of one vendor lend to each other."""
    return dns_label(f"{cluster.name}-{queue}")


def _team_queues(
    cluster: Cluster, team: Team, group: Sequence[Flavor], held: Sequence[Holding], version: versions.Version
) -> Iterator[Manifest]:
    resources, name = _covered(group), queue_of(team.name, group[0])
    weight = max(one.weight for one in held)
    api = versions.since(versions.KUEUE_APIS, version)
    address = (f"team/{team.name}",)
    yield Manifest(
        path=f"{cluster.name}/{CLUSTER_FOLDER}/queue-{name}.yaml",
        text=environment.render(
            "kubernetes/cluster_queue.yaml.j2",
            api=api,
            name=name,
            team=team.name,
            cohort_field=versions.since(versions.COHORT_FIELDS, version),
            cohort=cohort_name(cluster, group[0].queue),
            namespace=namespace_of(team),
            weight="" if weight == 1 else str(weight),
            resources=resources,
            flavors=[(flavor.name, amounts(one, flavor, resources)) for flavor, one in zip(group, held, strict=True)],
        ),
        addresses=address,
    )
    yield Manifest(
        path=f"{cluster.name}/{namespace_of(team)}/queue-{name}.yaml",
        text=environment.render("kubernetes/local_queue.yaml.j2", api=api, name=name, namespace=namespace_of(team)),
        addresses=address,
    )


def _job(
    payload: Payload, team: Team, flavors: Sequence[Flavor], *, queueing: bool
) -> tuple[list[Manifest], list[Degraded]]:
    setting = _setting(payload, team, flavors, queueing=queueing)
    folder, address = f"{payload.cluster.name}/{setting.namespace}", (payload.address,)
    try:
        written = job_of(payload, setting)
    except Unsupported as reason:
        return [], [limits.degraded(payload.address, f"not written: {reason}.")]
    made = [Manifest(path=f"{folder}/job-{written.name}.yaml", text=written.job, addresses=address)]
    if written.service:
        made.append(
            Manifest(path=f"{folder}/service-{written.service_name}.yaml", text=written.service, addresses=address)
        )
    notes = [limits.degraded(payload.address, text) for text in limits.of_job(payload, queued=queueing)]
    return made, notes


def _setting(payload: Payload, team: Team, flavors: Sequence[Flavor], *, queueing: bool) -> Setting:
    vendor = payload.facts.vendor if payload.facts else None
    candidates = [flavor for flavor in flavors if payload.pool.name in flavor.pools]
    flavor = next((item for item in candidates if item.vendor == vendor), candidates[0])
    version = versions.parse(payload.cluster.backend.kueue_version)
    return Setting(
        namespace=namespace_of(team),
        team_is_namespace=namespace_of(team) == team.name,
        queue=queue_of(team.name, flavor) if queueing else "",
        is_gated=version >= versions.ADMISSION_GATES,
        flavor=flavor,
    )


def _lists(cluster: Cluster, manifests: Sequence[Manifest]) -> tuple[Manifest, Manifest]:
    """What Kustomize applies, in the order in which objects need each other, and what belongs to which address."""
    within = len(cluster.name) + 1
    paths = [manifest.path[within:] for manifest in sorted(manifests, key=_order)]
    index: dict[str, list[str]] = {}
    for manifest in sorted(manifests):
        for address in manifest.addresses:
            index.setdefault(address, []).append(manifest.path[within:])
    text = json.dumps({"addresses": index}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    kustomization = environment.render("kubernetes/kustomization.yaml.j2", paths=paths)
    return (
        Manifest(path=f"{cluster.name}/kustomization.yaml", text=kustomization),
        Manifest(path=f"{cluster.name}/index.json", text=text),
    )


_ORDER: Final = ("namespace", "priority", "flavor", "cohort", "queue", "service", "job")


def _order(manifest: Manifest) -> tuple[int, bool, str]:
    _, folder, file = manifest.path.split("/")
    kind = file.partition("-")[0].removesuffix(".yaml")
    return _ORDER.index(kind), folder != CLUSTER_FOLDER, manifest.path
