"""Measured jobs that run on either of two vendors, at listed prices: which vendor does what, and what an hour of one is
worth in hours of the other.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchmarks.outcome import Figure, Outcome, gap_ppm, timed
from planner import pipeline
from planner.plan import Plan
from planner.specset import SourceFile, SpecSet
from planner.specset import load as load_specs
from planner.units import parse_time

if TYPE_CHECKING:
    from solvers.solve import Effort

JOBS: Final = 200
SEED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A model of card as a cloud lists it: dollars an hour for a node of 8, and how many nodes there may be."""

    model: str
    vendor: str
    provider: str
    region: str
    dollars: str
    nodes: int


OFFERS: Final = (
    Offer(model="b200-sxm-180gb", vendor="nvidia", provider="aws", region="us-east-1", dollars="113.9328", nodes=6),
    Offer(model="h100-sxm5-80gb", vendor="nvidia", provider="azure", region="eastus2", dollars="88.488", nodes=6),
    Offer(model="h200-sxm5-141gb", vendor="nvidia", provider="azure", region="eastus2", dollars="84.80", nodes=6),
    Offer(model="mi300x", vendor="amd", provider="azure", region="eastus2", dollars="48.00", nodes=9),
    Offer(model="mi355x", vendor="amd", provider="oci", region="us-ashburn-1", dollars="68.80", nodes=9),
)
"""p6-b200.48xlarge, ND96is_H100_v5, ND96isr_H200_v5, ND96isr_MI300X_v5 and BM.GPU.MI355X.8 (one price everywhere), as
listed in mid 2026. Both vendors offer as many nodes, so that neither wins by size.
"""

PAIRS: Final = (("mi300x", "h100-sxm5-80gb"), ("mi300x", "h200-sxm5-141gb"), ("mi355x", "b200-sxm-180gb"))
"""Between which models an exchange rate is shown: those of one generation."""

STACKS: Final[Mapping[str, str]] = MappingProxyType({"nvidia": "cuda", "amd": "rocm"})

_HEAD: Final = """\
apiVersion: planner/v1
kind: Policy
name: default
horizon: {start: 2026-12-07T00:00:00Z, length: 7d}
rates: {P0: USD 80, P1: USD 40, P2: USD 20}
"""
_TEAM: Final = """\
---
apiVersion: planner/v1
kind: Team
name: research
"""
_DENY: Final = """\
deny: [{{id: one-vendor, what: place, where: {{vendor: [{vendors}]}}, message: measured without it}}]
"""
_CLUSTER: Final = """\
---
apiVersion: planner/v1
kind: Cluster
name: {provider}
backend: kubernetes
place: {{provider: {provider}, region: {region}}}
pools:
"""
_POOL: Final = """\
  - name: {model}
    nodes: {nodes}
    gpus: {{model: {model}, count: 8}}
    cpus: 96
    memory: 1850Gi
    price: {{on_demand: USD {dollars}/h}}
    max_nodes: {{on_demand: {nodes}}}
"""
_JOB: Final = """\
---
apiVersion: planner/v1
kind: Job
name: job-{number:03d}
team: research
priority: {priority}
submitted: 2026-12-07T00:00:00Z
gpus: {gpus}
window: {{deadline: {deadline}}}
variants:
"""
_VARIANT: Final = """\
  - {{name: {name}, vendor: {vendor}, image: registry.example/train:{name}, command: [train], duration: {{{times}}}}}
"""
_DAYS: Final = 7
_REPEATS: Final = (4, 40)
"""A job runs a measured workload so often, at least and less than: either vendor alone is busy most of the week."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A benchmark on so many GPUs, and the minutes that its best result took on each model."""

    name: str
    gpus: int
    minutes: Mapping[str, float]


