"""What the previous plan decided, found again by address: since when work waits, and where it was to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner import units
from planner.compile.cells import held_cells, sits_so
from solvers.problem import Previous

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.compile.candidate import Candidate
    from planner.compile.horizon import Horizon
    from planner.plan import Placement, Plan, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The placements and submission times of the previous plan by address."""

    placements: Mapping[str, Placement]
    submitted: Mapping[str, int]

    def placement(self, addresses: Sequence[str]) -> Placement | None:
        """The placement under the first of an object's addresses, present and former, that has one."""
        return next((self.placements[where] for where in addresses if where in self.placements), None)

    def since(self, addresses: Sequence[str]) -> int | None:
        """When the object was submitted, as far as the previous plan knew it."""
        return next((self.submitted[where] for where in addresses if where in self.submitted), None)


def past(previous: Plan | None) -> Past:
    """What the previous plan says; nothing without one."""
    if previous is None:
        return Past(placements=MappingProxyType({}), submitted=MappingProxyType({}))
    return Past(
        placements=MappingProxyType({placement.address: placement for placement in previous.placements}),
        submitted=MappingProxyType(dict(_submitted(previous))),
    )


def _submitted(previous: Plan) -> Iterator[tuple[str, int]]:
    for placement in previous.placements:
        yield placement.address, units.parse_time(placement.submitted, "UTC")
    for unplaced in previous.unplaced:
        if unplaced.submitted is not None:
            yield unplaced.address, units.parse_time(unplaced.submitted, "UTC")


def earlier(placement: Placement | None, candidates: Sequence[Candidate], horizon: Horizon) -> Previous | None:
    """The placement as a run of this problem; None where its mode is gone, or it began before or between the slots."""
    if placement is None or len(placement.segments) != 1:
        return None
    segment = placement.segments[0]
    offset = units.parse_time(segment.start, "UTC") - horizon.start
    found = seat(segment, candidates)
    if found is None or offset < 0 or offset % horizon.slot_seconds:
        return None
    return Previous(mode=found[0], start=offset // horizon.slot_seconds, nodes=found[1])


def seat(segment: Segment, candidates: Sequence[Candidate]) -> tuple[int, tuple[tuple[int, int], ...]] | None:
    """The mode of a segment and its `(node, devices)`, of several the one of its size; None where its mode is gone."""
    size = sum(len(node.devices) for node in segment.nodes)

    def rank(each: tuple[int, Candidate]) -> tuple[bool, bool, int]:
        mode, candidate = each
        eligible = candidate.nodes is None or {node.name for node in segment.nodes} <= {
            candidate.site.pool.nodes[at] for at in candidate.nodes
        }
        return candidate.devices != size, not eligible, mode

    for mode, candidate in sorted(enumerate(candidates), key=rank):
        if _same(candidate, segment):
            held = _held(candidate, segment)
            if sits_so(candidate, held) if candidate.site.pool.cells else _lies_so(candidate, tuple(held)):
                return mode, tuple(sorted(held.items()))
    return None


def _held(candidate: Candidate, segment: Segment) -> dict[int, int]:
    """The units of devices on each of the solver's nodes, as far as they are still there."""
    pool = candidate.site.pool
    if pool.cells:
        return held_cells(candidate, ((node.name, node.devices) for node in segment.nodes))
    positions = {name: at for at, name in enumerate(pool.nodes)}
    held: dict[int, int] = {}
    for node in segment.nodes:
        if node.name in positions:
            at = positions[node.name]
            devices = held.get(at, 0) + len(node.devices) * pool.units
            held[at] = devices if pool.is_own else pool.devices_per_node * pool.units
    return held


def _lies_so(candidate: Candidate, nodes: Sequence[int]) -> bool:
    """Whether nodes, by position in the candidate's pool, are split over domains as the candidate's blocks are."""
    if candidate.within is None:
        return True
    of_node = candidate.site.pool.tiers[candidate.within].of_node
    lie, blocks = Counter(of_node[node] for node in nodes), Counter[int]()
    for shape in candidate.shapes:
        blocks[shape.block] += shape.count
    return None not in lie and sorted(lie.values()) == sorted(blocks.values())


def _same(candidate: Candidate, segment: Segment) -> bool:
    pool, group = candidate.site.pool, candidate.site.group
    return (
        candidate.variant == segment.variant
        and pool.cluster.name == segment.cluster
        and pool.name == segment.pool
        and pool.market == segment.market
        and (group.model if group else None) == segment.model
    )


def began(previous: Plan | None, start: int) -> tuple[str, ...]:
    """Addresses of work that the previous plan had running when this one starts."""
    if previous is None:
        return ()
    return tuple(
        placement.address
        for placement in previous.placements
        if units.parse_time(placement.start, "UTC") < start < units.parse_time(placement.finish, "UTC")
    )
