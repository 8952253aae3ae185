"""From files to a SpecSet: order, defaults, names of models, places, digests."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from planner.diagnostics import Severity
from planner.source import SourceFile
from planner.spec.envelope import Priority
from planner.spec.work import Market
from planner.specset import SpecSet, load, shortfalls
from planner.units import Duration, Memory, Money, format_time

ROOT = Path(__file__).parents[2]

FLEET = """\
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
timezone: Asia/Shanghai
pools:
  - name: h100
    nodes: h100-[001-002]
    gpus: {model: NVIDIA H100 80GB HBM3, count: 8}
    cpus: 192
    memory: 2Ti
    unavailable: [{from: 2026-12-05T01:00:00, to: 2026-12-05T05:00:00}]
  - name: mi
    nodes: 2
    gpus: {model: MI300X, count: 8}
    cpus: 192
    memory: 2Ti
"""
TEAMS = """\
apiVersion: planner/v1
kind: Team
name: research
---
apiVersion: planner/v1
kind: Team
name: vision
parent: research
defaults:
  priority: P1
  checkpoint: {every: 20m}
  duration: {limit: 24h}
  market: {spot: allowed}
  preemptible: false
  env: {NCCL_DEBUG: WARN, HF_HOME: /hf}
"""
JOB = """\
apiVersion: planner/v1
kind: Job
name: resnet
team: vision
image: registry.acme/train:2.9
command: [torchrun, train.py]
gpus: 8
duration: 18h
"""


def loaded(*texts: str, expect_warnings: bool = False) -> SpecSet:
    files = [SourceFile(f"specs/{number}.yaml", text.encode()) for number, text in enumerate(texts)]
    result = load(files)
    assert result.specset is not None, result.diagnostics
    assert bool(result.diagnostics) is expect_warnings, result.diagnostics
    return result.specset


def job_with(extra: str, *others: str) -> SpecSet:
    return loaded(FLEET, TEAMS, JOB + extra, *others)


def test_an_empty_tree_has_the_default_policy() -> None:
    specset = loaded()
    assert specset.policy.currency == "USD"
    assert specset.policy.horizon.length == Duration.parse("7d")
    assert specset.policy.rates.of(Priority.P1) == Money("USD", 12_000_000)
    assert specset.jobs == ()


def test_defaults_of_the_team_hold_where_the_job_says_nothing() -> None:
    job = job_with("env: {HF_HOME: /scratch}\nmarket: {spot: never}\n").job("vision/resnet")
    assert job.priority is Priority.P1
    assert job.preemptible is False
    assert job.market.spot is Market.NEVER
    assert job.checkpoint is not None and job.checkpoint.every == Duration.parse("20m")
    assert (job.duration.expected, job.duration.limit) == (Duration.parse("18h"), Duration.parse("24h"))
    assert [(name, value.value) for name, value in job.env] == [("HF_HOME", "/scratch"), ("NCCL_DEBUG", "WARN")]


def test_what_the_job_says_wins_even_if_it_is_the_ordinary_default() -> None:
    job = job_with("priority: P2\npreemptible: true\n").job("vision/resnet")
    assert job.priority is Priority.P2
    assert job.preemptible is True


def test_a_limit_of_a_quarter_more_holds_where_nobody_says_one() -> None:
    job = loaded(FLEET, TEAMS.replace("  duration: {limit: 24h}\n", ""), JOB).job("vision/resnet")
    assert job.duration.limit is None
    assert job.duration.limit_of(Duration.parse("18h")) == Duration.parse("22h30m")


def test_models_become_slugs_whatever_their_spelling() -> None:
    specset = job_with("variants:\n  - {name: cuda, model: H100}\n  - {name: rocm, model: amd_instinct_mi300x_oam}\n")
    assert [group.accelerator.slug for group in specset.device_classes()] == ["h100-sxm5-80gb", "mi300x"]
    assert [way.models for way in specset.job("vision/resnet").ways()] == [("h100-sxm5-80gb",), ("mi300x",)]
    assert [str(way.vendor) for way in specset.job("vision/resnet").ways()] == ["nvidia", "amd"]


def test_a_family_means_the_members_of_it_that_the_fleet_has() -> None:
    other = (
        FLEET.replace("dc1", "dc2")
        .replace("NVIDIA H100 80GB HBM3", "h100-pcie-80gb")
        .replace("h100-[001-002]", "p-[1-2]")
    )
    specset = loaded(FLEET, other, TEAMS, JOB.replace("gpus: 8", "gpus: {count: 8, model: h100}"))
    gpus = specset.job("vision/resnet").gpus
    assert gpus is not None
    assert gpus.models == ("h100-pcie-80gb", "h100-sxm5-80gb")


def test_durations_by_model_are_kept_by_slug() -> None:
    job = job_with("").job("vision/resnet")
    assert job.duration.on("mi300x") == Duration.parse("18h")
    text = JOB.replace("duration: 18h", "duration: {H100: 18h, mi300x: 20h}")
    job = loaded(FLEET, TEAMS, text).job("vision/resnet")
    assert job.duration.by_model == (("h100-sxm5-80gb", Duration.parse("18h")), ("mi300x", Duration.parse("20h")))
    assert job.duration.on("a100-sxm4-80gb") is None


def test_a_job_without_variants_is_one_way_on_nvidia() -> None:
    (way,) = job_with("memory: 4Ti\n").job("vision/resnet").ways()
    assert (way.name, str(way.vendor), way.image, way.memory) == (
        "nvidia",
        "nvidia",
        "registry.acme/train:2.9",
        Memory(4 * 2**20),
    )
    assert way.gpus is not None and way.gpus.count == 8
    assert way.duration.expected == Duration.parse("18h")


def test_times_without_offset_are_of_the_cluster_or_of_the_policy() -> None:
    policy = "apiVersion: planner/v1\nkind: Policy\nname: p\ntimezone: Europe/Berlin\n"
    specset = job_with("window: {deadline: 2026-12-03T18:00:00}\n", policy)
    (absence,) = specset.pool("dc1/h100").unavailable
    assert format_time(absence.start) == "2026-12-04T17:00:00Z"
    deadline = specset.job("vision/resnet").window.deadline
    assert deadline is not None
    assert format_time(deadline) == "2026-12-03T17:00:00Z"
    assert loaded(FLEET.replace("timezone: Asia/Shanghai\n", ""), policy).cluster("dc1").timezone == "Europe/Berlin"


def test_unwritten_rates_are_in_the_currency_of_the_policy() -> None:
    policy = "apiVersion: planner/v1\nkind: Policy\nname: p\ncurrency: EUR\nrates: {P0: EUR 50}\n"
    specset = loaded(policy)
    assert Money("EUR", 50_000_000) == specset.policy.rates.P0
    assert Money("EUR", 1_000_000) == specset.policy.rates.P3
    assert specset.policy.guarantee.currency == "EUR"


def test_an_accelerator_of_the_tree_is_known_to_it() -> None:
    head = "apiVersion: planner/v1\nkind: Accelerator\nname: x900\n"
    own = head + "vendor: amd\nmemory: 48Gi\nspeed: 0.5\naliases: [X 900]\n"
    specset = loaded(own, FLEET.replace("MI300X", "x 900"))
    entry = specset.accelerator("x900")
    assert (entry.memory_mib, entry.speed_ppm, str(entry.vendor)) == (49_152, 500_000, "amd")
    assert specset.pool("dc1/mi").gpus[0].model == "x900"


def test_nodes_are_named_by_the_list_or_after_the_pool() -> None:
    specset = loaded(FLEET)
    assert specset.pool("dc1/h100").node_names() == ("h100-001", "h100-002")
    assert specset.pool("dc1/mi").node_names() == ("mi-0001", "mi-0002")


def test_specs_are_found_by_address_and_know_where_they_were_written() -> None:
    specset = job_with("")
    assert specset.get("job/vision/resnet[3]") is specset.job("vision/resnet")
    assert specset.get("team/nobody") is None
    assert str(specset.place("job/vision/resnet")) == "specs/2.yaml:1:1"
    assert str(specset.place("team/vision")) == "specs/1.yaml:5:1"
    assert str(specset.place("pool/dc1/mi")) == "specs/0.yaml:13:5"
    assert specset.ancestors("vision") == ("vision", "research")
    for look_up in (specset.job, specset.service, specset.team, specset.quota, specset.cluster, specset.pool):
        with pytest.raises(KeyError):
            look_up("vision/nothing")


def test_after_always_names_the_team() -> None:
    specset = job_with("after: [prep]\n", JOB.replace("resnet", "prep"))
    assert specset.job("vision/resnet").after == ("vision/prep",)


def test_a_template_is_attached_and_not_read_as_a_spec() -> None:
    template = "apiVersion: batch/v1\nkind: Job\nspec: !custom {}\n"
    files = [SourceFile("s/fleet.yaml", (FLEET + "---\n" + TEAMS + "---\n" + JOB + "template: train.yaml\n").encode())]
    result = load([*files, SourceFile("s/train.yaml", template.encode())])
    assert result.specset is not None, result.diagnostics
    assert result.specset.attachment("job/vision/resnet", "train.yaml") == template.encode()
    changed = load([*files, SourceFile("s/train.yaml", b"kind: Other\n")])
    assert changed.specset is not None
    assert changed.specset.digest != result.specset.digest


def test_the_digest_knows_meaning_and_not_files_order_or_comments() -> None:
    digest = job_with("").digest
    assert digest.startswith("sha256:") and len(digest) == 71
    assert loaded(JOB, TEAMS + "---\n" + FLEET).digest == digest
    assert loaded(FLEET + "# a comment\n", TEAMS, JOB.replace("duration: 18h", "duration: PT18H")).digest == digest
    assert loaded(FLEET, TEAMS, "x-note: any\n" + JOB + "title: ResNet\n").digest == digest
    assert loaded(FLEET, TEAMS, JOB.replace("18h", "19h")).digest != digest


def test_a_snapshot_is_read_with_the_tree_but_is_no_part_of_its_digest() -> None:
    snapshot = "apiVersion: planner/v1\nkind: Snapshot\nname: dc1\ntaken_at: 2026-12-01T08:12:00Z\n"
    down = 'down: [{pool: dc1/h100, nodes: "h100-[001-002]", until: unknown}]\n'
    specset = job_with("", snapshot + down)
    (seen,) = specset.snapshots
    assert [node.name for node in seen.down[0].nodes] == ["h100-001", "h100-002"]
    assert seen.down[0].until is None
    assert specset.digest == job_with("").digest
    assert specset.spec_hash("snapshot/dc1") != job_with("", snapshot).spec_hash("snapshot/dc1")


def test_the_hash_of_a_job_changes_with_what_runs_and_not_with_wishes() -> None:
    where = "job/vision/resnet"
    plain = job_with("").spec_hash(where)
    for wish in (
        "priority: P0\n",
        "window: {deadline: 2026-12-03}\n",
        "title: x\n",
        "labels: {a: b}\n",
        "required: true\n",
    ):
        assert job_with(wish).spec_hash(where) == plain
    assert loaded(FLEET, TEAMS, JOB.replace("18h", "19h")).spec_hash(where) == plain
    assert loaded(FLEET, TEAMS.replace("P1", "P3"), JOB).spec_hash(where) == plain
    for work in ("env: {A: b}\n", "user: ann\n", "array: 4\n", "memory: 4Ti\n"):
        assert job_with(work).spec_hash(where) != plain
    assert loaded(FLEET, TEAMS, JOB.replace("2.9", "3.0")).spec_hash(where) != plain


def test_files_in_any_order_give_the_same_set_and_the_same_messages() -> None:
    texts = [FLEET, TEAMS, JOB, JOB.replace("resnet", "bert"), JOB.replace("resnet", "bad").replace("18h", "18")]
    files = [SourceFile(f"{number}.yaml", text.encode()) for number, text in enumerate(texts)]
    expected = load(files)
    good = load(files[:4])
    for seed in range(5):
        shuffled = random.Random(seed).sample(files, len(files))
        assert load(shuffled) == expected
        assert load([file for file in shuffled if file.path != "4.yaml"]) == good


def test_the_hash_seed_changes_nothing() -> None:
    code = (
        "from pathlib import Path\nfrom planner.source import SourceFile\nfrom planner.specset import load\n"
        "from planner.diagnostics import as_text\nfrom tests.planner.test_specset import FLEET, TEAMS, JOB\n"
        "texts = (FLEET, TEAMS, JOB)\n"
        "r = load([SourceFile(f'{i}.yaml', t.encode()) for i, t in enumerate(texts)])\n"
        "print(r.specset.digest, as_text(r.diagnostics))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_work_that_can_never_run_is_only_warned_of_where_the_policy_skips_it() -> None:
    policy = "apiVersion: planner/v1\nkind: Policy\nname: p\non_invalid: skip\n"
    files = [
        SourceFile(f"{n}.yaml", t.encode())
        for n, t in enumerate((FLEET, TEAMS, JOB.replace("gpus: 8", "gpus: 64"), policy))
    ]
    result = load(files)
    assert result.specset is not None
    assert [(item.code, item.severity) for item in result.diagnostics] == [("SPEC420", Severity.WARNING)]
    assert load(files[:3]).specset is None


def test_guarantees_are_told_to_fall_short_when_nodes_are_away() -> None:
    quota = "apiVersion: planner/v1\nkind: Quota\nname: q\nteam: vision\ngpus: {model: h100}\nguaranteed: 16\n"
    specset = loaded(FLEET, TEAMS, quota)
    assert shortfalls(specset, {}) == ()
    (warning,) = shortfalls(specset, {"dc1/h100": 1})
    assert warning.severity is Severity.WARNING
    assert warning.summary == "guarantees exceed what is left: 16 > 8"
