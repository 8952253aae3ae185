"""Checks of quotas: their numbers, their ranks, and whether the fleet can honour all guarantees at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from planner.spec.cluster import Cluster
from planner.spec.team import Quota, QuotaGpus, QuotaWindow, Team
from planner.specset import guarantees
from planner.specset.faults import Faults, Item, also
from planner.specset.tree import Tree
from planner.when import DAYS, timetable

if TYPE_CHECKING:
    from planner.specset.model import SpecSet

_MONDAY: Final = 1_704_067_200
_WEEK_SECONDS: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Devices:
    """Devices of one model in one pool."""

    cluster: str
    pool: str
    model: str
    vendor: str
    count: int


def check(tree: Tree, faults: Faults) -> None:
    """Report what is wrong with quotas, alone and together."""
    for item in tree.quotas:
        _numbers(item, (), item.spec, faults)
        _windows(item, faults)
    _ranks(tree, faults)
    if not faults.stop:
        _guarantees(tree, faults)


def _numbers(item: Item[Quota], path: tuple[str | int, ...], limits: Quota | QuotaWindow, faults: Faults) -> None:
    """The numbers of the quota itself, or those that hold in one of its windows."""
    quota = item.spec
    guaranteed = quota.guaranteed if limits.guaranteed is None else limits.guaranteed
    limit, lend = (
        quota.limit if limits.limit is None else limits.limit,
        quota.lend if limits.lend is None else limits.lend,
    )
    unplanned = quota.unplanned if limits.unplanned is None else limits.unplanned
    at = f" ({limits.when})" if isinstance(limits, QuotaWindow) else ""
    if limit is not None and limit < guaranteed:
        faults.add(
            "SPEC415", item, (*path, "limit"), f"limit {limit} is below guaranteed {guaranteed}{at}",
            help="limit counts guaranteed and borrowed devices together: write at least as much as guaranteed",
        )  # fmt: skip
    if lend is not None and lend > guaranteed:
        faults.add(
            "SPEC416",
            item,
            (*path, "lend"),
            f"lend {lend} is above guaranteed {guaranteed}{at}",
            help="only a guarantee can be lent: write at most as much",
        )
    if unplanned > guaranteed:
        faults.add(
            "SPEC416", item, (*path, "unplanned"), f"unplanned {unplanned} is above guaranteed {guaranteed}{at}",
            help="it is a part of the guarantee: write at most as much",
        )  # fmt: skip


def _windows(item: Item[Quota], faults: Faults) -> None:
    ended = False
    for index, window in enumerate(item.spec.windows):
        path = ("windows", index)
        if ended:
            faults.add(
                "SPEC422",
                item,
                (*path, "when"),
                f"{window.when} can never hold: 'otherwise' comes before it",
                help="put otherwise last",
            )
        ended = ended or window.when.is_otherwise
        if window.model_fields_set == {"when"}:
            faults.add(
                "SPEC212",
                item,
                path,
                "the window changes nothing",
                help="set guaranteed, limit, lend, weight or unplanned in it",
            )
        _numbers(item, path, window, faults)


def devices_of(clusters: Iterable[Cluster], vendors: Mapping[str, str]) -> tuple[Devices, ...]:
    """The devices of a fleet by pool and model; nodes that a pool reserves count too."""
    return tuple(
        Devices(cluster.name, pool.name, group.model, vendors[group.model], pool.node_count * group.count)
        for cluster in clusters
        for pool in cluster.pools
        for group in pool.gpus
    )


def covers(gpus: QuotaGpus, devices: Devices) -> bool:
    """Whether a quota counts these devices."""
    return (
        gpus.pool in (None, f"{devices.cluster}/{devices.pool}")
        and gpus.cluster in (None, devices.cluster)
        and (not gpus.models or devices.model in gpus.models)
        and gpus.vendor in (None, devices.vendor)
    )


def rank(gpus: QuotaGpus) -> tuple[bool, bool, bool, bool]:
    """How specific a quota is: by pool, then cluster, model, vendor. Of several over a device the greatest decides."""
    return gpus.pool is not None, gpus.cluster is not None, bool(gpus.models), gpus.vendor is not None


def _fleet(tree: Tree) -> tuple[Devices, ...]:
    vendors = {entry.slug: str(entry.vendor) for entry in tree.catalog.accelerators}
    return devices_of((item.spec for item in tree.clusters), vendors)


def _ranks(tree: Tree, faults: Faults) -> None:
    fleet = _fleet(tree)
    by_team: dict[str, list[Item[Quota]]] = {}
    for item in tree.quotas:
        by_team.setdefault(item.spec.team, []).append(item)
    for items in by_team.values():
        for one, other in combinations(items, 2):
            if rank(one.spec.gpus) != rank(other.spec.gpus):
                continue
            both = [devices for devices in fleet if covers(one.spec.gpus, devices) and covers(other.spec.gpus, devices)]
            if both:
                what = f"{both[0].model} in {both[0].cluster}/{both[0].pool}"
                faults.add(
                    "SPEC407", other, ("gpus",), f"this quota and {one.spec.name} both cover {what} with equal rank",
                    help="join them, or make one more specific: pool wins over cluster, then model, then vendor",
                    related=(also(one, "gpus", message="the other quota"),),
                )  # fmt: skip


def _guarantees(tree: Tree, faults: Faults) -> None:
    fleet = _fleet(tree)
    capacity = tuple(devices.count for devices in fleet)
    quotas = [item.spec for item in tree.quotas]
    claims = claims_of(quotas, (item.spec for item in tree.teams), fleet)
    items = {item.spec.name: item for item in tree.quotas}
    told: set[tuple[str, ...]] = set()
    for moment, amounts in amounts_of(quotas, tree.policy.timezone):
        names = {claim.name: amounts[claim.name] for claim in claims}
        for parent, children, total in guarantees.above_parent(claims, names):
            if (parent, *children) not in told:
                told.add((parent, *children))
                _above_parent(items[parent], [items[name] for name in children], total, names, moment, faults)
        for short in guarantees.shortages(claims, names, capacity):
            if short.claims not in told:
                told.add(short.claims)
                _above_capacity([items[name] for name in short.claims], short, fleet, moment, faults)


def claims_of(quotas: Iterable[Quota], teams: Iterable[Team], fleet: Sequence[Devices]) -> tuple[guarantees.Claim, ...]:
    """What quotas claim of a fleet, sorted by name."""
    parents = {team.name: team.parent for team in teams}
    return tuple(
        guarantees.Claim(
            name=quota.name,
            line=guarantees.line_of(quota.team, parents),
            covers=frozenset(index for index, devices in enumerate(fleet) if covers(quota.gpus, devices)),
        )
        for quota in sorted(quotas, key=lambda quota: quota.name)
    )


def quota_parents(specset: SpecSet) -> dict[str, str | None]:
    """For each quota the one of a team above that contains it."""
    vendors = {entry.slug: str(entry.vendor) for entry in specset.catalog.accelerators}
    return guarantees.above(claims_of(specset.quotas, specset.teams, devices_of(specset.clusters, vendors)))


def amounts_of(quotas: Sequence[Quota], zone: str) -> Iterator[tuple[str, dict[str, int]]]:
    """What every quota guarantees, at each time of the week at which anything differs; the time is told in words."""
    tables = {
        quota.name: timetable([window.when for window in quota.windows], zone, _MONDAY, _MONDAY + _WEEK_SECONDS)
        for quota in quotas
        if quota.windows
    }
    cuts = sorted({_MONDAY} | {begin for table in tables.values() for begin, _, _ in table})
    seen: set[tuple[int, ...]] = set()
    for cut in cuts:
        amounts = {quota.name: _amount(quota, tables.get(quota.name, ()), cut) for quota in quotas}
        if tuple(amounts.values()) not in seen:
            seen.add(tuple(amounts.values()))
            yield _moment(cut) if tables else "", amounts


def _moment(epoch_seconds: int) -> str:
    minutes = (epoch_seconds - _MONDAY) // 60
    return f"{DAYS[minutes // 1440 % 7]} {minutes % 1440 // 60:02}:{minutes % 60:02} UTC"


def _amount(quota: Quota, table: Sequence[tuple[int, int, int | None]], moment: int) -> int:
    index = next((index for begin, end, index in table if begin <= moment < end), None)
    in_window = quota.windows[index].guaranteed if index is not None else None
    return quota.guaranteed if in_window is None else in_window


def sum_text(amounts: Sequence[int], total: int) -> str:
    """`12 + 8 = 20`, or the one amount alone."""
    return f"{' + '.join(map(str, amounts))} = {total}" if len(amounts) > 1 else str(total)


def _above_capacity(
    items: Sequence[Item[Quota]], short: guarantees.Shortage, fleet: Sequence[Devices], moment: str, faults: Faults
) -> None:
    counts = [
        f"{fleet[index].count} x {fleet[index].model} in {fleet[index].cluster}/{fleet[index].pool}"
        for index in short.covered
    ]
    have = ", ".join(counts) or "no such device"
    first, *others = items
    when = f" (from {moment})" if moment else ""
    arithmetic = f"{sum_text(short.amounts, short.wanted)} > {short.available}{when}"
    parts = "\n".join(f"{item.spec.name}: {amount}" for item, amount in zip(items, short.amounts, strict=True))
    faults.add(
        "SPEC405", first, ("guaranteed",),
        f"guarantees add up to more than the fleet has: {arithmetic}",
        help="\n".join(["lower a guarantee, or use limit for what may be borrowed", parts, f"the fleet has {have}"]),
        related=tuple(also(item, "guaranteed", message=f"{item.spec.name} guarantees here") for item in others),
    )  # fmt: skip


def _above_parent(
    parent: Item[Quota],
    children: Sequence[Item[Quota]],
    total: int,
    amounts: Mapping[str, int],
    moment: str,
    faults: Faults,
) -> None:
    when = f" (from {moment})" if moment else ""
    terms = [amounts[item.spec.name] for item in children]
    faults.add(
        "SPEC406", parent, ("guaranteed",),
        f"the children's guarantees exceed this one: {sum_text(terms, total)} > {amounts[parent.spec.name]}{when}",
        help="a parent's guarantee contains those of its children: raise it, or lower theirs",
        related=tuple(also(item, "guaranteed", message=_guarantees_text(item, amounts)) for item in children),
    )  # fmt: skip


def _guarantees_text(item: Item[Quota], amounts: Mapping[str, int]) -> str:
    return f"{item.spec.name} guarantees {amounts[item.spec.name]}"
