"""Builders of plans for tests: small words for what a plan holds, with every default spelled once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner.plan import (
    Cost,
    Costs,
    Device,
    Inputs,
    NodeUse,
    Parameters,
    Placement,
    Plan,
    QuotaSchedule,
    QuotaUse,
    QuotaWindow,
    Reason,
    Segment,
    Status,
    Unplaced,
    Utilisation,
    sealed,
)
from planner.units import format_time, parse_time

START = parse_time("2026-12-01T00:00:00Z", "UTC")
HOUR = 3_600


def at(hours: int | float) -> str:
    """The time so many hours after the start of the horizon."""
    return format_time(START + round(hours * HOUR))


def a_segment(
    start: float, end: float, *, pool: str = "dc1/h100", gpus: int = 8, node: int = 1, **fields: Any
) -> Segment:
    """A run on as many whole nodes of eight devices as `gpus` needs, from node number `node`."""
    cluster, name = pool.split("/")
    nodes = tuple(
        NodeUse(
            name=f"{name}-{node + number:03}",
            devices=tuple(Device(index=index) for index in range(min(8, gpus - 8 * number))),
        )
        for number in range(max(1, -(-gpus // 8)))
    )
    values: dict[str, Any] = {
        "start": at(start), "end": at(end), "cluster": cluster, "pool": pool, "variant": "default",
        "vendor": "nvidia", "model": "h100-sxm5-80gb", "nodes": nodes,
    }  # fmt: skip
    return Segment(**(values | fields))


def a_placement(
    name: str = "vision/resnet", start: float = 0, end: float = 18, *, gpus: int = 8, **fields: Any
) -> Placement:
    """A job that runs once from hour `start` to hour `end`; unknown keywords that a segment has go there."""
    of_segment = {
        key: fields.pop(key)
        for key in ("pool", "node", "variant", "vendor", "model", "market", "quota")
        if key in fields
    }
    values: dict[str, Any] = {
        "address": f"job/{name}", "spec": "sha256:1", "team": name.partition("/")[0],
        "priority": "P2", "submitted": at(0), "gpus": gpus,
        "finish": at(end), "limit_seconds": round((end - start) * HOUR * 5 / 4),
        "segments": (a_segment(start, end, gpus=gpus, **of_segment),),
    }  # fmt: skip
    return Placement(**(values | fields))


def unplaced(name: str, *reasons: Reason) -> Unplaced:
    """A job that does not run."""
    return Unplaced(address=f"job/{name}", reasons=reasons or (a_reason(),))


def a_reason(
    code: str = "too-few-devices",
    subject: str = "dc1/h100",
    message: str = "needs 64 GPUs; the pool has 32",
    fix: str | None = None,
) -> Reason:
    """Why something does not run in one pool."""
    return Reason(code=code, subject=subject, message=message, fix=fix)


def a_quota(
    team: str = "vision", quota: str = "vision-h100", *, guaranteed: int = 16, used: int = 8, borrowed: int = 0,
    lent: int = 0, hours: int = 168, reason: str = "uses half of its guarantee",
) -> QuotaSchedule:  # fmt: skip
    """One quota that is the same over the whole horizon."""
    window = QuotaWindow(
        start=at(0), end=at(hours), guaranteed=guaranteed, used=used, borrowed=borrowed, lent=lent, reclaimable=0
    )
    return QuotaSchedule(team=team, quota=quota, reason=reason, windows=(window,))


def a_use(
    name: str = "dc1/h100", *, by: str = "pool", devices: int = 32, used_hours: int = 144, hours: int = 168
) -> Utilisation:
    """Device-hours used in a pool, vendor or model over the horizon."""
    return Utilisation(
        by=by,  # type: ignore[arg-type]
        name=name,
        devices=devices,
        capacity_device_seconds=devices * hours * HOUR,
        used_device_seconds=used_hours * HOUR,
    )


def a_cost(name: str = "", *, cash: int = 0, power: int = 0, chargeback: int = 0) -> Cost:
    """Money in whole units of the currency."""
    return Cost(name=name, cash_micros=cash * 10**6, power_micros=power * 10**6, chargeback_micros=chargeback * 10**6)


def quota_use(quota: str = "vision-h100", guaranteed: int = 8, borrowed: int = 0) -> QuotaUse:
    """How a segment counts in a quota."""
    return QuotaUse(quota=quota, guaranteed=guaranteed, borrowed=borrowed)


def a_plan(
    placements: Iterable[Placement] = (),
    *,
    slots: int = 168,
    timezone: str = "UTC",
    status: Status | None = None,
    **fields: Any,
) -> Plan:
    """A sealed plan of a week in hours; keywords replace whole sections."""
    values: dict[str, Any] = {
        "inputs": Inputs(
            specs_digest="sha256:" + "41ab" * 16, start=at(0), slot_seconds=HOUR, slots=slots, timezone=timezone,
            parameters=Parameters(effort="quick"), planner_version="0.1.0", solver_version="0.1.0",
        ),
        "status": status
        or Status(complete=True, proof="bounded", value_micros=996, bound_micros=1_000, gap_micros=4, gap_ppm=4_000),
        "placements": tuple(sorted(placements, key=lambda item: item.address)),
        "utilisation": (a_use(hours=slots), a_use("nvidia", by="vendor", hours=slots)),
        "costs": Costs(currency="USD", total=a_cost()),
    }  # fmt: skip
    return sealed(Plan(**(values | fields)))
