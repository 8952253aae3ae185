"""Sums over the plan: how much of what exists is used, and what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from planner.decode.spans import windows
from planner.plan import Cost, Costs, PriceSchedule, PriceWindow, Utilisation

if TYPE_CHECKING:
    from planner.compile.fleet import DeviceGroup, FleetPool
    from planner.compile.horizon import Horizon
    from planner.compile.problem import Compiled
    from planner.decode.placed import Placed
    from solvers.problem import Node
    from solvers.solution import Solution

By = Literal["pool", "vendor", "model"]


def utilisation(compiled: Compiled, runs: Sequence[Placed]) -> tuple[Utilisation, ...]:
    """Device-seconds that exist and are used within the horizon, by pool, vendor and model, zeros included."""
    used: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for each in runs:
        site = each.candidate.site
        if site.position is not None:
            used[site.at, site.position] += each.candidate.amount * each.inside(compiled.horizon.slots)
    views: tuple[tuple[By, Callable[[FleetPool, DeviceGroup], str]], ...] = (
        ("pool", lambda pool, group: pool.name),
        ("vendor", lambda pool, group: group.vendor.value),
        ("model", lambda pool, group: group.model),
    )
    return tuple(entry for by, name in views for entry in _view(compiled, used, by, name))


def _view(
    compiled: Compiled, used: Mapping[tuple[int, int], Fraction], by: By, name: Callable[[FleetPool, DeviceGroup], str]
) -> Iterable[Utilisation]:
    totals: dict[str, tuple[int, int, Fraction]] = defaultdict(lambda: (0, 0, Fraction(0)))
    for at, pool in enumerate(compiled.fleet):
        node_slots = _open_node_slots(compiled.problem.pools[at].nodes[: len(pool.nodes)], compiled.horizon)
        for position, group in enumerate(pool.groups):
            devices, slots, taken = totals[name(pool, group)]
            totals[name(pool, group)] = (
                devices + group.count * len(pool.nodes),
                slots + group.count * node_slots,
                taken + used.get((at, position), Fraction(0)),
            )
    seconds = compiled.horizon.slot_seconds
    for key, (devices, capacity, taken) in sorted(totals.items()):
        yield Utilisation(
            by=by,
            name=key,
            devices=devices,
            capacity_device_seconds=capacity * seconds,
            used_device_seconds=int(taken * seconds),
        )


def _open_node_slots(nodes: Sequence[Node], horizon: Horizon) -> int:
    """Nodes x slots of the horizon in which they are not closed."""
    total = 0
    for node in nodes:
        closed = {
            slot for closure in node.closures for slot in range(max(0, closure.start), min(closure.end, horizon.slots))
        }
        total += horizon.slots - len(closed)
    return total


def costs(compiled: Compiled, runs: Sequence[Placed]) -> Costs:
    """Cash, power and chargeback of all runs, whole, also where they end after the horizon."""
    by_team: dict[str, list[int]] = {team.name: [0, 0, 0] for team in compiled.specset.teams}
    by_pool: dict[str, list[int]] = {pool.name: [0, 0, 0] for pool in compiled.fleet}
    vendors = {group.vendor.value for pool in compiled.fleet for group in pool.groups}
    by_vendor: dict[str, list[int]] = {vendor: [0, 0, 0] for vendor in vendors}
    total = [0, 0, 0]
    for each in runs:
        amounts = (each.cash_micros, each.power_micros, _chargeback(each, compiled.horizon))
        group = each.candidate.site.group
        tables = [total, by_team.setdefault(each.work.job.team, [0, 0, 0]), by_pool[each.pool.name]]
        if group is not None:
            tables.append(by_vendor[group.vendor.value])
        for table in tables:
            table[:] = [have + more for have, more in zip(table, amounts, strict=True)]
    return Costs(
        currency=compiled.specset.policy.currency,
        total=_cost("total", total),
        teams=_costs(by_team),
        pools=_costs(by_pool),
        vendors=_costs(by_vendor),
    )


def _chargeback(each: Placed, horizon: Horizon) -> int:
    rate = each.pool.pool.chargeback
    seconds = each.slots * horizon.slot_seconds
    return int(rate.micros_per_hour * each.candidate.amount * seconds / 3_600) if rate else 0


def _costs(table: Mapping[str, Sequence[int]]) -> tuple[Cost, ...]:
    return tuple(_cost(name, amounts) for name, amounts in sorted(table.items()))


def _cost(name: str, amounts: Sequence[int]) -> Cost:
    cash, power, chargeback = amounts
    return Cost(name=name, cash_micros=cash, power_micros=power, chargeback_micros=chargeback)


def prices(compiled: Compiled, solution: Solution) -> tuple[PriceSchedule, ...]:
    """The shadow price of one more device in each pool, per hour; neighbouring slots of one price are one window.

    Of a pool in several markets it is the price in the market where one more is worth most.
    """
    by_pool: dict[str, list[int]] = {}
    for price in solution.prices:
        known = by_pool.setdefault(compiled.fleet[price.pool].name, [0] * compiled.horizon.slots)
        known[:] = map(max, known, price.micros)
    return tuple(
        PriceSchedule(
            pool=name,
            windows=tuple(
                PriceWindow(start=start, end=end, micros_per_gpu_hour=micros * 3_600 // compiled.horizon.slot_seconds)
                for start, end, micros in windows(micros_by_slot, compiled.horizon)
            ),
        )
        for name, micros_by_slot in sorted(by_pool.items())
    )
