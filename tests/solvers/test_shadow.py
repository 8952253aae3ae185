"""What a price means: between what one more device adds to the relaxation and what one less takes from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.arrays import tables_of
from solvers.prices import Market, Prices, free_prices, lawful, market_of, quote
from solvers.problem import Problem
from solvers.shadow import shadow
from solvers.solve import solve
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_task
from tests.solvers.relaxation import columns_of, free_devices, relaxed_value
from tests.solvers.strategies import problems

SEEDS = st.integers(0, 2**32 - 1)


def crowded(problem: Problem) -> Problem:
    """Four times the work, so that something is scarce; none of it runs already."""
    tasks = (replace(task, name=f"{task.name} {copy}", stays=False) for copy in range(4) for task in problem.tasks)
    return replace(problem, tasks=tuple(tasks))


def drawn(market: Market, seed: int) -> Prices:
    """Any prices."""
    dice, free = np.random.default_rng(seed), free_prices(market)
    return lawful(
        market,
        Prices(
            device=dice.integers(0, 400, free.device.shape),
            row=dice.integers(-400, 400, free.row.shape),
            ppm=dice.integers(0, 5 * 10**6, free.ppm.shape),
        ),
    )


@settings(max_examples=200)
@given(problems().map(crowded))
def test_a_price_is_between_what_one_more_adds_and_one_less_takes(problem: Problem) -> None:
    market = market_of(tables_of(problem))
    columns = columns_of(market)
    closed = shadow(market, quote(market, free_prices(market)), columns=2_000, rounds=6)
    assert closed is not None
    now = relaxed_value(problem, columns, {})
    for pool in range(len(problem.pools)):
        for slot in range(problem.slots):
            price = round(float(closed.devices[pool, slot]))
            assert relaxed_value(problem, columns, {(pool, slot): 1}) - now <= price + 1
            if free_devices(problem, pool, slot):
                assert price <= now - relaxed_value(problem, columns, {(pool, slot): -1}) + 1


@settings(max_examples=200)
@given(problems().map(crowded), SEEDS)
def test_at_any_prices_one_more_device_raises_the_bound_by_its_price_at_most(problem: Problem, seed: int) -> None:
    market = market_of(tables_of(problem))
    prices = drawn(market, seed)
    before = quote(market, prices).bound
    for pool, _, slot in zip(*np.nonzero(prices.device[:, :1]), strict=True):
        supply = market.supply.copy()
        supply[pool, 0, slot] += 1
        after = quote(replace(market, supply=supply), prices).bound
        assert after <= before + prices.device[pool, 0, slot]


@settings(max_examples=100)
@given(problems().map(crowded), SEEDS)
def test_the_prices_are_the_same_whatever_prices_they_come_from(problem: Problem, seed: int) -> None:
    market = market_of(tables_of(problem))
    ways = [
        shadow(market, quote(market, start), columns=2_000, rounds=6)
        for start in (free_prices(market), drawn(market, seed))
    ]
    one, other = (way.devices for way in ways if way is not None)
    assert np.abs(one - other).max(initial=0) < 1e-3


@pytest.mark.parametrize(("tasks", "price"), [(1, 0), (2, 125), (3, 125)])
def test_a_device_that_nobody_waits_for_costs_nothing(tasks: int, price: int) -> None:
    """One run of 8 on 8 devices would pay up to 125 for each, and of what it would pay the least is shown."""
    problem = a_problem(*(a_task(a_mode(8, duration=1)) for _ in range(tasks)), slots=1)
    assert [each.micros for each in solve(problem).prices] == [(price,)]


@pytest.mark.parametrize("units", [1, 4])
def test_a_price_is_of_a_whole_device_whatever_its_units(units: int) -> None:
    mode = a_mode(8 * units, duration=1)
    pools = (a_pool(a_node(8 * units)),)
    problem = a_problem(a_task(mode), a_task(mode), pools=pools, slots=1, units=units)
    assert [each.micros for each in solve(problem).prices] == [(125,)]
