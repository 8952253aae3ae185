"""Services spread evenly over nodes, racks or places: a way to run in each domain, and rows that keep them even.

With R replicas over D domains no two of which may differ by more than `max_skew`, each has between
low = max(0, R // D - max_skew // 2) and low + max_skew of them. The upper end is a limit for each domain; the
lower end is a limit of R - low for all others together, which says the same while every replica has a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from planner.compile.egress import place_name
from planner.compile.refusal import Code, one_a_subject
from planner.names import address
from planner.spec.service import SpreadOver
from planner.spec.work import Within
from solvers.problem import Row
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.refusal import Refusal
    from planner.compile.replicas import Offers
    from planner.spec.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A node, rack or place that replicas may be in: its name for people, and its nodes (None: all of the pool)."""

    name: str
    nodes: tuple[int, ...] | None


def spread(service: Service, one: Offers, allowed: Sequence[int], first: int) -> tuple[Offers, tuple[Row, ...]]:
    """The offers domain by domain, and the rows that keep `allowed[t]` replicas even, from position `first` on.

    What lies in no domain, since the pool does not state its racks or a replica takes several nodes, is refused.
    """
    assert service.spread is not None, "only services with a spread are spread"
    over = service.spread.over
    found = [(each, domain) for each in one.candidates for domain in _domains(each, over)]
    names = sorted({domain.name for _, domain in found})
    low = [max(0, number // max(1, len(names)) - service.spread.max_skew // 2) for number in allowed]
    where = address("service", service.team, service.name)
    rows = [_row(f"{where} in {name}", [each + service.spread.max_skew for each in low]) for name in names]
    if any(low):
        others = [number - each for number, each in zip(allowed, low, strict=True)]
        rows += [_row(f"{where} outside {name}", others) for name in names]
    candidates = tuple(
        replace(
            each, nodes=domain.nodes, counted=tuple(_counted(names.index(domain.name), len(names), first, len(rows)))
        )
        for each, domain in found
    )
    taken = {each.site.subject for each in candidates}
    apart = (_nowhere(each, over) for each in one.candidates if each.site.subject not in taken)
    return replace(one, candidates=candidates, refusals=one_a_subject([*one.refusals, *apart])), tuple(rows)


def _row(subject: str, limit: Sequence[int]) -> Row:
    return Row(rule=Rule.QUOTA, subject=subject, limit=tuple(limit))


def _counted(domain: int, domains: int, first: int, rows: int) -> Iterator[int]:
    """The rows that count a replica in a domain: its own, and those of all that is outside another one."""
    yield first + domain
    if rows > domains:
        yield from (first + domains + other for other in range(domains) if other != domain)


def _nowhere(candidate: Candidate, over: SpreadOver) -> Refusal:
    if candidate.node_count > 1:
        what = f"a replica takes {candidate.node_count} nodes, and replicas are to be spread over {over.value}s"
        return candidate.site.refuse(Code.TOPOLOGY, what, "spread them over places, or ask for fewer devices")
    return candidate.site.refuse(Code.TOPOLOGY, "the pool does not state its racks", "state nodes_per_rack, or racks")


def _domains(candidate: Candidate, over: SpreadOver) -> Iterator[Domain]:
    pool = candidate.site.pool
    nodes = range(len(pool.nodes)) if candidate.nodes is None else candidate.nodes
    match over:
        case SpreadOver.PLACE:
            yield Domain(name=place_name(pool), nodes=candidate.nodes)
        case SpreadOver.NODE:
            for at in nodes if candidate.node_count == 1 else ():
                yield Domain(name=f"{pool.name}/{pool.nodes[at]}", nodes=(at,))
        case SpreadOver.RACK:
            yield from _racks(candidate, nodes) if candidate.node_count == 1 else ()
        case _:
            assert_never(over)


def _racks(candidate: Candidate, nodes: Sequence[int]) -> Iterator[Domain]:
    pool = candidate.site.pool
    for tier in pool.tiers:
        if tier.within is Within.RACK:
            for rack in sorted({rack for at in nodes if (rack := tier.of_node[at]) is not None}):
                inside = tuple(at for at in nodes if tier.of_node[at] == rack)
                yield Domain(name=f"rack {rack + 1} of {pool.name}", nodes=inside)
