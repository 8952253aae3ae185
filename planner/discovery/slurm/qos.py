"""Slurm's QOS: a limit on devices in a QOS that one account alone may use is that account's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from planner.discovery.found import Allowance
from planner.discovery.models import Models
from planner.discovery.slurm.accounts import device_limits
from planner.discovery.slurm.records import stated, table

COMMAND: Final = (
    "sacctmgr", "-P", "show", "qos", "format=name,grptres,grptresmins,maxtrespa,maxtrespu,maxtres,maxwall",
)  # fmt: skip
BEGINNING: Final = "Name|GrpTRES|"
_GROUP: Final = "GrpTRES"
_PER_ACCOUNT: Final = "MaxTRESPA"
_OTHERS: Final = ("GrpTRESMins", "MaxTRESPU", "MaxTRES", "MaxWall")


@dataclass(frozen=True, slots=True, kw_only=True)
class QosLimits:
    """Limits of accounts, and in sentences those that specs cannot say."""

    allowances: tuple[Allowance, ...] = ()
    untold: tuple[str, ...] = ()


def qos_limits(text: str, users: Mapping[str, Iterable[str]], models: Models) -> QosLimits:
    """Read the output of `COMMAND`, with its header; `users` has the accounts that may use each QOS.

    A limit for each account (MaxTRESPA) is that of all who may use it; one for all together is somebody's only where
    one account may.
    """
    allowances: list[Allowance] = []
    untold: list[str] = []
    for row in table(text, "Name"):
        accounts = sorted(users.get(row["Name"], ()))
        allowances += (one for account in accounts for one in _limits(row.get(_PER_ACCOUNT), account, models))
        if len(accounts) == 1:
            allowances += _limits(row.get(_GROUP), accounts[0], models)
        untold += _unsaid(row, accounts)
    return QosLimits(allowances=tuple(allowances), untold=tuple(untold))


def _limits(value: str | None, account: str, models: Models) -> Iterator[Allowance]:
    for model, count in device_limits(value, models):
        yield Allowance(tenant=account, model=model, limit=count)


def _unsaid(row: dict[str, str], accounts: list[str]) -> Iterator[str]:
    if stated(row.get(_GROUP)) and len(accounts) != 1:
        whose = f"{len(accounts)} accounts share it" if accounts else "no account has it"
        yield f"QOS {row['Name']}: the limit {row[_GROUP]} is not written: {whose}"
    for key in _OTHERS:
        if stated(row.get(key)):
            yield f"QOS {row['Name']}: the limit {key}={row[key]} is not written"


def narrowed(own: Iterable[Allowance], more: Iterable[Allowance]) -> tuple[Allowance, ...]:
    """Allowances of accounts with the limits of their QOS, of which the least holds; none is more than the limit."""
    found = {(each.tenant, each.model): each for each in own}
    for each in more:
        was = found.get((each.tenant, each.model))
        found[each.tenant, each.model] = each if was is None else _least(was, each)
    return tuple(found[key] for key in sorted(found))


def _least(was: Allowance, more: Allowance) -> Allowance:
    limit = min(each for each in (was.limit, more.limit) if each is not None)
    return replace(was, limit=limit, guaranteed=None if was.guaranteed is None else min(was.guaranteed, limit))
