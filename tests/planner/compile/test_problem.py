"""Specs as integers: worth, times, rows, budgets and what the previous plan holds on to."""

from __future__ import annotations

from typing import Any

import pytest

from planner.compile.budgets import periods
from planner.spec.team import BudgetPeriod
from planner.units import format_time, parse_time
from solvers.problem import Row, Task
from tests.builders import (
    H100,
    HOUR,
    START,
    Document,
    a_cloud,
    a_cluster,
    a_job,
    a_policy,
    a_pool,
    a_quota,
    a_team,
    compile_specs,
    hours,
    planned,
)


def task_of(*documents: Document, **facts: Any) -> Task:
    """The one task of a fleet of one node."""
    return compile_specs(a_cluster(), *documents, **facts).problem.tasks[0]


def rows_of(*documents: Document, pools: int = 1) -> dict[str, Row]:
    """The rows of a fleet of some nodes of eight, by subject."""
    return {row.subject: row for row in compile_specs(a_cluster(a_pool(nodes=pools)), *documents).problem.rows}


@pytest.mark.parametrize(
    ("priority", "worth", "premium"),
    [("P0", 640_000_000, 1_600_000_000), ("P1", 192_000_000, 0), ("P2", 64_000_000, 0), ("P3", 16_000_000, 0)],
)
def test_work_is_worth_its_rate_by_reference_gpu_hours(priority: str, worth: int, premium: int) -> None:
    task = task_of(a_job(gpus=8, duration="2h", priority=priority))
    assert (task.worth_micros, task.premium_micros) == (worth, premium)


def test_the_worth_is_the_least_over_the_variants() -> None:
    variants = [
        {"name": "cuda", "vendor": "nvidia", "duration": {H100: "2h"}},
        {"name": "rocm", "vendor": "amd", "duration": {"mi300x": "100h"}},
    ]
    job = a_job(gpus=8, variants=variants)
    assert task_of(job).worth_micros == 64_000_000


def test_delay_and_lateness_are_parts_of_the_worth_per_slot() -> None:
    task = task_of(a_job(gpus=8, duration="2h", window={"deadline": "2026-12-01T05:30:00Z"}))
    assert task.delay_micros == 64_000_000 // 100 // 24
    assert task.late_micros == 64_000_000 // 20
    assert (task.due, task.deadline) == (5, None)


def test_a_hard_deadline_is_rounded_down_and_an_earliest_start_up() -> None:
    window = {"deadline": "2026-12-01T05:30:00Z", "deadline_is": "hard", "not_before": "2026-12-01T01:15:00Z"}
    task = task_of(a_job(window=window))
    assert (task.earliest, task.deadline, task.due) == (2, 5, None)


@pytest.mark.parametrize(("duration", "slots"), [("30m", 1), ("60m", 1), ("61m", 2), ("25h", 25)])
def test_lengths_are_rounded_up_to_slots(duration: str, slots: int) -> None:
    mode = task_of(a_job(duration={"expected": duration, "limit": duration})).modes[0]
    assert (mode.duration, mode.limit) == (slots, slots)


def test_waiting_before_the_plan_is_left_out_and_kept_on_record() -> None:
    compiled = compile_specs(a_cluster(), a_job(submitted="2026-11-01T00:00:00Z"))
    assert compiled.problem.tasks[0].since == 0
    assert format_time(compiled.works[0].submitted) == "2026-11-01T00:00:00Z"


def test_a_quota_alone_has_limit_and_guarantee_in_one_row() -> None:
    row, new = rows_of(a_quota(guaranteed=4, limit=6), a_job(gpus=4)).values()
    assert (row.limit, row.guarantee, row.bonus_micros) == ((6,) * 24, (4,) * 24, 0)
    assert (new.limit, new.guarantee, new.bonus_micros) == (None, (4_000,) * 24, 100_000)


@pytest.mark.parametrize(
    ("duration", "thousandths"),
    [("4h", 4_000), ("3h59m", 3_983), ("210m", 3_500)],
    ids=["whole slots count whole", "a slot that is not filled counts in part", "half a slot of four"],
)
def test_new_work_counts_towards_the_bonus_as_far_as_it_fills_its_slots(duration: str, thousandths: int) -> None:
    compiled = compile_specs(a_cluster(), a_quota(guaranteed=4), a_job(gpus=4, duration=duration))
    (mode,) = compiled.problem.tasks[0].modes
    assert [(charge.row, charge.amount) for charge in mode.charges] == [(0, 4), (1, thousandths)]


