"""Which markets work may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.compile.fleet import Market
from planner.compile.refusal import Code, Refusal
from planner.spec.work import Market as Wanted

if TYPE_CHECKING:
    from planner.compile.ask import Ask
    from planner.compile.site import Site


def refusal(ask: Ask, site: Site) -> Refusal | None:
    """Why the work does not use the market of a site."""
    if site.pool.market is Market.SPOT:
        return _off_spot(ask, site)
    if ask.spot is Wanted.ONLY:
        return site.refuse(Code.MARKET, "the job runs on the spot market only", "set market.spot to prefer or allowed")
    if not site.pool.nodes and not site.pool.is_own:
        return site.refuse(Code.MARKET, "no node may be created on demand here", "raise max_nodes.on_demand")
    return None


def _off_spot(ask: Ask, site: Site) -> Refusal | None:
    if ask.spot is Wanted.NEVER:
        return site.refuse(Code.MARKET, "the job does not use the spot market", "set market.spot to allowed")
    if not ask.interruptible:
        message = "spot machines are taken back, and the job may never be interrupted"
        return site.refuse(Code.MARKET, message, "leave preemptible out")
    if not ask.checkpointed:
        message = "spot machines are taken back, and the job saves no checkpoints"
        return site.refuse(Code.MARKET, message, "add checkpoint: {every: 20m}")
    if not site.pool.nodes:
        message = "no node may be created on the spot market here: max_nodes.spot is 0"
        return site.refuse(Code.MARKET, message, "raise max_nodes.spot")
    return None
