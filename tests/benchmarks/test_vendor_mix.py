"""Jobs for two vendors at listed prices."""

from __future__ import annotations

import pytest

from benchmarks.vendor_mix import (
    OFFERS,
    STACKS,
    cheapest_vendor,
    exchange,
    fastest_vendor,
    gpu_hours,
    listed_rates,
    specs,
    workloads,
    worth_of_an_hour,
)
from planner import pipeline
from planner.plan import Plan

FEW = 12
NVIDIA = tuple(offer.model for offer in OFFERS if offer.vendor == "nvidia")
AMD = tuple(offer.model for offer in OFFERS if offer.vendor == "amd")


def _planned(*without: str) -> Plan:
    specset = specs(jobs=FEW, without=without)
    return pipeline.plan(specset, start=pipeline.start_of(specset), budget=20).plan


def test_every_workload_was_measured_on_cards_of_both_vendors_that_are_for_rent() -> None:
    assert len(workloads()) == 5
    for each in workloads():
        assert set(each.minutes) <= {*NVIDIA, *AMD}
        assert set(each.minutes) & set(NVIDIA)
        assert set(each.minutes) & set(AMD)
    assert sum(offer.nodes for offer in OFFERS if offer.vendor == "nvidia") == sum(
        offer.nodes for offer in OFFERS if offer.vendor == "amd"
    )


def test_a_job_has_one_variant_for_each_vendor_with_the_times_that_were_measured() -> None:
    for job in specs(jobs=FEW).jobs:
        assert [(way.name, str(way.vendor)) for way in job.variants] == [("cuda", "nvidia"), ("rocm", "amd")]
        times = {model: length.milliseconds for way in job.variants for model, length in way.duration.by_model}
        sizes = [each for each in workloads() if job.gpus is not None and each.gpus == job.gpus.count]
        repeats = [
            {round(times[model] / each.minutes[model] / 60_000) for model in times}
            for each in sizes
            if set(each.minutes) == set(times)
        ]
        assert any(len(each) == 1 for each in repeats)


def test_the_same_seed_draws_the_same_jobs_and_another_others() -> None:
    assert specs(jobs=FEW, seed=3).digest == specs(jobs=FEW, seed=3).digest
    assert specs(jobs=FEW, seed=3).digest != specs(jobs=FEW, seed=4).digest


def test_amd_is_listed_cheapest_and_nvidia_measured_fastest() -> None:
    assert (cheapest_vendor(), fastest_vendor()) == ("amd", "nvidia")


def test_without_a_vendor_its_cards_stay_empty_and_the_plan_is_worth_no_more() -> None:
    both = _planned()
    assert both.status.value_micros is not None
    for vendor, models in (("nvidia", NVIDIA), ("amd", AMD)):
        alone = _planned(vendor)
        used = gpu_hours(alone)
        assert [used[model] for model in models] == [0] * len(models)
        assert sum(hours for hours in used.values() if isinstance(hours, int)) > 0
        assert alone.status.value_micros is not None
        assert alone.status.value_micros <= both.status.value_micros
    assert set(STACKS) == {"nvidia", "amd"}


def test_an_hour_of_one_model_buys_what_was_measured_on_the_other() -> None:
    rates = listed_rates("mi300x", "h100-sxm5-80gb")
    hours = 28.048 / 27.422
    assert rates["llama2_70b_lora-8"] == {"hours": round(hours, 2), "work_per_dollar": round(hours * 88.488 / 48, 2)}
    assert "llama31_8b-8" not in rates
    assert listed_rates("mi300x", "mi300x")["bert-8"] == {"hours": 1.0, "work_per_dollar": 1.0}


def test_an_hour_in_a_plan_is_worth_its_rent_at_least_and_nothing_is_said_of_cards_it_leaves_alone() -> None:
    plan = _planned()
    used = gpu_hours(plan)
    for offer in OFFERS:
        worth = worth_of_an_hour(plan, offer.model)
        if used[offer.model]:
            assert worth is not None
            assert worth >= float(offer.dollars) / 8
        else:
            assert worth is None
    assert used["h100-sxm5-80gb"] == 0
    assert exchange(plan, "mi300x", "h100-sxm5-80gb")["planned"] is None
    assert exchange(plan, "mi355x", "b200-sxm-180gb")["planned"] == pytest.approx(
        (worth_of_an_hour(plan, "mi355x") or 0) / (worth_of_an_hour(plan, "b200-sxm-180gb") or 1), abs=0.005
    )
