"""The difference of two plans: first for people, then for machines, never longer than can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.diff import compare
from planner.plan import Costs, Plan
from planner.report.difference import difference_page
from planner.report.json import changes_json, rows_json
from planner.report.page import ASCII, Medium
from planner.report.text import as_text
from tests.planner.plans import a_cost, a_placement, a_plan, a_quota, a_reason, a_use, unplaced


def shown(before: Plan, after: Plan, width: int = 120, **fields: Any) -> str:
    """The difference as text."""
    medium = Medium(width=width, **fields)
    return as_text(difference_page(compare(before, after), before, after, medium), medium)


def section(text: str, title: str) -> list[str]:
    """The lines of one section, without its heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return next(part[1:] for part in parts if part[0].split("  ")[0] == title)


def many(count: int, shift: int = 0) -> list[Any]:
    """So many jobs of four teams, each `shift` hours later."""
    return [
        a_placement(f"team{number % 4}/job-{number:04}", number % 90 + shift, number % 90 + shift + 4, gpus=1)
        for number in range(count)
    ]


def test_a_plan_against_itself_changes_nothing_and_says_who_stays() -> None:
    plan = a_plan(many(5))
    text = shown(plan, plan)
    assert text.splitlines()[1:] == ["  nothing changes; 5 jobs stay as planned"]


def test_a_delay_is_told_from_when_to_when_and_by_how_much() -> None:
    text = shown(a_plan([a_placement("t/a", 9, 18)]), a_plan([a_placement("t/a", 11.5, 20.5)]))
    rows = section(text, "Later")
    assert rows[1].split() == ["t/a", "Tue", "12-01", "09:00", "→", "Tue", "12-01", "11:30", "+2.5", "h", "dc1/h100"]


def test_a_job_that_only_finishes_later_says_that_it_is_the_finish() -> None:
    rows = section(shown(a_plan([a_placement("t/a", 0, 4)]), a_plan([a_placement("t/a", 0, 6)])), "Later")
    assert rows[1].split() == [
        "t/a",
        "finish",
        "Tue",
        "12-01",
        "04:00",
        "→",
        "Tue",
        "12-01",
        "06:00",
        "+2",
        "h",
        "dc1/h100",
    ]


def test_people_come_before_machines() -> None:
    before = a_plan(
        [a_placement("t/a", 0, 4), a_placement("t/b", 0, 4), a_placement("t/c", 0, 4)], unplaced=(unplaced("t/d"),)
    )
    after = a_plan(
        [
            a_placement("t/b", 2, 6),
            a_placement("t/c", 0, 4, node=5),
            a_placement("t/d", 1, 5),
            a_placement("t/e", 0, 1),
        ],
        unplaced=(unplaced("t/a", a_reason(fix="gpus: 4")),),
        quota=(a_quota(),),
        utilisation=(a_use(used_hours=999),),
        costs=Costs(currency="USD", total=a_cost(cash=7)),
    )
    text = shown(before, after)
    headings = [part.split("\n")[0].split("  ")[0] for part in text.split("\n\n")]
    assert headings[1:] == [
        "No longer run", "Now run", "Later", "Move, at the same time", "New", "Teams", "Quota", "Machines"
    ]  # fmt: skip
    assert "x 1 no longer run   + 1 now run   > 1 later   ~ 1 move   + 1 new   = 0 unchanged" in text
    assert "cloud bill USD 0.00 → USD 7.00 (+USD 7.00)" in text
    assert "try: gpus: 4" in section(text, "No longer run")[1]
    assert section(text, "Move, at the same time")[1].split()[-3:] == ["h100-001", "→", "h100-005"]


def test_becoming_late_is_said_at_the_top_and_beside_the_job() -> None:
    text = shown(a_plan([a_placement("t/a", 0, 4)]), a_plan([a_placement("t/a", 3, 7, late_seconds=3_600)]))
    assert "! 1 job becomes late" in text
    assert "becomes late by 1 h" in section(text, "Later")[1]


