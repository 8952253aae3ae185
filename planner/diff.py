"""Two plans compared: what becomes of every job, team, pool and sum of money.

Times are epoch seconds, device use is device-seconds, money is micros. A change that nobody would notice is none: a
plan whose bound or shadow prices differ, with everybody where they were, is the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final

from planner.plan import Cost, Placement, Plan, Reason, Unplaced, Utilisation

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Effect(StrEnum):
    """What happens to a job, in the order in which people want to hear it; a job has the first of these that fits."""

    DISPLACED = "displaced"
    PLACED = "placed"
    LATER = "later"
    EARLIER = "earlier"
    RESHAPED = "reshaped"
    MOVED = "moved"
    EDITED = "edited"
    ADDED = "added"
    REFUSED = "refused"
    REMOVED = "removed"
    DROPPED = "dropped"
    REASONS = "reasons"


_RANKS: Final = {effect: rank for rank, effect in enumerate(Effect)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """When and where a job runs in one plan; `seats` are `(pool, node, devices)` of its segments in order of time."""

    start: int
    finish: int
    late_seconds: int
    pools: tuple[str, ...]
    variants: tuple[str, ...]
    models: tuple[str, ...]
    markets: tuple[str, ...]
    spans: tuple[tuple[str, str], ...]
    gpus: Fraction
    priority: str
    cash_micros: int
    seats: tuple[tuple[str, str, str], ...]
    spec: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """What becomes of one job; `before` and `after` are absent where it does not run or does not exist."""

    effect: Effect
    address: str
    team: str
    before: Run | None = None
    after: Run | None = None
    reason: Reason | None = None
    formerly: str | None = None

    @property
    def start_seconds(self) -> int:
        """How much later it starts (negative: earlier)."""
        return self.after.start - self.before.start if self.before and self.after else 0

    @property
    def finish_seconds(self) -> int:
        """How much later it finishes."""
        return self.after.finish - self.before.finish if self.before and self.after else 0

    @property
    def becomes_late(self) -> bool:
        """Whether it misses its soft deadline only in the second plan."""
        return bool(self.after and self.after.late_seconds and not (self.before and self.before.late_seconds))

    @property
    def moves(self) -> bool:
        """Whether it runs on other nodes or devices."""
        return bool(self.before and self.after and self.before.seats != self.after.seats)

    @property
    def key(self) -> tuple[int, int, str]:
        """The total order of changes: by effect, then how much, then address."""
        return _RANKS[self.effect], -abs(self.start_seconds or self.finish_seconds), self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamChange:
    """What one team has in each plan: jobs that run, device-seconds, money."""

    team: str
    jobs: tuple[int, int]
    device_seconds: tuple[Fraction, Fraction]
    cash_micros: tuple[int, int]
    chargeback_micros: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaChange:
    """Device-seconds of one quota over the horizon of each plan: what is guaranteed, used, borrowed and lent."""

    team: str
    quota: str
    guaranteed: tuple[Fraction, Fraction]
    used: tuple[Fraction, Fraction]
    borrowed: tuple[Fraction, Fraction]
    lent: tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class UseChange:
    """Device-seconds used and existing of one pool, vendor or model in each plan."""

    by: str
    name: str
    used: tuple[int, int]
    capacity: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChange:
    """The sums of money of the whole in each plan."""

    cash_micros: tuple[int, int]
    power_micros: tuple[int, int]
    chargeback_micros: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChange:
    """A part of the plan that differs and has no finer comparison: services, layouts, what back ends cannot enforce."""

    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Everything that differs between two plans; each list is sorted, and all are empty when nothing differs."""

    jobs: tuple[JobChange, ...] = ()
    teams: tuple[TeamChange, ...] = ()
    quotas: tuple[QuotaChange, ...] = ()
    uses: tuple[UseChange, ...] = ()
    cost: CostChange | None = None
    sections: tuple[SectionChange, ...] = ()
    unchanged: int = 0

    @property
    def any(self) -> bool:
        """Whether the plans differ; exit codes and reports both follow this."""
        return bool(self.jobs or self.teams or self.quotas or self.uses or self.cost or self.sections)

    def of(self, *effects: Effect) -> tuple[JobChange, ...]:
        """The jobs with one of these effects, in order."""
        return tuple(change for change in self.jobs if change.effect in effects)

    @property
    def becoming_late(self) -> tuple[JobChange, ...]:
        """The jobs that miss their soft deadline only in the second plan."""
        return tuple(change for change in self.jobs if change.becomes_late)