def test_a_job_earns_the_same_bonus_on_a_slower_model() -> None:
    pools = (a_pool(), a_pool("mi300x", model="mi300x"))
    variants = [
        {"name": "cuda", "vendor": "nvidia", "image": "a:cu13"},
        {"name": "rocm", "vendor": "amd", "image": "a:rocm7"},
    ]
    quotas = (
        a_quota("green", gpus={"pool": "dc1/h100"}, guaranteed=8),
        a_quota("red", gpus={"pool": "dc1/mi300x"}, guaranteed=8),
    )
    job = a_job(gpus=8, duration={"h100-sxm5-80gb": "10h", "mi300x": "20h"}, variants=variants)
    problem = compile_specs(a_cluster(*pools), *quotas, job).problem
    earned = [
        sum(charge.amount * problem.rows[charge.row].bonus_micros for charge in mode.charges) * mode.duration
        for mode in problem.tasks[0].modes
    ]
    assert [mode.duration for mode in problem.tasks[0].modes] == [10, 20]
    assert earned[0] == 8 * 10 * 100_000_000
    assert 0 <= earned[0] - earned[1] < earned[0] // 500


def test_a_more_specific_quota_decides_what_is_guaranteed_and_both_limits_hold() -> None:
    wide = a_quota("wide", guaranteed=6, limit=6, gpus={"vendor": "nvidia"})
    narrow = a_quota("narrow", guaranteed=4, limit=8, gpus={"pool": "dc1/h100"})
    compiled = compile_specs(a_cluster(a_pool(), a_pool("l40s", model="l40s")), wide, narrow, a_job(gpus=1))
    subjects = [row.subject for row in compiled.problem.rows]
    assert subjects == [
        "quota/narrow",
        "quota/narrow guarantee, for new work",
        "quota/wide",
        "quota/wide guarantee",
        "quota/wide guarantee, for new work",
    ]
    mode = compiled.problem.tasks[0].modes[0]
    assert [subjects[charge.row] for charge in mode.charges] == [
        "quota/narrow",
        "quota/narrow guarantee, for new work",
        "quota/wide",
    ]
    assert mode.home == 0


def test_a_slot_partly_inside_a_window_takes_the_lower_figure() -> None:
    windows = [{"when": "daily 08:30-20:30", "guaranteed": 6, "limit": 7}]
    row, _ = rows_of(a_quota(guaranteed=2, limit=8, windows=windows), a_job()).values()
    assert row.guarantee == (2,) * 9 + (6,) * 11 + (2,) * 4
    assert row.limit == (8,) * 8 + (7,) * 13 + (8,) * 3


def test_uninterruptible_work_has_a_row_of_its_own_inside_the_guarantee() -> None:
    compiled = compile_specs(a_cluster(), a_quota(guaranteed=4), a_job("a", gpus=4, preemptible=False), a_job("b"))
    rows = compiled.problem.rows
    assert [row.limit for row in rows] == [None, None, (4,) * 24]
    assert [len(task.modes[0].charges) for task in compiled.problem.tasks] == [3, 2]


def test_a_team_without_a_quota_charges_nothing() -> None:
    compiled = compile_specs(a_cluster(), a_quota("q", "nlp", guaranteed=4), a_job())
    assert compiled.problem.tasks[0].modes[0].charges == ()
    assert compiled.problem.tasks[0].modes[0].home is None


def test_an_array_has_an_element_each_and_a_row_for_its_width() -> None:
    compiled = compile_specs(a_cluster(), a_job(gpus=1, array="0-4%2"))
    assert [task.name for task in compiled.problem.tasks] == [f"job/vision/train[{at}]" for at in range(5)]
    (row,) = compiled.problem.rows
    assert row.limit == (2,) * 24
    assert {task.modes[0].charges for task in compiled.problem.tasks} == {compiled.problem.tasks[0].modes[0].charges}


def test_work_after_an_array_comes_after_all_of_it() -> None:
    compiled = compile_specs(a_cluster(), a_job("a", gpus=1, array=3), a_job("b", after=["a"]))
    assert [task.after for task in compiled.problem.tasks] == [(), (), (), (0, 1, 2)]


def test_a_closure_covers_every_slot_it_touches_also_after_the_horizon() -> None:
    absence = {"from": "2026-12-01T01:30:00Z", "to": "2026-12-03T02:10:00Z", "nodes": "h100-0002"}
    compiled = compile_specs(a_cluster(a_pool(nodes=2, unavailable=[absence])), a_job())
    nodes = compiled.problem.pools[0].nodes
    assert [[(each.start, each.end) for each in node.closures] for node in nodes] == [[], [(1, 51)]]


