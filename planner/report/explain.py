"""Why one job or service is where it is, or has no place: from its plan and its spec, without planning anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never

from planner.names import without_index
from planner.plan import Placement, ServicePlan, Unplaced
from planner.report.figures import (
    decimal,
    duration_text,
    epoch,
    moment_text,
    money_text,
    percent_text,
    plural,
)
from planner.report.json import document
from planner.report.naming import fold_nodes, work_name
from planner.report.page import Block, Heading, Line, Page, Prose, bad, care, good, line, quiet, strong
from planner.spec.job import Job
from planner.units import zone_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from planner.plan import Plan, Reason, Segment, ServiceStep
    from planner.specset import SpecSet


Item = Placement | Unplaced | ServicePlan
"""What a plan says of one job or service."""
_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is explained: an address of the plan, and the specs that it was planned from, where they are known."""

    plan: Plan
    address: str
    specset: SpecSet | None = None

    @property
    def item(self) -> Item | None:
        """What the plan has at the address."""
        return next((item for item in _items(self.plan) if item.address == self.address), None)


def addresses(plan: Plan) -> tuple[str, ...]:
    """Everything that can be explained."""
    return tuple(sorted(item.address for item in _items(plan)))


def _items(plan: Plan) -> Iterator[Item]:
    yield from plan.placements
    yield from plan.unplaced
    yield from plan.services


def before_it(plan: Plan, placement: Placement) -> tuple[Placement, ...]:
    """Work that has devices of `placement` until the moment at which it begins."""
    first = placement.segments[0]
    seats = _seats(first)
    return tuple(
        other
        for other in plan.placements
        if other is not placement
        and any(part.end == first.start and not seats.isdisjoint(_seats(part)) for part in other.segments)
    )


def _seats(segment: Segment) -> frozenset[tuple[str, str, int]]:
    return frozenset((segment.pool, node.name, device.index) for node in segment.nodes for device in node.devices)


def price_at(plan: Plan, pool: str, moment: int) -> int | None:
    """What one more device-hour of a pool is worth at a moment, in micros; None where the plan does not say."""
    schedule = next((item for item in plan.prices if item.pool == pool), None)
    for window in schedule.windows if schedule else ():
        if epoch(window.start) <= moment < epoch(window.end):
            return window.micros_per_gpu_hour
    return None


def explain_page(asked: Asked) -> Page:
    """The explanation as a page; nothing for an address that the plan does not have."""
    zone, item = zone_of(asked.plan.inputs.timezone), asked.item
    if item is None:
        return Page(blocks=())
    match item:
        case Placement():
            lines, title = tuple(_placed(asked, item, zone)), "Why so"
        case ServicePlan():
            lines, title = tuple(map(partial(_step, zone=zone), item.steps)), "Why no more"
        case Unplaced():
            lines, title = (line(bad("it has no place")), *_waits(asked, zone)), "Why nowhere"
        case _:
            assert_never(item)
    blocks: list[Block] = [Heading(title=work_name(asked.address)), Prose(lines=lines, indent=2)]
    if item.reasons:
        blocks += [Heading(title=title), Prose(lines=tuple(_reasons(item.reasons)), indent=2)]
    return Page(blocks=tuple(blocks))


def _placed(asked: Asked, item: Placement, zone: ZoneInfo) -> Iterator[Line]:
    plan = asked.plan
    for part in item.segments:
        yield line(
            strong(f"{moment_text(epoch(part.start), zone)} to {moment_text(epoch(part.end), zone)}"),
            f" on {part.pool}, {fold_nodes(node.name for node in part.nodes)}: ",
            f"{decimal(Fraction(item.gpus), 3)} x {part.model or 'CPU'} as variant {part.variant}",
        )
        for use in part.quota:
            yield line(quiet("  quota    "), f"{use.quota}: {use.guaranteed} guaranteed, {use.borrowed} borrowed")
    wait = epoch(item.start) - epoch(item.submitted)
    yield line(quiet("waits    "), duration_text(wait) if wait > 0 else "not at all", f", priority {item.priority}")
    yield from _waits(asked, zone)
    yield from _held(plan, item)
    yield from _worth(plan, item)
    if item.late_seconds:
        yield line(care(f"finishes {duration_text(item.late_seconds)} after its deadline"))


def _waits(asked: Asked, zone: ZoneInfo) -> Iterator[Line]:
    """Work that it waits for, and the limits that its spec states."""
    job = asked.specset.get(without_index(asked.address)) if asked.specset else None
    if not isinstance(job, Job):
        return
    for name in job.after:
        key = name.removeprefix("job/")
        address = f"job/{key}" if "/" in key else f"job/{job.team}/{key}"
        ends = [epoch(item.finish) for item in asked.plan.placements if without_index(item.address) == address]
        when = f", which ends {moment_text(max(ends), zone)}" if ends else ", which has no run in this plan"
        yield line(quiet("after    "), work_name(address), when)


def _held(plan: Plan, item: Placement) -> Iterator[Line]:
    others = before_it(plan, item)
    if others:
        names = ", ".join(f"{work_name(other.address)} ({other.priority})" for other in others[:_NAMED])
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        yield line(quiet("follows  "), f"{names}{more} on its devices")


def _worth(plan: Plan, item: Placement) -> Iterator[Line]:
    first, currency = item.segments[0], plan.costs.currency
    price = price_at(plan, first.pool, epoch(first.start))
    if price is not None:
        then = "free" if not price else f"worth {money_text(price, currency)} to others"
        yield line(quiet("tight    "), f"one more GPU-hour of {first.pool} is {then} when it begins")
    amounts = [money_text(amount, currency) for amount in (item.value_micros, item.cash_micros)]
    yield line(quiet("value    "), f"{amounts[0]}, cloud bill {amounts[1]}")


def _step(step: ServiceStep, *, zone: ZoneInfo) -> Line:
    short = step.replicas_needed - step.replicas
    borne = percent_text(min(step.capacity_milliqps, step.load_milliqps), step.load_milliqps)
    load = decimal(Fraction(step.load_milliqps, 1_000), 1)
    return line(
        strong(moment_text(epoch(step.start), zone)),
        f" {plural(step.replicas, 'replica')}, bears {borne} of {load} requests/s",
        bad(f", {short} too few") if short > 0 else good(", enough"),
    )


def _reasons(reasons: tuple[Reason, ...]) -> Iterator[Line]:
    for reason in reasons:
        subject = f"{reason.subject}: " if reason.subject else ""
        yield line(f"{subject}{reason.message}", quiet(f" [{reason.code}]"))
        if reason.fix:
            yield line("  ", good("try: "), reason.fix)


def explain_json(asked: Asked) -> str:
    """What the plan has of the item, who is before it and the price when it begins, for programs."""
    item = asked.item
    assert item is not None
    placement = asked.plan.placement(asked.address)
    found: dict[str, Any] = {"address": asked.address, "plan": asked.plan.digest}
    found["item"] = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    if placement is not None:
        first = placement.segments[0]
        found["before"] = [other.address for other in before_it(asked.plan, placement)]
        found["price_micros_per_gpu_hour"] = price_at(asked.plan, first.pool, epoch(first.start))
    return document(**found)
