"""A bound is a bound at any prices, and the search for good prices ends at the linear relaxation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.arrays import tables_of
from solvers.closing import close, near, prices_of, program
from solvers.prices import Market, Prices, Quote, free_prices, lawful, market_of, quote, raise_prices
from solvers.problem import Problem, Spill
from tests.solvers.brute_force import optimum
from tests.solvers.builders import a_budget, a_mode, a_node, a_part, a_pool, a_previous, a_problem, a_row, a_task
from tests.solvers.strategies import problems

PRICES = st.integers(-2_000, 2_000)


def _go_on(_: Quote) -> bool:
    return False


def _market(problem: Problem) -> Market:
    return market_of(tables_of(problem))


def _drawn(market: Market, seed: int) -> Prices:
    dice = np.random.default_rng(seed)
    free = free_prices(market)
    return Prices(
        device=dice.integers(-50, 400, free.device.shape),
        row=dice.integers(-400, 400, free.row.shape),
        ppm=dice.integers(-(10**6), 5 * 10**6, free.ppm.shape),
    )


@settings(max_examples=300)
@given(problems(), st.integers(0, 2**32 - 1))
def test_any_prices_bound_the_best_plan(problem: Problem, seed: int) -> None:
    market = _market(problem)
    assert quote(market, lawful(market, _drawn(market, seed))).bound >= optimum(problem).value_micros


@settings(max_examples=150)
@given(problems())
def test_raised_and_closed_prices_bound_the_best_plan(problem: Problem) -> None:
    market, best = _market(problem), optimum(problem).value_micros
    free = quote(market, free_prices(market))
    raised = raise_prices(market, free, best, 60, _go_on)
    assert best <= raised.bound <= free.bound
    closing = close(market, raised, goal=best, columns=200, rounds=3)
    assert closing is None or best <= closing.quote.bound <= raised.bound


@settings(max_examples=100)
@given(problems(), st.integers(0, 2**32 - 1))
def test_at_the_same_prices_more_capacity_never_lowers_the_bound(problem: Problem, seed: int) -> None:
    pools = tuple(
        replace(
            pool, nodes=tuple(replace(node, capacity=tuple(one + 1 for one in node.capacity)) for node in pool.nodes)
        )
        for pool in problem.pools
    )
    small, large = _market(problem), _market(replace(problem, pools=pools))
    prices = lawful(small, _drawn(small, seed))
    assert quote(large, prices).bound >= quote(small, prices).bound


@settings(max_examples=100)
@given(problems(), st.sampled_from((-(2**61), 0, 2**61)))
def test_a_search_for_prices_that_runs_away_still_bounds_the_best_plan(problem: Problem, goal: int) -> None:
    """The goal sets how far a step goes: from these it goes far past every price that means anything."""
    market = _market(problem)
    free = quote(market, free_prices(market))
    assert optimum(problem).value_micros <= raise_prices(market, free, goal, 40, _go_on).bound <= free.bound


@settings(max_examples=100)
@given(problems(), st.sampled_from((float("nan"), float("inf"), -float("inf"), 1e300, -1e300)))
def test_duals_that_are_no_numbers_still_bound_the_best_plan(problem: Problem, dual: float) -> None:
    market = _market(problem)
    lp = program(market, near(market, quote(market, free_prices(market)), 100), 1e6)
    duals = np.full(sum(len(block.upper) for block in lp.blocks), dual)
    assert quote(market, lawful(market, prices_of(market, lp, duals))).bound >= optimum(problem).value_micros


def test_without_scarcity_free_prices_prove_the_optimum() -> None:
    problem = a_problem(a_task(worth_micros=700), a_task(worth_micros=300))
    assert quote(_market(problem), free_prices(_market(problem))).bound == 1_000


def test_the_relaxation_shares_a_device_that_a_plan_cannot() -> None:
    """Two tasks of 2 slots and 5 of 8 devices until slot 2: one and three fifths of them fit."""
    problem = a_problem(*(a_task(a_mode(5), worth_micros=1_000, deadline=2) for _ in range(2)), slots=3)
    market = _market(problem)
    raised = raise_prices(market, quote(market, free_prices(market)), 1_000, 300, _go_on)
    closing = close(market, raised, goal=1_000, columns=100, rounds=8)
    assert closing is not None
    assert 1_600 <= closing.quote.bound <= 1_616
    assert closing.share_ppm.tolist() == [1_600_000]


def test_a_budget_has_a_price() -> None:
    """Two runs of 10 micros a slot for 2 slots against a budget of 30: one and a half of them fit."""
    tasks = tuple(a_task(a_mode(1, cash_micros=10), worth_micros=1_000, budgets=(0,)) for _ in range(2))
    market = _market(a_problem(*tasks, budgets=(a_budget(30),)))
    raised = raise_prices(market, quote(market, free_prices(market)), 980, 300, _go_on)
    assert 1_470 <= raised.bound <= 1_490


def test_a_guarantee_is_a_subsidy_up_to_its_bonus() -> None:
    """16 device-slots at 5 micros each lie inside the guarantee once the relaxation spreads a run over all starts."""
    problem = a_problem(a_task(a_mode(8, charges=((0, 8),))), rows=(a_row(guarantee=(3,) * 8, bonus=5),))
    market = _market(problem)
    assert quote(market, free_prices(market)).bound == 1_000 + 3 * 5 * 8
    raised = raise_prices(market, quote(market, free_prices(market)), 1_030, 200, _go_on)
    assert 1_080 <= raised.bound <= 1_090


def test_what_a_team_keeps_has_a_price_of_its_own() -> None:
    """Of 8 devices one team keeps 3, so of others' runs of 2 devices two and a half fit in each of 4 pairs of slots."""
    keeper = a_row(subject="keeper", spill=Spill(row=1, above=(3,) * 8))
    others = tuple(a_task(a_mode(2, charges=((1, 2),)), worth_micros=1_000) for _ in range(12))
    owner = a_task(a_mode(3, charges=((0, 3),)), worth_micros=1_000)
    market = _market(a_problem(*others, owner, rows=(keeper, a_row((5,) * 8, subject="all"))))
    raised = raise_prices(market, quote(market, free_prices(market)), 9_000, 300, _go_on)
    closing = close(market, raised, goal=9_000, columns=300, rounds=8)
    assert closing is not None
    assert 11_000 <= closing.quote.bound <= 11_060
    assert (closing.quote.prices.row[0] <= closing.quote.prices.row[1]).all()