@pytest.mark.parametrize(
    ("until", "end"), [({}, 1_000_000), ({"until": "unknown"}, 1_000_000), ({"until": "2026-12-01T02:30:00Z"}, 3)]
)
def test_a_node_that_a_snapshot_calls_down_is_closed_until_it_is_back(until: dict[str, str], end: int) -> None:
    down = {"pool": "dc1/h100", "nodes": "h100-0001", **until}
    taken = {"taken_at": "2026-12-01T00:00:00Z", "down": [down]}
    snapshot = {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", **taken}
    compiled = compile_specs(a_cluster(a_pool(nodes=2)), snapshot, a_job())
    nodes = compiled.problem.pools[0].nodes
    assert [[(each.start, each.end) for each in node.closures] for node in nodes] == [[(0, end)], []]


@pytest.mark.parametrize(
    ("per", "expected"),
    [
        (BudgetPeriod.DAY, ["2026-11-30", "2026-12-01", "2026-12-02"]),
        (BudgetPeriod.WEEK, ["2026-11-30"]),
        (BudgetPeriod.MONTH, ["2026-11-01", "2026-12-01"]),
        (BudgetPeriod.QUARTER, ["2026-10-01"]),
        (BudgetPeriod.YEAR, ["2026-01-01"]),
    ],
)
def test_budgets_follow_the_calendar_of_the_zone(per: BudgetPeriod, expected: list[str]) -> None:
    start, end = parse_time("2026-11-30T22:30:00Z", "UTC"), parse_time("2026-12-02T12:00:00Z", "UTC")
    found = [format_time(begin)[:10] for _, begin, _ in periods(per, "UTC", start, end)]
    assert found == expected


def test_a_slot_that_two_months_share_counts_in_both() -> None:
    cloud = a_cloud(a_pool(price={"on_demand": "USD 1/h"}, max_nodes={"on_demand": 1}))
    team = a_team(budget={"amount": "USD 10", "per": "month"})
    start = parse_time("2026-11-30T23:00:00Z", "UTC")
    compiled = compile_specs(cloud, team, a_policy(slot="2h"), a_job(), start=start - HOUR)
    november, december = compiled.problem.budgets
    assert (november.end, december.start) == (1, 1)
    assert compiled.problem.tasks[0].budgets == (0, 1)


def test_what_starts_soon_keeps_its_start_and_nodes() -> None:
    first = planned(a_cluster(a_pool(nodes=2)), a_job("b", gpus=8))
    compiled = compile_specs(
        a_cluster(a_pool(nodes=2)), a_job("b", gpus=8), a_job("a", gpus=16, priority="P0"), previous=first
    )
    held = next(task for task in compiled.problem.tasks if task.name == "job/vision/b")
    assert (held.earliest, held.latest) == (0, 0)
    assert held.modes[0].nodes == (0,)
    assert compiled.frozen == frozenset({"job/vision/b"})


def test_what_starts_after_the_freeze_may_change() -> None:
    window = {"not_before": "2026-12-01T04:00:00Z"}
    first = planned(a_cluster(), a_job(window=window))
    compiled = compile_specs(a_cluster(), a_job(window=window), previous=first)
    assert compiled.frozen == frozenset()
    assert compiled.problem.tasks[0].previous is not None


def test_frozen_work_is_planned_anew_when_its_node_is_gone() -> None:
    first = planned(a_cluster(a_pool(nodes=2)), *(a_job(name) for name in ("a", "b")))
    after = planned(a_cluster(a_pool(nodes=1)), *(a_job(name) for name in ("a", "b")), previous=first)
    assert sorted(hours(after, f"job/vision/{name}") for name in ("a", "b")) == [(0, 2), (2, 4)]


def test_frozen_work_that_a_rule_displaces_is_planned_at_another_time() -> None:
    jobs = [a_job(name, gpus=4) for name in ("a", "b")]
    first = planned(a_cluster(), *jobs)
    assert [hours(first, f"job/vision/{name}") for name in ("a", "b")] == [(0, 2), (0, 2)]
    after = planned(a_cluster(), a_quota(limit=4), *jobs, previous=first)
    assert sorted(hours(after, f"job/vision/{name}") for name in ("a", "b")) == [(0, 2), (2, 4)]


def test_a_pinned_start_and_node_hold() -> None:
    pin = {"pool": "dc1/h100", "nodes": "h100-0002", "start": "2026-12-01T03:00:00Z"}
    plan = planned(a_cluster(a_pool(nodes=2)), a_job(pin=pin))
    assert hours(plan, "job/vision/train") == (3, 5)
    assert [node.name for node in plan.placements[0].segments[0].nodes] == ["h100-0002"]


def test_a_plan_that_starts_later_says_that_begun_work_is_planned_anew() -> None:
    first = planned(a_cluster(), a_job())
    later = planned(a_cluster(), a_job(), previous=first, start=START + HOUR)
    assert [(each.code, each.subject) for each in later.diagnostics] == [("PLAN630", "job/vision/train")]


def test_work_on_cpus_alone_prefers_nodes_without_devices() -> None:
    pools = (a_pool("big", cpus=64, memory="1Ti"), {"name": "plain", "nodes": 1, "cpus": 64, "memory": "1Ti"})
    work = compile_specs(a_cluster(*pools), a_job(gpus=0, cpus=8, memory="8Gi")).works[0]
    assert [candidate.site.pool.name for candidate in work.candidates] == ["dc1/plain", "dc1/big"]
