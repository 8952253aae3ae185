"""Elastic jobs: each size is a way to run, fewer replicas take longer in proportion, and all are worth the same."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import a_cluster, a_job, a_policy, a_pool, a_quota, compile_specs, hours, planned


def a_stretchy(low: int = 1, high: int = 4, **fields: Any) -> dict[str, object]:
    """A job of so many replicas of one device, which takes three hours at most of them."""
    return a_job("stretchy", gpus=1, duration="3h", replicas={"min": low, "max": high}, **fields)


def sizes(plan: Plan) -> dict[str, int]:
    """The devices of each job."""
    return {each.address.rpartition("/")[2]: int(each.gpus) for each in plan.placements}


def test_each_size_is_a_mode_whose_length_is_in_proportion() -> None:
    (task,) = compile_specs(a_cluster(), a_stretchy()).problem.tasks
    assert [(mode.devices, mode.duration) for mode in task.modes] == [(4, 3), (3, 4), (2, 6), (1, 12)]


def test_a_wide_range_is_weighed_in_twelve_sizes_with_both_ends() -> None:
    (task,) = compile_specs(a_cluster(a_pool(nodes=20)), a_stretchy(1, 100)).problem.tasks
    assert [mode.devices for mode in task.modes] == [100, 96, 88, 80, 64, 56, 48, 40, 32, 24, 16, 1]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (3, 3)])
def test_a_range_of_one_size_is_one_mode(low: int, high: int) -> None:
    (task,) = compile_specs(a_cluster(), a_stretchy(low, high)).problem.tasks
    assert [mode.devices for mode in task.modes] == [high]


def test_a_size_that_no_pool_holds_is_left_out() -> None:
    (task,) = compile_specs(a_cluster(a_pool(count=2)), a_stretchy()).problem.tasks
    assert [mode.devices for mode in task.modes] == [2, 1]


def test_alone_it_takes_all_it_can() -> None:
    plan = planned(a_cluster(), a_stretchy())
    assert (sizes(plan), hours(plan, "job/vision/stretchy")) == ({"stretchy": 4}, (0, 3))


def test_beside_others_it_takes_what_is_left_rather_than_wait() -> None:
    fixed = a_job("fixed", team="nlp", gpus=6, duration="24h", priority="P1")
    plan = planned(a_cluster(), fixed, a_stretchy())
    assert (sizes(plan), hours(plan, "job/vision/stretchy")) == ({"fixed": 6, "stretchy": 2}, (0, 6))


def test_a_limit_of_the_team_makes_it_smaller() -> None:
    plan = planned(a_cluster(), a_quota(limit=3), a_stretchy())
    assert sizes(plan) == {"stretchy": 3}


def test_replicas_of_several_devices_are_never_split_and_nodes_are_alike() -> None:
    """Three replicas of three devices lie on no two nodes alike."""
    job = a_job("wide", gpus=3, duration="2h", replicas={"min": 1, "max": 4})
    compiled = compile_specs(a_cluster(a_pool(nodes=2)), job)
    assert [mode.devices for mode in compiled.problem.tasks[0].modes] == [12, 6, 3]
    plan = planned(a_cluster(a_pool(nodes=2)), job)
    (segment,) = plan.placements[0].segments
    assert [(node.name, len(node.devices)) for node in segment.nodes] == [("h100-0001", 6), ("h100-0002", 6)]


def test_all_sizes_are_worth_the_same() -> None:
    one = compile_specs(a_cluster(), a_stretchy()).problem.tasks[0]
    other = compile_specs(a_cluster(), a_job("fixed", gpus=4, duration="3h")).problem.tasks[0]
    assert one.worth_micros == other.worth_micros


def test_a_second_plan_keeps_size_and_place() -> None:
    fixed = a_job("fixed", team="nlp", gpus=6, duration="24h", priority="P1")
    documents = (a_policy(), a_cluster(), fixed, a_stretchy())
    first = planned(*documents)
    again = planned(*documents, previous=first)
    assert again.placements == first.placements
