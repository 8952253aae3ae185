"""The rows of all quotas over the slots, and what a mode charges them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from planner.compile.lending import Account, accounts
from planner.compile.standing import Holding, holdings
from planner.compile.weights import weighted
from planner.names import address
from planner.spec.envelope import Priority
from solvers.problem import Charge, Row
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.ask import Speeds
    from planner.compile.fleet import FleetPool
    from planner.compile.horizon import Horizon
    from planner.compile.quotas import Cell, Cover, Quotas
    from planner.spec.policy import Policy
    from solvers.problem import Node

PARTS: Final = 1_000
"""New work inside a guarantee is counted in thousandths of a device, rounded down."""
_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRows:
    """The rows of one quota by position, None where it has none, and what it holds in each slot.

    `weights` are the rows of its weight. `pace` is the speed of the slowest model it covers, against the reference.
    """

    limit: int | None
    guarantee: int | None
    bonus: int | None
    inside: int | None
    weights: tuple[int, ...]
    pace: Fraction
    held: tuple[Holding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of all quotas, and for each quota where they are; `capacity` counts the devices open in each slot."""

    rows: tuple[Row, ...]
    by_quota: tuple[QuotaRows, ...]
    accounts: tuple[Account, ...]
    capacity: Mapping[Cell, tuple[int, ...]]

    def charges(
        self, known: Quotas, team: str, cell: Cell, devices: int, new: Fraction, *, interruptible: bool
    ) -> tuple[tuple[Charge, ...], int | None]:
        """What a mode of the team on such devices counts in which rows, and the row of its guarantee.

        `new` is the work it gets done in a slot, in slots of the reference device. It counts towards the bonus of a
        guarantee as so many devices as would do it at the quota's pace, so that one job earns the same in every mode:
        neither a slower variant nor a duration rounded up to slots makes more of the same work.
        """
        homes = known.homes(team, cell)
        amounts = {at: devices for quota in known.over(team, cell) if (at := self.by_quota[quota].limit) is not None}
        amounts |= {each.charged(homes): devices for each in self.accounts if cell in each.cells}
        for quota in (self.by_quota[home] for home in homes):
            amounts |= dict.fromkeys(
                (*quota.weights, *(() if quota.guarantee is None else (quota.guarantee,))), devices
            )
            if quota.bonus is not None:
                amounts[quota.bonus] = int(min(Fraction(devices), new / quota.pace) * PARTS)
        if not homes:
            return _charges(amounts), None
        own = self.by_quota[homes[0]]
        if own.inside is not None and not interruptible:
            amounts[own.inside] = devices
        return _charges(amounts), own.guarantee


def _charges(amounts: Mapping[int, int]) -> tuple[Charge, ...]:
    return tuple(Charge(row=at, amount=amount) for at, amount in sorted(amounts.items()))


def open_devices(
    fleet: Sequence[FleetPool], nodes: Sequence[Sequence[Node]], slots: int
) -> dict[Cell, tuple[int, ...]]:  # fmt: skip
    """For each kind of device in each pool, how many are not closed and used by nobody else, slot by slot."""
    return {
        (at, position): _open(group.count, group.resource, nodes[at], slots)
        for at, pool in enumerate(fleet)
        for position, group in enumerate(pool.groups)
    }


def _open(count: int, resource: int, nodes: Sequence[Node], slots: int) -> tuple[int, ...]:
    total = [0] * slots
    for node in nodes:
        gone = [0] * (slots + 1)
        for taken in node.taken:
            _add(gone, taken.start, taken.end, taken.use[resource])
        for closure in node.closures:
            _add(gone, closure.start, closure.end, count)
        total = [have + max(0, count - less) for have, less in zip(total, accumulate(gone[:slots]), strict=True)]
    return tuple(total)


def _add(changes: list[int], start: int, end: int, amount: int) -> None:
    last = len(changes) - 1
    changes[min(max(0, start), last)] += amount
    changes[min(max(0, end), last)] -= amount


