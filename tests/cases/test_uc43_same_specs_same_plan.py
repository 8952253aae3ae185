"""UC-43 at spec level: the same specs give the same bytes, and one more job moves nobody."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from planner import pipeline
from planner.plan import Plan, to_json
from planner.specset import SourceFile, load
from tests.builders import START, Document, a_cluster, a_job, a_pool, files, planned

ROOT = Path(__file__).parents[2]
FLEET = a_cluster(a_pool(nodes=4))


def twenty() -> list[Document]:
    """Twenty alike jobs of one device on four alike nodes of eight."""
    return [a_job(f"same-{at:02}", gpus=1, duration="6h") for at in range(20)]


def plan_of(sources: list[SourceFile]) -> Plan:
    """The plan of some files."""
    result = load(sources)
    assert result.specset is not None
    return pipeline.plan(result.specset, start=START).plan


@pytest.mark.parametrize("seed", range(10))
def test_shuffled_files_give_the_same_bytes(seed: int) -> None:
    sources = list(files([FLEET, *twenty()]))
    expected = to_json(plan_of(list(sources)))
    random.Random(seed).shuffle(sources)
    assert to_json(plan_of(sources)) == expected


SCRIPT = """
import sys
from tests.cases.test_uc43_same_specs_same_plan import FLEET, twenty
from tests.builders import planned
from planner.plan import to_json
sys.stdout.write(to_json(planned(FLEET, *twenty())))
"""


@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_neither_hash_seed_nor_threads_change_a_byte(seed: str, threads: str) -> None:
    settings = {"PYTHONHASHSEED": seed, "NUMBA_NUM_THREADS": threads, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | settings, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == to_json(planned(FLEET, *twenty()))


def test_a_plan_of_the_same_specs_after_the_first_one_changes_nothing() -> None:
    first = planned(FLEET, *twenty())
    again = planned(FLEET, *twenty(), previous=first)
    assert again.placements == first.placements


@pytest.mark.parametrize("name", ["a-new-one", "same-10x", "zz-new-one"])
def test_one_more_job_moves_none_of_the_others(name: str) -> None:
    first = planned(FLEET, *twenty())
    after = planned(FLEET, *twenty(), a_job(name, gpus=4, duration="6h"), previous=first)
    assert after.placement(f"job/vision/{name}") is not None
    assert [each for each in after.placements if not each.address.endswith(name)] == list(first.placements)


def test_a_renamed_job_stays_where_it_was() -> None:
    first = planned(FLEET, *twenty())
    jobs = twenty()
    jobs[7] = a_job("renamed", gpus=1, duration="6h", formerly=["job/vision/same-07"])
    before = first.placement("job/vision/same-07")
    after = planned(FLEET, *jobs, previous=first).placement("job/vision/renamed")
    assert before is not None and after is not None
    assert after.segments == before.segments


def test_waiting_counts_from_the_first_plan_on() -> None:
    first = planned(FLEET, *twenty())
    later = planned(FLEET, *twenty(), a_job("new"), previous=first, start=START + 7_200)
    submitted = {each.address: each.submitted for each in later.placements}
    assert submitted["job/vision/same-03"] == "2026-12-01T00:00:00Z"
    assert submitted["job/vision/new"] == "2026-12-01T02:00:00Z"
