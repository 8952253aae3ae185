"""The most that any packing of the openb pods can allocate: the linear relaxation by classes of like hosts.

All hosts of a class put their CPUs, memory and GPUs together, pods need not be whole, and every GPU is cut into shares
by some pattern, a set of shares of at most one GPU. All pods without a GPU are placed. Every packing obeys this, so its
value is a bound.

It is written by its dual, since any prices prove a bound. Let each class charge for GPU, CPU and memory, and for each
share so that no pattern costs more than a GPU. Whatever a packing allocates, its pods paid at most what all that the
classes have costs. So it allocates at most that cost, and for each pod the most by which its worth exceeds what it pays
in some class, or 0 where it need not be placed. The linear program proposes the prices; they are rounded to integers,
a GPU is priced at its dearest pattern, and the bound is added up exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray
from ortools.math_opt.python import mathopt

from benchmarks.openb import UNITS, Host, Pod

Ints = NDArray[np.int64]

_FINE: Final = 10**9
"""Prices count in parts of a thousandth of a GPU."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Market:
    """Classes of hosts and shapes of pods, and how many there are of each.

    `supply[c]` is what a class has: whole GPUs, CPU, memory, and 0 of each share, since those are cut from GPUs.
    `use[s]` is what a shape takes of them, `worth[s]` the thousandths of a GPU it allocates, `fits[s, c]` whether it
    may go there. Shapes without a GPU are `placed` in any case.
    """

    supply: Ints
    use: Ints
    worth: Ints
    count: Ints
    placed: NDArray[np.bool_]
    fits: NDArray[np.bool_]
    cuts: Ints


def most_allocated(machines: Sequence[Host], wanted: Sequence[Pod]) -> int:
    """Thousandths of GPUs that no packing of all pods without a GPU, and of any of the others, exceeds."""
    market = _market(machines, wanted)
    return _bound(market, _prices(market))


def _market(machines: Sequence[Host], wanted: Sequence[Pod]) -> _Market:
    classes = Counter((host.gpus, host.cpu, host.memory, host.model) for host in machines)
    shapes = Counter((pod.gpus, pod.share, pod.cpu, pod.memory, pod.models) for pod in wanted)
    shares = tuple(sorted({pod.share for pod in wanted if 0 < pod.share < UNITS}))
    cut_of = np.eye(len(shares), dtype=np.int64)
    fits = [
        [
            gpus <= most[0] and cpu <= most[1] and memory <= most[2] and (not models or most[3] in models)
            for most in classes
        ]
        for gpus, _, cpu, memory, models in shapes
    ]
    return _Market(
        supply=np.array([
            [count * most for most in kind[:3]] + [0] * len(shares) for kind, count in classes.items()
        ]),
        use=np.array([
            [gpus, cpu, memory, *(0 for _ in shares)]
            if share not in shares
            else [0, cpu, memory, *cut_of[shares.index(share)]]
            for gpus, share, cpu, memory, _ in shapes
        ]),
        worth=np.array([gpus * share for gpus, share, *_ in shapes]),
        count=np.array(list(shapes.values())),
        placed=np.array([gpus == 0 for gpus, *_ in shapes]),
        fits=np.array(fits),
        cuts=np.array(list(patterns(shares))),
    )  # fmt: skip


def patterns(shares: Sequence[int], room: int = UNITS) -> Iterator[tuple[int, ...]]:
    """How often each of the shares, in ascending order, is cut from one GPU: every cut that leaves no room for
    another one.
    """
    if not shares:
        yield ()
        return
    *smaller, largest = shares
    for often in range(room // largest + 1):
        left = room - often * largest
        if smaller or left < largest:
            yield from ((*rest, often) for rest in patterns(smaller, left))


def _prices(market: _Market) -> Ints:
    """Solve the dual; `[c, thing]`, rounded, and a GPU at least as dear as what can be cut from it."""
    model = mathopt.Model()
    price = [[model.add_variable(lb=0.0) for _ in things] for things in market.supply]
    gain = [model.add_variable(lb=-inf if placed else 0.0) for placed in market.placed]
    for shape, at in np.argwhere(market.fits).tolist():
        cost = _weighed(market.use[shape], price[at])
        model.add_linear_constraint(cost + gain[shape] >= float(market.worth[shape]))
    for things in price:
        for cut in market.cuts:
            model.add_linear_constraint(_weighed(cut, things[3:]) - things[0] <= 0.0)
    has = (_weighed(most, things) for most, things in zip(market.supply, price, strict=True))
    model.minimize(mathopt.fast_sum(has) + _weighed(market.count, gain))
    values = mathopt.solve(model, mathopt.SolverType.GLOP).variable_values()
    found = np.array([[values[one] for one in things] for things in price])
    prices: Ints = np.rint(np.maximum(found, 0.0) * _FINE).astype(np.int64)
    prices[:, 0] = np.maximum(prices[:, 0], (prices[:, 3:] @ market.cuts.T).max(axis=1))
    return prices


def _weighed(amounts: Ints, variables: Sequence[mathopt.Variable]) -> mathopt.LinearSum:
    return mathopt.fast_sum(float(amounts[at]) * variables[at] for at in np.flatnonzero(amounts).tolist())


def _bound(market: _Market, prices: Ints) -> int:
    """What the prices prove, rounded down to thousandths of a GPU."""
    gain = np.where(market.fits, (market.worth * _FINE)[:, None] - market.use @ prices.T, -(2**62)).max(axis=1)
    gain = np.where(market.placed, gain, np.maximum(gain, 0))
    return (int((market.supply * prices).sum()) + int(gain @ market.count)) // _FINE
