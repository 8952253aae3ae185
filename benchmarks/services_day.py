"""A day of 150 services whose load comes and goes, and training that runs on what they leave: a seeded generator of
specs, and a recount of what a plan serves and trains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Final

from benchmarks import philly
from benchmarks.outcome import Outcome, gap_ppm, timed
from planner import pipeline
from planner.plan import Plan, Segment, ServicePlan, ServiceStep
from planner.specset import SourceFile, SpecSet
from planner.specset import load as load_specs
from planner.units import format_time, parse_time

if TYPE_CHECKING:
    from solvers.solve import Effort

SERVICES: Final = 150
JOBS: Final = 2_000
NODES: Final = 800
"""Of 8 devices: the services' peaks together take seven tenths of them."""
SEED: Final = 1
HOURS: Final = 24
START: Final = 1_796_601_600
"""2026-12-07T00:00:00Z, a Monday."""

SIZES: Final = ((0, 1), (10, 2), (25, 3), (50, 7), (75, 34), (90, 72), (95, 114), (100, 389))
"""Percent of services, and the most replicas that they have at once at most."""
DAY: Final = (0, 0, 0, 0, 0, 0, 1, 5, 33, 97, 100, 90, 52, 98, 95, 93, 94, 81, 49, 42, 40, 45, 18, 10)
"""Percent of what comes and goes, hour by hour."""
_TROUGHS: Final = (5, 50)
"""Percent of its peak that a service keeps at night: at least, and at most."""
_SHIFTS: Final = (0, 0, 0, 0, -1, 1, -2, 2)
"""Hours by which a service's day begins later, drawn evenly."""
_NOISE: Final = 3
"""Percent by which an hour may be off, either way."""
_USABLE_MILLIQPS: Final = 9_000
"""What the headroom leaves of the ten requests a second that a replica serves."""

_HEAD: Final = """\
apiVersion: planner/v1
kind: Policy
name: default
horizon: {start: 2026-12-07T00:00:00Z, length: 24h, slot: 1h}
---
apiVersion: planner/v1
kind: Team
name: serving
---
apiVersion: planner/v1
kind: Team
name: training
"""
_CLUSTER: Final = """\
---
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
pools:
  - {{name: h100, nodes: {nodes}, gpus: {{model: h100-sxm5-80gb, count: 8}}, cpus: 192, memory: 2Ti}}
"""
_SERVICE: Final = """\
---
apiVersion: planner/v1
kind: Service
name: {name}
team: serving
priority: P0
image: registry.example/serve:1.0
command: [serve]
gpus: 1
load: {{file: {name}.csv}}
qps_per_replica: 10
headroom: 10%
replicas: {{min: 1, max: {peak}}}
"""
_JOB: Final = """\
---
apiVersion: planner/v1
kind: Job
name: job-{number:04d}
team: training
image: registry.example/train:2.9-cu128
command: [train]
submitted: 2026-12-07T00:00:00Z
gpus: {gpus}
duration: {hours}h
window: {{deadline: 2026-12-08T00:00:00Z, deadline_is: hard}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What is asked of a service: thousandths of a request a second, hour by hour."""

    name: str
    milliqps: tuple[int, ...]

    @property
    def peak(self) -> int:
        """The most replicas that any hour needs."""
        return max(map(replicas, self.milliqps))