def rows(
    known: Quotas, capacity: Mapping[Cell, tuple[int, ...]], fleet: Sequence[FleetPool], horizon: Horizon,
    policy: Policy, *, speeds: Speeds, firm: frozenset[str],
) -> Rows:  # fmt: skip
    """The rows of every quota. `firm` are the teams with work that may not be interrupted.

    A quota that decides for all it covers has limit and guarantee in one row; else they are two, charged differently.
    """
    held = holdings(known, capacity, horizon, policy.timezone)
    bound = frozenset(member for team in firm for member in known.line(team))
    made: list[Row] = []
    placed: list[dict[str, int | None]] = []
    paces = [_pace(cover, fleet, speeds) for cover in known.covers]
    for at, cover in enumerate(known.covers):
        bonus = int(policy.guarantee.micros * paces[at] * horizon.slot_seconds / (_HOUR * PARTS))
        alone = all(known.home(cover.quota.team, cell) == at for cell in cover.cells)
        limits = _limits(held[at], sum(max(capacity[cell], default=0) for cell in cover.cells))
        positions: dict[str, int | None] = dict.fromkeys(("limit", "guarantee", "bonus", "inside"))
        for names, row in _rows_of(cover, held[at], limits, bonus, alone=alone, firm=cover.quota.team in bound):
            positions |= dict.fromkeys(names, len(made))
            made.append(row)
        placed.append(positions)
    shares: list[list[int]] = [[] for _ in known.covers]
    for at, row in weighted(known, held, capacity, _least_difference(policy, min(paces, default=Fraction(1)), horizon)):
        shares[at].append(len(made))
        made.append(row)
    lending, lent = accounts(known, held, capacity, len(made))
    by_quota = tuple(
        QuotaRows(**positions, weights=tuple(shares[at]), pace=paces[at], held=held[at])
        for at, positions in enumerate(placed)
    )
    return Rows(rows=(*made, *lent), by_quota=by_quota, accounts=lending, capacity=capacity)


def _pace(cover: Cover, fleet: Sequence[FleetPool], speeds: Speeds) -> Fraction:
    return min((speeds.of(fleet[pool].groups[group].model) for pool, group in cover.cells), default=Fraction(1))


def _least_difference(policy: Policy, pace: Fraction, horizon: Horizon) -> int:
    """Half of what lies between two priorities' rates at least, in micros for a slot of a device of this pace."""
    rates = sorted({0, *(policy.rates.of(priority).micros for priority in Priority)})
    least = min((high - low for low, high in pairwise(rates)), default=0)
    return int(least * pace * horizon.slot_seconds / (2 * _HOUR))


def _rows_of(
    cover: Cover, held: Sequence[Holding], limits: tuple[int, ...] | None, bonus: int, *, alone: bool, firm: bool
) -> Iterator[tuple[tuple[str, ...], Row]]:
    subject = address("quota", cover.quota.name)
    guaranteed = tuple(each.planned for each in held)
    has_guarantee = any(guaranteed)
    if has_guarantee and alone:
        names = ("guarantee", "limit") if limits is not None else ("guarantee",)
        yield names, Row(rule=Rule.QUOTA, subject=subject, limit=limits, guarantee=guaranteed)
    else:
        if limits is not None:
            yield ("limit",), Row(rule=Rule.QUOTA, subject=subject, limit=limits)
        if has_guarantee:
            yield ("guarantee",), Row(rule=Rule.QUOTA, subject=f"{subject} guarantee", guarantee=guaranteed)
    if has_guarantee:
        parts = tuple(devices * PARTS for devices in guaranteed)
        subject_new = f"{subject} guarantee, for new work"
        yield ("bonus",), Row(rule=Rule.QUOTA, subject=subject_new, guarantee=parts, bonus_micros=bonus)
    if firm:
        what = f"{subject} guarantee, for work that may not be interrupted"
        yield ("inside",), Row(rule=Rule.QUOTA, subject=what, limit=tuple(each.own for each in held))


def _limits(held: Sequence[Holding], everything: int) -> tuple[int, ...] | None:
    """The limit in each slot; where there is none, all the devices that are covered, which no use can exceed."""
    if all(each.limit is None for each in held):
        return None
    return tuple(everything if each.limit is None else each.limit for each in held)
