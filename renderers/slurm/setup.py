"""The program that makes accounts and QOS what the plan needs, now and whenever guarantees change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.units import format_time
from renderers import environment
from renderers.manifest import Manifest
from renderers.slurm import sacctmgr
from renderers.slurm.accounts import planned
from renderers.slurm.shares import shares_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.plan import Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.slurm.sacctmgr import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A command that is due at a moment: in seconds since 1970, and as people read it."""

    moment: int
    time: str
    command: Command


def accounts(plan: Plan, specset: SpecSet, cluster: Cluster) -> Manifest:
    """The program of a cluster; raises `Unsupported` where a name of the specs cannot stand in a command of Slurm."""
    state = planned(plan, specset, cluster)
    commands = sacctmgr.complete(state)
    text = environment.render(
        "slurm/accounts.sh.j2",
        qos_query=sacctmgr.QOS_QUERY,
        assoc_query=sacctmgr.ASSOC_QUERY,
        qos=tuple(command for command in commands if command[1] == "qos"),
        accounts=tuple(command for command in commands if command[1] != "qos"),
        state=state,
        changes=tuple(changes(plan, specset, cluster)),
        names=(*(item.name for item in state.qos), *(item.name for item in state.accounts)),
    )
    addresses = (
        *(f"quota/{quota.name}" for quota in shares_of(plan, specset, cluster).quotas),
        *(f"team/{team.name}" for team in specset.teams),
    )
    return Manifest(path=f"{cluster.name}/accounts.sh", text=text, addresses=tuple(sorted(addresses)), executable=True)


def changes(plan: Plan, specset: SpecSet, cluster: Cluster) -> Iterator[Change]:
    """What changes after the plan's start, in order: the limits of accounts follow what their teams are guaranteed."""
    state = planned(plan, specset, cluster)
    for moment in shares_of(plan, specset, cluster).moments():
        coming = planned(plan, specset, cluster, moment)
        for command in sacctmgr.difference(state, coming):
            yield Change(moment=moment, time=format_time(moment), command=command)
        state = coming
