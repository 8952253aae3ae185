"""Prices for people: of all the duals of the linear relaxation the smallest, one set whatever way led to it.

At optimal duals a price lies between what one more device adds to the relaxation and what one less takes from it. Where
several do, the device prices with the least sum (weighted by next to nothing else, so that only one set has it) are
those nearest to what one more device adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from solvers.closing import Block, Program, merged, near, optimum, prices_of, program
from solvers.prices import lawful, quote

if TYPE_CHECKING:
    from solvers.prices import Floats, Market, Quote

_FREE: Final = float("inf")
_NOTHING: Final = 1e-7
"""What an LP's numbers may be off by, in parts of one and of what they are compared with."""
_DEVICES: Final = 2
"""The block of a program that holds what pools have."""
_GOLDEN: Final = 0.618_033_988_749_894_9
_TIE: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shadow:
    """Canonical prices: what they prove, and micros per unit of devices by pool and slot before any rounding."""

    quote: Quote
    devices: Floats


def shadow(market: Market, start: Quote, *, columns: int, rounds: int) -> Shadow | None:
    """Close the relaxation and choose its smallest prices; None where `rounds` of columns do not close it.

    Closed means that these prices call for no column that is not at hand, or that the bound they prove is the value of
    the relaxation over those at hand, up to what rounding prices to whole micros makes of it.
    """
    kept = near(market, start, columns)
    unit = max(1.0, float(np.abs(kept.value).max(initial=1)) / 1e6)
    for _ in range(rounds):
        lp = program(market, kept, unit)
        solved = optimum(lp)
        chosen = None if solved is None else optimum(_rising(market, lp, solved[0]))
        if solved is None or chosen is None:
            return None
        proven = quote(market, lawful(market, prices_of(market, lp, chosen[1])))
        value = float(lp.worth @ solved[0]) * unit
        grown = merged(kept, near(market, proven, max(64, columns // 4)))
        done = len(grown.rows) == len(kept.rows)
        if done or proven.bound - value <= _rounding(market, proven) + abs(value) * 1e-9:
            return Shadow(quote=proven, devices=_device_prices(market, lp, chosen[1]))
        kept = grown
    return None


def _rounding(market: Market, proven: Quote) -> int:
    """By how many micros prices that are off by half a micro each can raise a bound: in the terms, and in columns."""
    device, row = proven.prices.device > 0, proven.prices.row != 0
    return 1 + int(market.supply[device].sum() + market.ceiling[row].sum()) + len(proven.prices.ppm)


def _device_prices(market: Market, lp: Program, duals: Floats) -> Floats:
    first = sum(len(block.upper) for block in lp.blocks[:_DEVICES])
    found: Floats = duals[first : first + market.supply.size].reshape(market.supply.shape)[:, 0] * lp.unit
    return np.maximum(found, 0.0)


def _rising(market: Market, lp: Program, primal: Floats) -> Program:
    """By how much the optimum rises as devices do, each by its weight: its duals are those of `lp` with the least
    weighted sum.

    An optimum tells all optimal duals: they are zero where a constraint has slack, and a variable between its bounds
    has no reduced cost. So what has slack is left out, and what is between its bounds may move either way.
    """
    low = primal <= lp.least + _NOTHING
    high = primal >= lp.most - _NOTHING * (1 + np.where(np.isfinite(lp.most), lp.most, 0.0))
    weights = _weights(market)
    blocks = [
        _tight(block, primal, weights if place == _DEVICES else np.zeros(len(block.upper)))
        for place, block in enumerate(lp.blocks)
    ]
    return lp._replace(least=np.where(low, 0.0, -_FREE), most=np.where(high, 0.0, _FREE), blocks=tuple(blocks))


def _tight(block: Block, primal: Floats, more: Floats) -> Block:
    """The constraints that an optimum meets exactly, with their bounds at zero or raised by `more`; others are void."""
    use = np.zeros(len(block.upper))
    np.add.at(use, block.row, block.value * primal[block.column])
    full = use >= block.upper - _NOTHING * (1 + np.abs(np.minimum(block.upper, 1e18)))
    equal = block.lower == block.upper
    return block._replace(lower=np.where(equal, 0.0, -_FREE), upper=np.where(equal, 0.0, np.where(full, more, _FREE)))


def _weights(market: Market) -> Floats:
    """One for each device price, a little more or less by its place, so that no two sets of prices weigh the same."""
    weights = np.zeros(market.supply.shape)
    place = np.arange(weights[:, 0].size, dtype=np.float64).reshape(weights[:, 0].shape)
    weights[:, 0] = 1 + _TIE * (place * _GOLDEN % 1.0)
    return weights.ravel()
