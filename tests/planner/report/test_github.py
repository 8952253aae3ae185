"""What a plan finds, as annotations at the place of the job."""

from __future__ import annotations

import pytest

from planner.diagnostics import Severity, as_github
from planner.report.github import findings
from planner.source import SourceFile
from planner.specset import SpecSet, load
from tests.planner.commands.conftest import FLEET, job
from tests.planner.plans import a_placement, a_plan, a_reason, unplaced


@pytest.fixture
def specset() -> SpecSet:
    """A fleet with an ordinary job, a required one and an array."""
    jobs = job("a") + job("must", extra="required: true\n") + job("many", extra="array: 4\n")
    result = load([SourceFile("specs/fleet.yaml", (FLEET + jobs).encode())])
    assert result.specset is not None
    return result.specset


def test_work_without_a_place_is_an_error_only_where_it_must_run(specset: SpecSet) -> None:
    plan = a_plan(unplaced=(unplaced("vision/a", a_reason(fix="ask for 4")), unplaced("vision/must")))
    assert [(item.address, item.severity, item.code, item.help) for item in findings(plan, specset)] == [
        ("job/vision/a", Severity.WARNING, "too-few-devices", "dc1/h100: ask for 4"),
        ("job/vision/must", Severity.ERROR, "too-few-devices", ""),
    ]


def test_an_annotation_stands_at_the_job(specset: SpecSet) -> None:
    text = as_github(findings(a_plan(unplaced=(unplaced("vision/a"),)), specset))
    place = specset.place("job/vision/a")
    assert text.startswith(f"::warning file=specs/fleet.yaml,line={place.line},col={place.column}")
    assert text.endswith(
        "title=too-few-devices::job/vision/a: does not run: dc1/h100: needs 64 GPUs; the pool has 32\n"
    )


def test_elements_of_an_array_are_told_together(specset: SpecSet) -> None:
    plan = a_plan(unplaced=tuple(unplaced(f"vision/many[{index}]") for index in (0, 1, 3)))
    (only,) = findings(plan, specset)
    assert only.address == "job/vision/many"
    assert only.summary.startswith("does not run, 3 elements of it: vision/many[0-1,3]: dc1/h100: needs")


def test_the_latest_element_speaks_for_late_work(specset: SpecSet) -> None:
    placements = [a_placement(f"vision/many[{index}]", late_seconds=3_600 * index) for index in range(3)]
    (only,) = findings(a_plan([*placements, a_placement("vision/a")]), specset)
    assert (only.severity, only.summary) == (Severity.WARNING, "finishes 2 h after its deadline")


def test_a_plan_that_runs_everything_in_time_finds_nothing(specset: SpecSet) -> None:
    assert findings(a_plan([a_placement("vision/a")]), specset) == ()