@pytest.mark.parametrize("width", [60, 120])
def test_two_thousand_changes_are_counted_by_team_and_cut(width: int) -> None:
    text = shown(a_plan(many(2_000)), a_plan(many(2_000, shift=3)), width)
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) < 40
    rows = section(text, "Later")
    assert [row.split()[:2] for row in rows[1:5]] == [[f"team{number}", "500"] for number in range(4)]
    assert "and 1,992 more jobs; --full lists them all" in rows[-1]
    assert shown(a_plan(many(2_000)), a_plan(many(2_000, shift=3)), width, full=True).count("/job-") == 2_000


def test_fifteen_changes_are_listed_and_sixteen_are_summarised() -> None:
    fifteen, sixteen = (shown(a_plan(many(count)), a_plan(many(count, shift=1))) for count in (15, 16))
    assert (fifteen.count("/job-"), "more job" in fifteen) == (15, False)
    assert (sixteen.count("/job-"), "and 8 more jobs" in sixteen) == (8, True)


def test_an_array_to_which_the_same_happens_is_one_row() -> None:
    before = a_plan([a_placement(f"t/sweep[{index}]", 0, 4) for index in range(10)])
    after = a_plan([a_placement(f"t/sweep[{index}]", 2, 6) for index in range(10)])
    text = shown(before, after)
    assert "> 10 later" in text
    assert [row.split()[0] for row in section(text, "Later")[1:]] == ["t/sweep[0-9]"]


def test_another_horizon_is_said() -> None:
    assert "different horizons" in shown(a_plan(many(1), slots=100), a_plan(many(2), slots=168))
    assert "different horizons" not in shown(a_plan(many(1)), a_plan(many(2)))


def test_ascii_terminals_get_ascii_arrows() -> None:
    text = shown(a_plan(many(3)), a_plan(many(3, shift=1)), glyphs=ASCII)
    assert text.isascii()
    assert "->" in text


def test_json_says_the_same_as_the_text_with_exact_numbers() -> None:
    before, after = a_plan([a_placement("t/a", 0, 4)]), a_plan([a_placement("t/a", 2, 6)])
    document = json.loads(changes_json(compare(before, after), before, after))
    assert document["format_version"] == "1.0"
    assert document["changed"] is True
    (job,) = document["jobs"]
    assert (job["address"], job["effect"], job["start_seconds"]) == ("job/t/a", "later", 7_200)
    assert (job["before"]["start"], job["after"]["start"]) == ("2026-12-01T00:00:00Z", "2026-12-01T02:00:00Z")
    assert document["after"]["digest"] == after.digest


@pytest.mark.parametrize("changed", [True, False])
def test_json_and_text_agree_on_whether_anything_changes(changed: bool) -> None:
    before = a_plan([a_placement("t/a", 0, 4)])
    after = a_plan([a_placement("t/a", 0, 4, spec="sha256:2" if changed else "sha256:1")])
    assert json.loads(changes_json(compare(before, after), before, after))["changed"] is changed
    assert ("nothing changes" in shown(before, after)) is not changed


def test_json_holds_integers_and_exact_fractions_only() -> None:
    before = a_plan()
    after = a_plan([a_placement("t/a", 0, 4, gpus=1).model_copy(update={"gpus": "1/8"})], quota=(a_quota(used=3),))
    text = changes_json(compare(before, after), before, after)
    assert json.loads(text)["jobs"][0]["after"]["gpus"] == "1/8"

    def refuse(literal: str) -> float:
        raise AssertionError(literal)

    json.loads(text, parse_float=refuse)


def test_a_table_is_a_list_of_objects() -> None:
    document = json.loads(rows_json("models", ("slug", "memory"), [("a", "80Gi")]))
    assert document["models"] == [{"slug": "a", "memory": "80Gi"}]
