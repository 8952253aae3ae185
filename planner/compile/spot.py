"""What work on the spot market is expected to lose to machines that are taken back, and what a preference weighs.

A spot machine is taken back with a chance of `Policy.spot_interruption` an hour, and with any of its nodes the whole
gang stops. Each stop loses half of what lies between two checkpoints, and the restart:

    lost seconds of a run  =  nodes x chance an hour x limit in hours x (checkpoint.every / 2 + checkpoint.restart)
    money of a run         =  lost hours x (cash an hour + worth of the run / its hours)

The exposure counts the run's limit. Cash stays what the cloud bills; the expected loss is part of the value beside it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile.refusal import Code, Refusal
from planner.units import ceil_fraction, format_time

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.horizon import Horizon
    from planner.spec.policy import Policy
    from planner.spec.work import Checkpoint

PREFERENCE_PPM: Final = 10_000
"""What work that prefers the spot market loses of its worth elsewhere: a hundredth, which only decides near ties."""
_MILLION: Final = 1_000_000
_HOUR: Final = 3_600


def cooling(candidate: Candidate, until: int, horizon: Horizon, instead: str) -> Refusal:
    """The refusal of a market that gives no machines before slot `until`."""
    when = f"until {format_time(horizon.moment(until))}" if until < horizon.slots else "for the whole plan"
    message = f"the {candidate.site.pool.market.words} market gives no machines {when}{instead}"
    return candidate.site.refuse(Code.COOLING, message)


def lost_seconds(candidate: Candidate, checkpoint: Checkpoint, policy: Policy) -> Fraction:
    """How long a run on the spot market is expected to work in vain and to restart."""
    stops = Fraction(candidate.node_count * policy.spot_interruption.ppm * candidate.limit_seconds, _MILLION * _HOUR)
    return stops * (Fraction(checkpoint.every.milliseconds, 2_000) + Fraction(checkpoint.restart.milliseconds, 1_000))


def exposed(
    candidate: Candidate, checkpoint: Checkpoint, policy: Policy, *, worth_micros: int, slots: int
) -> Candidate:
    """A candidate on the spot market with its expected loss, in seconds and in money for each of its `slots`."""
    lost = lost_seconds(candidate, checkpoint, policy)
    an_hour = candidate.cash_micros_per_hour + Fraction(worth_micros * _HOUR, candidate.expected_seconds)
    extra = candidate.extra_micros_per_slot + ceil_fraction(lost * an_hour / _HOUR / slots)
    return replace(candidate, lost_seconds=ceil_fraction(lost), extra_micros_per_slot=extra)


def passed_over(candidate: Candidate, *, worth_micros: int, slots: int) -> Candidate:
    """A candidate off the spot market of work that prefers it."""
    extra = ceil_fraction(Fraction(worth_micros * PREFERENCE_PPM, _MILLION * slots))
    return replace(candidate, extra_micros_per_slot=candidate.extra_micros_per_slot + extra)
