"""What all objects of one cluster are made from: its flavors, its teams, and their quotas over the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from renderers.kubernetes.flavors import CPU, MEMORY, flavors_of
from renderers.kubernetes.naming import dns_label
from renderers.kubernetes.quota import holding, holding_of_tree, timelines_of
from renderers.kubernetes.terms import begin_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.plan import Plan
    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from planner.specset import SpecSet
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.quota import Holding, Part, Timeline

CLUSTER_FOLDER: Final = "_cluster"
"""Objects without a namespace; no namespace can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One cluster as its renderer sees it; `begin` is when the plan begins, in seconds since 1970 UTC."""

    cluster: Cluster
    teams: tuple[Team, ...]
    flavors: tuple[Flavor, ...]
    timelines: Mapping[str, tuple[Timeline, ...]]
    begin: int

    def parts(self, team: str, moment: int) -> tuple[Part, ...]:
        """All that the quotas of a team give it at a moment."""
        return tuple(part for line in self.timelines[team] for part in line.at(moment))

    def held(self, team: str, group: Sequence[Flavor], moment: int) -> tuple[Holding, ...]:
        """What a team has of each flavor of a group at a moment."""
        parts = self.parts(team, moment)
        return tuple(holding(parts, flavor, self.cluster.name) for flavor in group)

    def held_together(self, team: str, group: Sequence[Flavor], moment: int) -> tuple[Holding, ...]:
        """What a team and those below it may borrow and lend together of each flavor of a group at a moment."""
        parts = self.parts(team, moment)
        return tuple(holding_of_tree(parts, flavor, self.cluster.name) for flavor in group)

    def heads(self) -> tuple[Team, ...]:
        """The teams that have others below them."""
        above = {team.parent for team in self.teams}
        return tuple(team for team in self.teams if team.name in above)

    def groups(self) -> tuple[tuple[str, tuple[Flavor, ...]], ...]:
        """The flavors that are admitted together, by the name of their queues."""
        names = sorted({flavor.queue for flavor in self.flavors})
        return tuple((name, tuple(item for item in self.flavors if item.queue == name)) for name in names)

    def moments(self) -> tuple[int, ...]:
        """When the plan begins, and when any quota changes after that."""
        cuts = {cut for lines in self.timelines.values() for line in lines for cut in line.cuts}
        return (self.begin, *sorted(cut for cut in cuts if cut > self.begin))


def scene_of(plan: Plan, specset: SpecSet, cluster: Cluster) -> Scene:
    """The scene of a cluster."""
    return Scene(
        cluster=cluster,
        teams=specset.teams,
        flavors=flavors_of(cluster, specset.catalog),
        timelines=timelines_of(plan, specset),
        begin=begin_of(plan),
    )


def namespace_of(team: Team) -> str:
    """The namespace of a team."""
    return team.namespace or team.name


def queue_of(team: str, flavor: Flavor) -> str:
    """The name of a team's queue for the flavors of one vendor."""
    return dns_label(f"{team}-{flavor.queue}")


def covered(group: Sequence[Flavor]) -> tuple[str, ...]:
    """The resources that are admitted together: CPU and memory first, as every flavor of the group must list them."""
    devices = {name for flavor in group for name, _ in flavor.capacity} - {CPU, MEMORY}
    return (CPU, MEMORY, *sorted(devices))
