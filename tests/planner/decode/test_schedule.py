"""Who has, borrows and lends what from slot to slot, adding up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decode.schedule import shared
from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_pool, a_quota, planned


def windows(plan: Plan, quota: str) -> list[tuple[object, ...]]:
    """Hours and figures of a quota."""
    (found,) = (each for each in plan.quota if each.quota == quota)
    return [
        (each.start[11:13], each.end[11:13], each.guaranteed, each.used, each.borrowed, each.lent)
        for each in found.windows
    ]


def jobs(team: str, number: int, priority: str) -> list[Document]:
    """Jobs of one device for the whole day."""
    return [a_job(f"{team}{at}", team=team, gpus=1, priority=priority, duration="24h") for at in range(number)]


def test_guarantees_come_first_and_the_spare_goes_by_priority() -> None:
    quotas = [a_quota(f"q{team}", team, guaranteed) for team, guaranteed in (("a", 1), ("b", 1), ("c", 0))]
    plan = planned(a_cluster(a_pool(count=5)), *quotas, *jobs("a", 1, "P1"), *jobs("b", 3, "P2"), *jobs("c", 2, "P2"))
    assert windows(plan, "qa") == [("00", "00", 1, 1, 0, 0)]
    a, b, c = plan.quota
    assert a.reason == "1 guaranteed, uses at most 1, borrows nothing, lends nothing"
    assert {b.windows[0].used, c.windows[0].used} in ({1, 3}, {2})


def test_what_is_borrowed_beyond_the_unguaranteed_is_lent_by_whoever_leaves_it_unused() -> None:
    quotas = [a_quota("qa", "a", 2), a_quota("qb", "b", 4)]
    plan = planned(a_cluster(a_pool(count=8)), *quotas, *jobs("a", 7, "P2"))
    assert windows(plan, "qa") == [("00", "00", 2, 7, 5, 0)]
    assert windows(plan, "qb") == [("00", "00", 4, 0, 0, 3)]


def test_use_of_a_team_without_a_quota_is_lent_too() -> None:
    plan = planned(a_cluster(a_pool(count=8)), a_quota("qb", "b", 6), *jobs("z", 5, "P2"))
    assert windows(plan, "qb") == [("00", "00", 6, 0, 0, 3)]


def test_equal_slots_are_one_window() -> None:
    job = a_job(gpus=2, duration="3h", window={"not_before": "2026-12-01T04:00:00Z"})
    plan = planned(a_cluster(), a_quota("q", guaranteed=2), job)
    assert [each[:4] for each in windows(plan, "q")] == [("00", "04", 2, 0), ("04", "07", 2, 2), ("07", "00", 2, 0)]


def test_a_segment_says_how_much_of_it_is_guaranteed_throughout() -> None:
    plan = planned(a_cluster(), a_quota("q", guaranteed=6), a_job(gpus=8))
    (use,) = plan.placements[0].segments[0].quota
    assert (use.quota, use.guaranteed, use.borrowed) == ("q", 6, 2)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=6), st.data())
def test_shares_are_whole_fit_their_parts_and_add_up(parts: list[int], data: st.DataObject) -> None:
    amount = data.draw(st.integers(0, sum(parts)))
    given_out = shared(amount, parts)
    assert sum(given_out) == amount
    assert all(0 <= share <= part for share, part in zip(given_out, parts, strict=True))


@pytest.mark.parametrize(
    ("amount", "parts", "expected"), [(3, [1, 2], [1, 2]), (1, [1, 1], [1, 0]), (2, [3, 1], [2, 0])]
)
def test_the_largest_remainder_gets_the_odd_one(amount: int, parts: list[int], expected: list[int]) -> None:
    assert shared(amount, parts) == expected