def compare(before: Plan, after: Plan, *, renamed: Mapping[str, str] | None = None) -> Changes:
    """What `after` changes against `before`; `renamed` leads from addresses of `before` to the same in `after`."""
    jobs, unchanged = _jobs(before, after, renamed or {})
    return Changes(
        jobs=jobs,
        teams=tuple(_teams(before, after)),
        quotas=tuple(_quotas(before, after)),
        uses=tuple(_uses(before, after)),
        cost=_cost(before.costs.total, after.costs.total),
        sections=tuple(_sections(before, after)),
        unchanged=unchanged,
    )


def _jobs(before: Plan, after: Plan, renamed: Mapping[str, str]) -> tuple[tuple[JobChange, ...], int]:
    old, new = _by_address(before), _by_address(after)
    former = {renamed[address]: address for address in old if address in renamed and renamed[address] in new}
    pairs = [(address, former.get(address, address)) for address in new]
    pairs += [(address, address) for address in old if address not in new and address not in former.values()]
    changes = [_job(address, earlier, old.get(earlier), new.get(address)) for address, earlier in pairs]
    found = [change for change in changes if change is not None]
    return tuple(sorted(found, key=lambda change: change.key)), len(changes) - len(found)


def _by_address(plan: Plan) -> dict[str, Placement | Unplaced]:
    items: tuple[Placement | Unplaced, ...] = (*plan.placements, *plan.unplaced)
    return {item.address: item for item in items}


def _job(
    address: str, formerly: str, old: Placement | Unplaced | None, new: Placement | Unplaced | None
) -> JobChange | None:
    before = _run(old) if isinstance(old, Placement) else None
    after = _run(new) if isinstance(new, Placement) else None
    effect = _paired(before, after) if before and after else _single(old, new)
    if effect is None and formerly != address:
        effect = Effect.EDITED  # whoever looks for it must learn its name
    if effect is None:
        return None
    reasons = new.reasons if new else ()
    return JobChange(
        effect=effect,
        address=address,
        team=address.split("/")[1] if address.count("/") > 1 else "",
        before=before,
        after=after,
        reason=reasons[0] if reasons else None,
        formerly=formerly if formerly != address else None,
    )


def _paired(before: Run, after: Run) -> Effect | None:
    """What happens to a job that runs in both plans: the first difference that people care about."""
    shift = after.start - before.start or after.finish - before.finish
    if shift:
        return Effect.LATER if shift > 0 else Effect.EARLIER
    if _shape(before) != _shape(after):
        return Effect.RESHAPED
    if before.seats != after.seats or before.pools != after.pools:
        return Effect.MOVED
    return None if before == after else Effect.EDITED


def _shape(run: Run) -> tuple[object, ...]:
    return run.gpus, run.variants, run.models, run.markets, run.spans


def _single(old: Placement | Unplaced | None, new: Placement | Unplaced | None) -> Effect | None:
    match old, new:
        case Placement(), Unplaced():
            return Effect.DISPLACED
        case Unplaced(), Placement():
            return Effect.PLACED
        case None, Placement():
            return Effect.ADDED
        case None, Unplaced():
            return Effect.REFUSED
        case Placement(), None:
            return Effect.REMOVED
        case Unplaced(), None:
            return Effect.DROPPED
        case Unplaced(), Unplaced():
            return Effect.REASONS if old.reasons != new.reasons else None
        case _:
            return None


def _run(item: Placement) -> Run:
    segments = item.segments
    return Run(
        start=_seconds(item.start),
        finish=_seconds(item.finish),
        late_seconds=item.late_seconds,
        pools=tuple(dict.fromkeys(part.pool for part in segments)),
        variants=tuple(dict.fromkeys(part.variant for part in segments)),
        models=tuple(dict.fromkeys(part.model for part in segments if part.model)),
        markets=tuple(dict.fromkeys(part.market for part in segments)),
        spans=tuple((part.start, part.end) for part in segments),
        gpus=Fraction(item.gpus),
        priority=item.priority,
        cash_micros=item.cash_micros,
        seats=tuple(
            (
                part.pool,
                node.name,
                ",".join(f"{device.index}:{device.profile}:{device.at}:{device.share}" for device in node.devices),
            )
            for part in segments
            for node in part.nodes
        ),
        spec=item.spec,
    )


