"""Accounts and QOS as they should be: what each team may hold in Slurm, and who makes room for whom.

Slurm looks at group limits before it thinks of preemption: were borrowed work counted in the same account as guaranteed
work, it would keep its own team's guaranteed work from ever starting. Each team has therefore two accounts, `vision`
within its guarantee and `vision-borrowed` for the rest, and each priority two QOS alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.spec.envelope import Priority
from renderers.refusal import Unsupported
from renderers.slurm import words
from renderers.slurm.shares import Kind, Shares, shares_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from planner.plan import Plan, Segment
    from planner.spec.cluster import Cluster
    from planner.spec.team import Team
    from planner.specset import SpecSet

BORROWED: Final = "-borrowed"
ROOT: Final = "root"
GRACE_SECONDS: Final = 120
"""How long interrupted work has between SIGTERM and SIGKILL."""
_STEP: Final = 1_000

Limit = tuple[str, int | None]
"""A resource and how much of it a group of jobs may hold at once; None is no limit."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Qos:
    """One QOS; `preempt` are those whose work makes room for its own, `exempt_seconds` how long it is left in peace."""

    name: str
    priority: int = 0
    preempt: tuple[str, ...] = ()
    preempt_mode: str = "requeue"
    grace_seconds: int = GRACE_SECONDS
    exempt_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Account:
    """One account below another, with the resources that its work and that of the accounts below it may hold."""

    name: str
    parent: str = ROOT
    fairshare: int = 1
    limits: tuple[Limit, ...] = ()
    qos: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """QOS, accounts, and who may use which account: by name, an account after the one above it."""

    qos: tuple[Qos, ...] = ()
    accounts: tuple[Account, ...] = ()
    users: tuple[tuple[str, str], ...] = ()


def is_borrowed(segment: Segment) -> bool:
    """Whether work is beyond its team's guarantee at any time of a segment."""
    return any(use.borrowed != 0 for use in segment.quota)


def account_name(team: Team, *, borrowed: bool) -> str:
    """The account of a team's work; raises `Unsupported` for a name that cannot stand in a directive."""
    return words.plain(team.account or team.name, "account") + (BORROWED if borrowed else "")


def qos_name(priority: str, *, borrowed: bool) -> str:
    """`p2`, or `p2-borrowed` for work beyond the guarantee."""
    return priority.lower() + (BORROWED if borrowed else "")


def planned(plan: Plan, specset: SpecSet, cluster: Cluster, moment: int | None = None) -> State:
    """What should be at a moment (seconds since 1970 UTC; by default at the plan's start) for all teams of the specs.

    Raises `Unsupported` where a name of the specs cannot stand in a command of Slurm.
    """
    shares = shares_of(plan, specset, cluster)
    at = shares.begin if moment is None else moment
    qos = tuple(_qos(plan, specset, cluster, lends=bool(shares.quotas)))
    names = tuple(item.name for item in qos)
    teams = tuple(_downwards(specset))
    accounts = [_account(team, specset, shares, at, names) for team in teams]
    if shares.quotas:
        accounts += (_borrowed_account(team, specset, shares, names) for team in teams)
    users = dict.fromkeys(_users(teams, lends=bool(shares.quotas)))
    return State(qos=qos, accounts=tuple(_merged(accounts)), users=tuple(users))


def _merged(accounts: Iterable[Account]) -> Iterator[Account]:
    """Teams that share an account share one limit, which is the sum of theirs."""
    found: dict[str, Account] = {}
    for item in accounts:
        other = found.get(item.name)
        found[item.name] = item if other is None else replace(other, limits=tuple(_sums(other.limits, item.limits)))
    yield from found.values()


def _sums(one: tuple[Limit, ...], other: tuple[Limit, ...]) -> Iterator[Limit]:
    for (tres, amount), (_, more) in zip(one, other, strict=True):
        yield tres, None if amount is None or more is None else amount + more


