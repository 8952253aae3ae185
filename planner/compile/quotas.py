"""Quotas as the solver sees them: which devices each covers, which one decides, and its rows over the slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner import when
from planner.compile.refusal import Code, Refusal
from planner.names import address
from solvers.problem import Charge, Row
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.ask import Speeds
    from planner.compile.fleet import FleetPool
    from planner.compile.horizon import Horizon
    from planner.spec.policy import Policy
    from planner.spec.team import Quota
    from planner.when import When

PARTS: Final = 1_000
"""New work inside a guarantee is counted in thousandths of a device, rounded down."""

Cell = tuple[int, int]
"""Devices of one model in one pool: positions of the pool in the fleet and of the group in the pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """A quota and the devices it covers. Of several of one team, the highest `rank` decides what is guaranteed."""

    quota: Quota
    rank: tuple[bool, bool, bool, bool]
    cells: frozenset[Cell]

    @property
    def most(self) -> int | None:
        """The highest limit that ever holds, None when at some time there is none."""
        limits = [self.quota.limit, *(_limit(self.quota, window.limit) for window in self.quota.windows)]
        known = [limit for limit in limits if limit is not None]
        return max(known) if len(known) == len(limits) else None

    @property
    def most_guaranteed(self) -> int:
        """The highest guarantee that ever holds."""
        return max([self.quota.guaranteed, *(window.guaranteed or 0 for window in self.quota.windows)])


def _limit(quota: Quota, of_window: int | None) -> int | None:
    return quota.limit if of_window is None else of_window


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """All quotas of the tree, in order of name."""

    covers: tuple[Cover, ...]

    def of(self, team: str, cell: Cell) -> tuple[int, ...]:
        """Positions of the team's quotas that cover a device."""
        return tuple(at for at, cover in enumerate(self.covers) if cover.quota.team == team and cell in cover.cells)

    def home(self, team: str, cell: Cell) -> int | None:
        """The quota that decides whether a device is guaranteed to the team or borrowed: the most specific."""
        return max(self.of(team, cell), key=lambda at: self.covers[at].rank, default=None)

    def anyone(self, cell: Cell) -> bool:
        """Whether some team has a quota over a device, so that others only borrow it."""
        return any(cell in cover.cells for cover in self.covers)


def quotas(declared: Iterable[Quota], fleet: Sequence[FleetPool]) -> Quotas:
    """Every quota with the devices of the fleet that it covers."""
    return Quotas(covers=tuple(_cover(quota, fleet) for quota in sorted(declared, key=lambda quota: quota.name)))


def _cover(quota: Quota, fleet: Sequence[FleetPool]) -> Cover:
    gpus = quota.gpus
    return Cover(
        quota=quota,
        rank=(gpus.pool is not None, gpus.cluster is not None, bool(gpus.models), gpus.vendor is not None),
        cells=frozenset(
            (at, position)
            for at, pool in enumerate(fleet)
            for position, group in enumerate(pool.groups)
            if gpus.pool in {None, pool.name}
            and gpus.cluster in {None, pool.cluster.name}
            and (not gpus.models or group.model in gpus.models)
            and gpus.vendor in {None, group.vendor}
        ),
    )