def _seconds(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(seconds=1)


def _teams(before: Plan, after: Plan) -> Iterator[TeamChange]:
    sides = tuple(map(_team_sums, (before, after)))
    for team in sorted(sides[0].keys() | sides[1].keys()):
        old, new = (side.get(team, _NOTHING) for side in sides)
        if old != new:
            yield TeamChange(
                team=team,
                jobs=(old.jobs, new.jobs),
                device_seconds=(old.device_seconds, new.device_seconds),
                cash_micros=(old.cash_micros, new.cash_micros),
                chargeback_micros=(old.chargeback_micros, new.chargeback_micros),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _TeamSum:
    jobs: int = 0
    device_seconds: Fraction = Fraction(0)
    cash_micros: int = 0
    chargeback_micros: int = 0


_NOTHING: Final = _TeamSum()


def _team_sums(plan: Plan) -> dict[str, _TeamSum]:
    held: dict[str, list[Fraction]] = {}
    for item in plan.placements:
        held.setdefault(item.team, []).append(_device_seconds(item))
    costs = {cost.name: cost for cost in plan.costs.teams}
    return {
        team: _TeamSum(
            jobs=len(held.get(team, ())),
            device_seconds=sum(held.get(team, ()), Fraction(0)),
            cash_micros=costs[team].cash_micros if team in costs else 0,
            chargeback_micros=costs[team].chargeback_micros if team in costs else 0,
        )
        for team in held.keys() | costs.keys()
    }


def _device_seconds(item: Placement) -> Fraction:
    return sum(
        (Fraction(item.gpus) * (_seconds(part.end) - _seconds(part.start)) for part in item.segments), Fraction(0)
    )


def _quotas(before: Plan, after: Plan) -> Iterator[QuotaChange]:
    old, new = (_quota_sums(plan) for plan in (before, after))
    for team, quota in sorted(old.keys() | new.keys()):
        sides = [side.get((team, quota), (Fraction(0),) * len(_QUOTA_FIELDS)) for side in (old, new)]
        if sides[0] != sides[1]:
            guaranteed, used, borrowed, lent = zip(*sides, strict=True)
            yield QuotaChange(team=team, quota=quota, guaranteed=guaranteed, used=used, borrowed=borrowed, lent=lent)


_QUOTA_FIELDS: Final = ("guaranteed", "used", "borrowed", "lent")


def _quota_sums(plan: Plan) -> dict[tuple[str, str], tuple[Fraction, ...]]:
    return {
        (item.team, item.quota): tuple(
            sum(
                (
                    (_seconds(window.end) - _seconds(window.start)) * Fraction(getattr(window, field))
                    for window in item.windows
                ),
                Fraction(0),
            )
            for field in _QUOTA_FIELDS
        )
        for item in plan.quota
    }


def _uses(before: Plan, after: Plan) -> Iterator[UseChange]:
    old, new = ({(use.by, use.name): use for use in plan.utilisation} for plan in (before, after))
    for by, name in sorted(old.keys() | new.keys()):
        sides = [side.get((by, name)) for side in (old, new)]
        used, capacity = (_pair(sides, field) for field in ("used_device_seconds", "capacity_device_seconds"))
        if used[0] != used[1] or capacity[0] != capacity[1]:
            yield UseChange(by=by, name=name, used=used, capacity=capacity)


def _pair(sides: Iterable[Utilisation | None], field: str) -> tuple[int, int]:
    old, new = (int(getattr(side, field)) if side else 0 for side in sides)
    return old, new


def _cost(before: Cost, after: Cost) -> CostChange | None:
    if before == after:
        return None
    return CostChange(
        cash_micros=(before.cash_micros, after.cash_micros),
        power_micros=(before.power_micros, after.power_micros),
        chargeback_micros=(before.chargeback_micros, after.chargeback_micros),
    )


def _sections(before: Plan, after: Plan) -> Iterator[SectionChange]:
    for section in ("services", "preemptions", "moves", "layouts", "degraded", "diagnostics"):
        if getattr(before, section) != getattr(after, section):
            yield SectionChange(section=section)
    if before.quota != after.quota and not any(_quotas(before, after)):
        yield SectionChange(section="quota")
    if before.status.complete != after.status.complete:
        yield SectionChange(section="complete")
