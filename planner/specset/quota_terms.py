"""What a quota says slot by slot, by its windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner import when

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner.spec.team import Quota, QuotaWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a quota says at one time, in devices; None: no limit, or all that is unused is lent."""

    guaranteed: int
    limit: int | None
    lend: int | None
    weight: int
    unplanned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """The slots of a plan: how many, each so many seconds long, from `begin` (seconds since 1970 UTC) on."""

    zone: str
    begin: int
    seconds: int
    count: int


def terms_by_slot(quota: Quota, slots: Slots) -> tuple[Terms, ...]:
    """The terms of a quota in each slot; of two that touch a slot the stricter figure holds."""
    return tuple(
        Terms(guaranteed=guaranteed or 0, limit=limit, lend=lend, weight=weight or 1, unplanned=unplanned or 0)
        for guaranteed, limit, lend, weight, unplanned in zip(
            _figures(quota, slots, quota.guaranteed, lambda window: window.guaranteed, _smaller),
            _figures(quota, slots, quota.limit, lambda window: window.limit, _smaller),
            _figures(quota, slots, quota.lend, lambda window: window.lend, _smaller),
            _figures(quota, slots, quota.weight, lambda window: window.weight, _smaller),
            _figures(quota, slots, quota.unplanned, lambda window: window.unplanned, _larger),
            strict=True,
        )
    )


def _figures(
    quota: Quota,
    slots: Slots,
    base: int | None,
    field: Callable[[QuotaWindow], int | None],
    stricter: Callable[[int | None, int | None], int | None],
) -> tuple[int | None, ...]:
    """A figure in each slot; None is no figure at all, and any figure is stricter."""
    if not quota.windows:
        return (base,) * slots.count
    windows = [(window.when, base if field(window) is None else field(window)) for window in quota.windows]
    return when.value_by_slot(
        windows, base, slots.zone, slots.begin, slot_seconds=slots.seconds, slots=slots.count, stricter=stricter
    )


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((item for item in (one, other) if item is not None), default=None)


def _larger(one: int | None, other: int | None) -> int | None:
    return max((item for item in (one, other) if item is not None), default=None)
