"""First plans: what was placed before stays, and what is left is filled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.arrays import tables_of
from solvers.columns import BEST, MERIT, NOW, SEAT_AT, START
from solvers.construct import orders_of, regrets, restore_previous, schedule, start_over
from solvers.guide import guide_of
from solvers.occupancy import State, empty_state
from solvers.prices import Market, Quote, free_prices, market_of, quote
from solvers.problem import Problem
from tests.solvers.builders import a_budget, a_mode, a_node, a_pool, a_previous, a_problem, a_row, a_task

pytestmark = pytest.mark.interpreted


def _opened(problem: Problem) -> tuple[Market, Quote, State]:
    tables = tables_of(problem)
    market = market_of(tables)
    return market, quote(market, free_prices(market)), empty_state(tables, 1)


def _starts(problem: Problem) -> list[int]:
    market, quoted, state = _opened(problem)
    guide = guide_of(market, quoted)
    schedule(market.tables.arrays, state, guide, np.arange(len(problem.tasks), dtype=np.int64), 0)
    return [int(start) for start in state.task[:, START + NOW]]


def test_a_list_schedule_starts_each_task_as_early_as_it_can() -> None:
    tasks = tuple(a_task(delay_micros=1) for _ in range(3))
    assert _starts(a_problem(*tasks)) == [0, 2, 4]


def test_what_comes_after_waits_for_what_it_comes_after_in_any_order() -> None:
    tasks = (a_task(a_mode(1), after=(1,), delay_micros=1), a_task(a_mode(1), after=(2,)), a_task(a_mode(1)))
    assert _starts(a_problem(*tasks)) == [4, 2, 0]


def test_a_limit_and_a_budget_hold_back_what_the_nodes_would_take() -> None:
    limited = tuple(a_task(a_mode(1, charges=((0, 1),)), delay_micros=1) for _ in range(2))
    assert _starts(a_problem(*limited, rows=(a_row((1,) * 8),))) == [0, 2]
    paid = tuple(a_task(a_mode(1, cash_micros=10), budgets=(0,)) for _ in range(2))
    assert _starts(a_problem(*paid, budgets=(a_budget(39),))) == [0, -1]


def test_regret_is_what_a_task_brings_less_than_in_its_best_column() -> None:
    tasks = (a_task(delay_micros=3), a_task(delay_micros=3), a_task(deadline=2), replace(a_task(), modes=()))
    market, quoted, state = _opened(a_problem(*tasks))
    a, guide = market.tables.arrays, guide_of(market, quoted)
    best = [int(merit) for merit in guide.task[:3, MERIT]]
    assert regrets(a, state, guide).tolist() == [*best, 0]
    schedule(a, state, guide, np.arange(4, dtype=np.int64), 0)
    assert [int(start) for start in state.task[:, START + NOW]][:2] == [0, 2]
    assert regrets(a, state, guide).tolist() == [0, 3 * 2, best[2], 0]


def test_every_order_holds_every_task_once() -> None:
    problem = a_problem(
        a_task(), a_task(worth_micros=1, earliest=3), replace(a_task(), modes=()), a_task(a_mode(duration=5))
    )
    market, quoted, _ = _opened(problem)
    for order in orders_of(market, quoted, guide_of(market, quoted)):
        assert sorted(order.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("previous", "pools", "kept"),
    [
        pytest.param(a_previous(3, (1, 8)), (a_pool(a_node(), a_node()),), 1, id="what still fits stays"),
        pytest.param(a_previous(3, (0, 8)), (a_pool(a_node(closed=(4, 5))),), 0, id="a node closed meanwhile"),
        pytest.param(a_previous(3, (0, 8)), (a_pool(a_node(closed=(5, 6))),), 1, id="a closure after the run"),
        pytest.param(a_previous(3, (0, 8)), (a_pool(a_node(7)),), 0, id="a device lost meanwhile"),
        pytest.param(a_previous(3, (0, 4)), (a_pool(a_node()),), 0, id="another shape than the mode has"),
        pytest.param(a_previous(9, (0, 8)), (a_pool(a_node()),), 0, id="a start past the horizon"),
    ],
)
def test_a_previous_run_is_restored_where_the_rules_still_allow_it(previous, pools, kept) -> None:  # type: ignore[no-untyped-def]
    market, _, state = _opened(a_problem(a_task(previous=previous), pools=pools))
    assert restore_previous(market.tables.arrays, state) == kept
    assert (state.task[0, NOW] >= 0) == bool(kept)


def test_starting_over_leaves_what_an_empty_fleet_has() -> None:
    task = a_task(a_mode(3, charges=((0, 3),), cash_micros=1), budgets=(0,))
    problem = a_problem(task, rows=(a_row((9,) * 8),), budgets=(a_budget(99),))
    market, quoted, state = _opened(problem)
    schedule(market.tables.arrays, state, guide_of(market, quoted), np.zeros(1, dtype=np.int64), 0)
    assert state.free.min() == 5
    start_over(market.tables.arrays, state)
    assert state.free.tolist() == market.tables.free.tolist()
    assert state.used.max() == 0
    assert state.cash.tolist() == [99]
    assert state.task[:, BEST].tolist() == [-1]


def test_starting_over_lets_go_on_what_may_not_stop() -> None:
    going_on = a_task(a_mode(8, nodes=(1,), latest=0), stays=True)
    market, quoted, state = _opened(a_problem(a_task(), going_on, pools=(a_pool(a_node(), a_node()),)))
    schedule(market.tables.arrays, state, guide_of(market, quoted), np.zeros(1, dtype=np.int64), 0)
    start_over(market.tables.arrays, state)
    assert state.task[:, NOW].tolist() == [-1, 1]
    assert state.seat[int(market.tables.arrays.task[1, SEAT_AT]), NOW] == 1
