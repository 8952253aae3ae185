"""Plans compared: one effect a job, nothing told that is not so, and an order that does not depend on anything."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from planner.diff import Changes, Effect, JobChange, SectionChange, compare
from planner.plan import Costs, Degraded, Note, PriceSchedule, PriceWindow, Status
from tests.planner.plans import (
    HOUR,
    START,
    a_cost,
    a_placement,
    a_plan,
    a_quota,
    a_reason,
    a_use,
    unplaced,
)

JOB = "vision/resnet"


def only(changes: Changes) -> JobChange:
    """The one job that changes."""
    assert len(changes.jobs) == 1
    return changes.jobs[0]


def test_a_plan_does_not_differ_from_itself() -> None:
    plan = a_plan([a_placement(), a_placement("nlp/chat", 3, 9)], unplaced=(unplaced("nlp/big"),), quota=(a_quota(),))
    changes = compare(plan, plan)
    assert changes == Changes(unchanged=3)
    assert not changes.any


@pytest.mark.parametrize(
    ("fields", "effect"),
    [
        ({"start": 1, "end": 19}, Effect.LATER),
        ({"start": 0, "end": 19}, Effect.LATER),
        ({"start": 0, "end": 17}, Effect.EARLIER),
        ({"start": 1, "end": 17}, Effect.LATER),
        ({"gpus": 16}, Effect.RESHAPED),
        ({"variant": "rocm"}, Effect.RESHAPED),
        ({"model": "mi300x"}, Effect.RESHAPED),
        ({"market": "spot"}, Effect.RESHAPED),
        ({"pool": "dc2/h100"}, Effect.MOVED),
        ({"node": 2}, Effect.MOVED),
        ({"spec": "sha256:2"}, Effect.EDITED),
        ({"priority": "P1"}, Effect.EDITED),
        ({"cash_micros": 1}, Effect.EDITED),
        ({"late_seconds": 1}, Effect.EDITED),
    ],
)
def test_a_job_that_runs_in_both_plans_has_the_effect_that_people_notice_first(
    fields: dict[str, Any], effect: Effect
) -> None:
    given = {"start": 0, "end": 18} | fields
    change = only(compare(a_plan([a_placement(JOB, 0, 18)]), a_plan([a_placement(JOB, **given)])))
    assert change.effect is effect


def test_earlier_and_later_are_mirror_images() -> None:
    early, late = a_plan([a_placement(JOB, 2, 20)]), a_plan([a_placement(JOB, 5, 23)])
    forth, back = only(compare(early, late)), only(compare(late, early))
    assert (forth.effect, forth.start_seconds, forth.finish_seconds) == (Effect.LATER, 3 * HOUR, 3 * HOUR)
    assert (back.effect, back.start_seconds, back.finish_seconds) == (Effect.EARLIER, -3 * HOUR, -3 * HOUR)
    assert forth.before == back.after
    assert forth.after is not None
    assert forth.after.start == START + 5 * HOUR


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("runs", "waits", Effect.DISPLACED),
        ("waits", "runs", Effect.PLACED),
        ("absent", "runs", Effect.ADDED),
        ("absent", "waits", Effect.REFUSED),
        ("runs", "absent", Effect.REMOVED),
        ("waits", "absent", Effect.DROPPED),
        ("waits", "waits for another reason", Effect.REASONS),
    ],
)
def test_a_job_that_runs_in_one_plan_at_most(before: str, after: str, effect: Effect) -> None:
    plans = {
        "absent": a_plan(),
        "runs": a_plan([a_placement(JOB)]),
        "waits": a_plan(unplaced=(unplaced(JOB),)),
        "waits for another reason": a_plan(unplaced=(unplaced(JOB, a_reason("quota-limit")),)),
    }
    change = only(compare(plans[before], plans[after]))
    assert change.effect is effect
    assert change.team == "vision"


def test_a_displaced_job_says_why() -> None:
    reason = a_reason("quota-limit", "dc1/h100", "the limit is 32")
    other = a_reason("no-variant", "dc1/mi300x")
    change = only(compare(a_plan([a_placement(JOB)]), a_plan(unplaced=(unplaced(JOB, reason, other),))))
    assert change.reason == reason


def test_becoming_late_is_told_of_every_effect_and_only_once() -> None:
    on_time, late = a_placement(JOB, 0, 18), a_placement(JOB, 3, 21, late_seconds=HOUR)
    assert [change.address for change in compare(a_plan([on_time]), a_plan([late])).becoming_late] == [f"job/{JOB}"]
    assert compare(a_plan([late]), a_plan([on_time])).becoming_late == ()
    later = a_placement(JOB, 4, 22, late_seconds=2 * HOUR)
    assert compare(a_plan([late]), a_plan([later])).becoming_late == ()
    assert compare(a_plan(), a_plan([late])).becoming_late != ()


def test_a_rename_is_no_coming_and_going() -> None:
    before = a_plan([a_placement("vision/old", 0, 18)])
    after = a_plan([a_placement("vision/new", 1, 19)])
    assert {change.effect for change in compare(before, after).jobs} == {Effect.ADDED, Effect.REMOVED}
    change = only(compare(before, after, renamed={"job/vision/old": "job/vision/new"}))
    assert (change.effect, change.address, change.formerly) == (Effect.LATER, "job/vision/new", "job/vision/old")


def test_a_rename_to_a_job_that_does_not_exist_is_ignored() -> None:
    plan = a_plan([a_placement(JOB)])
    assert not compare(plan, plan, renamed={f"job/{JOB}": "job/vision/elsewhere"}).any


def test_jobs_are_in_order_of_effect_then_size_then_address() -> None:
    before = [a_placement(f"t/{name}", 0, 4) for name in "abcd"]
    after = [a_placement("t/a", 1, 5), a_placement("t/b", 9, 13), a_placement("t/c", 9, 13), a_placement("t/e", 0, 1)]
    found = compare(a_plan(before), a_plan(after, unplaced=(unplaced("t/d"),))).jobs
    assert [change.address[-1] for change in found] == ["d", "b", "c", "a", "e"]


def test_the_order_of_the_input_does_not_matter() -> None:
    before = [a_placement(f"t/job-{number}", number, number + 4) for number in range(20)]
    after = [a_placement(f"t/job-{number}", number * 7 % 20, number * 7 % 20 + 4) for number in range(3, 22)]
    expected = compare(a_plan(before), a_plan(after))
    for seed in range(5):
        random.Random(seed).shuffle(before)
        random.Random(seed).shuffle(after)
        plans = (a_plan().model_copy(update={"placements": tuple(jobs)}) for jobs in (before, after))
        assert compare(*plans).jobs == expected.jobs


def test_teams_are_told_in_device_seconds_and_money() -> None:
    costs = Costs(currency="USD", total=a_cost(cash=5), teams=(a_cost("vision", cash=5),))
    changes = compare(a_plan([a_placement(JOB, 0, 10)]), a_plan([a_placement(JOB, 0, 12)], costs=costs))
    (team,) = changes.teams
    assert team.jobs == (1, 1)
    assert team.device_seconds == (Fraction(80 * HOUR), Fraction(96 * HOUR))
    assert team.cash_micros == (0, 5_000_000)
    assert changes.cost is not None
    assert changes.cost.cash_micros == (0, 5_000_000)


def test_a_team_that_only_moves_is_not_told_as_a_team() -> None:
    changes = compare(a_plan([a_placement(JOB, 0, 10)]), a_plan([a_placement(JOB, 5, 15)]))
    assert changes.teams == ()
    assert changes.any


def test_a_quota_that_appears_counts_from_nothing() -> None:
    (quota,) = compare(a_plan(), a_plan(quota=(a_quota(guaranteed=16, used=8, hours=10),))).quotas
    assert quota.guaranteed == (Fraction(0), Fraction(160 * HOUR))
    assert quota.used == (Fraction(0), Fraction(80 * HOUR))
    assert quota.lent == (Fraction(0), Fraction(0))


def test_a_quota_that_holds_at_other_times_with_the_same_sum_differs_all_the_same() -> None:
    first, second = a_quota(guaranteed=16, hours=10), a_quota(guaranteed=10, used=5, hours=16)
    changes = compare(a_plan(quota=(first,)), a_plan(quota=(second,)))
    assert changes.quotas == ()
    assert changes.sections == (SectionChange(section="quota"),)


def test_utilisation_is_compared_pool_by_pool() -> None:
    before = a_plan(utilisation=(a_use("dc1/a", used_hours=10), a_use("dc1/b", used_hours=3)))
    after = a_plan(utilisation=(a_use("dc1/a", used_hours=12), a_use("dc1/b", used_hours=3)))
    (use,) = compare(before, after).uses
    assert (use.by, use.name, use.used) == ("pool", "dc1/a", (10 * HOUR, 12 * HOUR))


@pytest.mark.parametrize(
    ("fields", "section"),
    [
        ({"degraded": (Degraded(address="job/a/b", backend="slurm", message="no"),)}, "degraded"),
        ({"diagnostics": (Note(code="LINT502", subject="job/a/b", message="small"),)}, "diagnostics"),
        ({"status": Status(complete=False, proof="bounded", value_micros=0)}, "complete"),
    ],
)
def test_what_has_no_finer_comparison_still_counts_as_a_change(fields: dict[str, Any], section: str) -> None:
    changes = compare(a_plan(), a_plan(**fields))
    assert changes.sections == (SectionChange(section=section),)
    assert changes.any


def test_another_proof_or_price_is_not_a_change() -> None:
    price = PriceSchedule(
        pool="dc1/h100",
        windows=(PriceWindow(start="2026-12-01T00:00:00Z", end="2026-12-01T01:00:00Z", micros_per_gpu_hour=1),),
    )
    status = Status(complete=True, proof="optimal", value_micros=996, bound_micros=996, gap_micros=0, gap_ppm=0)
    assert not compare(a_plan(), a_plan(prices=(price,), status=status)).any


def test_a_rename_is_told_even_when_nothing_else_changes() -> None:
    before, after = a_plan([a_placement("vision/old")]), a_plan([a_placement("vision/new")])
    (change,) = compare(before, after, renamed={"job/vision/old": "job/vision/new"}).jobs
    assert (change.effect, change.address, change.formerly) == (Effect.EDITED, "job/vision/new", "job/vision/old")
