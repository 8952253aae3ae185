"""What is over: finished work is not planned again, failures use up retries, and what is spent is off the budget."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import (
    START,
    Document,
    a_cloud,
    a_cluster,
    a_job,
    a_policy,
    a_pool,
    a_team,
    compile_specs,
    loaded,
    planned,
)

TIME = "2026-11-30T10:00:00Z"


def a_snapshot(**fields: Any) -> Document:
    """What is so when the plan starts."""
    own = {"name": "now", "taken_at": "2026-12-01T00:00:00Z"}
    return {"apiVersion": "planner/v1", "kind": "Snapshot", **(own | fields)}


def ends(job: Document, *states: str, of: str = "vision/train", spec: str | None = None) -> Document:
    """A snapshot in which runs of a job's spec ended so, an hour apart."""
    known = spec or loaded(a_cluster(), job).spec_hash("job/vision/train")
    return a_snapshot(
        finished=[
            {"job": of, "spec": known, "state": state, "at": f"2026-11-30T{at:02}:00:00Z"}
            for at, state in enumerate(states)
        ]
    )


def test_work_that_succeeded_is_not_planned_again() -> None:
    plan = planned(a_cluster(), a_job(), ends(a_job(), "succeeded"))
    assert (plan.placements, plan.unplaced, plan.status.complete) == ((), (), True)


def test_a_changed_spec_is_a_new_run() -> None:
    plan = planned(a_cluster(), a_job(image="registry/train:2"), ends(a_job(), "succeeded"))
    assert len(plan.placements) == 1


def test_what_only_says_when_it_should_run_makes_no_new_run() -> None:
    assert planned(a_cluster(), a_job(priority="P1"), ends(a_job(), "succeeded")).placements == ()


def test_of_an_array_only_what_is_left_is_planned() -> None:
    job = a_job(gpus=1, array=3)
    plan = planned(a_cluster(), job, ends(job, "succeeded", of="vision/train[1]"))
    assert [each.address for each in plan.placements] == ["job/vision/train[0]", "job/vision/train[2]"]


def test_work_that_waited_for_finished_work_may_start() -> None:
    plan = planned(a_cluster(), a_job(), a_job("then", after=["train"]), ends(a_job(), "succeeded"))
    assert [(each.address, each.start) for each in plan.placements] == [("job/vision/then", "2026-12-01T00:00:00Z")]


def test_a_former_name_is_the_same_work() -> None:
    before = a_job()
    after = a_job("renamed", formerly=["job/vision/train"])
    assert planned(a_cluster(), after, ends(before, "succeeded")).placements == ()


@pytest.mark.parametrize(
    ("retries", "failures", "tried"), [(0, 0, True), (0, 1, False), (1, 1, True), (1, 2, False), (3, 3, True)]
)
def test_failed_work_is_tried_again_as_often_as_it_says(retries: int, failures: int, tried: bool) -> None:
    job = a_job(retries=retries)
    plan = planned(a_cluster(), job, ends(job, *["failed"] * failures))
    assert bool(plan.placements) is tried
    assert bool(plan.unplaced) is not tried
    assert plan.status.complete


def test_the_reason_counts_the_failures_and_what_waits_for_it_says_so() -> None:
    job = a_job(retries=1)
    plan = planned(a_cluster(), job, a_job("then", after=["train"]), ends(job, "failed", "failed"))
    told = {each.address: each.reasons[0] for each in plan.unplaced}
    assert told["job/vision/train"].code == "failed"
    assert told["job/vision/train"].message == "has failed 2 times, retries allows 1"
    assert told["job/vision/then"].code == "dependency"


def test_required_work_that_failed_too_often_leaves_the_plan_incomplete() -> None:
    job = a_job(required=True)
    assert not planned(a_cluster(), job, ends(job, "failed")).status.complete


def test_failures_of_another_spec_do_not_count() -> None:
    assert planned(a_cluster(), a_job(), ends(a_job(), "failed", spec="sha256:0")).placements


@pytest.mark.parametrize(
    ("since", "per", "left"),
    [
        ("2026-12-01T00:00:00Z", "month", 1_500_000),
        ("2026-11-30T00:00:00Z", "month", 1_500_000),
        ("2026-11-30T00:00:00Z", "day", 1_500_000),
        ("2026-11-30T00:00:00Z", "year", 1_500_000),
    ],
)
def test_what_is_spent_is_off_the_period_that_it_touches(since: str, per: str, left: int) -> None:
    team = a_team(budget={"amount": "USD 2.50", "per": per})
    shot = a_snapshot(spent=[{"team": "vision", "since": since, "cash": "USD 1"}])
    budgets = compile_specs(a_cluster(), team, a_job(), shot).problem.budgets
    assert budgets[0].micros == left
    assert all(each.micros == 2_500_000 for each in budgets[1:])


def test_what_was_spent_before_the_period_is_not() -> None:
    team = a_team(budget={"amount": "USD 2.50", "per": "month"})
    shot = a_snapshot(taken_at=TIME, spent=[{"team": "vision", "since": "2026-11-01T00:00:00Z", "cash": "USD 1"}])
    assert compile_specs(a_cluster(), team, a_job(), shot).problem.budgets[0].micros == 2_500_000


def test_the_budget_left_is_a_hard_limit_and_its_reason_counts_it() -> None:
    pool = a_pool("p5", price={"on_demand": "USD 1/h"}, max_nodes={"on_demand": 2})
    team = a_team(budget={"amount": "USD 4", "per": "month"})
    plans = [
        planned(a_cloud(pool), team, a_job(duration="2h"), a_snapshot(spent=[
            {"team": "vision", "since": "2026-12-01T00:00:00Z", "cash": cash}
        ]))
        for cash in ("USD 2", "USD 2.01", "USD 9")
    ]  # fmt: skip
    assert [len(each.placements) for each in plans] == [1, 0, 0]
    messages = [each.unplaced[0].reasons[0].message for each in plans[1:]]
    assert messages == [
        "costs USD 2, the budget of team/vision for 2026-12 has USD 1.99 left",
        "costs USD 2, the budget of team/vision for 2026-12 has USD 0 left",
    ]


def test_nobody_elses_spending_counts() -> None:
    team = a_team(budget={"amount": "USD 4", "per": "month"})
    shot = a_snapshot(spent=[{"team": "nlp", "since": "2026-12-01T00:00:00Z", "cash": "USD 3"}])
    made = compile_specs(a_cluster(), a_policy(), team, a_team("nlp"), a_job(), shot, start=START)
    assert made.problem.budgets[0].micros == 4_000_000
