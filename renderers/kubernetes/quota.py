"""Guarantees as Kueue counts them: how much of each flavor a team's queue holds, may borrow and will lend."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.specset.quota_checks import quota_parents
from planner.units import ceil_div
from renderers.kubernetes.terms import Calendar, Usage, begin_of, calendar_of, usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from planner.plan import Plan
    from planner.spec.team import Quota
    from planner.specset import DeviceClass, SpecSet
    from planner.specset.quota_terms import Terms
    from renderers.kubernetes.flavors import Flavor
    from renderers.kubernetes.terms import UsageKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What one team has of one flavor, in devices; None: no limit on borrowing, or everything unused is lent."""

    flavor: str
    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one quota gives its team of the devices of one model in one pool.

    `borrowing` is None where the quota has no limit, `lending` is None where it lends all it does not use. `below` are
    the devices that quotas of teams below own of them, and `lending_of_all` is what is lent of both together.
    """

    quota: str
    where: DeviceClass
    nominal: int
    borrowing: int | None
    lending: int | None
    weight: int
    divided: bool
    below: int = 0
    lending_of_all: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All that the quotas of one team give it: `parts[i]` from `cuts[i]` (seconds since 1970 UTC) on."""

    cuts: tuple[int, ...] = ()
    parts: tuple[tuple[Part, ...], ...] = ()

    def at(self, moment: int) -> tuple[Part, ...]:
        """What holds at a moment."""
        return self.parts[max(0, bisect_right(self.cuts, moment) - 1)] if self.parts else ()


def timelines_of(plan: Plan, specset: SpecSet) -> dict[str, tuple[Timeline, ...]]:
    """For each team, its quotas over the plan.

    A quota that decides for several kinds of devices is divided among them as there are devices, since Kueue counts
    each flavor apart; its limit then holds for each of them, and what is used of it moves the division. Devices that
    the quotas below it own are not divided once more.
    """
    usage, decided = usage_of(plan), _decided(specset)
    below: dict[str, list[str]] = {}
    for name, parent in sorted(quota_parents(specset).items()):
        if parent is not None:
            below.setdefault(parent, []).append(name)
    made: dict[str, Timeline] = {}

    def timeline(quota: Quota) -> Timeline:
        if quota.name not in made:
            inside = [timeline(specset.quota(name)) for name in below.get(quota.name, ())]
            calendar = calendar_of(quota, plan, below.get(quota.name, ()))
            made[quota.name] = _timeline(quota, decided[quota.name], calendar, inside, plan, usage)
        return made[quota.name]

    return {
        team.name: tuple(timeline(quota) for quota in specset.quotas if quota.team == team.name and decided[quota.name])
        for team in specset.teams
    }


def _decided(specset: SpecSet) -> dict[str, list[DeviceClass]]:
    """The kinds of devices for which each quota decides within its team."""
    found: dict[str, list[DeviceClass]] = {quota.name: [] for quota in specset.quotas}
    for team in specset.teams:
        quotas = [quota for quota in specset.quotas if quota.team == team.name]
        for place in specset.device_classes():
            if (quota := deciding(quotas, place)) is not None:
                found[quota.name].append(place)
    return found


def _timeline(
    quota: Quota,
    places: Sequence[DeviceClass],
    calendar: Calendar,
    inside: Sequence[Timeline],
    plan: Plan,
    usage: Mapping[UsageKey, Usage],
) -> Timeline:
    """What a quota gives its team; `inside` are the quotas below it, which own what they do."""
    begin = begin_of(plan)
    used = [usage.get((quota.name, place.where.key, place.accelerator.slug), Usage()) for place in places]
    moments = {begin, *calendar.cuts}
    if len(places) > 1:
        changes = {cut for item in used for cut in item.cuts} | {cut for each in inside for cut in each.cuts}
        moments |= {cut for cut in changes if cut > begin}
    cuts: list[int] = []
    found: list[tuple[Part, ...]] = []
    for moment in sorted(moments):
        owned = Counter[tuple[str, str]]()
        for part in (part for each in inside for part in each.at(moment)):
            owned[_key(part.where)] += part.nominal + part.below
        parts = tuple(_parts(quota, places, calendar.at(moment), [item.at(moment) for item in used], owned))
        if not found or parts != found[-1]:
            cuts.append(moment)
            found.append(parts)
    return Timeline(cuts=tuple(cuts), parts=tuple(found))


def _key(place: DeviceClass) -> tuple[str, str]:
    return place.where.key, place.accelerator.slug


def _parts(
    quota: Quota,
    places: Sequence[DeviceClass],
    terms: Terms,
    used: Sequence[int],
    owned: Mapping[tuple[str, str], int],
) -> Iterator[Part]:
    below = [owned.get(_key(place), 0) for place in places]
    left = [max(0, place.devices - each) for place, each in zip(places, below, strict=True)]
    guaranteed = _divided(terms.guaranteed, left, used)
    lent = split(terms.lend or 0, guaranteed)
    lent_of_all = split(terms.lend or 0, [own + inside for own, inside in zip(guaranteed, below, strict=True)])
    for place, nominal, lending, inside, all_lent in zip(places, guaranteed, lent, below, lent_of_all, strict=True):
        limit = None if terms.limit is None else min(terms.limit, place.devices)
        yield Part(
            quota=quota.name,
            where=place,
            nominal=nominal,
            borrowing=None if limit is None else max(0, limit - nominal),
            lending=None if terms.lend is None else min(nominal, lending),
            weight=terms.weight,
            divided=len(places) > 1,
            below=inside,
            lending_of_all=None if terms.lend is None else min(nominal + inside, all_lent),
        )


