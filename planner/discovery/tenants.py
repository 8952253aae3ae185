"""Accounts and namespaces as Team and Quota documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.discovery.found import Allowance, ClusterFacts, Tenant
from planner.names import NAME_LENGTH, is_name, suggest_name
from planner.spec.envelope import API_VERSION


def team_names(tenants: Sequence[Tenant]) -> dict[str, str]:
    """A legal and unique team name for each tenant, its own where that is one; those that keep theirs come first."""
    names: dict[str, str] = {tenant.name: tenant.name for tenant in tenants if is_name(tenant.name)}
    for tenant in sorted(tenants, key=lambda each: each.name):
        if tenant.name not in names:
            names[tenant.name] = _free(suggest_name(tenant.name) or "team", set(names.values()))
    return names


def _free(name: str, taken: set[str]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name[: NAME_LENGTH - 4]}-{number}") in taken:
        number += 1
    return free


def documents(facts: ClusterFacts, cluster: str) -> list[dict[str, Any]]:
    """Teams in the order of their names, each followed by its quotas; what holds is left to the cluster at hand."""
    names = team_names(facts.tenants)
    found: list[dict[str, Any]] = []
    for tenant in sorted(facts.tenants, key=lambda each: names[each.name]):
        found.append(_team(tenant, names))
        mine = [each for each in facts.allowances if each.tenant == tenant.name]
        found += [_quota(each, names[tenant.name], cluster) for each in mine]
    return found


def _team(tenant: Tenant, names: Mapping[str, str]) -> dict[str, Any]:
    name = names[tenant.name]
    stated = {
        "parent": names.get(tenant.parent),
        "members": list(tenant.members),
        "namespace": tenant.namespace if tenant.namespace != name else None,
        "account": tenant.account if tenant.account != name else None,
    }
    return {"apiVersion": API_VERSION, "kind": "Team", "name": name} | {
        key: each for key, each in stated.items() if each
    }


def _quota(allowance: Allowance, team: str, cluster: str) -> dict[str, Any]:
    covered = {"model": allowance.model} if allowance.model else {"vendor": allowance.vendor}
    gpus = {key: value for key, value in covered.items() if value} | {"cluster": cluster}
    stated = {
        "guaranteed": allowance.guaranteed,
        "limit": allowance.limit,
        "lend": allowance.lend,
        "weight": allowance.weight,
    }
    name = suggest_name(f"{team[:24]}-{allowance.model or allowance.vendor or 'gpus'}-{cluster[:12]}")
    head = {"apiVersion": API_VERSION, "kind": "Quota", "name": name, "team": team, "gpus": gpus}
    return head | {key: value for key, value in stated.items() if value is not None}
