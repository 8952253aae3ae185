"""Turns prices into what steers the search."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Ints
from solvers.columns import CREST, IDEAL, LIKELY, MERIT, MODE_AT, MODE_END, WISH_MODE, WISH_START
from solvers.insertion import Guide
from solvers.prices import Market, Quote
from solvers.pricing import Desk, mode_heights, sum_tolls


def guide_of(market: Market, quoted: Quote) -> Guide:
    """Make the guide of a quote.

    In the tolls a unit of a row costs what it takes from others: a price above zero as it is, a subsidy as what it
    leaves of the bonus, since a unit of guarantee that others would fill at that subsidy is lost to them.
    """
    tables, a = market.tables, market.tables.arrays
    row = quoted.prices.row
    tolls = np.zeros_like(quoted.tolls)
    sum_tolls(tables.kinds, quoted.prices.device, np.where(row < 0, row + tables.bonus[:, None], row), tolls)
    heights = np.zeros((len(a.mode), 2), dtype=np.int64)
    mode_heights(a, Desk(market.groups, market.startable, tolls, quoted.prices.ppm * 0, quoted.best), heights)
    merit = quoted.best[market.group_of, 0]
    return Guide(
        prices=quoted.tolls,
        tolls=tolls,
        task=_by_task(market, quoted, heights),
        mode=heights,
        water=int((merit > 0).sum()),
    )


def _by_task(market: Market, quoted: Quote, heights: Ints) -> Ints:
    """Gather what the guide says of each task; a group's best column is that of its first task, moved to each."""
    a = market.tables.arrays
    tasks = np.zeros((len(a.task) - 1, 5), dtype=np.int64)
    best = quoted.best[market.group_of]
    has = a.task[:-1, MODE_END] > a.task[:-1, MODE_AT]
    if len(heights):
        tasks[has, IDEAL] = np.maximum(np.maximum.reduceat(heights[:, CREST], a.task[:-1, MODE_AT][has]), 0)
    tasks[:, MERIT] = best[:, 0]
    moved = best[:, 1] + a.task[:-1, MODE_AT] - a.task[market.groups[market.group_of, 0], MODE_AT]
    tasks[:, WISH_MODE] = np.where(best[:, 1] >= 0, moved, -1)
    tasks[:, WISH_START] = best[:, 2]
    tasks[:, LIKELY] = np.lexsort((np.arange(len(tasks)), -best[:, 0]))
    return tasks
