"""UC-05: guarantees first; what is spare goes by priority, and within a priority in proportion to weights."""

from __future__ import annotations

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_pool, a_quota, planned


def wishes(team: str, number: int, priority: str) -> list[Document]:
    """Jobs of one device for the whole day."""
    return [a_job(f"{team}{at}", team=team, gpus=1, priority=priority, duration="24h") for at in range(number)]


def used(plan: Plan) -> dict[str, set[int]]:
    """The devices that each team has, at any time."""
    return {each.team: {int(window.used) for window in each.windows} for each in plan.quota}


def five(wanted: tuple[int, int, int] = (1, 3, 2), weights: tuple[int, int, int] = (1, 2, 1)) -> Plan:
    """Five devices; A (P1) and B (P2) are guaranteed one each, C (P2) nothing."""
    quotas = [
        a_quota(f"q{team}", team, own, weight=weight)
        for team, own, weight in zip("abc", (1, 1, 0), weights, strict=True)
    ]
    jobs = [wishes(*each) for each in zip("abc", wanted, ("P1", "P2", "P2"), strict=True)]
    return planned(a_cluster(a_pool(count=5)), *quotas, *(job for each in jobs for job in each))


def test_guarantees_come_first_and_three_spare_devices_go_two_to_one() -> None:
    plan = five()
    assert used(plan) == {"a": {1}, "b": {3}, "c": {1}}
    assert [each.reason for each in plan.quota] == [
        "1 guaranteed, uses at most 1, borrows nothing, lends nothing",
        "1 guaranteed, uses at most 3, borrows up to 2 that others leave unused, lends nothing",
        "0 guaranteed, uses at most 1, borrows up to 1 that others leave unused, lends nothing",
    ]


def test_the_weights_the_other_way_round_turn_the_shares_round() -> None:
    assert used(five((1, 3, 3), (1, 1, 2))) == {"a": {1}, "b": {2}, "c": {2}}


@pytest.mark.parametrize("wanted", [1, 2, 3, 4])
def test_priority_outranks_any_weight(wanted: int) -> None:
    """Of the three spare devices A's P1 takes what it wants, although B weighs a hundred times as much."""
    assert used(five((wanted, 3, 2), (1, 100, 1)))["a"] == {wanted}


def test_what_one_does_not_want_another_gets() -> None:
    assert used(five((1, 1, 4))) == {"a": {1}, "b": {1}, "c": {3}}
