"""Budgets of teams as periods of the calendar: how much cash their work may spend in which slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, assert_never

from planner import units
from planner.names import address
from planner.spec.team import BudgetPeriod
from solvers.problem import Budget

if TYPE_CHECKING:
    from planner.compile.history import Expense
    from planner.compile.horizon import Horizon
    from planner.spec.team import Team


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamBudgets:
    """All budgets of the problem, and for each team that has one the positions of its own."""

    budgets: tuple[Budget, ...]
    by_team: tuple[tuple[str, tuple[int, ...]], ...]

    def of(self, team: str) -> tuple[int, ...]:
        """Positions of the budgets that bind a team's work."""
        return dict(self.by_team).get(team, ())


def budgets(
    teams: Iterable[Team], horizon: Horizon, zone: str, last_slot: int, expenses: Sequence[Expense] = ()
) -> TeamBudgets:
    """One budget for each period that touches slots `[0, last_slot)`: runs may end, and be billed, after the horizon.

    A slot that two periods share counts in both. An expense is taken off each period that its time touches, whole,
    since nothing says how it is divided; what is left is never below nothing.
    """
    made: list[Budget] = []
    by_team: list[tuple[str, tuple[int, ...]]] = []
    for team in sorted(teams, key=lambda team: team.name):
        if team.budget is None:
            continue
        first = len(made)
        for name, begin, end in periods(team.budget.per, zone, horizon.start, horizon.moment(last_slot)):
            subject = f"budget of {address('team', team.name)} for {name}"
            spent = sum(
                each.micros for each in expenses if each.team == team.name and each.since < end and begin <= each.until
            )
            left = max(0, team.budget.amount.micros - spent)
            made.append(Budget(subject=subject, start=horizon.floor(begin), end=horizon.ceil(end), micros=left))
        by_team.append((team.name, tuple(range(first, len(made)))))
    return TeamBudgets(budgets=tuple(made), by_team=tuple(by_team))


def periods(per: BudgetPeriod, zone: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The periods `(name, from, to)` of a calendar in `zone` that touch the moments `[start, end)`."""
    day = _begin(per, datetime.fromtimestamp(start, units.zone_of(zone)).date())
    while (begin := _midnight(day, zone)) < end:
        following = _next(per, day)
        yield _name(per, day), begin, _midnight(following, zone)
        day = following


def _begin(per: BudgetPeriod, day: date) -> date:
    match per:
        case BudgetPeriod.DAY:
            return day
        case BudgetPeriod.WEEK:
            return day - timedelta(days=day.weekday())
        case BudgetPeriod.MONTH:
            return day.replace(day=1)
        case BudgetPeriod.QUARTER:
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case BudgetPeriod.YEAR:
            return day.replace(month=1, day=1)
        case _:
            assert_never(per)


def _next(per: BudgetPeriod, begin: date) -> date:
    """The first day of the period after the one that begins so: any day that is surely in it leads to it."""
    longest = {
        BudgetPeriod.DAY: 1,
        BudgetPeriod.WEEK: 7,
        BudgetPeriod.MONTH: 31,
        BudgetPeriod.QUARTER: 92,
        BudgetPeriod.YEAR: 366,
    }
    return _begin(per, begin + timedelta(days=longest[per]))


def _name(per: BudgetPeriod, begin: date) -> str:
    match per:
        case BudgetPeriod.MONTH:
            return f"{begin:%Y-%m}"
        case BudgetPeriod.YEAR:
            return f"{begin:%Y}"
        case _:
            return f"the {per.value} of {begin.isoformat()}"


def _midnight(day: date, zone: str) -> int:
    return units.first_reading(datetime.combine(day, time()), zone)
