"""Use that nobody planned: its devices stay free of plans until it ends, and its share of the host counts."""

from __future__ import annotations

from typing import Any

import pytest

from planner.plan import Plan
from solvers.problem import Taken
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, a_quota, compile_specs, planned

FOR_EVER = 1_000_000


def a_snapshot(*uses: Document) -> Document:
    """What others use of pool dc1/h100."""
    return {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": "2026-12-01T00:00:00Z",
        "foreign": [{"pool": "dc1/h100"} | use for use in uses],
    }  # fmt: skip


def on(*indices: int, node: str = "h100-0001", **fields: Any) -> Document:
    """Use of devices of a node; of all when none is named."""
    return {"nodes": [{"name": node, "devices": [{"index": index} for index in indices]}]} | fields


def taken(pool: Document, *uses: Document) -> tuple[Taken, ...]:
    """What others have of the first node."""
    return compile_specs(a_cluster(pool), a_snapshot(*uses), a_job(gpus=1)).problem.pools[0].nodes[0].taken


def indices(plan: Plan) -> dict[str, list[int]]:
    """The devices of each job."""
    return {
        each.address: [device.index for node in each.segments[0].nodes for device in node.devices]
        for each in plan.placements
    }


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ([on(3)], [(0, FOR_EVER, 1)]),
        ([on()], [(0, FOR_EVER, 8)]),
        ([on(0), on(0, 1)], [(0, FOR_EVER, 2)]),
        ([on(0, 1, until="2026-12-01T02:30:00Z"), on(1, 2, until="2026-12-01T05:00:00Z")], [(0, 3, 3), (3, 5, 2)]),
        ([on(0, until="2026-11-30T00:00:00Z")], []),
        ([on(0, node="h100-0002")], []),
    ],
)
def test_each_device_counts_once_and_until_its_last_use_ends(
    uses: list[Document], expected: list[tuple[int, int, int]]
) -> None:
    found = taken(a_pool(nodes=2), *uses)
    assert [(each.start, each.end, each.use[0]) for each in found if any(each.use)] == expected


@pytest.mark.parametrize(
    ("fields", "cpus", "memory_mib"),
    [({}, 25, 262_144), ({"cpus": 7}, 7, 262_144), ({"memory": "40Gi"}, 25, 40_960), ({"cpus": 999}, 100, 262_144)],
)
def test_of_the_host_it_has_what_is_stated_else_its_fair_share(fields: Document, cpus: int, memory_mib: int) -> None:
    found = taken(a_pool(cpus=100, memory="1Ti"), on(0, 5, **fields))
    assert tuple(map(sum, zip(*(each.use for each in found), strict=True))) == (2, cpus, memory_mib)


def test_jobs_get_the_other_devices_and_all_once_the_use_ends() -> None:
    shot = a_snapshot(on(0, 2, until="2026-12-01T03:00:00Z"))
    plan = planned(a_cluster(), shot, a_job("six", gpus=6), a_job("eight", gpus=8))
    assert indices(plan)["job/vision/six"] == [1, 3, 4, 5, 6, 7]
    starts = {each.address: each.start[11:13] for each in plan.placements}
    assert starts == {"job/vision/six": "00", "job/vision/eight": "03"}


def test_a_job_that_needs_what_others_keep_is_told_so() -> None:
    plan = planned(a_cluster(), a_policy(on_invalid="skip"), a_snapshot(on(0)), a_job(gpus=8))
    (unplaced,) = plan.unplaced
    assert [each.code for each in unplaced.reasons] == ["foreign"]


def test_what_others_use_is_lent_by_nobody() -> None:
    quota = a_quota("nlp-h100", "nlp", guaranteed=6)
    plan = planned(a_cluster(), quota, a_quota(guaranteed=0), a_snapshot(on(0, 1)), a_job(gpus=2, duration="24h"))
    (lender,) = [each for each in plan.quota if each.team == "nlp"]
    assert [each.lent for each in lender.windows] == [2]


def test_nodes_without_devices_are_taken_whole_unless_it_says_how_much() -> None:
    fleet = a_cluster(a_pool(), {"name": "cpu", "nodes": 1, "cpus": 64, "memory": "256Gi"})
    use = {"pool": "dc1/cpu", "nodes": "cpu-0001"}
    problem = compile_specs(fleet, a_snapshot(use), a_job()).problem
    assert problem.pools[0].nodes[0].taken[0].use == (0, 64, 262_144)
    problem = compile_specs(fleet, a_snapshot(use | {"cpus": 4, "memory": "8Gi"}), a_job()).problem
    assert problem.pools[0].nodes[0].taken[0].use == (0, 4, 8_192)
