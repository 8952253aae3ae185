"""What quotas say of one Slurm cluster, in the resources that Slurm counts: `gres/gpu:h100`, or `gres/gpu` untyped."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.specset.quota_checks import covers, devices_of, rank
from planner.units import ceil_fraction, parse_time
from renderers.slurm import words
from renderers.slurm.devices import whole_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.plan import Plan
    from planner.spec.cluster import Cluster, NodePool
    from planner.spec.team import Quota
    from planner.specset import SpecSet
    from planner.specset.quota_checks import Devices

UNTYPED: Final = "gres/gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A resource that Slurm counts, and the devices of the cluster that it means."""

    tres: str
    devices: tuple[Devices, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(item.count for item in self.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """All quotas over a cluster's devices, and the plan that says what is guaranteed when."""

    kinds: tuple[Kind, ...]
    quotas: tuple[Quota, ...]
    plan: Plan

    def guaranteed(self, team: str, kind: Kind, moment: int) -> int | None:
        """What a team is guaranteed of a kind at a moment; None where no quota of any team covers all of the kind.

        A quota over several kinds counts in each of them with all that it guarantees: Slurm cannot add them up.
        """
        if not all(any(covers(quota.gpus, item) for quota in self.quotas) for item in kind.devices):
            return None
        counts: dict[str, int] = {}
        for item in kind.devices:
            if (quota := self.deciding(team, item)) is not None:
                counts[quota.name] = counts.get(quota.name, 0) + item.count
        return sum(min(count, self._amount(name, moment)) for name, count in counts.items())

    def limit(self, team: str, kind: Kind) -> int | None:
        """What a team may have of a kind in all: the least limit of its quotas over all of the kind, None where none.

        Of a limit that varies over time the widest is meant: the plan holds the others.
        """
        limits = [
            most
            for quota in self.of_team(team)
            if all(covers(quota.gpus, item) for item in kind.devices) and (most := _widest_limit(quota)) is not None
        ]
        return min(limits, default=None)

    def deciding(self, team: str, item: Devices) -> Quota | None:
        """The most specific of a team's quotas over some devices."""
        found = [quota for quota in self.of_team(team) if covers(quota.gpus, item)]
        return max(found, key=lambda quota: (rank(quota.gpus), quota.name), default=None)

    def of_team(self, team: str) -> tuple[Quota, ...]:
        """The quotas of a team that cover devices of the cluster."""
        return tuple(quota for quota in self.quotas if quota.team == team)

    def moments(self) -> tuple[int, ...]:
        """When guarantees may change after the plan's start, in seconds since 1970 UTC."""
        names = {quota.name for quota in self.quotas}
        starts = {
            parse_time(window.start, "UTC")
            for schedule in self.plan.quota
            if schedule.quota in names
            for window in schedule.windows
        }
        begin = self.begin
        return tuple(sorted(moment for moment in starts if moment > begin))

    @property
    def begin(self) -> int:
        """The plan's start."""
        return parse_time(self.plan.inputs.start, "UTC")

    def _amount(self, name: str, moment: int) -> int:
        """What a quota guarantees, whole devices: a part of one is counted as one, so that no work is kept out."""
        schedule = next((item for item in self.plan.quota if item.quota == name and item.windows), None)
        if schedule is None:
            return next(quota.guaranteed for quota in self.quotas if quota.name == name)
        held = [item for item in schedule.windows if parse_time(item.start, "UTC") <= moment]
        return ceil_fraction(Fraction((held or schedule.windows)[-1 if held else 0].guaranteed))


def shares_of(plan: Plan, specset: SpecSet, cluster: Cluster) -> Shares:
    """The kinds of devices of a cluster, and the quotas that cover any of them."""
    kinds = tuple(_kinds(specset, cluster))
    devices = tuple(item for kind in kinds for item in kind.devices)
    quotas = tuple(quota for quota in specset.quotas if any(covers(quota.gpus, item) for item in devices))
    return Shares(kinds=kinds, quotas=quotas, plan=plan)


def _kinds(specset: SpecSet, cluster: Cluster) -> Iterator[Kind]:
    vendors = {
        group.model: str(specset.accelerator(group.model).vendor) for pool in cluster.pools for group in pool.gpus
    }
    found: dict[str, list[Devices]] = {}
    for item in devices_of([cluster], vendors):
        found.setdefault(tres_of(specset, cluster, cluster.pool(item.pool), item.model), []).append(item)
    for tres, items in sorted(found.items()):
        yield Kind(tres=tres, devices=tuple(items))


def tres_of(specset: SpecSet, cluster: Cluster, pool: NodePool, model: str) -> str:
    """The resource that Slurm counts for whole devices of a model in a pool."""
    kind = whole_type(pool, specset.accelerator(model)) if cluster.backend.typed else None
    return UNTYPED if kind is None else f"{UNTYPED}:{words.plain(kind, 'type of device')}"


def _widest_limit(quota: Quota) -> int | None:
    limits = [quota.limit, *(quota.limit if item.limit is None else item.limit for item in quota.windows)]
    return None if None in limits else max(item for item in limits if item is not None)
