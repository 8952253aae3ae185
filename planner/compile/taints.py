"""Whether work tolerates the taints of a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from planner.compile.refusal import Code, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.catalog import Vendor, VendorFacts
    from planner.compile.ask import Ask
    from planner.compile.site import Site


class HasFacts(Protocol):
    """What knows the vendors' facts."""

    @property
    def facts(self) -> Mapping[Vendor, VendorFacts]:
        """The facts of each vendor."""


def taints(ask: Ask, site: Site, grounds: HasFacts, _: object) -> Refusal | None:
    """Only the device taint of the site's own vendor is tolerated unasked."""
    own = grounds.facts[site.group.vendor].taint_key if site.group else None
    for taint in site.pool.pool.taints:
        key, value, effect = _taint(taint)
        if effect == "PreferNoSchedule" or key == own:
            continue
        if not any(_tolerates(toleration, key, value, effect) for toleration in ask.tolerations):
            return site.refuse(Code.TAINT, f"its nodes have the taint {taint}", f'add "{taint}" to needs.tolerations')
    return None


def _taint(text: str) -> tuple[str, str, str]:
    pair, _, effect = text.partition(":")
    key, _, value = pair.partition("=")
    return key, value, effect


def _tolerates(toleration: str, key: str, value: str, effect: str) -> bool:
    its_key, its_value, its_effect = _taint(toleration)
    return its_key == key and its_value in {"", value} and its_effect in {"", effect}
