"""Whether guarantees can all be honoured at once, as arithmetic on sets of devices.

Guarantees of one team over nested sets of devices contain each other, and a parent team's contains its children's; what
is left after that is a transport problem: each claim draws from the devices that it covers. By the theorem of max-flow
and min-cut there is a shortage exactly when some claims together exceed all that they cover, and the cut names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.units import shared


@dataclass(frozen=True, slots=True)
class Claim:
    """One quota: its team with the teams above it, and the indices of the devices that it covers."""

    name: str
    line: tuple[str, ...]
    covers: frozenset[int]

    def inside(self, other: Claim) -> bool:
        """Whether what this claim guarantees is a part of what the other one does."""
        if self is other or not self.covers <= other.covers or other.line[0] not in self.line:
            return False
        return self.covers != other.covers or self.line[0] != other.line[0]


def line_of(team: str, parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """The team and all teams above it, from below."""
    line = [team]
    while (parent := parents.get(line[-1])) is not None:
        line.append(parent)
    return tuple(line)


def above(claims: Sequence[Claim]) -> dict[str, str | None]:
    """For each claim that of the nearest team above which covers all that it does, the narrowest of several."""
    return {claim.name: _above(claim, claims) for claim in claims}


def _above(claim: Claim, claims: Sequence[Claim]) -> str | None:
    for team in claim.line[1:]:
        wide = [other for other in claims if other.line[0] == team and claim.covers <= other.covers]
        if wide:
            return min(wide, key=lambda other: (len(other.covers), other.name)).name
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Claims that together exceed what they cover: their names and amounts, and the indices of the devices."""

    claims: tuple[str, ...]
    amounts: tuple[int, ...]
    wanted: int
    available: int
    covered: tuple[int, ...]


def own_parts(claims: Sequence[Claim], amounts: Mapping[str, int]) -> dict[str, int]:
    """Of each claim, the part that no claim inside it accounts for; their sum is what all claims need together."""
    parts: dict[str, int] = {}
    for claim in sorted(claims, key=lambda claim: (len(claim.covers), -len(claim.line), claim.name)):
        within = sum(parts[other.name] for other in claims if other.name in parts and other.inside(claim))
        parts[claim.name] = max(0, amounts[claim.name] - within)
    return parts


def above_parent(claims: Sequence[Claim], amounts: Mapping[str, int]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Parents whose children guarantee more than they do: the parent, the children, and the children's sum."""
    parts = own_parts(claims, amounts)
    for claim in claims:
        below = [other for other in claims if other.inside(claim) and other.line[0] != claim.line[0]]
        total = sum(parts[other.name] for other in below)
        if total > amounts[claim.name]:
            yield claim.name, tuple(other.name for other in below if amounts[other.name]), total


def affordable(claims: Sequence[Claim], amounts: Mapping[str, int], capacity: Sequence[int]) -> dict[str, int]:
    """Every claim's own part; those that exceed what they cover together are cut in proportion to their size."""
    parts = own_parts(claims, amounts)
    alone = [Claim(name=claim.name, line=(claim.name,), covers=claim.covers) for claim in claims]
    while found := shortages(alone, parts, capacity):
        short = found[0]
        given = shared(short.available, [parts[name] for name in short.claims])
        parts |= dict(zip(short.claims, given, strict=True))
    return parts


def shortages(claims: Sequence[Claim], amounts: Mapping[str, int], capacity: Sequence[int]) -> tuple[Shortage, ...]:
    """Every group of claims that together exceed what they cover; none when the devices suffice for all."""
    wanted = own_parts(claims, amounts)
    given = {claim.name: [0] * len(capacity) for claim in claims}
    free = list(capacity)
    groups: list[frozenset[str]] = []
    for claim in claims:
        while (missing := wanted[claim.name] - sum(given[claim.name])) > 0:
            reached = _serve(claim, missing, claims, given, free)
            if reached is not None:
                groups = _joined(groups, reached)
                break
    return tuple(_shortage([one for one in claims if one.name in group], wanted, capacity) for group in groups)


def _joined(groups: Sequence[frozenset[str]], more: frozenset[str]) -> list[frozenset[str]]:
    """Disjoint groups, with those that share a claim with a further one made one."""
    apart = [group for group in groups if not group & more]
    return [*apart, more.union(*(group for group in groups if group & more))]


def _serve(
    claim: Claim, missing: int, claims: Sequence[Claim], given: Mapping[str, list[int]], free: list[int]
) -> frozenset[str] | None:
    """Give a claim more devices, moving others' if need be; if nothing can be moved, the claims in the way."""
    by_name = {other.name: other for other in claims}
    came_from: dict[int, tuple[str, int | None]] = {}
    reached = {claim.name}
    queue: list[tuple[str, int | None]] = [(claim.name, None)]
    while queue:
        name, through = queue.pop(0)
        for index in sorted(by_name[name].covers):
            if index in came_from:
                continue
            came_from[index] = (name, through)
            if free[index]:
                _move(index, missing, came_from, given, free)
                return None
            holders = [other for other in claims if given[other.name][index] and other.name not in reached]
            reached.update(other.name for other in holders)
            queue += [(other.name, index) for other in holders]
    return frozenset(reached)


def _move(
    end: int,
    most: int,
    came_from: Mapping[int, tuple[str, int | None]],
    given: Mapping[str, list[int]],
    free: list[int],
) -> None:
    """Shift as many devices as possible along the path that ends at free ones."""
    steps: list[tuple[str, int, int | None]] = []
    index: int | None = end
    while index is not None:
        name, through = came_from[index]
        steps.append((name, index, through))
        index = through
    amount = min([most, free[end], *(given[name][through] for name, _, through in steps if through is not None)])
    free[end] -= amount
    for name, index, through in steps:
        given[name][index] += amount
        if through is not None:
            given[name][through] -= amount


def _shortage(claims: Sequence[Claim], wanted: Mapping[str, int], capacity: Sequence[int]) -> Shortage:
    short = [claim for claim in claims if wanted[claim.name]]
    covered = sorted({index for claim in claims for index in claim.covers})
    return Shortage(
        claims=tuple(claim.name for claim in short),
        amounts=tuple(wanted[claim.name] for claim in short),
        wanted=sum(wanted[claim.name] for claim in short),
        available=sum(capacity[index] for index in covered),
        covered=tuple(covered),
    )
