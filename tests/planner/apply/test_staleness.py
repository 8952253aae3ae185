"""Staleness against a fresh snapshot: only what the plan still wants counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner import relevant
from planner.apply.staleness import Facts, findings
from planner.plan import Plan, Unplaced, sealed
from planner.spec.snapshot import Snapshot
from planner.units import Duration
from tests import builders
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


def runs(job: str = "vision/a", name: str = "h100-003", pool: str = "dc1/h100", **fields: Any) -> dict[str, Any]:
    """Work that a snapshot has running."""
    return {"job": job, "pool": pool, "nodes": [name], "started_at": "2026-12-01T00:00:00Z", **fields}


def ended(job: str = "vision/a", spec: str = "sha256:1", state: str = "failed", hour: int = 0) -> dict[str, Any]:
    """Work that a snapshot has ended."""
    return {"job": job, "spec": spec, "state": state, "at": f"2026-12-01T{hour:02}:00:00Z"}


def resting_on(plan: Plan, **fields: Any) -> Plan:
    """`plan` as it would be made from a snapshot."""
    told = tuple(f"{field}={digest}" for field, digest in relevant.facts(seen(**fields)).items())
    return sealed(plan.model_copy(update={"inputs": plan.inputs.model_copy(update={"relevant": told})}))


SPOT = {"pool": "dc1/h100", "market": "spot"}


@pytest.mark.parametrize(
    ("then", "now", "stale"),
    [
        ({"running": [runs()]}, {"running": [runs(done="40%")]}, []),
        ({"running": [runs()]}, {"running": [runs(name="h100-009")]}, ["running[vision/a]"]),
        ({"running": [runs(name="h100-009")]}, {"running": [runs()]}, []),
        ({"running": [runs()]}, {}, ["running[vision/a]"]),
        ({"running": [runs("vision/a[3]")]}, {}, ["running[vision/a[3]]"]),
        ({"running": [runs()]}, {"finished": [ended(spec="sha256:9")]}, []),
        ({}, {"running": [runs()]}, []),
        ({}, {"running": [runs(pool="dc2/h100")]}, ["running[vision/a]"]),
        ({}, {"running": [runs("vision/z")]}, []),
        ({}, {"running": [runs("vision/b")]}, ["running[vision/b]"]),
        ({}, {"finished": [ended()]}, ["finished[vision/a]"]),
        ({"finished": [ended()]}, {"finished": [ended()]}, []),
        ({"finished": [ended()]}, {"finished": [ended(hour=1)]}, ["finished[vision/a]"]),
        ({}, {"finished": [ended(spec="sha256:9")]}, []),
        ({}, {"markets": [SPOT]}, ["markets[dc1/h100 spot]"]),
        ({"markets": [SPOT]}, {"markets": [SPOT]}, []),
        ({}, {"markets": [{**SPOT, "pool": "dc2/h100"}]}, []),
        ({"markets": [SPOT]}, {}, []),
    ],
)
def test_only_facts_that_the_plan_rests_on_make_it_stale(
    then: dict[str, Any], now: dict[str, Any], stale: list[str]
) -> None:
    spot = a_placement("vision/a", 2, 20, node=3, market="spot", spec="sha256:1")
    plan = resting_on(a_plan([spot], unplaced=[Unplaced(address="job/vision/b", reasons=())]), **then)
    assert fields_of(plan, snapshot=seen(**now), snapshot_digest="sha256:2") == stale


def test_a_plan_names_the_facts_about_its_own_work_and_pools() -> None:
    specs = builders.loaded(builders.a_cluster(), builders.a_job("a"))
    cluster, name = next(iter(specs.pools())).cluster.name, next(iter(specs.pools())).pool.name
    shot = seen(
        running=[runs("vision/a[1]"), runs("vision/other")],
        markets=[{"pool": f"{cluster}/{name}", "market": "spot"}, {"pool": "away/x", "market": "spot"}],
    )
    fields = list(relevant.read(relevant.relevant(shot, specs)))
    assert fields == [f"markets[{cluster}/{name} spot]", "running[vision/a[1]]"]
    assert relevant.relevant(None, specs) == ()
