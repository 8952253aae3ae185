"""Where nodes are in specs: which pool of which cluster has them, and with which devices."""

from __future__ import annotations

from planner.discovery.snapshot import NodeHome
from planner.specset import SpecSet


def homes(specset: SpecSet, cluster: str) -> dict[str, NodeHome]:
    """The nodes of one cluster of the specs; none where there is no such cluster."""
    found: dict[str, NodeHome] = {}
    for where in specset.pools():
        if where.cluster.name == cluster:
            devices = tuple(sorted(index for group in where.pool.device_indices() for index in group))
            home = NodeHome(pool=f"{cluster}/{where.pool.name}", devices=devices)
            found |= dict.fromkeys(where.pool.node_names(), home)
    return found
