"""The sums of a plan, for people who pay for the fleet: work by priority, money, use, quotas, and where it is tight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from planner.plan import count_of
from planner.report.balance import cost, quotas, utilisation
from planner.report.figures import device_hours_text, epoch, money_text, plural
from planner.report.json import document
from planner.report.loads import average, device_seconds, horizon
from planner.report.page import Block, Column, Heading, Medium, Page, Table, line, strong
from planner.report.plan import plan_page

if TYPE_CHECKING:
    from planner.plan import Plan, PriceSchedule, QuotaSchedule

_FIELDS: Final = ("guaranteed", "used", "borrowed", "lent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The work of one priority: jobs that run, how many of them are late, and device-seconds."""

    priority: str
    jobs: int
    late: int
    device_seconds: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Tightness:
    """What one more device-hour of a pool would be worth, on average and at most (micros)."""

    pool: str
    mean_micros: int
    peak_micros: int


def shares(plan: Plan) -> tuple[Share, ...]:
    """The work of each priority that has any, the most important first."""
    every = sorted({item.priority for item in plan.placements})
    return tuple(_share(plan, priority) for priority in every)


def _share(plan: Plan, priority: str) -> Share:
    own = [item for item in plan.placements if item.priority == priority]
    return Share(
        priority=priority,
        jobs=len(own),
        late=sum(1 for item in own if item.late_seconds),
        device_seconds=sum(map(device_seconds, own), Fraction(0)),
    )


def tightness(plan: Plan) -> tuple[Tightness, ...]:
    """Every pool whose devices have a price at some time, the dearest on average first."""
    found = [_tight(plan, item) for item in plan.prices]
    return tuple(sorted((item for item in found if item.peak_micros), key=lambda item: (-item.mean_micros, item.pool)))


def _tight(plan: Plan, item: PriceSchedule) -> Tightness:
    spans = [(epoch(window.start), epoch(window.end), window.micros_per_gpu_hour) for window in item.windows]
    return Tightness(
        pool=item.pool,
        mean_micros=int(average(spans, horizon(plan))),
        peak_micros=max((price for _, _, price in spans), default=0),
    )


def summary_page(plan: Plan, medium: Medium) -> Page:
    """The sums as a page."""
    return Page(
        blocks=(
            *plan_page(plan, medium).blocks[:2],
            *_work(plan),
            *cost(plan),
            *utilisation(plan, medium),
            *quotas(plan, medium),
            *_tight_pools(plan),
        )
    )


def _work(plan: Plan) -> Iterator[Block]:
    columns = (
        Column(title="Priority"),
        Column(title="Jobs", right=True),
        Column(title="Late", right=True),
        Column(title="Work", right=True),
    )
    rows = tuple(
        (line(strong(item.priority)), line(f"{item.jobs:,}"), line(f"{item.late:,}"),
         line(device_hours_text(item.device_seconds)))
        for item in shares(plan)
    )  # fmt: skip
    if rows:
        left = f"{plural(len(plan.unplaced), 'job does', 'jobs do')} not run" if plan.unplaced else ""
        yield Heading(title="Work", note=left)
        yield Table(columns=columns, rows=rows)


def _tight_pools(plan: Plan) -> Iterator[Block]:
    currency = plan.costs.currency
    columns = (Column(title="Pool"), Column(title="On average", right=True), Column(title="At most", right=True))
    rows = tuple(
        (line(strong(item.pool)), line(money_text(item.mean_micros, currency)),
         line(money_text(item.peak_micros, currency)))
        for item in tightness(plan)
    )  # fmt: skip
    if rows:
        yield Heading(title="Tight", note="what one more GPU-hour would be worth")
        yield Table(columns=columns, rows=rows)


def summary_json(plan: Plan) -> str:
    """The sums for programs: money in micros of `currency`, use in device-seconds (whole, or text such as `"25/2"`)."""
    whole = horizon(plan)
    return document(
        digest=plan.digest,
        start=plan.inputs.start,
        horizon_seconds=whole.seconds,
        currency=plan.costs.currency,
        complete=plan.status.complete,
        gap_ppm=plan.status.gap_ppm,
        unplaced=len(plan.unplaced),
        work=[
            {
                "priority": item.priority,
                "jobs": item.jobs,
                "late": item.late,
                "device_seconds": count_of(item.device_seconds),
            }
            for item in shares(plan)
        ],
        costs=plan.costs.model_dump(mode="json"),
        utilisation=[item.model_dump(mode="json") for item in plan.utilisation],
        quotas=[_quota(item) for item in plan.quota],
        tight=[
            {"pool": item.pool, "mean_micros": item.mean_micros, "peak_micros": item.peak_micros}
            for item in tightness(plan)
        ],
    )


def _quota(item: QuotaSchedule) -> dict[str, Any]:
    sums = {
        f"{field}_device_seconds": count_of(
            sum(
                ((epoch(each.end) - epoch(each.start)) * Fraction(getattr(each, field)) for each in item.windows),
                Fraction(0),
            )
        )
        for field in _FIELDS
    }
    return {"team": item.team, "quota": item.quota, **sums}
