"""UC-04: guarantees that add up to more than the hardware are an error that shows the sum; limits may exceed it."""

from __future__ import annotations

import pytest

from planner.diagnostics import Severity
from planner.source import SourceFile
from planner.specset import LoadResult, load, shortfalls
from tests.builders import a_cluster, a_job, a_pool, a_quota, planned

FLEET = """\
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
pools:
  - {name: h100, nodes: "h100-[1-2]", gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 96, memory: 2Ti}
  - {name: mi, nodes: "mi-[1-4]", gpus: {model: mi300x, count: 8}, cpus: 96, memory: 2Ti}
---
apiVersion: planner/v1
kind: Team
name: a
---
apiVersion: planner/v1
kind: Team
name: b
"""


def quota(team: str, guaranteed: int, extra: str = "", gpus: str = "{model: h100-sxm5-80gb}") -> str:
    head = f"---\napiVersion: planner/v1\nkind: Quota\nname: {team}-quota\nteam: {team}\ngpus: {gpus}\n"
    return f"{head}guaranteed: {guaranteed}\n{extra}"


def result_of(*quotas: str) -> LoadResult:
    return load([SourceFile("tree.yaml", (FLEET + "".join(quotas)).encode())])


def test_twelve_and_eight_of_sixteen_is_an_error_that_shows_the_sum() -> None:
    result = result_of(quota("a", 12), quota("b", 8))
    assert result.specset is None
    (error,) = result.diagnostics
    assert error.code == "SPEC405"
    assert "12 + 8 = 20 > 16" in error.summary
    assert "16 x h100-sxm5-80gb in dc1/h100" in error.help


@pytest.mark.parametrize(("b", "right"), [(3, True), (4, True), (5, False)])
def test_the_boundary_is_exact(b: int, right: bool) -> None:
    assert (result_of(quota("a", 12), quota("b", b)).specset is not None) is right


def test_cards_of_another_model_do_not_help() -> None:
    assert result_of(quota("a", 12), quota("b", 8, gpus="{model: mi300x}")).specset is not None
    assert result_of(quota("a", 17)).specset is None


def test_a_quota_over_a_vendor_and_one_over_its_model_share_the_cards() -> None:
    assert result_of(quota("a", 10, gpus="{vendor: nvidia}"), quota("b", 6)).specset is not None
    assert result_of(quota("a", 10, gpus="{vendor: nvidia}"), quota("b", 7)).specset is None


def test_limits_may_exceed_the_hardware_freely() -> None:
    result = result_of(quota("a", 8, "limit: 16\n"), quota("b", 8, "limit: 100\n"))
    assert result.specset is not None
    assert result.diagnostics == ()


def test_a_lost_node_is_a_warning_that_says_who_is_short() -> None:
    specset = result_of(quota("a", 10), quota("b", 6)).specset
    assert specset is not None
    assert shortfalls(specset, {}) == ()
    (warning,) = shortfalls(specset, {"dc1/h100": 1})
    assert warning.severity is Severity.WARNING
    assert "10 + 6 = 16 > 8" in warning.summary
    assert "a is guaranteed 10" in warning.help
    assert "b is guaranteed 6" in warning.help


def test_while_a_node_is_away_each_guarantee_keeps_its_share_of_what_is_left() -> None:
    """10 + 6 of 16 become 5 + 3 of 8 until the node is back: nobody takes all because he was first."""
    fleet = a_cluster(a_pool(nodes=2))
    away = {"pool": "dc1/h100", "nodes": "h100-0002", "until": "2026-12-01T12:00:00Z"}
    snapshot = {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "dc1",
                "taken_at": "2026-12-01T00:00:00Z", "down": [away]}  # fmt: skip
    quotas = [a_quota("qa", "a", 10), a_quota("qb", "b", 6)]
    jobs = [a_job(f"{team}{at}", team=team, gpus=1, duration="12h") for team in "ab" for at in range(20)]
    plan = planned(fleet, *quotas, *jobs, snapshot)
    for quota, (first, then) in zip(plan.quota, (((5, 5), (10, 10)), ((3, 3), (6, 6))), strict=True):
        assert [(each.guaranteed, each.used) for each in quota.windows] == [first, then]