def _qos(plan: Plan, specset: SpecSet, cluster: Cluster, *, lends: bool) -> Iterator[Qos]:
    """From the lowest priority up. Guaranteed work interrupts borrowed work and, where there are quotas, no other."""
    exempt = _exempt_seconds(plan, specset, cluster)
    ranked = [qos_name(item.value, borrowed=True) for item in sorted(Priority, reverse=True)] if lends else []
    for rank, name in enumerate(ranked):
        preempt = tuple(sorted(ranked[:rank]))
        yield Qos(name=name, priority=(rank + 1) * _STEP, preempt=preempt, exempt_seconds=exempt.get(name, 0))
    plain = [qos_name(item.value, borrowed=False) for item in sorted(Priority, reverse=True)]
    for rank, name in enumerate(plain):
        preempt = tuple(sorted(ranked if lends else plain[:rank]))
        priority = (len(ranked) + rank + 1) * _STEP
        yield Qos(name=name, priority=priority, preempt=preempt, exempt_seconds=exempt.get(name, 0))


def _exempt_seconds(plan: Plan, specset: SpecSet, cluster: Cluster) -> dict[str, int]:
    """The longest time that the plan's jobs of a QOS want to run before they may be interrupted."""
    found: dict[str, int] = {}
    for placement in plan.placements:
        for segment in placement.segments:
            if segment.cluster == cluster.name and placement.address.startswith("job/"):
                name = qos_name(placement.priority, borrowed=is_borrowed(segment))
                job = specset.job(placement.address.partition("/")[2])
                found[name] = max(found.get(name, 0), job.min_run.milliseconds // 1000)
    return found


def _downwards(specset: SpecSet) -> Iterator[Team]:
    """Teams by name, each after the one that it is part of."""
    yield from sorted(specset.teams, key=lambda team: (len(specset.ancestors(team.name)), team.name))


def _account(team: Team, specset: SpecSet, shares: Shares, moment: int, qos: tuple[str, ...]) -> Account:
    return Account(
        name=account_name(team, borrowed=False),
        parent=_parent(team, specset, borrowed=False),
        fairshare=_weight(shares, team.name),
        limits=tuple((kind.tres, _guaranteed(team, specset, shares, kind, moment)) for kind in shares.kinds),
        qos=tuple(name for name in qos if not name.endswith(BORROWED)),
    )


def _borrowed_account(team: Team, specset: SpecSet, shares: Shares, qos: tuple[str, ...]) -> Account:
    """Of work that is partly within the guarantee all is counted here, so that the limit is the team's whole one."""
    return Account(
        name=account_name(team, borrowed=True),
        parent=_parent(team, specset, borrowed=True),
        fairshare=_weight(shares, team.name),
        limits=tuple((kind.tres, shares.limit(team.name, kind)) for kind in shares.kinds),
        qos=tuple(name for name in qos if name.endswith(BORROWED)),
    )


def _parent(team: Team, specset: SpecSet, *, borrowed: bool) -> str:
    return ROOT if team.parent is None else account_name(specset.team(team.parent), borrowed=borrowed)


def _guaranteed(team: Team, specset: SpecSet, shares: Shares, kind: Kind, moment: int) -> int | None:
    """A team without a quota of its own has nothing guaranteed; if others are part of it, theirs must still fit in."""
    covered = any(shares.deciding(team.name, item) for item in kind.devices)
    if not covered and any(other.parent == team.name for other in specset.teams):
        return None
    return shares.guaranteed(team.name, kind, moment)


def _weight(shares: Shares, team: str) -> int:
    """One number where a team may have a weight for each quota: the greatest."""
    return max((quota.weight for quota in shares.of_team(team)), default=1)


def _users(teams: Iterable[Team], *, lends: bool) -> Iterator[tuple[str, str]]:
    for team in teams:
        for member in sorted(team.members):
            if is_user(member):
                yield member, account_name(team, borrowed=False)
                if lends:
                    yield member, account_name(team, borrowed=True)


def is_user(member: str) -> bool:
    """Whether a member's name can be that of a user of Slurm; groups and addresses cannot."""
    try:
        return words.plain(member, "user") == member and member == member.lower()
    except Unsupported:
        return False