@cache
def workloads() -> tuple[Workload, ...]:
    """The measured workloads, in order of name and size."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    with (Path(__file__).parent / "data" / "mlperf_times.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["benchmark"], int(row["gpus"])), {})[row["model"]] = float(row["minutes"])
    return tuple(Workload(name=name, gpus=gpus, minutes=each) for (name, gpus), each in sorted(found.items()))


def specs(*, jobs: int = JOBS, seed: int = SEED, without: tuple[str, ...] = ()) -> SpecSet:
    """A week of clouds and `jobs` jobs, each a workload many times over with a variant for each vendor; a Policy denies
    the vendors in `without`.

    Workload, repeats, priority (P1 or P2) and day of the soft deadline are drawn evenly.
    """
    dice = Random(seed)
    text = _HEAD + (_DENY.format(vendors=", ".join(without)) if without else "") + _TEAM
    text += "".join(_cluster(provider) for provider in sorted({offer.provider for offer in OFFERS}))
    text += "".join(_job(dice, number) for number in range(jobs))
    loaded = load_specs([SourceFile("mix.yaml", text.encode())])
    if loaded.specset is None:
        raise ValueError(f"not valid specs: {loaded.diagnostics[0].summary}")
    return loaded.specset


def _cluster(provider: str) -> str:
    offers = [offer for offer in OFFERS if offer.provider == provider]
    pools = (_POOL.format(model=each.model, nodes=each.nodes, dollars=each.dollars) for each in offers)
    return _CLUSTER.format(provider=provider, region=offers[0].region) + "".join(pools)


def _job(dice: Random, number: int) -> str:
    workload, repeats = dice.choice(workloads()), dice.randrange(*_REPEATS)
    head = _JOB.format(
        number=number,
        priority=dice.choice(("P1", "P2")),
        gpus=workload.gpus,
        deadline=f"2026-12-{8 + dice.randrange(_DAYS):02d}T00:00:00Z",
    )
    return head + "".join(_variants(workload, repeats))


def _variants(workload: Workload, repeats: int) -> Iterator[str]:
    for vendor, name in STACKS.items():
        models = [offer.model for offer in OFFERS if offer.vendor == vendor and offer.model in workload.minutes]
        times = ", ".join(f"{model}: {round(workload.minutes[model] * repeats * 60)}s" for model in models)
        yield _VARIANT.format(name=name, vendor=vendor, times=times)


def cheapest_vendor() -> str:
    """The vendor of the card that is listed at the least an hour."""
    return min(OFFERS, key=lambda offer: float(offer.dollars)).vendor


def fastest_vendor() -> str:
    """The vendor whose best card is ahead in more workloads."""
    vendor_of = {offer.model: offer.vendor for offer in OFFERS}
    ahead = [vendor_of[min(each.minutes, key=lambda model: each.minutes[model])] for each in workloads()]
    return max(STACKS, key=ahead.count)


def listed_rates(one: str, other: str) -> dict[str, Figure]:
    """By workload measured on both models: hours of `other` that do the work of an hour of `one`, and the work of a
    dollar of `one` in that of a dollar of `other`.
    """
    dollars = {offer.model: float(offer.dollars) for offer in OFFERS}
    rates: dict[str, Figure] = {}
    for each in workloads():
        if one in each.minutes and other in each.minutes:
            hours = each.minutes[other] / each.minutes[one]
            bought = hours * dollars[other] / dollars[one]
            rates[f"{each.name}-{each.gpus}"] = {"hours": round(hours, 2), "work_per_dollar": round(bought, 2)}
    return rates


def gpu_hours(plan: Plan) -> dict[str, Figure]:
    """Whole GPU-hours that a plan uses of each model."""
    return {each.name: each.used_device_seconds // 3600 for each in plan.utilisation if each.by == "model"}


def worth_of_an_hour(plan: Plan, model: str) -> float | None:
    """Dollars that one more GPU-hour of a model is worth to a plan, on average over the horizon: what it is rented for,
    and the shadow price of there being no more of it. None for a model that the plan leaves alone: it is worth less.
    """
    if not gpu_hours(plan)[model]:
        return None
    pool = next(each for each in plan.prices if each.pool.endswith(f"/{model}"))
    slots = [(_hours(each.start, each.end), each.micros_per_gpu_hour) for each in pool.windows]
    shadow = sum(hours * micros for hours, micros in slots) / (10**6 * max(1, sum(hours for hours, _ in slots)))
    return shadow + next(float(offer.dollars) for offer in OFFERS if offer.model == model) / 8


def _hours(start: str, end: str) -> float:
    return (parse_time(end, "UTC") - parse_time(start, "UTC")) / 3600


def exchange(plan: Plan, one: str, other: str) -> dict[str, Figure]:
    """What an hour of `one` is worth in hours of `other`: as measured by workload, and in the plan as a whole."""
    mine, theirs = worth_of_an_hour(plan, one), worth_of_an_hour(plan, other)
    planned = None if mine is None or theirs is None else round(mine / theirs, 2)
    return {"measured": listed_rates(one, other), "planned": planned}


def vendor_mix(effort: Effort, peers: bool) -> Outcome:
    """200 jobs with a CUDA and a ROCm variant on five models that three clouds rent out, against each vendor alone."""
    specset = specs()
    start = pipeline.start_of(specset)
    pipeline.plan(specset, start=start, budget=1)
    made, seconds = timed(lambda: pipeline.plan(specset, start=start, effort=effort.value))
    status = made.plan.status
    alone = {vendor: _alone(vendor, start, effort) for vendor in STACKS}
    baselines = {"cheapest_vendor": alone[cheapest_vendor()], "fastest_vendor": alone[fastest_vendor()]}
    value, bound = status.value_micros or 0, status.bound_micros or 0
    return Outcome(
        bench="vendor-mix",
        seconds=seconds,
        value=value,
        bound=bound,
        gap_ppm=gap_ppm(value, bound),
        baselines={name: plan.status.value_micros for name, plan in baselines.items()},
        more={
            "ahead_percent": {
                name: round(100 * value / (plan.status.value_micros or 1) - 100, 1) for name, plan in baselines.items()
            },
            "exchange_rate": {f"{one} in {other}": exchange(made.plan, one, other) for one, other in PAIRS},
            "jobs": JOBS,
            "placed": len(made.plan.placements),
            "placed_alone": {name: len(plan.placements) for name, plan in baselines.items()},
            "gpu_hours": gpu_hours(made.plan),
            "seed": SEED,
            "effort": effort.value,
        },
    )


def _alone(vendor: str, start: int, effort: Effort) -> Plan:
    others = tuple(each for each in STACKS if each != vendor)
    return pipeline.plan(specs(without=others), start=start, effort=effort.value).plan
