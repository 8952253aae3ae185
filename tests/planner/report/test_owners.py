"""What owners are told: their jobs alone, from when to when and why, and nobody is mentioned who should not be."""

from __future__ import annotations

import pytest

from planner.diff import compare
from planner.plan import Plan
from planner.report.owners import owners_markdown, owners_page
from planner.report.page import Medium
from planner.report.text import as_text
from tests.planner.plans import a_placement, a_plan, a_reason, at, unplaced

BEFORE = a_plan([a_placement("vision/a", 9, 18), a_placement("nlp/b", 0, 4), a_placement("nlp/same", 5, 9)])
AFTER = a_plan(
    [a_placement("vision/a", 11.5, 20.5, reasons=(a_reason("capacity"),)), a_placement("nlp/same", 5, 9),
     a_placement("nlp/fresh", 1, 2)],
    unplaced=[unplaced("nlp/b")],
)  # fmt: skip


def told(before: Plan, after: Plan, **owners: tuple[str, ...]) -> str:
    """The comment."""
    return owners_markdown(compare(before, after), after, owners)


def test_each_owner_is_told_from_when_to_when_and_because_of_what() -> None:
    text = told(BEFORE, AFTER, vision=("@acme/vision-leads", "@ada"))
    assert "#### `vision` @acme/vision-leads @ada\n" in text
    row = next(line for line in text.splitlines() if "vision/a" in line)
    assert "Tue 12-01 09:00" in row
    assert "Tue 12-01 11:30" in row
    assert "2.5 h" in row
    reason = AFTER.placements[-1].reasons[0]
    assert reason.message.split()[0] in row
    assert next(line for line in text.splitlines() if "nlp/b" in line).count("no place") == 1


def test_work_that_stays_or_is_new_concerns_nobody() -> None:
    text = told(BEFORE, AFTER)
    assert "nlp/same" not in text
    assert "nlp/fresh" not in text
    assert told(BEFORE, BEFORE) == "No job moved; everybody has what was promised.\n"


@pytest.mark.parametrize(
    "owner", ["@everyone @ada", "ada", "<b>@ada</b>", "@ada\n# x", "[x](http://y)", "@-x", "@a/b/c", "ada@example.org"]
)
def test_only_what_a_forge_would_mention_is_mentioned(owner: str) -> None:
    heading = next(
        line for line in told(BEFORE, AFTER, vision=(owner,)).splitlines() if line.startswith("#### `vision`")
    )
    shown = heading.removeprefix("#### `vision` ")
    assert shown.startswith("`")
    assert shown.endswith("`")


def test_the_comment_keeps_its_limit_and_says_what_it_left_out() -> None:
    early = [
        a_placement(f"t{team:03}/{'x' * 40}-{job}", job, job + 4, gpus=1) for team in range(60) for job in range(9)
    ]
    late = [
        a_placement(f"t{team:03}/{'x' * 40}-{job}", job + 1, job + 5, gpus=1) for team in range(60) for job in range(9)
    ]
    changes = compare(a_plan(early), a_plan(late))
    text = owners_markdown(changes, a_plan(late), {}, 8_000)
    assert len(text.encode()) <= 8_000
    assert "More teams are left out" in text


def test_a_terminal_gets_the_same_as_text() -> None:
    changes = compare(BEFORE, AFTER)
    medium = Medium(width=120)
    text = as_text(owners_page(changes, AFTER, {"vision": ["@ada"]}, medium), medium)
    assert "vision  @ada" in text
    assert "11:30" in text


@pytest.mark.parametrize(
    ("hours", "told"), [(9, "the plan as a whole is worth more so"), (10, "it had not begun by its time")]
)
def test_work_that_missed_its_time_is_told_so(hours: int, told: str) -> None:
    early, late = a_placement("vision/a", 9, 18), a_placement("vision/a", 12, 21)
    after = a_plan([late])
    after = after.model_copy(update={"inputs": after.inputs.model_copy(update={"start": at(hours)})})
    assert told in owners_markdown(compare(a_plan([early]), after), after, {})
