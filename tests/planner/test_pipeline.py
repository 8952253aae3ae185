"""The stages together: when a plan starts, that it is checked and sealed, and that stopping keeps the best."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from planner import pipeline
from planner.diagnostics import UsageError
from planner.plan import from_json, to_json
from planner.units import format_time, parse_time
from solvers.jsonform import problem_from_json, solution_from_json
from solvers.solution import Solution
from tests.builders import START, a_cluster, a_job, a_policy, a_pool, files, loaded, planned

AT = parse_time("2026-12-05T10:20:00Z", "UTC")
POLICY_START = parse_time("2026-12-02T00:00:00Z", "UTC")
TAKEN = parse_time("2026-12-03T00:00:00Z", "UTC")
COMMIT = parse_time("2026-11-20T00:00:00Z", "UTC")
WITH_START = a_policy() | {"horizon": {"start": "2026-12-02T00:00:00Z", "length": "1d", "slot": "1h"}}
SNAPSHOT = {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-03T00:00:00Z"}


@pytest.mark.parametrize(
    ("documents", "at", "expected"),
    [
        ([WITH_START, SNAPSHOT], AT, AT),
        ([WITH_START, SNAPSHOT], None, POLICY_START),
        ([SNAPSHOT], None, TAKEN),
        ([], None, COMMIT),
    ],
)
def test_the_start_is_the_flag_else_the_policy_else_the_snapshot_else_the_commit(
    documents: list[dict[str, Any]], at: int | None, expected: int
) -> None:
    specset = loaded(a_cluster(), *documents)
    assert pipeline.start_of(specset, at=at, commit_time=COMMIT) == expected


def test_a_plan_that_nothing_dates_asks_for_a_flag() -> None:
    with pytest.raises(UsageError, match="give --at") as caught:
        pipeline.start_of(loaded(a_cluster()))
    assert caught.value.exit_code == 64


def test_the_start_is_rounded_up_to_a_slot() -> None:
    plan = planned(a_cluster(), a_job(), start=AT)
    assert plan.inputs.start == "2026-12-05T11:00:00Z"
    assert plan.placements[0].start == "2026-12-05T11:00:00Z"


def test_a_plan_made_again_from_its_first_slot_is_the_same() -> None:
    plan = planned(a_cluster(), a_job(), start=AT)
    assert plan.placements[0].submitted == plan.inputs.start
    again = planned(a_cluster(), a_job(), start=parse_time(plan.inputs.start, "UTC"))
    assert again.digest == plan.digest


def test_the_lock_reads_back_as_the_same_plan() -> None:
    plan = planned(a_cluster(), a_job(), a_job("other", gpus=4))
    assert from_json(to_json(plan)) == plan


def test_where_the_specs_came_from_does_not_change_the_digest() -> None:
    specset = loaded(a_cluster(), a_job())
    plain = pipeline.plan(specset, start=START).plan
    origin = pipeline.Origin(commit="0123abc", dirty=True)
    marked = pipeline.plan(specset, start=START, origin=origin).plan
    assert (marked.inputs.commit, marked.inputs.dirty) == ("0123abc", True)
    assert marked.digest == plain.digest


def test_the_plan_records_what_it_was_made_from() -> None:
    specset = loaded(a_cluster(), a_job())
    first = pipeline.plan(specset, start=START).plan
    second = pipeline.plan(specset, start=START, previous=first, effort="normal", budget=1).plan
    assert second.inputs.specs_digest == specset.digest
    assert second.inputs.previous_digest == first.digest
    assert (second.inputs.parameters.effort, second.inputs.parameters.budget) == ("normal", 1)
    assert second.inputs.slot_reason == "set by horizon.slot"


def test_a_wrong_answer_is_never_a_plan_and_carries_its_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = import_module("solvers.solve")
    right = engine.solve

    def wrong(*args: Any, **facts: Any) -> Solution:
        found: Solution = right(*args, **facts)
        return replace(found, value_micros=found.value_micros + 1)

    monkeypatch.setattr(engine, "solve", wrong)
    with pytest.raises(pipeline.WrongSolution) as caught:
        planned(a_cluster(), a_job())
    assert caught.value.exit_code == 1
    instance = json.loads(caught.value.instance)
    assert set(instance) == {"problem", "solution"}
    assert problem_from_json(json.dumps(instance["problem"])).tasks[0].name == "job/vision/train"


def test_a_search_that_is_told_to_stop_gives_a_whole_plan() -> None:
    jobs = [a_job(f"j{at}", gpus=1 + at % 8, duration=f"{1 + at % 9}h") for at in range(40)]
    specset = loaded(a_cluster(a_pool(nodes=2)), *jobs)
    result = pipeline.plan(specset, start=START, stop=lambda: True)
    placed = {each.address for each in result.plan.placements}
    left_out = {each.address for each in result.plan.unplaced}
    assert placed | left_out == {f"job/vision/j{at}" for at in range(40)}
    assert not placed & left_out


def test_progress_is_told_while_it_solves() -> None:
    told: list[str] = []
    specset = loaded(a_cluster(), *(a_job(f"j{at}") for at in range(20)))
    pipeline.plan(specset, start=START, progress=lambda step: told.append(step.phase))
    assert told


def test_problem_and_solution_can_be_written_out() -> None:
    specset = loaded(a_cluster(), a_job())
    problem = problem_from_json(pipeline.problem_json(specset, start=START))
    assert problem.tasks[0].name == "job/vision/train"
    solution = solution_from_json(pipeline.solution_json(specset, start=START, budget=0))
    assert solution.assignments[0].runs[0].start == 0


def test_a_directory_is_read_and_checked(tmp_path: Path) -> None:
    for each in files([a_cluster(), a_job()]):
        path = tmp_path / Path(each.path).name
        path.write_bytes(each.text)
    result = pipeline.load(tmp_path)
    assert result.specset is not None
    assert format_time(START) == pipeline.plan(result.specset, start=START).plan.inputs.start
