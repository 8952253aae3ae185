"""Kueue: flavors, cohorts, queues and priorities, with the quotas of one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from renderers import environment
from renderers.kubernetes import versions
from renderers.kubernetes.kai import topologies
from renderers.kubernetes.naming import dns_label
from renderers.kubernetes.priorities import PRIORITIES, priority_class
from renderers.kubernetes.quota import Amount, amounts, spare
from renderers.kubernetes.scene import CLUSTER_FOLDER, covered, namespace_of, queue_of
from renderers.kubernetes.topology import name_of
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.quota import Holding
    from renderers.kubernetes.scene import Scene


def api_of(cluster: Cluster) -> str:
    """The API that the cluster's Kueue serves."""
    return versions.since(versions.KUEUE_APIS, versions.parse(cluster.backend.kueue_version))


def holds_trees(cluster: Cluster) -> bool:
    """Whether cohorts are objects there, one below another."""
    return versions.parse(cluster.backend.kueue_version) >= versions.COHORT_OBJECTS


def fixed_objects(scene: Scene) -> Iterator[Manifest]:
    """Priorities, flavors and the queues in namespaces: all that no quota changes."""
    yield from _priorities(scene.cluster)
    yield from topologies(scene, api_of(scene.cluster))
    yield from _flavors(scene)
    for _, group in scene.groups():
        for team in scene.teams:
            yield _local_queue(scene.cluster, team, queue_of(team.name, group[0]))


def quota_objects(scene: Scene, moment: int) -> Iterator[Manifest]:
    """Cohorts and cluster queues as quotas are at a moment.

    A team with others below it is a cohort of its own, in which they borrow from each other before anybody else, and
    whose limits hold for all of them together.
    """
    version = versions.parse(scene.cluster.backend.kueue_version)
    heads = {team.name for team in scene.heads()} if holds_trees(scene.cluster) else set[str]()
    for queue, group in scene.groups():
        held = {team.name: scene.held(team.name, group, moment) for team in scene.teams}
        root = cohort_name(scene.cluster, queue)
        if holds_trees(scene.cluster):
            yield _cohort(scene.cluster, root, group, [one for each in held.values() for one in each])
        for team in scene.teams:
            above = cohort_name(scene.cluster, queue, team.parent) if team.parent in heads and team.parent else root
            own = above
            if team.name in heads:
                own = cohort_name(scene.cluster, queue, team.name)
                yield _team_cohort(scene, team, group, (own, above), moment)
            yield _cluster_queue(scene.cluster, team, group, held[team.name], (own, version))


def _priorities(cluster: Cluster) -> Iterator[Manifest]:
    for priority, value, description in PRIORITIES:
        name = priority_class(priority)
        yield Manifest(
            path=f"{cluster.name}/{CLUSTER_FOLDER}/priority-{name}.yaml",
            text=environment.render(
                "kubernetes/priority_class.yaml.j2",
                api=api_of(cluster),
                name=name,
                value=value,
                description=description,
            ),
            addresses=(f"cluster/{cluster.name}",),
        )


def _flavors(scene: Scene) -> Iterator[Manifest]:
    cluster = scene.cluster
    for flavor in scene.flavors:
        yield Manifest(
            path=f"{cluster.name}/{CLUSTER_FOLDER}/flavor-{flavor.name}.yaml",
            text=environment.render(
                "kubernetes/resource_flavor.yaml.j2",
                api=api_of(cluster),
                flavor=flavor,
                pools=",".join(flavor.pools),
                topology=name_of(flavor.levels) if flavor.levels else "",
            ),
            addresses=tuple(f"pool/{cluster.name}/{pool}" for pool in flavor.pools),
        )


def _cohort(cluster: Cluster, name: str, group: Sequence[Flavor], held: Sequence[Holding]) -> Manifest:
    """What no team is guaranteed stands in the cohort itself, so that it is borrowed before anything of a team."""
    resources = covered(group)
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
    return Manifest(
        path=f"{cluster.name}/{CLUSTER_FOLDER}/cohort-{name}.yaml",
        text=environment.render(
            "kubernetes/cohort.yaml.j2",
            api=api_of(cluster),
            name=name,
            team="",
            parent="",
            weight="",
            resources=resources,
            flavors=rows,
        ),
        addresses=tuple(sorted({f"pool/{cluster.name}/{pool}" for flavor in group for pool in flavor.pools})),
    )


def _team_cohort(scene: Scene, team: Team, group: Sequence[Flavor], names: tuple[str, str], moment: int) -> Manifest:
    """A team with those below it; `names` are those of the cohort and of the one above. It owns what its queues own."""
    resources, (name, above) = covered(group), names
    held = scene.held_together(team.name, group, moment)
    weight = max(one.weight for one in held)
    return Manifest(
        path=f"{scene.cluster.name}/{CLUSTER_FOLDER}/cohort-{name}.yaml",
        text=environment.render(
            "kubernetes/cohort.yaml.j2",
            api=api_of(scene.cluster),
            name=name,
            team=team.name,
            parent=above,
            weight="" if weight == 1 else str(weight),
            resources=resources,
            flavors=[(flavor.name, amounts(one, flavor, resources)) for flavor, one in zip(group, held, strict=True)],
        ),
        addresses=(f"team/{team.name}",),
    )


def cohort_name(cluster: Cluster, queue: str, team: str = "") -> str:
    """The name of the cohort in which queues of one vendor lend to each other: all, or those of a team and below it."""
    return dns_label("-".join(filter(None, (cluster.name, queue, team))))


def _cluster_queue(
    cluster: Cluster, team: Team, group: Sequence[Flavor], held: Sequence[Holding], place: tuple[str, versions.Version]
) -> Manifest:
    """The queue of a team; `place` is its cohort, and the version that writes it."""
    resources, name, (cohort, version) = covered(group), queue_of(team.name, group[0]), place
    weight = max(one.weight for one in held)
    return Manifest(
        path=f"{cluster.name}/{CLUSTER_FOLDER}/queue-{name}.yaml",
        text=environment.render(
            "kubernetes/cluster_queue.yaml.j2",
            api=api_of(cluster),
            name=name,
            team=team.name,
            cohort_field=versions.since(versions.COHORT_FIELDS, version),
            cohort=cohort,
            namespace=namespace_of(team),
            weight="" if weight == 1 else str(weight),
            resources=resources,
            flavors=[(flavor.name, amounts(one, flavor, resources)) for flavor, one in zip(group, held, strict=True)],
        ),
        addresses=(f"team/{team.name}",),
    )


def _local_queue(cluster: Cluster, team: Team, name: str) -> Manifest:
    namespace = namespace_of(team)
    return Manifest(
        path=f"{cluster.name}/{namespace}/queue-{name}.yaml",
        text=environment.render("kubernetes/local_queue.yaml.j2", api=api_of(cluster), name=name, namespace=namespace),
        addresses=(f"team/{team.name}",),
    )