def refusal(known: Quotas, team: str, cell: Cell, devices: int, *, interruptible: bool, subject: str) -> Refusal | None:
    """Why a team's quotas never let it hold so many devices there at once."""
    for at in known.of(team, cell):
        most = known.covers[at].most
        if most is not None and devices > most:
            what = f"needs {devices} devices at once, the limit of quota {known.covers[at].quota.name} is {most}"
            return Refusal(
                code=Code.QUOTA_LIMIT,
                subject=subject,
                message=what,
                fix=f"raise its limit to {devices}, or ask for fewer",
            )
    if interruptible or not known.anyone(cell):
        return None
    home = known.home(team, cell)
    if home is None:
        what = f"work that may not be interrupted runs only on guaranteed devices, and team {team} has no quota here"
        return Refusal(
            code=Code.NOT_GUARANTEED,
            subject=subject,
            message=what,
            fix="leave preemptible out, or give the team a guarantee",
        )
    if (most := known.covers[home].most_guaranteed) < devices:
        name = known.covers[home].quota.name
        what = f"may not be interrupted and needs {devices} guaranteed devices, quota {name} guarantees {most}"
        return Refusal(
            code=Code.NOT_GUARANTEED,
            subject=subject,
            message=what,
            fix=f"raise its guarantee to {devices}, or leave preemptible out",
        )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRows:
    """The rows of one quota by position, None where it has none, and its guarantee in each slot.

    `pace` is the speed of the slowest model it covers, against the reference.
    """

    limit: int | None
    guarantee: int | None
    bonus: int | None
    inside: int | None
    pace: Fraction
    guaranteed: tuple[int, ...]
    limits: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of all quotas, and for each quota where they are."""

    rows: tuple[Row, ...]
    by_quota: tuple[QuotaRows, ...]

    def charges(
        self, known: Quotas, team: str, cell: Cell, devices: int, new: Fraction, *, interruptible: bool
    ) -> tuple[tuple[Charge, ...], int | None]:
        """What a mode of the team on such devices counts in which rows, and the row of its guarantee.

        `new` is the work it gets done in a slot, in slots of the reference device. It counts towards the bonus of a
        guarantee as so many devices as would do it at the quota's pace, so that one job earns the same in every mode:
        neither a slower variant nor a duration rounded up to slots makes more of the same work.
        """
        home = known.home(team, cell)
        amounts = {at: devices for quota in known.of(team, cell) if (at := self.by_quota[quota].limit) is not None}
        if home is None:
            return _charges(amounts), None
        own = self.by_quota[home]
        inside = None if interruptible else own.inside
        amounts |= {at: devices for at in (own.guarantee, inside) if at is not None}
        if own.bonus is not None:
            amounts[own.bonus] = int(min(Fraction(devices), new / own.pace) * PARTS)
        return _charges(amounts), own.guarantee


def _charges(amounts: Mapping[int, int]) -> tuple[Charge, ...]:
    return tuple(Charge(row=at, amount=amount) for at, amount in sorted(amounts.items()))


def rows(
    known: Quotas, fleet: Sequence[FleetPool], horizon: Horizon, policy: Policy, speeds: Speeds, firm: frozenset[str]
) -> Rows:
    """The rows of every quota. `firm` are the teams with work that may not be interrupted.

    A quota that decides for all it covers has limit and guarantee in one row; else they are two, charged differently.
    """
    made: list[Row] = []
    placed: list[QuotaRows] = []
    for at, cover in enumerate(known.covers):
        guaranteed = _guarantees(cover.quota, horizon, policy.timezone)
        limits = _limits(cover, fleet, horizon, policy.timezone)
        pace = min((speeds.of(fleet[pool].groups[group].model) for pool, group in cover.cells), default=Fraction(1))
        bonus = int(policy.guarantee.micros * pace * horizon.slot_seconds / (3_600 * PARTS))
        alone = all(known.home(cover.quota.team, cell) == at for cell in cover.cells)
        positions: dict[str, int | None] = dict.fromkeys(("limit", "guarantee", "bonus", "inside"))
        for names, row in _rows_of(cover, guaranteed, limits, bonus, alone=alone, firm=cover.quota.team in firm):
            positions |= dict.fromkeys(names, len(made))
            made.append(row)
        placed.append(QuotaRows(**positions, pace=pace, guaranteed=guaranteed, limits=limits))
    return Rows(rows=tuple(made), by_quota=tuple(placed))


def _rows_of(
    cover: Cover, guaranteed: tuple[int, ...], limits: tuple[int, ...] | None, bonus: int, *, alone: bool, firm: bool
) -> Iterator[tuple[tuple[str, ...], Row]]:
    subject = address("quota", cover.quota.name)
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
        yield (
            ("inside",),
            Row(
                rule=Rule.QUOTA, subject=f"{subject} guarantee, for work that may not be interrupted", limit=guaranteed
            ),
        )


def _guarantees(quota: Quota, horizon: Horizon, zone: str) -> tuple[int, ...]:
    """The guarantee in each slot."""
    base = quota.guaranteed
    windows = [(window.when, base if window.guaranteed is None else window.guaranteed) for window in quota.windows]
    return _by_slot(windows, base, horizon, zone)


def _limits(cover: Cover, fleet: Sequence[FleetPool], horizon: Horizon, zone: str) -> tuple[int, ...] | None:
    """The limit in each slot; where there is none, all the devices that are covered, which no use can exceed."""
    quota = cover.quota
    if quota.limit is None and all(window.limit is None for window in quota.windows):
        return None
    everything = sum(fleet[at].groups[position].count * len(fleet[at].nodes) for at, position in cover.cells)
    base = everything if quota.limit is None else quota.limit
    windows = [(window.when, base if window.limit is None else window.limit) for window in quota.windows]
    return _by_slot(windows, base, horizon, zone)


def _by_slot(windows: Sequence[tuple[When, int]], base: int, horizon: Horizon, zone: str) -> tuple[int, ...]:
    """A figure in each slot: the lower one where two touch it."""
    return when.value_by_slot(
        windows, base, zone, horizon.start, slot_seconds=horizon.slot_seconds, slots=horizon.slots, stricter=min
    )
