"""The report of a plan: what people ask first, in that order, whole for five jobs and readable for two thousand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from planner.plan import Costs, Degraded, Note, Placement, Plan, Reason, Status
from planner.report.page import ASCII, Medium
from planner.report.plan import plan_page, proof
from planner.report.text import as_text
from tests.planner.plans import a_cost, a_placement, a_plan, a_quota, a_reason, a_use, unplaced

HOUR = 3_600


def shown(plan: Plan, width: int = 100, **fields: Any) -> str:
    """The report as text."""
    medium = Medium(width=width, **fields)
    return as_text(plan_page(plan, medium, lock="plan.lock.json"), medium)


def section(text: str, title: str) -> list[str]:
    """The lines of one section, without its heading."""
    parts = [part.splitlines() for part in text.split("\n\n")]
    return next(part[1:] for part in parts if part[0].split("  ")[0] == title)


def full_plan(jobs: Iterable[Placement] = (), **fields: Any) -> Plan:
    """A plan that has something in every section."""
    values: dict[str, Any] = {
        "unplaced": (unplaced("nlp/big", a_reason(fix="gpus: 32")),),
        "quota": (a_quota(),),
        "costs": Costs(currency="USD", total=a_cost(cash=3, power=2, chargeback=9), teams=(a_cost("vision", cash=3),)),
        "diagnostics": (Note(code="LINT502", subject="job/vision/a", message="too little memory", fix="memory: 1Ti"),),
        "degraded": (Degraded(address="job/vision/a", backend="slurm", message="cannot do it"),),
    }
    usual = [a_placement("vision/a", 0, 4), a_placement("vision/b", 4, 8, late_seconds=HOUR)]
    return a_plan(jobs or usual, **(values | fields))


def test_sections_stand_in_the_order_of_the_questions() -> None:
    headings = [part.split("\n")[0].split("  ")[0] for part in shown(full_plan()).split("\n\n")]
    assert headings[0].startswith("Plan ")
    assert headings[1:] == [
        "Runs", "Does not run", "Late", "Cost", "Utilisation", "Teams", "Load by pool", "Warnings", "Next"
    ]  # fmt: skip


def test_what_there_is_nothing_to_say_of_is_left_out() -> None:
    headings = [part.split("\n")[0].split("  ")[0] for part in shown(a_plan()).split("\n\n")]
    assert headings[1:] == ["Cost", "Utilisation", "Load by pool"]


@pytest.mark.parametrize(
    ("count", "width"), [*((3, width) for width in (60, 80, 100, 118, 140, 180)), (2_000, 60), (2_000, 140)]
)
def test_no_line_is_wider_than_the_page(count: int, width: int) -> None:
    jobs = [
        a_placement(f"vision/a-name-that-is-rather-long-{number}", number % 150, number % 150 + 5, gpus=1 + number % 64)
        for number in range(count)
    ]
    text = shown(full_plan(jobs), width)
    assert max(map(len, text.splitlines())) <= width


def test_the_header_says_how_good_the_plan_is_and_what_it_is_of() -> None:
    text = shown(full_plan())
    header = text.split("\n\n")[0]
    assert "of specs 41ab41ab41ab" in header
    assert "Tue 2026-12-01 00:00 → Tue 2026-12-08 00:00 UTC" in header
    assert "168 slots of 1 h" in header
    assert "within 0.4 % of the best possible" in header
    assert "2 of 3 jobs run, 1 late, 1 does not run; cloud bill USD 3.00" in header


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"proof": "optimal", "gap_ppm": 0}, "the best possible plan"),
        ({"proof": "bounded", "gap_ppm": 123}, "within 0.02 %"),
        ({"proof": "heuristic"}, "not known"),
        ({"proof": "infeasible"}, "cannot be satisfied"),
        ({"proof": "none"}, "no plan was found"),
    ],
)
def test_the_proof_is_told_in_words(fields: dict[str, Any], words: str) -> None:
    status = Status(complete=True, value_micros=0, **fields)
    assert words in "".join(span.text for span in proof(status))


def test_required_work_without_a_place_is_said_at_the_top() -> None:
    status = Status(complete=False, proof="optimal", value_micros=0, gap_ppm=0)
    assert "required work has no place" in shown(a_plan(status=status)).split("\n\n")[0]


def test_the_same_plan_gives_the_same_text_and_its_own_lines_only() -> None:
    plan = full_plan()
    assert shown(plan) == shown(plan.model_copy())


def test_jobs_stand_in_order_of_time_then_priority() -> None:
    jobs = [
        a_placement("t/late", 9, 10),
        a_placement("t/low", 0, 4, priority="P3"),
        a_placement("t/high", 0, 4, priority="P0"),
    ]
    rows = section(shown(a_plan(jobs)), "Runs")
    assert [row.split()[6] for row in rows[1:]] == ["t/high", "t/low", "t/late"]


def test_elements_of_an_array_that_run_alike_are_one_row() -> None:
    jobs = [
        a_placement(f"t/sweep[{index}]", 0 if index < 8 else 4, 4 if index < 8 else 8, gpus=1) for index in range(10)
    ]
    rows = section(shown(a_plan(jobs)), "Runs")
    assert ["t/sweep[0-7]" in row and "8 x 1" in row for row in rows[1:]] == [True, False]
    assert "t/sweep[8-9]" in rows[2]


def test_times_are_those_of_the_policys_zone() -> None:
    rows = section(shown(a_plan([a_placement("t/a", 0, 20)], timezone="Asia/Shanghai")), "Runs")
    assert rows[1].startswith("  Tue 12-01 08:00  Wed 12-02 04:00  t/a")


def test_two_thousand_jobs_are_counted_and_the_rest_is_told() -> None:
    jobs = [a_placement(f"t{number % 3}/job-{number:04}", number % 100, number % 100 + 3) for number in range(2_000)]
    text = shown(a_plan(jobs))
    assert len(text.splitlines()) < 70
    counts = [int(row.split()[2].replace(",", "")) for row in section(text, "Runs")[1:]]
    assert sum(counts) == 2_000
    rows = section(text, "Next to start")
    assert len([row for row in rows if "/job-" in row]) == 15
    assert "and 1,985 more jobs; --full lists them all" in rows[-1]
    assert shown(a_plan(jobs), full=True).count("/job-") == 2_000


def test_reasons_keep_their_order_and_the_fix_stands_under_its_reason() -> None:
    reasons = (
        a_reason("wrong-vendor", "p4", "it is AMD"),
        a_reason("too-large", "p5", "the team may have 2"),
        a_reason("taint", "p2", "the taint gpu=x is not tolerated", "needs.tolerations: [gpu=x:NoSchedule]"),
        a_reason("quota-spent", "p1", "full until Thu"),
    )
    lines = section(shown(a_plan(unplaced=(unplaced("t/job", *reasons),))), "Does not run")
    assert lines[0] == "  x t/job"
    assert [line.strip().partition(":")[0] for line in lines[1:]] == ["p4", "p5", "p2", "try", "p1"]
    assert lines[3].endswith("[taint]")
    assert "needs.tolerations" in lines[4]


@pytest.mark.parametrize(
    ("count", "named"), [(6, 0), (7, 3), (9, 5)], ids=["all of six", "four of seven", "four of nine"]
)
def test_of_many_reasons_the_nearest_to_a_yes_are_told_and_the_others_named(count: int, named: int) -> None:
    reasons = tuple(a_reason(subject=f"pool/dc1/p{number}", message=f"sentence {number}") for number in range(count))
    text = "\n".join(section(shown(a_plan(unplaced=(unplaced("t/job", *reasons),))), "Does not run"))
    assert [f"sentence {number}" in text for number in range(count)] == [False] * named + [True] * (count - named)
    assert all(f"pool/dc1/p{number}" in text for number in range(count))


def test_many_that_fail_for_the_same_reasons_are_one_entry_with_a_count() -> None:
    gone = tuple(unplaced(f"t/job-{number:03}") for number in range(300))
    text = shown(a_plan(unplaced=gone))
    lines = section(text, "Does not run")
    assert lines[0] == "  x t/job-000, t/job-001, t/job-002, t/job-003 and 296 more for the same reasons"
    assert "300 jobs" in text


def test_many_different_failures_are_cut_and_counted_by_reason() -> None:
    gone = tuple(unplaced(f"t/job-{number:03}", a_reason(message=f"needs {number}")) for number in range(50))
    lines = section(shown(a_plan(unplaced=gone)), "Does not run")
    assert sum(1 for line in lines if line.startswith("  x ")) == 12
    assert "and 38 more jobs by first reason" in lines[-3]
    assert lines[-1].split() == ["38", "too-few-devices", "dc1/h100"]
    assert shown(a_plan(unplaced=gone), full=True).count("  x t/job-") == 50


def test_a_job_without_any_reason_is_still_told() -> None:
    gone = tuple(unplaced(f"t/job-{number:03}").model_copy(update={"reasons": ()}) for number in range(2))
    assert "x t/job-000, t/job-001" in shown(a_plan(unplaced=gone))


def test_markup_in_names_and_messages_is_text() -> None:
    reason = Reason(code="x", subject="dc1/[bold]", message="[/red] \x1b[31m", fix="[link=http://x]y[/link]")
    text = shown(a_plan(unplaced=(unplaced("t/[red]job", reason),)))
    assert all(part in text for part in ("t/[red]job", "dc1/[bold]", "[/red] \\x1b[31m", "[link=http://x]y[/link]"))
    assert "\x1b" not in text


def test_late_jobs_say_by_how_much_against_what_and_why() -> None:
    jobs = [
        a_placement("t/a", 0, 10, late_seconds=HOUR),
        a_placement("t/b", 0, 10, late_seconds=3 * HOUR, reasons=(a_reason(message="h100 is full"),)),
    ]
    rows = section(shown(a_plan(jobs), 140), "Late")
    assert rows[1].split() == ["t/b", "3", "h", "Tue", "12-01", "07:00", "Tue", "12-01", "10:00", "h100", "is", "full"]
    assert rows[2].split()[0] == "t/a"


def test_every_sum_of_money_has_its_currency_and_kind() -> None:
    costs = Costs(
        currency="EUR",
        total=a_cost(cash=24, power=3, chargeback=100),
        teams=(a_cost("vision", cash=24), a_cost("nlp")),
        pools=(a_cost("dc1/h100", power=3, chargeback=100),),
    )
    rows = section(shown(a_plan(costs=costs)), "Cost")
    assert rows[0].split() == ["Cloud", "bills", "Power", "Chargeback"]
    assert rows[1].split() == ["all", "EUR", "24.00", "EUR", "3.00", "EUR", "100.00"]
    assert rows[2].split() == ["team", "vision", "EUR", "24.00", "-", "-"]
    assert rows[3].split() == ["pool", "dc1/h100", "-", "EUR", "3.00", "EUR", "100.00"]
    assert len(rows) == 4


def test_a_plan_that_costs_nothing_says_so_in_its_currency() -> None:
    assert "no cloud bill" in section(shown(a_plan()), "Cost")[0]
    assert "(USD)" in section(shown(a_plan()), "Cost")[0]


def test_utilisation_has_zeros_and_a_bar_that_is_full_only_at_a_hundred_percent() -> None:
    uses = tuple(
        a_use(f"dc1/{name}", devices=10, hours=100, used_hours=used)
        for name, used in (("none", 0), ("bit", 1), ("half", 500), ("most", 999), ("all", 1_000))
    )
    rows = section(shown(a_plan(utilisation=uses), glyphs=ASCII), "Utilisation")
    bars = [row.split()[-1] for row in rows[1:]]
    assert [bar.count("#") for bar in bars] == [0, 1, 10, 19, 20]
    assert {len(bar) for bar in bars} == {20}


def test_models_are_listed_in_full_only() -> None:
    plan = a_plan(utilisation=(a_use(), a_use("h100-sxm5-80gb", by="model")))
    assert "model" not in shown(plan)
    assert "model" in shown(plan, full=True)


def test_each_team_says_what_it_has_and_why_in_one_line() -> None:
    plan = a_plan(
        quota=(a_quota("a", "qa", guaranteed=1, used=1), a_quota("b", "qb", guaranteed=1, used=3, borrowed=2))
    )
    for width in (100, 140):
        text = shown(plan, width)
        assert "uses half of its guarantee" in text
        rows = section(text, "Teams")
        assert rows[2].split()[:6] == ["b", "qb", "1", "3", "2", "0"]


def test_a_quota_that_holds_half_the_time_counts_half() -> None:
    rows = section(shown(a_plan(quota=(a_quota(guaranteed=16, used=4, hours=84),))), "Teams")
    assert rows[1].split()[2:6] == ["8", "2", "0", "0"]


def test_the_next_command_quotes_the_lock_for_the_shell() -> None:
    medium = Medium()
    text = as_text(plan_page(full_plan(), medium, lock="my plans/$(x).json"), medium)
    assert section(text, "Next") == ["  planner render 'my plans/$(x).json' --out build/manifests"]


def test_many_warnings_of_one_code_are_cut_and_counted() -> None:
    notes = tuple(Note(code="LINT502", subject=f"job/t/{number}", message="small") for number in range(9))
    lines = section(shown(a_plan(diagnostics=notes)), "Warnings")
    assert len(lines) == 6
    assert "and 4 more [LINT502]" in lines[-1]
    assert len(section(shown(a_plan(diagnostics=notes), full=True), "Warnings")) == 9


def test_a_terminal_without_unicode_gets_ascii_only() -> None:
    assert shown(full_plan(), glyphs=ASCII).isascii()
