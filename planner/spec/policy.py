"""Policy: the horizon, what work is worth, and what a site forbids."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from planner import units
from planner.catalog import Vendor
from planner.spec.envelope import Envelope, Priority
from planner.spec.fields import (
    Count,
    Duration,
    Line,
    Money,
    Name,
    Part,
    PartPerHour,
    PowerPrice,
    Short,
    SpecModel,
    Time,
    Word,
    Zone,
    refused,
)

_HOUR_MS = 3_600_000


def _dollars(amount: int) -> units.Money:
    return units.Money("USD", amount * units.MILLION)


def _slot(value: Any) -> Any:
    return None if value == "auto" else value


class Horizon(SpecModel):
    """The time that is planned."""

    start: Annotated[Time | None, Field(description="When it begins; see --at for what holds when absent.")] = None
    length: Annotated[Duration, Field(description="How long it is.")] = units.Duration(168 * _HOUR_MS)
    slot: Annotated[
        Duration | None,
        Short(_slot, ({"const": "auto"},)),
        Field(description="Length of a step; auto chooses one and prints it."),
    ] = None


class Rates(SpecModel):
    """Worth of a reference GPU-hour of work by priority."""

    P0: Annotated[Money, Field(description="Core business.")] = _dollars(40)
    P1: Annotated[Money, Field(description="Important.")] = _dollars(12)
    P2: Annotated[Money, Field(description="Ordinary.")] = _dollars(4)
    P3: Annotated[Money, Field(description="Experiments.")] = _dollars(1)

    def of(self, priority: Priority) -> units.Money:
        """The rate of a priority."""
        return {Priority.P0: self.P0, Priority.P1: self.P1, Priority.P2: self.P2, Priority.P3: self.P3}[priority]


class WaitForCheckpoint(SpecModel):
    """How long an owner of each priority waits for the next checkpoint of borrowed work."""

    P0: Annotated[Duration, Field(description="An owner of P0.")] = units.Duration(0)
    P1: Annotated[Duration, Field(description="An owner of P1.")] = units.Duration(_HOUR_MS // 2)
    P2: Annotated[Duration, Field(description="An owner of P2.")] = units.Duration(_HOUR_MS // 2)
    P3: Annotated[Duration, Field(description="An owner of P3.")] = units.Duration(_HOUR_MS // 2)

    def of(self, priority: Priority) -> units.Duration:
        """How long an owner of this priority waits."""
        return {Priority.P0: self.P0, Priority.P1: self.P1, Priority.P2: self.P2, Priority.P3: self.P3}[priority]


class Reclaim(SpecModel):
    """How lent devices come back."""

    wait_for_checkpoint: Annotated[WaitForCheckpoint, Field(description="How long an owner waits, by priority.")] = (
        WaitForCheckpoint()
    )


class Safety(SpecModel):
    """Thresholds that the finished plan must keep before it is applied."""

    max_moved: Annotated[Part, Field(description="Part of the running devices that may move.")] = units.Part(100_000)
    max_stopped: Annotated[Part, Field(description="Part of the running devices that may stop.")] = units.Part(100_000)
    min_existing: Annotated[Count, Field(description="Fewer running devices than this are not judged.")] = 10
    max_plan_age: Annotated[Duration, Field(description="How old a plan may be when it is applied.")] = units.Duration(
        4 * _HOUR_MS
    )


class DenyWhat(StrEnum):
    """What a rule can forbid."""

    PLACE = "place"
    PREEMPT = "preempt"
    MOVE = "move"


class CheckpointIs(StrEnum):
    """Whether work has checkpoints, in the conditions of rules."""

    MISSING = "missing"


class MarketIs(StrEnum):
    """A market, in the conditions of rules."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Where(SpecModel):
    """Which work a rule means: all that meets every field. Each field is one value or a list."""

    priority: Annotated[tuple[Priority, ...], Short(_several, or_item=True), Field(description="Its priority.")] = ()
    team: Annotated[tuple[Name, ...], Short(_several, or_item=True), Field(description="Its team.")] = ()
    pool: Annotated[
        tuple[Word, ...], Short(_several, or_item=True), Field(description="The pool it would use, cluster/pool.")
    ] = ()
    market: Annotated[
        tuple[MarketIs, ...], Short(_several, or_item=True), Field(description="The market it would use.")
    ] = ()
    vendor: Annotated[
        tuple[Vendor, ...], Short(_several, or_item=True), Field(description="The vendor it would use.")
    ] = ()
    checkpoint: Annotated[CheckpointIs | None, Field(description="missing: it has no checkpoints.")] = None


