"""Who has, borrows and lends what from slot to slot, adding up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import pipeline
from planner.plan import Plan
from planner.units import format_time, shared
from tests.builders import HOUR, START, Document, a_cluster, a_job, a_policy, a_pool, a_quota, a_team, loaded, planned


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


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Document], dict[str, int]]:
    """Teams a and b under top, and c beside it, on 8 devices for four hours; and what each quota guarantees."""
    below = {"a": draw(st.integers(0, 3)), "b": draw(st.integers(0, 2))}
    own = {**below, "top": sum(below.values()) + draw(st.integers(0, 1))}
    own["c"] = draw(st.integers(0, 8 - own["top"]))
    quotas = [
        a_quota(
            f"q{team}",
            team,
            amount,
            **({"lend": draw(st.integers(0, amount))} if draw(st.booleans()) else {}),
            unplanned=draw(st.integers(0, min(1, amount))) if team == "c" else 0,
        )
        for team, amount in own.items()
    ]
    made = [
        a_job(
            f"j{number}",
            team=draw(st.sampled_from(("a", "b", "c", "top", "out"))),
            gpus=draw(st.integers(1, 3)),
            duration=f"{draw(st.integers(1, 4))}h",
            priority=draw(st.sampled_from(("P1", "P2", "P3"))),
        )
        for number in range(draw(st.integers(1, 9)))
    ]
    teams = [a_team("top"), a_team("a", parent="top"), a_team("b", parent="top")]
    return [a_policy(length="4h"), a_cluster(), *teams, *quotas, *made], own


@settings(max_examples=60)
@given(trees())
def test_who_has_borrows_and_lends_adds_up_in_every_slot(case: tuple[list[Document], dict[str, int]]) -> None:
    documents, own = case
    plan = pipeline.plan(loaded(*documents), start=START, budget=0).plan
    kept = {each["team"]: each for each in documents if each["kind"] == "Quota"}
    for slot in range(4):
        now = format_time(START + slot * HOUR)
        use = {team: 0 for team in ("a", "b", "c", "top", "out")}
        for placement in plan.placements:
            if placement.start <= now < placement.finish:
                use[placement.team] += int(placement.gpus)
        use["top"] += use["a"] + use["b"]
        idle = {each: max(0, own[each] - kept[each].get("lend", 8) - use[each]) for each in ("a", "b")}
        need = use | {"top": use["top"] + sum(idle.values())}
        told = {each.team: window for each in plan.quota for window in each.windows if window.start <= now < window.end}
        borrowed = {team: int(window.borrowed) for team, window in told.items()}
        lent = {team: int(window.lent) for team, window in told.items()}
        free = {team: kept[team].get("unplanned", 0) for team in own}
        for team, window in told.items():
            inside = own[team] - free[team]
            assert (window.guaranteed, window.used) == (own[team], use[team])
            assert window.borrowed == max(0, need[team] - inside)
            assert window.lent == window.reclaimable <= max(0, min(inside - need[team], kept[team].get("lend", 8)))
        direct = use["top"] - use["a"] - use["b"]
        spare = 8 - own["top"] - own["c"]
        taken = borrowed["top"] + borrowed["c"] + use["out"]
        assert lent["top"] + lent["c"] == max(0, taken - spare)
        inner = borrowed["a"] + borrowed["b"] + direct + lent["top"] - borrowed["top"]
        assert lent["a"] + lent["b"] == max(0, inner - (own["top"] - own["a"] - own["b"]))
