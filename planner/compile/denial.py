"""A policy's own denials: which of its rules keeps work off a site, and why.

`place`: what it means has no way to run there. `preempt` and `move` forbid to interrupt running work and to take it to
other nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner.compile.refusal import Code, Refusal
from planner.spec.policy import CheckpointIs, DenyWhat

if TYPE_CHECKING:
    from planner.compile.ask import Ask
    from planner.compile.site import Site
    from planner.spec.policy import DenyRule, Where


def denial(rules: Iterable[DenyRule], ask: Ask, site: Site, what: DenyWhat = DenyWhat.PLACE) -> Refusal | None:
    """The refusal by the first rule that forbids to do that with such work there; None when none does."""
    for rule in rules:
        if rule.what is what and _means(rule.where, ask, site):
            why = f": {rule.message}" if rule.message else ""
            return site.refuse(
                Code.DENIED, f"rule {rule.id} of the policy denies it{why}", f"change rule {rule.id} of the policy"
            )
    return None


def _means(where: Where, ask: Ask, site: Site) -> bool:
    """Whether a rule's conditions all hold; a condition on what the site does not have (a market, a vendor) never."""
    vendor = site.group.vendor if site.group else None
    return (
        (not where.priority or ask.priority in where.priority)
        and (not where.team or ask.team in where.team)
        and (not where.pool or site.pool.name in where.pool)
        and (not where.market or site.pool.market.value in where.market)
        and (not where.vendor or vendor in where.vendor)
        and (where.checkpoint is not CheckpointIs.MISSING or not ask.checkpointed)
    )
