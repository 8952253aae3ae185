"""Quotas as the solver sees them: which devices each covers, and which ones count the work of a team."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from planner.compile.refusal import Code, Refusal
from planner.specset.guarantees import Claim, above, line_of

if TYPE_CHECKING:
    from planner.compile.fleet import FleetPool
    from planner.spec.team import Quota, QuotaWindow, Team

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
        """The highest limit for planned work that ever holds, None when at some time there is none."""
        limits = [self._limit(window) for window in self._parts()]
        known = [limit for limit in limits if limit is not None]
        return max(known) if len(known) == len(limits) else None

    @property
    def most_guaranteed(self) -> int:
        """The highest guarantee for planned work that ever holds."""
        base = self.quota.guaranteed
        return max(
            (base if window.guaranteed is None else window.guaranteed) - self._unplanned(window)
            for window in self._parts()
        )

    def _parts(self) -> tuple[Quota | QuotaWindow, ...]:
        return (self.quota, *self.quota.windows)

    def _limit(self, window: Quota | QuotaWindow) -> int | None:
        limit = self.quota.limit if window.limit is None else window.limit
        return None if limit is None else max(0, limit - self._unplanned(window))

    def _unplanned(self, window: Quota | QuotaWindow) -> int:
        return self.quota.unplanned if window.unplanned is None else window.unplanned


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """All quotas of the tree, in order of name, and for each team the teams above it, itself first.

    `claims` are the same quotas over indices of `cells`; `parents` says of each quota which one contains it.
    """

    covers: tuple[Cover, ...]
    cells: tuple[Cell, ...]
    claims: tuple[Claim, ...]
    parents: tuple[int | None, ...]
    lines: Mapping[str, tuple[str, ...]]

    def line(self, team: str) -> tuple[str, ...]:
        """The team and all above it, from below."""
        return self.lines.get(team, (team,))

    def of(self, team: str, cell: Cell) -> tuple[int, ...]:
        """Positions of the quotas of the team itself that cover a device."""
        return tuple(at for at, cover in enumerate(self.covers) if cover.quota.team == team and cell in cover.cells)

    def over(self, team: str, cell: Cell) -> tuple[int, ...]:
        """Positions of all quotas, of the team and of those above it, in which its use of a device counts."""
        return tuple(at for member in self.line(team) for at in self.of(member, cell))

    def homes(self, team: str, cell: Cell) -> tuple[int, ...]:
        """The most specific quota over a device of each team of the line that has one, from below."""
        found = (self.of(member, cell) for member in self.line(team))
        return tuple(max(own, key=lambda at: self.covers[at].rank) for own in found if own)

    def home(self, team: str, cell: Cell) -> int | None:
        """The quota that decides whether a device is guaranteed to the team or borrowed."""
        return next(iter(self.homes(team, cell)), None)

    def parent(self, at: int) -> int | None:
        """The quota of a team above that contains a quota."""
        return self.parents[at]

    def anyone(self, cell: Cell) -> bool:
        """Whether some team has a quota over a device, so that others only borrow it."""
        return any(cell in cover.cells for cover in self.covers)


def quotas(declared: Iterable[Quota], teams: Iterable[Team], fleet: Sequence[FleetPool]) -> Quotas:
    """Every quota with the devices of the fleet that it covers."""
    parents = {team.name: team.parent for team in teams}
    covers = tuple(_cover(quota, fleet) for quota in sorted(declared, key=lambda quota: quota.name))
    cells = tuple((at, position) for at, pool in enumerate(fleet) for position in range(len(pool.groups)))
    claims = tuple(
        Claim(
            name=cover.quota.name,
            line=line_of(cover.quota.team, parents),
            covers=frozenset(index for index, cell in enumerate(cells) if cell in cover.cells),
        )
        for cover in covers
    )
    place = {claim.name: at for at, claim in enumerate(claims)}
    return Quotas(
        covers=covers,
        cells=cells,
        claims=claims,
        parents=tuple(place.get(name or "") for name in above(claims).values()),
        lines=MappingProxyType({name: line_of(name, parents) for name in parents}),
    )


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


def refusal(
    known: Quotas, team: str, cell: Cell, devices: Fraction, *, interruptible: bool, subject: str
) -> Refusal | None:
    """Why a team's quotas never let it hold so many devices there at once."""
    for at in known.over(team, cell):
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
