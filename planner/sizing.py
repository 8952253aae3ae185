"""How many replicas a load needs: exact arithmetic over requests per second, service time and concurrency.

A replica serves `concurrency / service_time` requests a second. What must hold is `load <= (1 - headroom) * capacity`;
a latency target says only whether one request alone is fast enough, never how many replicas there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from planner.units import ceil_fraction, round_up

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What one replica does; `capacity_milliqps` (thousandths of a request a second) is measured or follows."""

    service_milliseconds: int | None = None
    concurrency: int = 1
    capacity_milliqps: int | None = None
    target_milliseconds: int | None = None
    headroom_ppm: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """How many replicas there may be."""

    least: int = 1
    most: int | None = None
    step: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """What a load needs and what it gets; `shortfall` replicas are missing because of the most there may be."""

    needed: int
    replicas: int
    capacity_milliqps: int

    @property
    def shortfall(self) -> int:
        """Replicas that the load needs beyond those allowed."""
        return max(0, self.needed - self.replicas)


class Unsizable(Exception):
    """No number of replicas meets the target, or a figure is missing; the text is a whole sentence."""


def busy(milliqps: int, service_milliseconds: int) -> Fraction:
    """How many requests are being served at a time on average: rate x service time."""
    return Fraction(milliqps * service_milliseconds, _MILLION)


def capacity(server: Server) -> Fraction:
    """What one replica serves at most, in thousandths of a request a second; raises `Unsizable`."""
    service, target = server.service_milliseconds, server.target_milliseconds
    if service and target is not None and target < service:
        raise Unsizable(
            f"One request alone takes {service} ms, the target is {target} ms: no number of replicas reaches it; "
            "raise latency_target or serve faster."
        )
    if server.capacity_milliqps is not None:
        return Fraction(server.capacity_milliqps)
    if not server.service_milliseconds:
        raise Unsizable("Neither service_time nor qps_per_replica is known; give one of them.")
    return Fraction(server.concurrency * _MILLION, server.service_milliseconds)


def size(milliqps: int, server: Server, allowed: Replicas, *, concurrent: int = 0) -> Sizing:
    """How many replicas serve `milliqps` with headroom, and a peak of `concurrent` requests at once without waiting."""
    one = capacity(server) if milliqps else Fraction(0)
    usable = one * (_MILLION - server.headroom_ppm) / _MILLION
    if milliqps and not usable:
        raise Unsizable("With this headroom a replica has no capacity left; lower headroom or raise qps_per_replica.")
    by_rate = ceil_fraction(milliqps / usable) if milliqps else 0
    by_peak = -(-concurrent // server.concurrency)
    needed = _stepped(max(by_rate, by_peak, allowed.least), allowed)
    replicas = needed if allowed.most is None or needed <= allowed.most else _reachable(allowed, allowed.most)
    return Sizing(needed=needed, replicas=replicas, capacity_milliqps=int(one * replicas))


def usable_mib(memory_mib: int, reserve_ppm: int) -> int:
    """What a server takes of a device's memory, rounded down: that much it can use, and keeps from others."""
    return memory_mib * reserve_ppm // _MILLION


def degree(need_mib: int, memory_mib: int, reserve_ppm: int, parallel: Sequence[int]) -> int | None:
    """The least degree of parallelism whose devices hold so much together; None when none does."""
    each = usable_mib(memory_mib, reserve_ppm)
    return min((devices for devices in parallel if devices * each >= need_mib), default=None)


def _reachable(allowed: Replicas, most: int) -> int:
    """The highest number of whole steps from the least that is not above `most`."""
    return allowed.least + max(0, most - allowed.least) // allowed.step * allowed.step


def _stepped(replicas: int, allowed: Replicas) -> int:
    """The next number reached from the least in whole steps."""
    return allowed.least + round_up(replicas - allowed.least, allowed.step)
