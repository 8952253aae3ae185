"""The rails of a Policy: what a finished plan may do to what runs before somebody has to say that it is meant.

Counts are devices, as exact fractions where devices are shared. What runs is what the plan that is applied has running
at a moment, less what is known to have finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from planner.clock import parse_time
from planner.diagnostics import Diagnostic, Severity
from planner.names import without_index
from planner.plan import Placement, Plan, Segment
from planner.spec.policy import CheckpointIs, DenyRule, DenyWhat, Policy, WarnRule, WarnWhat
from planner.specset import SpecSet
from planner.units import Money

MILLION = 1_000_000


class Rail(StrEnum):
    """What can stop a plan, by the field or the option that it is called by."""

    MAX_MOVED = "safety.max_moved"
    MAX_STOPPED = "safety.max_stopped"
    EMPTY = "empty"
    PROTECTED = "planner/protected"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What somebody has said is meant: so many devices moved or stopped at most, and that nothing is to be left."""

    moved: int = 0
    stopped: int = 0
    empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One rail that the plan runs into: what it does, what the limit is, who set it, and what lets it through."""

    rail: Rail
    seen: str
    limit: str
    source: str
    override: str

    @property
    def diagnostic(self) -> Diagnostic:
        """The breach as a message."""
        return Diagnostic(
            code="PLAN702",
            severity=Severity.ERROR,
            summary=f"{self.rail}: {self.seen}; {self.limit} ({self.source})",
            path=str(self.rail),
            seen=self.seen,
            expected=self.limit,
            help=self.override,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Devices that run at a moment, and which of them the plan moves or stops, by address."""

    running: Fraction
    moved: tuple[tuple[str, Fraction], ...] = ()
    stopped: tuple[tuple[str, Fraction], ...] = ()


def judged(
    before: Plan | None, after: Plan, specset: SpecSet, *, at: int, finished: Iterable[str] = (), allowed: Allowed
) -> tuple[Breach, ...]:
    """Every rail that `after` runs into when it takes the place of `before` at `at` (epoch seconds).

    `finished` are addresses of work that is known to have ended.
    """
    policy = specset.policy
    effects = effects_of(before, after, at=at, finished=finished)
    return (
        *_thresholds(effects, policy, _source(specset), allowed),
        *_emptied(before, after, allowed),
        *_protected(effects, specset),
        *_denied(after, specset),
    )


def effects_of(before: Plan | None, after: Plan, *, at: int, finished: Iterable[str] = ()) -> Effects:
    """What `after` does to what `before` has running once `after` begins, or at `at` where that is later."""
    if before is None:
        return Effects(running=Fraction(0))
    moment, ended = max(at, _seconds(after.inputs.start)), frozenset(finished)
    then = {item.address: segment for item in after.placements if (segment := _during(item, moment))}
    running = [
        (item.address, Fraction(item.gpus), segment)
        for item in before.placements
        if item.address not in ended and (segment := _during(item, moment))
    ]
    return Effects(
        running=sum((gpus for _, gpus, _ in running), Fraction(0)),
        moved=tuple(
            (address, gpus)
            for address, gpus, segment in running
            if address in then and _seats(then[address]) != _seats(segment)
        ),
        stopped=tuple((address, gpus) for address, gpus, _ in running if address not in then),
    )


def _during(placement: Placement, moment: int) -> Segment | None:
    return next(
        (part for part in placement.segments if _seconds(part.start) <= moment < _seconds(part.end)),
        None,
    )


def _seats(segment: Segment) -> tuple[object, ...]:
    return segment.pool, segment.variant, tuple(sorted((node.name, node.devices) for node in segment.nodes))


def remarks(before: Plan | None, after: Plan, specset: SpecSet) -> tuple[Diagnostic, ...]:
    """What the policy remarks on when `after` takes the place of `before`; it stops nothing."""
    return tuple(
        Diagnostic(
            code="PLAN705",
            severity=Severity.WARNING,
            summary=f"{rule.id}: {seen}",
            path="warn",
            expected=f"less than {rule.over}",
            help=f"somebody should know of it before it is merged ({_source(specset)})",
        )
        for rule in specset.policy.warn
        if before is not None and (seen := _remarkable(rule, before, after))
    )


def _remarkable(rule: WarnRule, before: Plan, after: Plan) -> str:
    match rule.what:
        case WarnWhat.COST_CHANGE:
            old, new = (plan.costs.total.cash_micros for plan in (before, after))
            if old == new or abs(new - old) * MILLION < old * rule.over.ppm:
                return ""
            shown = [str(Money(after.costs.currency, amount)) for amount in (old, new)]
            return f"the cloud bill goes from {shown[0]} to {shown[1]}, by {rule.over} or more"
        case _:
            assert_never(rule.what)


