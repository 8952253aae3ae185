"""What a Slurm cluster cannot be told or held to, one sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.plan import Degraded
from planner.spec.backend import Containers
from planner.spec.work import Link
from planner.specset.quota_checks import covers, devices_of
from renderers.slurm.accounts import is_user
from renderers.slurm.shares import shares_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.plan import Plan
    from planner.spec.cluster import Cluster, GpuGroup
    from planner.spec.job import Job
    from planner.spec.team import Quota
    from planner.specset import SpecSet
    from renderers.payload import Payload

BACKEND = "slurm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What a quota covers: how many kinds of the cluster's devices, and whether devices of other clusters too."""

    kinds: int
    elsewhere: bool


OF_JOBS: tuple[tuple[Callable[[Payload], bool], str], ...] = (
    (
        lambda payload: bool(payload.later),
        "only its first run is written; a later one is submitted after the plan has been made again",
    ),
    (
        lambda payload: not payload.pool.nodes.names,
        "the nodes of its pool have no names in the specs, so that Slurm chooses among them",
    ),
    (
        lambda payload: _asks_for_link(payload) and not payload.takes_whole_nodes,
        "Slurm chooses which devices of a node it gets: that they are linked is best effort",
    ),
    (
        lambda payload: payload.memory_mib is None and not payload.cluster.backend.exclusive,
        "no memory is stated: Slurm gives it what DefMemPerNode says, and without that all memory of its nodes",
    ),
    (
        lambda payload: any(device.share for device in payload.devices),
        "gres/shard counts shares and fences nothing: memory and faults are not kept apart",
    ),
    (
        lambda payload: any(item.secret for item in payload.env),
        "Slurm holds no secrets: the variables that come from one must be set in the user's login environment",
    ),
    (
        lambda payload: any(mount.host is None for mount in payload.job.mounts),
        "claims and empty directories have no counterpart: only directories of the host are mounted",
    ),
    (
        lambda payload: bool(payload.job.mounts) and payload.cluster.backend.containers is Containers.NONE,
        "without containers nothing is mounted: the paths of the host are what it sees",
    ),
    (
        lambda payload: bool(payload.image) and payload.cluster.backend.containers is Containers.NONE,
        "the cluster runs no containers: its image is not used",
    ),
    (
        lambda payload: payload.job.user is not None,
        "it runs as whoever submits it, not as the user that the spec names",
    ),
    (
        lambda payload: bool(payload.job.pull_secrets),
        "the credentials for its image are those of the nodes' container tools",
    ),
    (
        lambda payload: payload.job.service_account is not None,
        "Slurm has no service accounts",
    ),
    (
        lambda payload: payload.job.template is not None,
        "its own script says what runs: image, command, mounts and secrets of the spec are not added to it",
    ),
)
"""When a sentence holds for a job."""


def of_cluster(cluster: Cluster) -> Iterator[Degraded]:
    """What holds for all work of a cluster."""
    address = f"cluster/{cluster.name}"
    for message in (
        "a start is a job's earliest: what else is queued there may delay it",
        "accounts.sh must have been run, by an operator of the accounts, before jobs are submitted",
    ):
        yield degraded(address, message)


OF_QUOTAS: tuple[tuple[Callable[[Quota, Covered], bool], str], ...] = (
    (
        lambda quota, covered: covered.kinds > 1,
        "it covers several models: Slurm holds each of them to it, the plan their sum",
    ),
    (
        lambda quota, covered: covered.elsewhere,
        "it covers other clusters too: Slurm knows only what is used in its own",
    ),
    (
        lambda quota, covered: quota.limit is not None,
        "Slurm holds guaranteed and borrowed work each to a limit, the plan their sum",
    ),
    (
        lambda quota, covered: any(window.limit is not None for window in quota.windows),
        "its limit varies: Slurm holds the widest, the plan that of each time",
    ),
)
"""When a sentence holds for a quota."""


def of_accounts(plan: Plan, specset: SpecSet, cluster: Cluster) -> Iterator[Degraded]:
    """Where Slurm's accounts hold less, or otherwise, than quotas and teams say."""
    shares = shares_of(plan, specset, cluster)
    for quota in shares.quotas:
        kinds = sum(any(covers(quota.gpus, item) for item in kind.devices) for kind in shares.kinds)
        covered = Covered(kinds=kinds, elsewhere=_reaches_beyond(quota, specset, cluster))
        yield from (degraded(f"quota/{quota.name}", text) for holds, text in OF_QUOTAS if holds(quota, covered))
    for team in specset.teams:
        if others := [member for member in team.members if not is_user(member)]:
            yield degraded(f"team/{team.name}", f"{', '.join(sorted(others))}: not a user of Slurm, so not added")
        if len({quota.weight for quota in shares.of_team(team.name)}) > 1:
            yield degraded(f"team/{team.name}", "its quotas differ in weight: fair share counts the greatest for all")


def _reaches_beyond(quota: Quota, specset: SpecSet, cluster: Cluster) -> bool:
    others = (item for item in specset.clusters if item.name != cluster.name)
    vendors = {group.model: str(specset.accelerator(group.model).vendor) for group in _groups(specset)}
    return any(covers(quota.gpus, item) for item in devices_of(others, vendors))


def _groups(specset: SpecSet) -> Iterator[GpuGroup]:
    return (group for cluster in specset.clusters for pool in cluster.pools for group in pool.gpus)


def degraded(address: str, message: str) -> Degraded:
    """One entry of this back end."""
    return Degraded(address=address, backend=BACKEND, message=message)


def of_job(payload: Payload, missing: tuple[str, ...]) -> Iterator[Degraded]:
    """What holds for one job; `missing` are the jobs that it waits for and that this cluster does not run."""
    for holds, message in OF_JOBS:
        if holds(payload):
            yield degraded(payload.address, message)
    for parent in missing:
        message = f"{parent} does not run in this cluster: only the planned start makes it wait for that job"
        yield degraded(payload.address, message)


def refused(payload: Payload, why: str) -> Degraded:
    """A job for which nothing is written."""
    return degraded(payload.address, f"not written: {why}")


def _asks_for_link(payload: Payload) -> bool:
    job: Job = payload.job
    way = next(way for way in job.ways() if way.name == payload.segment.variant)
    return way.gpus is not None and way.gpus.link is Link.REQUIRED
