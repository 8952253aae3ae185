"""What holds where nothing is written: Team.defaults for work, the policy's currency for its rates."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from planner.spec.job import Job
from planner.spec.policy import Policy, Rates
from planner.spec.service import Service
from planner.spec.team import TeamDefaults
from planner.specset.faults import Faults, Item
from planner.units import Money

W = TypeVar("W", Job, Service)

_PLAIN: Final = (
    "priority", "checkpoint", "preemptible", "movable", "min_run", "retries", "market", "max_cost", "place", "needs",
    "mounts", "user", "pull_secrets", "service_account",
)  # fmt: skip


def applied(item: Item[W], team: TeamDefaults, faults: Faults) -> Item[W]:
    """Work with the defaults of its team: whatever it states itself wins, environments are merged."""
    own = item.spec.model_fields_set
    update: dict[str, Any] = {
        name: value
        for name in _PLAIN
        if name in type(item.spec).model_fields and name not in own and (value := getattr(team, name))
    }
    for name in ("preemptible", "movable"):
        if name in type(item.spec).model_fields and name not in own and getattr(team, name) is False:
            update[name] = False
    if team.env:
        update["env"] = tuple(sorted({**dict(team.env), **dict(item.spec.env)}.items()))
    if isinstance(item.spec, Job):
        update |= _duration(item, team, faults)
    return item.changed(update)


def _duration(item: Item[Any], team: TeamDefaults, faults: Faults) -> dict[str, Any]:
    own, default = item.spec.duration, team.duration
    update: dict[str, Any] = {}
    if default.expected and not own.is_given and not any(variant.duration.is_given for variant in item.spec.variants):
        update["expected"] = default.expected
    if default.limit and not own.limit:
        update["limit"] = default.limit
        longest = max([item for item in (own.expected, *dict(own.by_model).values()) if item], default=None)
        if longest and longest > default.limit:
            summary = f"the job takes {longest}, but its team's default limit is {default.limit}"
            faults.add(
                "SPEC419", item, ("duration",), summary,
                help=f"write duration: {{expected: {longest}, limit: …}}, or shorten the job",
            )  # fmt: skip
    return {"duration": own.model_copy(update=update)} if update else {}


def in_currency(item: Item[Policy]) -> Item[Policy]:
    """A policy whose unwritten rates are in its own currency."""
    policy = item.spec
    if policy.currency == "USD":
        return item
    update: dict[str, Any] = {
        name: Money(policy.currency, getattr(policy, name).micros)
        for name in ("guarantee", "move")
        if name not in policy.model_fields_set
    }
    update["rates"] = policy.rates.model_copy(
        update={
            name: Money(policy.currency, getattr(policy.rates, name).micros)
            for name in Rates.model_fields
            if name not in policy.rates.model_fields_set
        }
    )
    return item.changed(update)
