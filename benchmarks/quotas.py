"""Teams with guarantees and limits on every pool of a fleet: a seeded generator, and the linear relaxation of it."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from random import Random
from typing import Final

from benchmarks.outcome import Outcome, timed, warm
from benchmarks.overload import POOLS, SLOTS, overload
from solvers.arrays import tables_of
from solvers.canonical import ordered
from solvers.prices import free_prices, market_of, quote, raise_prices
from solvers.problem import Charge, Problem, Row, Task
from solvers.rules import Rule
from solvers.solve import Effort, solve

TASKS: Final = 1_000
TEAMS: Final = 12
ASKED_PERCENT: Final = 150
"""What jobs ask for, in percent of the pools: both guarantees and limits have something to decide."""
GUARANTEED_PERCENT: Final = 75
"""What all guarantees on a pool add up to, in percent of it."""
LIMIT: Final = 2
"""A team may use so many times its guarantee."""
_GUARANTEE_MICROS: Final = 100_000_000
"""Worth of a reference device-hour inside a guarantee, beyond that of its job: what a Policy has by default."""
_PRICE_ROUNDS: Final = 1_500


def quotas(tasks: int, teams: int = TEAMS, seed: int = 1) -> Problem:
    """Generate `tasks` jobs of `teams` teams, each with a guarantee and a limit on each of the 8 pools.

    Pools and jobs are those of `overload`, with `ASKED_PERCENT`. The k-th team is 1/k as large as the first, which is
    how teams' shares of real clusters fall off: that decides how many jobs it has, and its part of the guarantees. What
    a pool does not guarantee is for whoever comes. A device-slot inside a guarantee earns what a Policy gives by
    default, by the pool's speed. A gang above its team's limit on a pool never runs there.
    """
    dice = Random(f"teams {seed}")
    sizes = [lcm(*range(1, teams + 1)) // (place + 1) for place in range(teams)]
    drawn = overload(tasks, seed, percent=ASKED_PERCENT)
    owners = dice.choices(range(teams), sizes, k=tasks)
    made = tuple(_charged(task, team) for task, team in zip(drawn.tasks, owners, strict=True))
    rows = tuple(
        _row(f"team{team:02d} on {name}", gpus * GUARANTEED_PERCENT * sizes[team] // (100 * sum(sizes)), speed)
        for team in range(teams)
        for name, _, gpus, speed in POOLS
    )
    return replace(drawn, tasks=made, rows=rows)


def _charged(task: Task, team: int) -> Task:
    modes = []
    for mode in task.modes:
        row = team * len(POOLS) + mode.pool
        modes.append(replace(mode, charges=(Charge(row=row, amount=mode.devices),), home=row))
    return replace(task, modes=tuple(modes))


def _row(subject: str, guarantee: int, speed: int) -> Row:
    return Row(
        rule=Rule.QUOTA,
        subject=subject,
        limit=(LIMIT * guarantee,) * SLOTS,
        guarantee=(guarantee,) * SLOTS,
        bonus_micros=_GUARANTEE_MICROS * speed // 100,
    )


def quota_1k(effort: Effort, peers: bool) -> Outcome:
    """1,000 jobs of 12 teams on 8 pools, against a list schedule and the linear relaxation."""
    problem = quotas(TASKS)
    warm(problem)
    listed = solve(problem, budget=0)
    solution, seconds = timed(lambda: solve(problem, effort=effort))
    lp = relaxation(problem, solution.value_micros)
    return Outcome(
        bench="quota-1k",
        seconds=seconds,
        value=solution.value_micros,
        bound=solution.bound_micros,
        gap_ppm=solution.gap_ppm,
        baselines={"list_schedule": listed.value_micros, "lp": lp},
        more={
            "gap_to_lp_percent": percent_below(lp, solution.value_micros),
            "list_gap_to_lp_percent": percent_below(lp, listed.value_micros),
            "jobs": TASKS,
            "teams": TEAMS,
            "placed": len(solution.assignments),
            "never": never(problem),
            "slots": SLOTS,
            "seed": 1,
            "effort": effort.value,
        },
    )


def relaxation(problem: Problem, goal: int) -> int:
    """The linear relaxation's value in micros, from above: the least bound that `_PRICE_ROUNDS` of prices prove.

    `goal` is the value of some plan.
    """
    market = market_of(tables_of(ordered(problem).problem))
    return raise_prices(market, quote(market, free_prices(market)), goal, _PRICE_ROUNDS, lambda _: False).bound


def percent_below(lp: int, value: int) -> float:
    """By how many percent of the relaxation's value a plan is below it."""
    return round(100 * (lp - value) / lp, 2)


def never(problem: Problem) -> int:
    """How many jobs are above their team's limit on every pool that would suit them."""
    return sum(
        all(
            min(problem.rows[charge.row].limit or (0,)) < charge.amount
            for mode in task.modes
            for charge in mode.charges
        )
        for task in problem.tasks
    )
