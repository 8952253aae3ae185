"""Whose guarantees cannot be honoured while nodes are away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.diagnostics import Diagnostic, Severity
from planner.names import address
from planner.specset import guarantees
from planner.specset.model import SpecSet
from planner.specset.quota_checks import Devices, amounts_of, claims_of, devices_of, sum_text


def shortfalls(specset: SpecSet, nodes_away: Mapping[str, int]) -> tuple[Diagnostic, ...]:
    """Warnings about guarantees that exceed what is left when pools (`dc1/h100`) lose some of their nodes.

    One warning for each set of quotas that is short at some time of the week; its help says how short each may be.
    """
    vendors = {entry.slug: str(entry.vendor) for entry in specset.catalog.accelerators}
    whole = devices_of(specset.clusters, vendors)
    left = [_without(specset, devices, nodes_away.get(f"{devices.cluster}/{devices.pool}", 0)) for devices in whole]
    claims = claims_of(specset.quotas, specset.teams, whole)
    told: dict[tuple[str, ...], Diagnostic] = {}
    for moment, amounts in amounts_of(specset.quotas, specset.policy.timezone):
        for short in guarantees.shortages(claims, amounts, [devices.count for devices in left]):
            told.setdefault(short.claims, _warning(specset, short, left, moment))
    return tuple(told.values())


def _without(specset: SpecSet, devices: Devices, nodes: int) -> Devices:
    pool = specset.pool(f"{devices.cluster}/{devices.pool}")
    per_node = devices.count // pool.node_count if pool.node_count else 0
    return replace(devices, count=max(0, devices.count - nodes * per_node))


def _warning(specset: SpecSet, short: guarantees.Shortage, left: Sequence[Devices], moment: str) -> Diagnostic:
    where = address("quota", short.claims[0])
    when = f" (from {moment})" if moment else ""
    pairs = zip(short.claims, short.amounts, strict=True)
    teams = [f"{specset.quota(name).team} is guaranteed {amount}" for name, amount in pairs]
    remains = [left[index] for index in short.covered]
    have = ", ".join(f"{one.count} x {one.model} in {one.cluster}/{one.pool}" for one in remains)
    missing = short.wanted - short.available
    return Diagnostic(
        code="LINT509",
        severity=Severity.WARNING,
        summary=f"guarantees exceed what is left: {sum_text(short.amounts, short.wanted)} > {short.available}{when}",
        place=specset.place(where),
        address=where,
        path="guaranteed",
        help="\n".join([f"{missing} devices are missing", *teams, f"left: {have}"]),
    )