def _divided(amount: int, weights: Sequence[int], used: Sequence[int]) -> tuple[int, ...]:
    """A guarantee in parts: what is used of it where it is used, the rest as devices are left."""
    if sum(used) > amount:
        return split(amount, weights)
    rest = split(amount - sum(used), [max(0, weight - use) for weight, use in zip(weights, used, strict=True)])
    return tuple(use + more for use, more in zip(used, rest, strict=True))


def deciding(quotas: Sequence[Quota], place: DeviceClass) -> Quota | None:
    """The most specific of one team's quotas that covers `place`: by pool, then cluster, model and vendor."""
    covering = [quota for quota in quotas if _covers(quota, place)]
    return max(covering, key=lambda quota: (_rank(quota), quota.name), default=None)


def _covers(quota: Quota, place: DeviceClass) -> bool:
    wanted = quota.gpus
    return (
        wanted.pool in {None, place.where.key}
        and wanted.cluster in {None, place.where.cluster.name}
        and (not wanted.models or place.accelerator.slug in wanted.models)
        and wanted.vendor in {None, place.accelerator.vendor}
    )


def _rank(quota: Quota) -> tuple[bool, bool, bool, bool]:
    wanted = quota.gpus
    return wanted.pool is not None, wanted.cluster is not None, bool(wanted.models), wanted.vendor is not None


def split(amount: int, weights: Sequence[int]) -> tuple[int, ...]:
    """`amount` in parts as the weights are, in whole numbers that add up; largest remainders first, then in order."""
    total = sum(weights)
    if not total:
        return (0,) * len(weights)
    parts = [amount * weight // total for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda index: (-(amount * weights[index] % total), index))
    for index in by_remainder[: amount - sum(parts)]:
        parts[index] += 1
    return tuple(parts)


def holding(parts: Sequence[Part], flavor: Flavor, cluster: str) -> Holding:
    """What a team with these parts has of one flavor of a cluster."""
    held = _held(parts, flavor, cluster)
    return Holding(
        flavor=flavor.name,
        nominal=sum(part.nominal for part in held),
        borrowing=_borrowing(held, flavor),
        lending=_sum([part.lending for part in held]),
        weight=max((part.weight for part in held), default=1),
    )


def holding_of_tree(parts: Sequence[Part], flavor: Flavor, cluster: str) -> Holding:
    """What a team with these parts and those below it have together beside their own queues: limits, and no devices."""
    held = _held(parts, flavor, cluster)
    borrowing, below = _borrowing(held, flavor), sum(part.below for part in held)
    return Holding(
        flavor=flavor.name,
        borrowing=None if borrowing is None else max(0, borrowing - below),
        lending=_sum([part.lending_of_all for part in held]),
        weight=max((part.weight for part in held), default=1),
    )


def _held(parts: Sequence[Part], flavor: Flavor, cluster: str) -> list[Part]:
    return [part for part in parts if part.where.where.cluster.name == cluster and flavor.holds(part.where)]


def _borrowing(held: Sequence[Part], flavor: Flavor) -> int | None:
    """How much may be borrowed of a flavor; None where some of its devices are not limited."""
    covered = sum(part.where.devices for part in held)
    return _sum([part.borrowing for part in held]) if covered == flavor.devices else None


def _sum(amounts: Sequence[int | None]) -> int | None:
    """The sum; None where there is nothing to add, or anything is without limit."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Quantities of one resource of one flavor as they are written; empty where a limit does not apply."""

    resource: str
    nominal: str
    borrowing: str = ""
    lending: str = ""


HOST_RESOURCES: Final = frozenset({"cpu", "memory"})
UNITS: Final = {"memory": "Mi"}


def amounts(held: Holding, flavor: Flavor, resources: Sequence[str]) -> tuple[Amount, ...]:
    """`held` as quantities of each resource; CPU and memory follow the devices.

    A queue whose devices are guaranteed but whose CPU is not could never reclaim them, so that the part of the node
    that belongs to a device is guaranteed and lent with it. What may be borrowed is limited in devices alone: a job
    with few of them and many cores stays within its limit. What the flavor lacks is 0 and stays 0.
    """
    return tuple(_amount(held, flavor, resource) for resource in resources)


def _amount(held: Holding, flavor: Flavor, resource: str) -> Amount:
    def written(devices: int | None) -> str:
        return "" if devices is None else quantity(resource, share_of(devices, flavor, resource))

    return Amount(
        resource=resource,
        nominal=quantity(resource, share_of(held.nominal, flavor, resource)),
        borrowing="" if resource in HOST_RESOURCES else written(held.borrowing),
        lending=written(held.lending),
    )


def share_of(devices: int, flavor: Flavor, resource: str) -> int:
    """How much of a resource belongs to so many devices, rounded up."""
    return ceil_div(flavor.amount(resource) * devices, flavor.devices) if flavor.devices else 0


def spare(flavor: Flavor, held: Sequence[Holding], resource: str) -> str:
    """What no team is guaranteed: the cohort's own quota, which all may borrow."""
    taken = sum(share_of(item.nominal, flavor, resource) for item in held)
    return quantity(resource, max(0, flavor.amount(resource) - taken))


def quantity(resource: str, amount: int) -> str:
    """A whole number with the unit that Kubernetes reads: cores, Mi of memory, or pieces."""
    return f"{amount}{UNITS.get(resource, '')}" if amount else "0"
