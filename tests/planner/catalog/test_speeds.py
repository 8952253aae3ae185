"""The shipped speeds follow from the shipped measurements by an exact rule, restated here on its own.

The rule. Minutes are whole thousandths, ratios whole millionths; every division and every midpoint is rounded half up.
Runs are compared only within one round, benchmark and number of accelerators; a model's time there is the median of
its results. The ratio to the reference model is direct where that ran too; else the ratio to the bridge model is
chained with the bridge's own ratio on the benchmark, or with its speed where the benchmark links the two nowhere. A
benchmark's ratio is the median of its comparisons, and the speed is the median over benchmarks, so that every workload
weighs the same. A benchmark on which a model reaches less than a third of its best ratio does not count: results may
be slow through their submitter, never faster than the accelerator.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import planner.catalog

DATA = Path(planner.catalog.__file__).parent / "data"
REFERENCE = "h100-sxm5-80gb"
BRIDGE = "h200-sxm5-141gb"
MILLION = 1_000_000

Group = tuple[str, str, int]
Times = dict[Group, dict[str, int]]


def read(name: str) -> list[dict[str, str]]:
    with (DATA / "measurements" / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def median(values: list[int]) -> int:
    ordered = sorted(values)
    return (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2] + 1) // 2


def parts_per_million(part: int, whole: int) -> int:
    return (2 * MILLION * part + whole) // (2 * whole)


def training_times() -> Times:
    """Give the median of the milliminutes of each model in each (round, benchmark, accelerators)."""
    found: dict[Group, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in read("mlperf_training.csv"):
        group = (row["round"], row["benchmark"], int(row["accelerators"]))
        found[group][row["model"]].append(int(Decimal(row["minutes"]) * 1000))
    return {group: {model: median(runs) for model, runs in models.items()} for group, models in found.items()}


def ratios(times: Times, model: str, base: str) -> dict[Group, int]:
    both = {group: found for group, found in sorted(times.items()) if model in found and base in found}
    return {group: parts_per_million(found[base], found[model]) for group, found in both.items()}


def by_benchmark(found: dict[Group, int]) -> dict[str, int]:
    ordered = sorted(found.items(), key=lambda item: item[0][1])
    grouped = groupby(ordered, key=lambda item: item[0][1])
    return {benchmark: median([ratio for _, ratio in items]) for benchmark, items in grouped}


def counted(found: dict[Group, int]) -> dict[str, int]:
    every = by_benchmark(found)
    return {benchmark: ratio for benchmark, ratio in every.items() if 3 * ratio >= max(every.values())}


def speed(found: dict[Group, int]) -> int:
    return median(list(counted(found).values()))


def chained(times: Times, model: str) -> dict[Group, int]:
    bridge = ratios(times, BRIDGE, REFERENCE)
    links, whole = by_benchmark(bridge), speed(bridge)
    steps = ratios(times, model, BRIDGE) if model != BRIDGE else {}
    return {
        group: (2 * ratio * links.get(group[1], whole) + MILLION) // (2 * MILLION) for group, ratio in steps.items()
    }


def evidence(times: Times, model: str) -> list[dict[str, Any]]:
    direct = ratios(times, model, REFERENCE)
    linked = {group: ratio for group, ratio in chained(times, model).items() if group not in direct}
    kept = counted(direct | linked) if direct or linked else {}
    return [
        {"source": f"mlperf-training-{group[0]}", "workload": group[1], "accelerators": group[2], "ratio_ppm": ratio}
        | ({"via": BRIDGE} if group in linked else {})
        | ({} if group[1] in kept else {"counted": False})
        for group, ratio in sorted((direct | linked).items())
    ]


def speeds() -> dict[str, Any]:
    times = training_times()
    models = sorted({model for found in times.values() for model in found} - {REFERENCE})
    result: dict[str, Any] = {REFERENCE: {"speed_ppm": MILLION, "speed_from": []}}
    for model in models:
        if items := evidence(times, model):
            found = {(item["source"], item["workload"], item["accelerators"]): item["ratio_ppm"] for item in items}
            result[model] = {"speed_ppm": speed(found), "speed_from": items}
    return dict(sorted(result.items()))


def gavel_relatives() -> list[dict[str, Any]]:
    """Give K80 and P100 relative to V100: medians over batch sizes, then over job types, one GPU each."""
    steps: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for row in read("gavel_throughput.csv"):
        steps[row["job_type"], int(row["batch_size"])][row["family"]] = int(Decimal(row["steps_per_s"]) * MILLION)
    result = []
    for family in ("k80", "p100"):
        both = {key: found for key, found in steps.items() if family in found}
        found = {
            ("", job, batch): parts_per_million(steps_of[family], steps_of["v100"])
            for (job, batch), steps_of in both.items()
        }
        result.append(relative(family, "v100", speed(found), "gavel-physical", sorted(by_benchmark(found))))
    return result


def tinybox_relative() -> dict[str, Any]:
    """Give the RX 7900 XTX relative to the RTX 4090: six cards each, measured on nothing the reference ran on."""
    found = ratios(training_times(), "radeon-rx-7900-xtx", "rtx-4090")
    workloads = sorted(by_benchmark(found))
    return relative("radeon-rx-7900-xtx", "rtx-4090", speed(found), "mlperf-training", workloads)


def relative(family: str, to_family: str, ratio: int, source: str, workloads: list[str]) -> dict[str, Any]:
    return {
        "family": family,
        "to_family": to_family,
        "ratio_ppm": ratio,
        "source": source,
        "workloads": workloads,
    }


def derived() -> str:
    """Write out speeds.json, one comparison a line."""
    lines = ["{", f'  "reference": "{REFERENCE}",', '  "relative": [']
    relatives = [*gavel_relatives(), tinybox_relative()]
    lines.append(",\n".join(f"    {json.dumps(item)}" for item in relatives))
    lines += ["  ],", '  "speeds": {']
    blocks = []
    for model, entry in speeds().items():
        items = ",\n".join(f"        {json.dumps(item)}" for item in entry["speed_from"])
        body = f"[\n{items}\n      ]" if items else "[]"
        blocks.append(
            f'    "{model}": {{\n      "speed_ppm": {entry["speed_ppm"]},\n      "speed_from": {body}\n    }}'
        )
    lines += [",\n".join(blocks), "  }", "}", ""]
    return "\n".join(lines)


def test_shipped_speeds_follow_from_the_shipped_measurements(update_goldens: bool) -> None:
    expected = derived()
    if update_goldens:
        (DATA / "speeds.json").write_text(expected, encoding="utf-8")
    assert (DATA / "speeds.json").read_text(encoding="utf-8") == expected


def test_every_measured_model_is_in_the_catalogue() -> None:
    catalog = planner.catalog.load()
    for row in read("mlperf_training.csv"):
        model = catalog.get(row["model"])
        assert model is not None
        assert model.slug in {item.slug for item in catalog.resolve(row["model"])}


def test_only_measured_models_have_a_speed_and_the_reference_is_exactly_one() -> None:
    catalog = planner.catalog.load()
    known = {item.slug: item.speed_ppm for item in catalog.accelerators if item.speed_ppm is not None}
    assert catalog.reference == REFERENCE
    assert known[REFERENCE] == MILLION
    assert set(known) == set(speeds())
    for slug in ("v100-sxm2-16gb", "t4", "mi100", "mi250x", "k80", "rtx-4090", "radeon-rx-7900-xtx"):
        assert catalog.accelerators and slug not in known


def test_every_speed_but_the_references_names_its_workloads() -> None:
    for item in planner.catalog.load().accelerators:
        assert bool(item.speed_from) == (item.speed_ppm is not None and item.slug != REFERENCE), item.slug
        if item.speed_ppm is not None and item.speed_from:
            values = [found.ratio_ppm for found in item.speed_from]
            assert min(values) <= item.speed_ppm <= max(values)


def test_a_model_that_never_ran_beside_the_reference_is_chained_and_says_so() -> None:
    item = planner.catalog.load().get("mi300x")
    assert item is not None
    assert {found.via for found in item.speed_from} == {BRIDGE}
    # By hand: H200 23.294 min over MI300X 28.059 min, times the H200's midpoint of 29.313/24.689 and 4.438/4.252.
    found = {(step.source, step.workload, step.accelerators): step.ratio_ppm for step in item.speed_from}
    assert found["mlperf-training-5.1", "llama2_70b_lora", 8] == 926_079


def test_families_without_a_chain_to_the_reference_keep_their_relation_only() -> None:
    found = {(item.family, item.to_family): item for item in planner.catalog.load().relative_speeds}
    assert sorted(found) == [("k80", "v100"), ("p100", "v100"), ("radeon-rx-7900-xtx", "rtx-4090")]
    assert found["radeon-rx-7900-xtx", "rtx-4090"].workloads == ("bert", "resnet")
    assert 100_000 < found["k80", "v100"].ratio_ppm < found["p100", "v100"].ratio_ppm < MILLION


def test_a_comparison_far_below_the_best_does_not_count_but_is_kept() -> None:
    """The only 64-GPU fine-tuning result of the A100 and the only BERT result of the MI300X are such entries."""
    for slug, left_out in (("a100-sxm4-80gb", {"llama2_70b_lora"}), ("mi300x", {"bert"}), ("l40s", set())):
        item = planner.catalog.load().get(slug)
        assert item is not None
        assert {found.workload for found in item.speed_from if not found.counted} == left_out


def test_a_third_of_the_best_ratio_still_counts() -> None:
    assert counted({("", "a", 1): 300, ("", "b", 1): 100}) == {"a": 300, "b": 100}
    assert counted({("", "a", 1): 300, ("", "b", 1): 99}) == {"a": 300}


def test_the_median_of_an_even_count_is_the_midpoint_rounded_half_up() -> None:
    assert median([1, 2]) == 2
    assert median([4, 1]) == 3
    assert median([3, 1, 2]) == 2
    assert median([7]) == 7


def test_a_ratio_is_rounded_half_up() -> None:
    assert parts_per_million(1, 3) == 333_333
    assert parts_per_million(2, 3) == 666_667
    assert parts_per_million(1, 2_000_000) == 1
    assert parts_per_million(1, 2_000_001) == 0