def replicas(milliqps: int) -> int:
    """Replicas that serve a load with the headroom; one is always up."""
    return max(1, -(-milliqps // _USABLE_MILLIQPS))


def demands(*, services: int = SERVICES, seed: int = SEED) -> tuple[Demand, ...]:
    """A day of services, each drawn for itself.

    What two public traces say of such services (alibaba/clusterdata, `cluster-trace-gpu-v2025`: 156 recommendation
    services in a month, `cluster-trace-v2026-GenAI`: a text-to-image service; facts, no line of either is shipped):

    - half of the services of the former never have more than 7 instances with a GPU, a tenth has 72 and more, the
      largest 389: `SIZES`, one service from each of equal parts, geometric between its points;
    - their number hardly changes within a day (in nine of ten services' days by at most 1 %): they are sized for their
      peak, which is the baseline;
    - the latter's rate has a working day of nine hours at 81 to 100 % of its peak with an hour's break at half, four
      hours of evening at 40 to 49 %, and a night that falls below 1 %, 45 % on average: `DAY`.

    Not in either, and so assumed: that work begins at nine, on half of the services an hour or two earlier or later;
    that 5 to 50 % of a service's peak stays at night; that hours are off by up to 3 %.
    """
    dice = Random(seed)
    return tuple(_demand(dice, number, _size((number + dice.random()) / services)) for number in range(services))


def _size(part: float) -> float:
    """The most replicas of the service at this part of all, in order of size."""
    percent = 100 * part
    (low, small), (high, large) = next((one, other) for one, other in pairwise(SIZES) if percent <= other[0])
    return float(small * (large / small) ** ((percent - low) / (high - low)))


def _demand(dice: Random, number: int, size: float) -> Demand:
    trough, shift = dice.randint(*_TROUGHS), dice.choice(_SHIFTS)
    shares = (trough + (100 - trough) * DAY[(hour - shift) % HOURS] / 100 for hour in range(HOURS))
    rates = (size * share * (100 + dice.uniform(-_NOISE, _NOISE)) / 10_000 for share in shares)
    return Demand(name=f"service-{number:03d}", milliqps=tuple(round(rate * _USABLE_MILLIQPS) for rate in rates))


def specs(
    asked: Sequence[Demand], *, nodes: int = NODES, jobs: int = JOBS, seed: int = SEED, flat: bool = False
) -> SpecSet:
    """The services on nodes of 8 H100 at highest priority, and `jobs` jobs that have to end within the day.

    Jobs are drawn from those of the Philly week that fit into a day and onto a node. A `flat` load is a service's peak
    all day: what a site does that sizes its services for their peak.
    """
    dice = Random(seed)
    short = [job for job in philly.jobs() if job.duration <= HOURS and job.gpus <= 8]
    drawn = [dice.choice(short) for _ in range(jobs)]
    text = _HEAD + _CLUSTER.format(nodes=nodes)
    text += "".join(_SERVICE.format(name=each.name, peak=each.peak) for each in asked)
    text += "".join(_JOB.format(number=number, gpus=job.gpus, hours=job.duration) for number, job in enumerate(drawn))
    loads = (SourceFile(f"{each.name}.csv", _load(each, flat).encode()) for each in asked)
    loaded = load_specs([SourceFile("day.yaml", text.encode()), *loads])
    if loaded.specset is None:
        raise ValueError(f"not valid specs: {loaded.diagnostics[0].summary}")
    return loaded.specset


def _load(asked: Demand, flat: bool) -> str:
    rates = (max(asked.milliqps),) * HOURS if flat else asked.milliqps
    lines = (f"{format_time(START + 3600 * hour)},{rate / 1000:.3f}\n" for hour, rate in enumerate(rates))
    return "time,qps\n" + "".join(lines)


def unserved(plan: Plan, asked: Sequence[Demand]) -> int:
    """Hours of services in which the devices that they hold, counted one by one, serve less than was asked."""
    held = {each.address.rpartition("/")[2]: _held(each) for each in plan.services}
    return sum(
        devices * _USABLE_MILLIQPS < milliqps
        for each in asked
        for devices, milliqps in zip(held[each.name], each.milliqps, strict=True)
    )


def _held(service: ServicePlan) -> list[int]:
    """The devices of a service in each hour: of steps that change within one, what both have."""
    least: list[int | None] = [None] * HOURS
    for step in service.steps:
        devices = sum(map(_devices, step.segments))
        for hour in range(*_span(step)):
            before = least[hour]
            least[hour] = devices if before is None else min(before, devices)
    return [devices or 0 for devices in least]


def shared(plan: Plan) -> int:
    """Device-hours that more than one piece of work holds."""
    parts = [part for each in plan.services for step in each.steps for part in step.segments]
    parts += [part for each in plan.placements for part in each.segments]
    held = Counter(
        (node.name, device.index, hour)
        for part in parts
        for hour in range(*_span(part))
        for node in part.nodes
        for device in node.devices
    )
    return sum(times - 1 for times in held.values())


def training_device_hours(plan: Plan) -> int:
    """Device-hours of all jobs of the plan, in the hours that they touch."""
    return sum(_devices(part) * len(range(*_span(part))) for each in plan.placements for part in each.segments)


def _devices(part: Segment) -> int:
    return sum(len(node.devices) for node in part.nodes)


def _span(part: Segment | ServiceStep) -> tuple[int, int]:
    """The hours of the day that a part touches: the first, and the first after."""
    begun, ended = parse_time(part.start, "UTC") - START, parse_time(part.end, "UTC") - START
    return max(0, begun // 3600), min(HOURS, -(-ended // 3600))


def services_day(effort: Effort, peers: bool) -> Outcome:
    """150 services with training underneath, against the same with every service at its peak all day."""
    asked = demands()
    warm = demands(services=2)
    pipeline.plan(specs(warm, nodes=2, jobs=2), start=START, budget=1)
    made, seconds = timed(lambda: pipeline.plan(specs(asked), start=START, effort=effort.value).plan)
    static = pipeline.plan(specs(asked, flat=True), start=START, effort=effort.value).plan
    trained, before = training_device_hours(made), training_device_hours(static)
    value, bound = made.status.value_micros or 0, made.status.bound_micros or 0
    return Outcome(
        bench="services-day",
        seconds=seconds,
        value=value,
        bound=bound,
        gap_ppm=gap_ppm(value, bound),
        baselines={"static_peak_training_device_hours": before},
        more={
            "unserved_slots": unserved(made, asked),
            "training_device_hours": trained,
            "more_training_percent": round(100 * trained / max(1, before) - 100, 1),
            "unserved_slots_static": unserved(static, asked),
            "shared_device_hours": shared(made),
            "devices": 8 * NODES,
            "peak_replicas": sum(each.peak for each in asked),
            "jobs": JOBS,
            "placed": len(made.placements),
            "placed_static": len(static.placements),
            "seed": SEED,
            "effort": effort.value,
        },
    )