def _thresholds(effects: Effects, policy: Policy, source: str, allowed: Allowed) -> Iterator[Breach]:
    safety = policy.safety
    if effects.running < safety.min_existing:
        return
    for rail, word, option, part, limit, meant in (
        (Rail.MAX_MOVED, "moves", "moved", effects.moved, safety.max_moved, allowed.moved),
        (Rail.MAX_STOPPED, "stops", "stopped", effects.stopped, safety.max_stopped, allowed.stopped),
    ):
        count = sum((gpus for _, gpus in part), Fraction(0))
        if count * MILLION > effects.running * limit.ppm and count > meant:
            yield Breach(
                rail=rail,
                seen=f"it {word} {_devices(count)} of {_devices(effects.running)} that run: {_named(part)}",
                limit=f"at most {limit} may be",
                source=source,
                override=f"if that is meant: --allow-{option} {-(-count.numerator // count.denominator)}",
            )


def _emptied(before: Plan | None, after: Plan, allowed: Allowed) -> Iterator[Breach]:
    if before is None or allowed.empty or after.placements or after.services:
        return
    count = len(before.placements) + len(before.services)
    if count:
        yield Breach(
            rail=Rail.EMPTY,
            seen=f"it runs nothing at all, and the applied plan runs {count}",
            limit="an empty plan is more often a mistake than meant",
            source="always so",
            override="if that is meant: --allow-empty",
        )


def _protected(effects: Effects, specset: SpecSet) -> Iterator[Breach]:
    for word, part in (("moves", effects.moved), ("stops", effects.stopped)):
        for address, _ in part:
            spec = specset.get(without_index(address))
            if spec is not None and spec.protected:
                yield protection(address, f"it {word} {address}", f"set at {_place(specset, address)}")


def protection(address: str, seen: str, source: str) -> Breach:
    """The breach of an object that apply may neither stop nor remove."""
    return Breach(
        rail=Rail.PROTECTED,
        seen=seen,
        limit="apply never stops or removes what is protected",
        source=source,
        override=f"if that is meant: take the label planner/protected off {address} in a change of its own, apply"
        " that, then this",
    )


def _denied(after: Plan, specset: SpecSet) -> Iterator[Breach]:
    for rule in specset.policy.deny:
        touched = _touched(rule, after)
        found = sorted({address for address in touched if _meets(rule, address, after, specset)})
        if found:
            because = f": {rule.message}" if rule.message else ""
            yield Breach(
                rail=Rail.DENY,
                seen=f"{rule.id} forbids to {rule.what} {', '.join(found[:5])}{_more(len(found) - 5)}",
                limit=f"none may be{because}",
                source=_source(specset),
                override="there is no override; change the rule in a change of its own, or plan again",
            )


def _touched(rule: DenyRule, plan: Plan) -> tuple[str, ...]:
    match rule.what:
        case DenyWhat.PLACE:
            return tuple(item.address for item in plan.placements)
        case DenyWhat.PREEMPT:
            return tuple(item.victim for item in plan.preemptions)
        case DenyWhat.MOVE:
            return tuple(item.address for item in plan.moves)


def _meets(rule: DenyRule, address: str, plan: Plan, specset: SpecSet) -> bool:
    """Whether work meets every field of a rule's condition; a field that says nothing is met."""
    placement, where = plan.placement(address), rule.where
    if placement is None:
        return False
    parts = placement.segments
    work = specset.get(address)
    return all(
        (
            not where.priority or placement.priority in where.priority,
            not where.team or placement.team in where.team,
            not where.pool or any(part.pool in where.pool for part in parts),
            not where.market or any(part.market in where.market for part in parts),
            not where.vendor or any(part.vendor in where.vendor for part in parts),
            where.checkpoint is not CheckpointIs.MISSING or getattr(work, "checkpoint", None) is None,
        )
    )


def _source(specset: SpecSet) -> str:
    """Who set the limits: the place of the Policy, or nobody."""
    place = _place(specset, f"policy/{specset.policy.name}")
    return f"set by policy/{specset.policy.name} at {place}" if place else "the default, since no Policy says otherwise"


def _place(specset: SpecSet, address: str) -> str:
    try:
        return str(specset.place(address))
    except KeyError:
        return ""


def _named(part: tuple[tuple[str, Fraction], ...]) -> str:
    largest = sorted(part, key=lambda item: (-item[1], item[0]))
    return ", ".join(address for address, _ in largest[:5]) + _more(len(largest) - 5)


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _devices(count: Fraction) -> str:
    return f"{count} device{'' if count == 1 else 's'}"


def _seconds(text: str) -> int:
    return parse_time(text, "UTC")
