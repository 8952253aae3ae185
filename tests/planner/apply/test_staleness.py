"""Staleness against a fresh snapshot: only what the plan still wants counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.apply.staleness import Facts, findings
from planner.plan import Plan
from planner.spec.snapshot import Snapshot
from planner.units import Duration
from tests.planner.plans import HOUR, START, a_placement, a_plan

FACTS = Facts(
    at=START,
    specs_digest="sha256:" + "41ab" * 16,
    planner_version="0.1.7",
    solver_version="0.1.0",
    max_plan_age=Duration(4 * 3_600_000),
)
PLAN = a_plan([a_placement("vision/a", 2, 20, node=3)])
FOUR_HOURS = 4 * HOUR


def seen(taken_at: str = "2026-12-01T00:00:00Z", **fields: Any) -> Snapshot:
    """A snapshot of now."""
    return Snapshot.model_validate(
        {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "dc1", "taken_at": taken_at, **fields}
    )


def fields_of(plan: Plan, **facts: Any) -> list[str]:
    """The fields that no longer hold."""
    return [item.field for item in findings(plan, replace(FACTS, **facts))]


def test_a_plan_of_what_is_there_holds() -> None:
    assert fields_of(PLAN) == []
    assert fields_of(PLAN, snapshot=seen(), snapshot_digest="sha256:2") == []


def node(name: str = "h100-003", **fields: Any) -> dict[str, Any]:
    """A node or devices of the pool that the plan uses."""
    return {"pool": "dc1/h100", "nodes": [{"name": name}], **fields}


@pytest.mark.parametrize(
    ("down", "is_stale"),
    [
        (node(), True),
        (node(until="2026-12-01T02:00:01Z"), True),
        (node(until="2026-12-01T02:00:00Z"), False),
        (node("h100-004"), False),
        ({**node(), "pool": "dc2/h100"}, False),
        ({"pool": "dc1/h100", "nodes": [{"name": "h100-003", "devices": [{"index": 7}]}]}, True),
        ({"pool": "dc1/h100", "nodes": [{"name": "h100-003", "devices": [{"index": 8}]}]}, False),
    ],
)
def test_a_node_that_died_matters_where_the_plan_still_wants_it(down: dict[str, Any], is_stale: bool) -> None:
    found = fields_of(PLAN, snapshot=seen(down=[down]), snapshot_digest="sha256:2")
    assert found == (["placements[job/vision/a]"] if is_stale else [])


def test_a_node_that_died_after_the_work_has_ended_does_not_matter() -> None:
    facts = {"snapshot": seen("2026-12-01T20:00:00Z", down=[node()]), "snapshot_digest": "sha256:2"}
    old = {"max_plan_age": Duration(48 * 3_600_000)}
    assert fields_of(PLAN, at=START + 20 * HOUR - 1, **facts, **old) == ["placements[job/vision/a]"]
    assert fields_of(PLAN, at=START + 20 * HOUR, **facts, **old) == []


def test_devices_that_others_use_are_not_given_away() -> None:
    used = {"pool": "dc1/h100", "nodes": [{"name": "h100-003", "devices": [{"index": 0}]}], "owner": "ns/x"}
    assert fields_of(PLAN, snapshot=seen(foreign=[used]), snapshot_digest="sha256:2") == ["placements[job/vision/a]"]
    memory_only = {"pool": "dc1/h100", "nodes": [{"name": "h100-003"}], "memory": "40Gi"}
    assert fields_of(PLAN, snapshot=seen(foreign=[memory_only]), snapshot_digest="sha256:2") == []


@pytest.mark.parametrize(("spec", "is_stale"), [("sha256:1", True), ("sha256:2", False)])
def test_work_that_has_succeeded_is_not_started_again(spec: str, is_stale: bool) -> None:
    ended = {"job": "vision/a", "spec": spec, "state": "succeeded", "at": "2026-12-01T00:00:00Z"}
    found = fields_of(PLAN, snapshot=seen(finished=[ended]), snapshot_digest="sha256:2")
    assert found == (["placements[job/vision/a]"] if is_stale else [])


@pytest.mark.parametrize(
    ("age", "found"), [(FOUR_HOURS, []), (FOUR_HOURS + 1, ["inputs.start", "inputs.snapshot_digest"])]
)
def test_a_snapshot_grows_old_as_a_plan_does(age: int, found: list[str]) -> None:
    assert fields_of(PLAN, at=START + age, snapshot=seen(), snapshot_digest="sha256:2") == found


@pytest.mark.parametrize(
    ("applied", "begun", "holds"),
    [
        (None, None, True),
        ("sha256:previous", None, True),
        ("sha256:other", None, False),
        ("sha256:other", "sha256:previous", True),
        (PLAN.digest, None, True),
    ],
)
def test_a_plan_follows_the_one_that_is_applied_or_begun(applied: str | None, begun: str | None, holds: bool) -> None:
    inputs = PLAN.inputs.model_copy(update={"previous_digest": "sha256:previous"})
    plan = PLAN.model_copy(update={"inputs": inputs})
    assert fields_of(plan, applied=applied, begun=begun) == ([] if holds else ["inputs.previous_digest"])


def test_a_plan_that_follows_none_is_only_the_first() -> None:
    assert fields_of(PLAN) == []
    assert fields_of(PLAN, applied="sha256:other", begun=None) == ["inputs.previous_digest"]


@pytest.mark.parametrize(("version", "holds"), [("0.1.7", True), ("0.1.99", True), ("0.2.0", False), ("1.1.0", False)])
def test_another_series_of_the_planner_plans_anew(version: str, holds: bool) -> None:
    assert fields_of(PLAN, planner_version=version) == ([] if holds else ["inputs.planner_version"])