@pytest.mark.parametrize(
    ("amount", "limit", "bound"),
    [
        pytest.param(4, (4,) * 8, 1_000, id="at the limit"),
        pytest.param(5, (4,) * 8, 0, id="one above the limit"),
        pytest.param(5, (4, 5, 5, 4, 4, 4, 4, 4), 1_000, id="the limit lets it through for as long as it runs"),
        pytest.param(5, (4, 5, 4, 5, 4, 4, 4, 5), 500, id="the limit lets its last slot of the horizon through"),
        pytest.param(5, (4, 5, 4, 5, 4, 4, 5, 4), 0, id="never for as long as it runs"),
    ],
)
def test_a_bound_counts_nothing_of_a_run_that_a_limit_forbids(amount: int, limit: tuple[int, ...], bound: int) -> None:
    market = _market(a_problem(a_task(a_mode(8, charges=((0, amount),))), rows=(a_row(limit),)))
    assert quote(market, free_prices(market)).bound == bound


def test_prices_beyond_the_law_are_brought_back() -> None:
    rows = (a_row(guarantee=(3,) * 8, bonus=5), a_row(limit=(4,) * 8, subject="limit"))
    market = _market(a_problem(a_task(a_mode(8, charges=((0, 8), (1, 8)))), rows=rows))
    wild = Prices(
        device=np.full_like(market.supply, -7),
        row=np.full_like(market.ceiling, 2**62),
        ppm=np.zeros(0, dtype=np.int64),
    )
    tame = lawful(market, wild)
    assert tame.device.max() == 0
    assert tame.row[0].max() == 0
    assert tame.row[1].max() == market.largest
    assert lawful(market, replace(wild, row=-wild.row)).row[:, 0].tolist() == [-5, 0]


@pytest.mark.parametrize("amount", [2**40, 2**50])
def test_prices_stay_where_no_sum_leaves_int64(amount: int) -> None:
    market = _market(a_problem(a_task(a_mode(amount), worth_micros=1), pools=(a_pool(a_node(amount)),)))
    wild = replace(free_prices(market), device=np.full_like(market.supply, 2**62))
    bound = quote(market, lawful(market, wild)).bound
    assert 2**50 < bound < 2**62
    exact = sum(
        int(price) * int(have)
        for price, have in zip(lawful(market, wild).device.ravel(), market.supply.ravel(), strict=True)
    )
    assert bound == exact


def test_identical_tasks_are_priced_once_and_others_apart() -> None:
    twins = tuple(a_task() for _ in range(3))
    market = _market(
        a_problem(*twins, a_task(worth_micros=999), a_task(a_mode(duration=3)), a_task(due=1, late_micros=1))
    )
    assert market.groups.tolist() == [[0, 3], [3, 1], [4, 1], [5, 1]]


def test_a_task_that_would_have_to_move_is_priced_with_its_move() -> None:
    previous = a_previous(1, (0, 8))
    problem = a_problem(a_task(previous=previous, move_micros=10, earliest=2))
    market = _market(problem)
    assert quote(market, free_prices(market)).bound == 1_000 - 80


def test_pricing_stops_when_told_to() -> None:
    market = _market(a_problem(*(a_task(worth_micros=10**6) for _ in range(9))))
    calls: list[int] = []

    def tell(_: Quote) -> bool:
        calls.append(1)
        return len(calls) == 3

    raise_prices(market, quote(market, free_prices(market)), 0, 500, tell)
    assert len(calls) == 3


@pytest.mark.parametrize(("racks", "bound"), [((0, 0, 1), 1_000), ((0, 1, 2), 0)])
def test_a_bound_counts_work_whose_unlike_blocks_find_a_rack_each(racks: tuple[int, ...], bound: int) -> None:
    """The block that uses most has its pick of two racks; the other, of more nodes, has only one that holds it."""
    pool = a_pool(*(a_node(4, 4, domains=(rack,)) for rack in racks), tiers=("rack",))
    mode = a_mode(parts=(a_part(1, 2), a_part(1, 1, count=2, block=1)), within=0)
    market = _market(a_problem(a_task(mode, worth_micros=1_000), pools=(pool,)))
    assert quote(market, free_prices(market)).bound == bound
