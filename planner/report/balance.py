"""What the plan costs, how full the fleet is, and what each team has of its quotas."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.report.figures import decimal, device_hours_text, epoch, money_text, percent_text
from planner.report.loads import average, horizon
from planner.report.page import Block, Column, Heading, Line, Medium, Prose, Table, line, quiet, strong

if TYPE_CHECKING:
    from planner.plan import Cost, Plan, QuotaSchedule, QuotaWindow, Utilisation

_WIDE: Final = 118
"""From this width on, a quota's reason stands beside its figures."""


def cost(plan: Plan) -> tuple[Block, ...]:
    """The section "Cost": cloud bills, own power and chargeback apart, every figure with its currency."""
    costs = plan.costs
    heading = Heading(title="Cost", note="cloud bills and power are weighed in the plan; chargeback is only reported")
    if not _amount(costs.total):
        return heading, Prose(
            lines=(line(f"no cloud bill, no power price, no chargeback ({costs.currency})"),), indent=2
        )
    columns = (
        Column(title=""),
        Column(title=""),
        *(Column(title=title, right=True) for title in ("Cloud bills", "Power", "Chargeback")),
    )
    table = [_cost_row("all", "", costs.total, costs.currency)]
    for kind, group in (("team", costs.teams), ("pool", costs.pools), ("vendor", costs.vendors)):
        table += [_cost_row(kind, item.name, item, costs.currency) for item in group if _amount(item)]
    return heading, Table(columns=columns, rows=tuple(table))


def _amount(item: Cost) -> int:
    return abs(item.cash_micros) + abs(item.power_micros) + abs(item.chargeback_micros)


def _cost_row(kind: str, name: str, item: Cost, currency: str) -> tuple[Line, ...]:
    amounts = (item.cash_micros, item.power_micros, item.chargeback_micros)
    figures = (line(money_text(amount, currency)) if amount else line(quiet("-")) for amount in amounts)
    return line(quiet(kind)), line(strong(name)), *figures


def utilisation(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Utilisation": device-hours used of those that exist, by pool and vendor (in full: and model)."""
    kinds = ("pool", "vendor", "model") if medium.full else ("pool", "vendor")
    uses = [use for kind in kinds for use in plan.utilisation if use.by == kind]
    if not uses:
        return ()
    columns = (
        Column(title=""),
        Column(title=""),
        Column(title="GPUs", right=True),
        Column(title="Used", right=True),
        Column(title="Of", right=True),
        Column(title="", right=True),
        Column(title="", optional=1),
    )
    return Heading(title="Utilisation"), Table(columns=columns, rows=tuple(_use_row(use, medium) for use in uses))


def _use_row(use: Utilisation, medium: Medium) -> tuple[Line, ...]:
    return (
        line(quiet(use.by)),
        line(strong(use.name)),
        line(f"{use.devices:,}"),
        line(device_hours_text(use.used_device_seconds)),
        line(device_hours_text(use.capacity_device_seconds)),
        line(percent_text(use.used_device_seconds, use.capacity_device_seconds)),
        bar(use.used_device_seconds, use.capacity_device_seconds, medium),
    )


def bar(part: int, whole: int, medium: Medium, cells: int = 20) -> Line:
    """A bar of `cells` characters, filled in proportion; only all of it is full and only nothing is empty."""
    filled = 0 if not whole else min(cells, part * cells // whole)
    filled = max(filled, 1) if part and whole else filled
    return line(medium.glyphs.bar * filled, quiet(medium.glyphs.track * (cells - filled)))


def quotas(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Teams": devices guaranteed, used, borrowed and lent on average, and why in one line."""
    if not plan.quota:
        return ()
    columns = (
        Column(title="Team"),
        Column(title="Quota"),
        *(Column(title=title, right=True) for title in ("Guaranteed", "Used", "Borrowed", "Lent")),
    )
    ordered = sorted(plan.quota, key=lambda item: (item.team, item.quota))
    heading = Heading(title="Teams", note="devices on average over the horizon")
    if medium.width >= _WIDE:
        wide = (*columns, Column(title="Why", wraps=True))
        return heading, Table(
            columns=wide, rows=tuple((*_quota_row(plan, item), line(item.reason)) for item in ordered)
        )
    table = Table(columns=columns, rows=tuple(_quota_row(plan, item) for item in ordered))
    why = tuple(line(strong(item.team), quiet(f" {item.quota}: "), item.reason) for item in ordered if item.reason)
    return (heading, table, Prose(lines=why, indent=2)) if why else (heading, table)


def _quota_row(plan: Plan, item: QuotaSchedule) -> tuple[Line, ...]:
    whole = horizon(plan)

    def mean(field: str) -> Line:
        value = average(_spans(item.windows, field), whole)
        return line(decimal(value, 1)) if value else line(quiet("0"))

    return (
        line(strong(item.team)),
        line(item.quota),
        *(mean(field) for field in ("guaranteed", "used", "borrowed", "lent")),
    )


def _spans(windows: tuple[QuotaWindow, ...], field: str) -> Iterator[tuple[int, int, Fraction]]:
    for window in windows:
        yield epoch(window.start), epoch(window.end), Fraction(getattr(window, field))