class DenyRule(SpecModel):
    """Something that no plan does."""

    id: Annotated[Name, Field(description="The name of the rule, shown where it bites.")]
    what: Annotated[DenyWhat, Field(description="place, preempt or move.")]
    where: Annotated[Where, Field(description="Which work; all when nothing is stated.")] = Where()
    message: Annotated[Line, Field(description="Why; shown to whoever it stops.")] = ""


class WarnWhat(StrEnum):
    """What a warning can watch."""

    COST_CHANGE = "cost_change"


class WarnRule(SpecModel):
    """Something that a plan is remarked on for."""

    id: Annotated[Name, Field(description="The name of the rule.")]
    what: Annotated[WarnWhat, Field(description="cost_change: cloud cash against the previous plan.")]
    over: Annotated[Part, Field(description="From which change on.")]


class OnInvalid(StrEnum):
    """What happens to work that can never run."""

    STOP = "stop"
    SKIP = "skip"


def _currency(value: Any) -> Any:
    if (
        not isinstance(value, str)
        or len(value) != 3
        or not value.isascii()
        or not value.isalpha()
        or not value.isupper()
    ):
        raise refused("written", "A currency is needed here; write its three capital letters, for example USD.")
    return value


class Policy(Envelope):
    """How plans are made and judged. At most one applies to a tree."""

    kind: Annotated[Literal["Policy"], Field(description="Policy")] = "Policy"
    horizon: Annotated[Horizon, Field(description="The time that is planned.")] = Horizon()
    timezone: Annotated[Zone, Field(description="Zone of times without offset, and of recurring windows.")] = "UTC"
    currency: Annotated[str, BeforeValidator(_currency), Field(description="The one currency of the tree.")] = "USD"
    reference: Annotated[Word, Field(description="The model whose GPU-hour is the unit of worth.")] = "h100-sxm5-80gb"
    rates: Annotated[Rates, Field(description="Worth of a reference GPU-hour of work by priority.")] = Rates()
    guarantee: Annotated[
        Money,
        Field(
            description="Added per reference GPU-hour of new work inside a guarantee, and again inside that of each "
            "team above; must exceed rates.P0."
        ),
    ] = _dollars(100)
    delay: Annotated[Part, Field(description="Lost worth per day since submitted.")] = units.Part(10_000)
    late: Annotated[Part, Field(description="Lost worth per hour past a soft deadline, at most all of it.")] = (
        units.Part(50_000)
    )
    move: Annotated[
        Money, Field(description="Cost per device whose planned node or start changes against the previous plan.")
    ] = _dollars(1)
    freeze: Annotated[Duration, Field(description="Nothing that starts within it changes, except by a rule.")] = (
        units.Duration(4 * _HOUR_MS)
    )
    reclaim: Annotated[Reclaim, Field(description="How lent devices come back.")] = Reclaim()
    power_price: Annotated[
        PowerPrice | None, Field(description="Price of electricity; power counts nothing when absent.")
    ] = None
    spot_interruption: Annotated[
        PartPerHour, Field(description="Chance that a spot machine is taken back within an hour.")
    ] = units.PartPerHour(50_000)
    safety: Annotated[Safety, Field(description="Thresholds that the finished plan must keep.")] = Safety()
    deny: Annotated[tuple[DenyRule, ...], Field(description="What no plan does.")] = ()
    warn: Annotated[tuple[WarnRule, ...], Field(description="What a plan is remarked on for.")] = ()
    on_invalid: Annotated[OnInvalid, Field(description="stop, or skip work that can never run.")] = OnInvalid.STOP
