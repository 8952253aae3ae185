"""The nodes of pools and when they are closed: what snapshots say is down or taken, maintenance, and markets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.compile.foreign import FOR_EVER
from solvers.problem import Closure, Node, Taken

if TYPE_CHECKING:
    from planner.compile.fleet import FleetPool
    from planner.compile.horizon import Horizon
    from planner.spec.snapshot import Snapshot


def in_use(snapshots: Sequence[Snapshot]) -> frozenset[str | None]:
    """The pools in which planned work runs already."""
    jobs = {run.pool for shot in snapshots for run in shot.running}
    return frozenset(jobs | {run.pool for shot in snapshots for run in shot.services})


def down(snapshots: Sequence[Snapshot]) -> frozenset[tuple[str, str]]:
    """The nodes that do not work now, whenever they come back."""
    return frozenset((lost.pool, node.name) for shot in snapshots for lost in shot.down for node in lost.nodes)


def cooling(pool: FleetPool, horizon: Horizon, snapshots: Sequence[Snapshot]) -> int:
    """The slot until which snapshots say that a market gives no machines; 0 for one that is open."""
    states = (state for snapshot in snapshots for state in snapshot.markets)
    ends = (
        FOR_EVER if state.until is None else horizon.ceil(state.until)
        for state in states
        if state.pool == pool.name and state.market.value == pool.market.value
    )
    return max(0, *ends, 0)


def open_nodes(
    pool: FleetPool, horizon: Horizon, snapshots: Sequence[Snapshot], closed_until: int,
    taken: Sequence[tuple[Taken, ...]],
) -> tuple[Node, ...]:  # fmt: skip
    """The nodes with the times in which they are closed: market, maintenance, and what snapshots say is down."""
    at_first = [Closure(start=0, end=closed_until)] if closed_until else []
    closed: dict[str, list[Closure]] = {name: list(at_first) for name in pool.nodes}
    for absence in pool.pool.unavailable:
        start, end = max(0, horizon.floor(absence.start)), horizon.ceil(absence.end)
        for name in absence.nodes or pool.nodes:
            if name in closed and end > start:
                closed[name].append(Closure(start=start, end=end))
    for lost in (each for snapshot in snapshots for each in snapshot.down):
        end = horizon.ceil(lost.until) if lost.until is not None else FOR_EVER
        for seen in lost.nodes if lost.pool == pool.name else ():
            if seen.name in closed and end > 0:
                closed[seen.name].append(Closure(start=0, end=end))
    return tuple(
        Node(
            name=name,
            capacity=pool.capacity,
            domains=tuple(tier.of_node[at] for tier in pool.tiers),
            closures=tuple(sorted(closed[name], key=lambda each: (each.start, each.end))),
            taken=used,
        )
        for at, (name, used) in enumerate(zip(pool.nodes, taken, strict=True))
    )
