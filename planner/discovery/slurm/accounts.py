"""Slurm's accounts as teams, and their limits on devices as quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner.discovery.found import Allowance, Tenant
from planner.discovery.models import Models
from planner.discovery.slurm.records import number, stated, table, tres

_ROOT: Final = "root"
_GPU: Final = "gres/gpu"
_BORROWED: Final = "-borrowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Teams and what they may use; `untold` names limits that specs cannot say, `qos` who may use which QOS."""

    tenants: tuple[Tenant, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    untold: tuple[str, ...] = ()
    qos: tuple[tuple[str, tuple[str, ...]], ...] = ()


def accounts(text: str, models: Models, devices: dict[str, int]) -> Accounts:
    """Read `sacctmgr -P show assoc format=cluster,account,user,parentname,share,grptres,qos` with its header.

    A limit on devices is a guarantee too where all such limits together can be held by the cluster's `devices` (of each
    model, by slug): then nobody can take them away. Where they promise more, they are limits alone. An account beside
    another whose name it has with `-borrowed` is of the same team: its limit is that on all that the team may hold.
    """
    rows = list(table(text, "Account"))
    pairs = _pairs(rows)
    own = [row for row in rows if not row.get("User") and row["Account"] not in {_ROOT, *pairs.values()}]
    untold = [sentence for row in rows for sentence in _unsaid(row, models)]
    limits = [limit for row in own for limit in _limits(row, models)]
    parents = {row["Account"]: _parent(row) for row in own}
    held, overbooked = _guaranteed(limits, parents, devices)
    return Accounts(
        tenants=tuple(_tenant(row, rows) for row in sorted(own, key=lambda row: row["Account"])),
        allowances=_with_borrowing(held, rows, pairs, models),
        untold=(*untold, *overbooked),
        qos=tuple(_users_of_qos(own)),
    )


def _users_of_qos(own: Sequence[dict[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The accounts that may use each QOS, by its name."""
    named = {row["Account"]: set(stated(row.get("QOS")).split(",")) - {""} for row in own}
    for name in sorted(set().union(*named.values())):
        yield name, tuple(sorted(account for account, names in named.items() if name in names))


def _pairs(rows: Iterable[dict[str, str]]) -> dict[str, str]:
    """For each account the one in which its team borrows."""
    names = {row["Account"] for row in rows}
    return {name: f"{name}{_BORROWED}" for name in names if f"{name}{_BORROWED}" in names}


def _with_borrowing(
    held: Iterable[Allowance], rows: Iterable[dict[str, str]], pairs: Mapping[str, str], models: Models
) -> tuple[Allowance, ...]:
    """Where a team borrows in an account of its own, all that stands in its first account is guaranteed."""
    most: dict[tuple[str, str], int | None] = {}
    for row in rows:
        if not row.get("User"):
            most |= {(row["Account"], each.model): each.limit for each in _limits(row, models)}
    return tuple(
        replace(each, guaranteed=each.limit, limit=most.get((pairs[each.tenant], each.model)))
        if each.tenant in pairs
        else each
        for each in held
    )


def _tenant(row: dict[str, str], rows: Iterable[dict[str, str]]) -> Tenant:
    users = {each.get("User", "") for each in rows if each["Account"] == row["Account"]}
    name = row["Account"]
    return Tenant(name=name, parent=_parent(row), members=tuple(sorted(users - {"", _ROOT})), account=name)


def _parent(row: dict[str, str]) -> str:
    parent = row.get("ParentName") or row.get("Par Name") or ""
    return "" if parent == _ROOT else parent


def device_limits(value: str | None, models: Models) -> Iterator[tuple[str, int]]:
    """The limits on devices in a list of TRES by the slug of their model; those of all devices, under "", where none
    of a type is stated.
    """
    wanted = {name: number(count) for name, count in tres(value).items() if name.startswith(_GPU)}
    typed = {name: count for name, count in wanted.items() if name != _GPU}
    for name, count in sorted((typed or wanted).items()):
        model = models.of(name.partition(":")[2]) if ":" in name else None
        if count is not None and (model is not None or name == _GPU):
            yield model.slug if model else "", count


def _limits(row: dict[str, str], models: Models) -> Iterator[Allowance]:
    for model, count in device_limits(row.get("GrpTRES"), models):
        yield Allowance(tenant=row["Account"], model=model, limit=count, weight=_weight(row))


def _weight(row: dict[str, str]) -> int | None:
    """The account's share where it is not the usual one: the nearest to it that a quota has."""
    share = number(row.get("Share"))
    return share if share and share > 1 else None


def _unsaid(row: dict[str, str], models: Models) -> Iterator[str]:
    who = f"account {row['Account']}" + (f", user {row['User']}" if row.get("User") else "")
    limits = tres(row.get("GrpTRES"))
    devices = {name for name in limits if name.startswith(_GPU) and not row.get("User")}
    typed = {name for name in devices if ":" in name}
    for name, value in sorted(limits.items()):
        known = name in devices and ((name == _GPU and not typed) or models.of(name.partition(":")[2]) is not None)
        if not known:
            yield f"{who}: the limit {name}={value} is not written"
    if stated(row.get("Share")) not in {"", "1", "parent"} and (row.get("User") or not any(_limits(row, models))):
        yield f"{who}: FairShare={row['Share']} is not written: it has no limit on devices, and so no quota"


def _guaranteed(
    limits: list[Allowance], parents: dict[str, str], devices: dict[str, int]
) -> tuple[tuple[Allowance, ...], list[str]]:
    """Limits as guarantees, model by model, where they add up to no more than there is or than the parent has."""
    held: list[Allowance] = []
    untold: list[str] = []
    for model in sorted({limit.model for limit in limits}):
        mine = [limit for limit in limits if limit.model == model]
        there = devices.get(model, 0) if model else sum(devices.values())
        short = _overbooked(mine, parents, there)
        held += mine if short else [replace(limit, guaranteed=limit.limit) for limit in mine]
        if short:
            untold.append(f"limits on {model or 'devices'} promise {short}: written without guarantees")
    return tuple(sorted(held, key=lambda limit: (limit.tenant, limit.model))), untold


def _overbooked(limits: list[Allowance], parents: dict[str, str], there: int) -> str:
    has = {limit.tenant: limit.limit or 0 for limit in limits}
    below: dict[str, int] = {}
    for tenant, count in has.items():
        above = parents.get(tenant, "")
        while above and above not in has:
            above = parents.get(above, "")
        below[above] = below.get(above, 0) + count
    for above, total in sorted(below.items()):
        most = has[above] if above else there
        if total > most:
            return f"{total} of {most}" + (f" in account {above}" if above else "")
    return ""
