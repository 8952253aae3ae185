"""Markdown and comments: whatever people call their things is shown and does nothing, and all has room on GitHub."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from planner.diagnostics import printable
from planner.diff import compare
from planner.plan import Note, Plan, Status
from planner.report.comment import BYTES, MARK, Base, comment
from planner.report.gantt import BYTES as GANTT_BYTES
from planner.report.gantt import ROWS, gantt
from planner.report.markdown import (
    LONGEST_TEXT,
    as_html,
    as_markdown,
    clipped,
    fenced,
    folded,
    rendered,
    sections,
    text_of,
)
from planner.report.page import Column, Heading, Line, Preformatted, Prose, Span, Table, Tone, bad, line, strong
from tests.planner.plans import a_placement, a_plan, a_quota, a_reason, a_use, unplaced

READER: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE: Final = (
    "`", "``", "|", "\\", "\\|", "<", ">", "<script>", "</details>", "<!--", "-->", "@team", "@", "#12", "GH-12", "*",
    "**x**", "_", "__", "~~", "[a](http://b)", "![a](b)", "http://evil.example", "www.evil.example", "a@b.example",
    ":tada:", ":100:", "1.", "-", "+", "=", "---", "# x", "```", "~~~", "\n", "\r\n", "\t", "\x1b[31m", "\u202e",
    "&amp;", "&#64;", "${{ x }}", "é", "例", "vision/resnet", "job", "12:30", "x" * 400,
)  # fmt: skip
several = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), max_size=6).map(" ".join)
texts = several | st.text(max_size=40)


def words(text: str) -> list[str]:
    """A text as readers see it, whatever its blanks."""
    return printable(text).split()


def seen(text: str) -> str:
    """A text as readers see it where it may be cut, without blanks."""
    return "".join(clipped(printable(text)).split())


def read(tokens: list[Token]) -> tuple[str, str]:
    """What inline tokens show in all, and outside of code; only words, code and `<code>` may be there."""
    shown, bare, within = "", "", False
    for token in tokens:
        assert token.type in {"text", "code_inline", "html_inline", "strong_open", "strong_close"}, token
        if token.type == "html_inline":
            assert token.content in {"<code>", "</code>", "<!-- -->"}
            within = token.content == "<code>"
            continue
        shown += token.content
        bare += "" if within or token.type == "code_inline" else token.content
    return shown, bare


def inline(markdown: str) -> list[Token]:
    """The tokens of a paragraph."""
    (token,) = READER.parseInline(markdown)
    return token.children or []


@given(texts)
@example("`` ` |")
@example("\\`a")
@example("a\\|b")
def test_any_text_is_shown_as_it_is_and_does_nothing(text: str) -> None:
    shown, bare = read(inline(text_of(text)))
    assert shown.split() == words(text)
    assert not re.search(r"[@`|\\\[\]]|://|www\.|\bgh-|#[0-9]|:[a-z0-9]+:", bare, re.IGNORECASE)


@given(st.lists(st.tuples(texts, st.sampled_from(list(Tone))), max_size=4))
def test_any_line_is_shown_as_it_is_in_every_tone(parts: list[tuple[str, Tone]]) -> None:
    item: Line = tuple(Span(text, tone) for text, tone in parts)
    shown, _ = read(inline(as_markdown(item)))
    assert "".join(shown.split()) == "".join(seen(span.text) for span in item)


@given(st.lists(st.lists(texts, min_size=2, max_size=2), min_size=1, max_size=4))
def test_any_cell_stays_in_its_cell(rows: list[list[str]]) -> None:
    table = Table(
        columns=(Column(title="Job"), Column(title="Why")),
        rows=tuple(tuple(line(strong(cell)) for cell in row) for row in rows),
    )
    tokens = READER.parse(rendered((table,), BYTES).text)
    cells = [after for before, after in pairwise(tokens) if before.type == "td_open"]
    assert [token.type for token in tokens if token.type.endswith("_open") and token.type[0] != "t"] == []
    assert ["".join(read(cell.children or [])[0].split()) for cell in cells] == [
        seen(cell) for row in rows for cell in row
    ]


@given(st.lists(texts, min_size=1, max_size=5))
def test_any_lines_stay_one_list(lines: list[str]) -> None:
    prose = Prose(lines=tuple(line(text) for text in lines))
    tokens = READER.parse(rendered((prose,), BYTES).text)
    kinds = {token.type for token in tokens if token.type.endswith("_open")}
    assert kinds <= {"bullet_list_open", "list_item_open", "paragraph_open"}
    assert sum(token.type == "list_item_open" for token in tokens) == len(lines)


@given(st.text())
@example("```\n````\n~~~")
def test_a_fence_is_closed_by_nothing_inside(text: str) -> None:
    (token,) = READER.parse(fenced(text, "text"))
    assert token.type == "fence"
    assert token.content == "".join(f"{printable(part)}\n" for part in text.splitlines())


@given(texts)
def test_text_in_html_opens_and_closes_nothing(text: str) -> None:
    tags = re.sub(r"</?code>", "", as_html(text))
    assert not re.search(r"[<>@`\[|]", tags)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("within 2.2 % of the best possible , proven", "within 2.2 % of the best possible , proven"),
        ("Mon 12-07 00:00 → Tue 12-08 14:30", "Mon 12-07 00:00 → Tue 12-08 14:30"),
        ("+USD 12.00", "+USD 12.00"),
        ("h100-[01-04]", "`h100-[01-04]`"),
        ("needs <b>", "needs `<b>`"),
        ("a|b", "`a`<code>&#124;</code>`b`"),
        ("tick`", "`` tick` ``"),
        ("+ 3", "\\+ 3"),
    ],
)
def test_plain_words_stay_plain_and_others_become_code(text: str, markdown: str) -> None:
    assert text_of(text) == markdown


def test_names_are_code_and_what_stands_out_is_bold() -> None:
    assert as_markdown(line("was ", strong("vision/resnet"), " of ", strong("3 jobs"), " ", bad("x"))) == (
        "was `vision/resnet` of **3 jobs** **x**"
    )


def test_code_beside_code_stays_apart() -> None:
    shown, _ = read(inline(as_markdown((Span("a@b"), Span("c`", Tone.BAD), Span("d@e")))))
    assert shown == "a@bc`d@e"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert as_markdown(line("x" * LONGEST_TEXT)) == "x" * LONGEST_TEXT
    assert read(inline(as_markdown(line("x" * (LONGEST_TEXT + 1)))))[0] == "x" * (LONGEST_TEXT - 1) + "…"


@pytest.mark.parametrize("room", [*range(0, 400, 7), 5_000])
def test_a_section_is_cut_between_rows_and_counts_the_rest(room: int) -> None:
    table = Table(columns=(Column(title="Job"),), rows=tuple((line(f"job{number}"),) for number in range(20)))
    (section,) = sections((Heading(title="Later", note="20 jobs"), table, Preformatted(lines=(line("drawing"),))))
    cut = folded(section, room)
    assert len(cut.text.encode()) <= max(room, 0)
    rows = len(re.findall(r"^\| job", cut.text, re.MULTILINE))
    drawn = "drawing" in cut.text
    assert cut.left_out == 21 - rows - drawn
    if cut.text:
        assert (f"_{cut.left_out:,} more line" in cut.text) is bool(cut.left_out)
        assert cut.text.count("<details") == cut.text.count("</details>") == 1


def header(text: str) -> dict[str, Any]:
    """The hidden document of a comment."""
    first = text.splitlines()[0]
    assert first.startswith(MARK)
    assert first.endswith(" -->")
    fields: dict[str, Any] = json.loads(first.removeprefix(MARK).removesuffix(" -->"))
    return fields


def reviewed(before: Plan, after: Plan, **fields: Any) -> str:
    """The comment on a change."""
    return comment(after, base=Base(commit="b" * 40, plan=before), changes=compare(before, after), **fields)


def verdict(text: str) -> str:
    return text.splitlines()[1]


def test_the_hidden_header_says_what_was_reviewed() -> None:
    before, after = a_plan([a_placement()]), a_plan([a_placement(start=2, end=20)])
    fields = header(reviewed(before, after))
    assert (fields["digest"], fields["at"], fields["base"]) == (after.digest, "2026-12-01T00:00:00Z", "b" * 40)
    assert (fields["complete"], fields["truncated"], fields["format"]) == (True, False, 1)


def test_the_first_line_that_is_seen_is_the_verdict() -> None:
    stays = a_placement("vision/a", 0, 6)
    plan = a_plan([stays, a_placement("vision/b", 6, 9)])
    for after, mark, words_in in (
        (plan, "✅", "nothing changes, 2 of 2 jobs run"),
        (a_plan([stays, a_placement("vision/b", 8, 11)]), "⚠️", "1 later, 2 of 2 jobs run"),
        (a_plan([stays], unplaced=(unplaced("vision/b"),)), "❌", "1 no longer run, 1 of 2 jobs run"),
        (a_plan([stays, a_placement("vision/b", 5, 8)]), "✅", "1 earlier"),
    ):
        assert verdict(reviewed(plan, after)).startswith(f"### {mark} Plan `")
        assert words_in in verdict(reviewed(plan, after))


def test_a_plan_that_leaves_required_work_out_is_never_called_good() -> None:
    status = Status(complete=False, proof="bounded", value_micros=1, bound_micros=2, gap_micros=1, gap_ppm=500_000)
    plan = a_plan([a_placement()], status=status)
    assert verdict(comment(plan)).startswith("### ❌")
    assert "required work has no place" in verdict(comment(plan))


def titles(text: str, *, opened: bool) -> list[str]:
    """The titles of sections that begin open or folded."""
    pattern = r"<details open>\n<summary><b>([^<]*)" if opened else r"<details>\n<summary><b>([^<]*)"
    return re.findall(pattern, text)


def test_what_concerns_people_is_open_and_first_and_the_rest_is_folded() -> None:
    before = a_plan([a_placement("vision/a", 0, 6), a_placement("vision/b", 6, 9), a_placement("nlp/c", 6, 9)])
    late = a_placement("nlp/c", 8, 11, late_seconds=7_200)
    after = a_plan([a_placement("vision/a", 2, 8), late], unplaced=(unplaced("vision/b", a_reason(fix="ask for 4")),))
    text = reviewed(before, after)
    assert titles(text, opened=True)[:3] == ["No longer run", "Become late", "Later"]
    assert titles(text, opened=False)[:2] == ["Timeline", "Runs"]
    assert "try: ask for 4" in text


def test_a_plan_that_is_compared_with_nothing_shows_what_does_not_run() -> None:
    text = comment(a_plan([a_placement()], unplaced=(unplaced("vision/b"),)))
    assert titles(text, opened=True) == ["Does not run"]
    assert header(text)["base"] is None


def crowd(count: int, shift: int) -> Plan:
    """So many jobs of many teams, some without a place, with long reasons and warnings."""
    jobs = [
        a_placement(f"team-{number % 60:02}/job-{number:04}", number % 90 + shift, number % 90 + shift + 4, gpus=1)
        for number in range(count)
    ]
    refused = tuple(unplaced(f"team-{number:02}/big", a_reason(message="no room " * 90)) for number in range(50))
    notes = tuple(Note(code=f"LINT{number}", subject="x", message="word " * 70) for number in range(200))
    quotas = tuple(a_quota(f"team-{number:02}", f"quota-{number:02}", used=number % 16) for number in range(60))
    uses = tuple(a_use(f"dc1/pool-{number:03}") for number in range(400))
    return a_plan(jobs, unplaced=refused, diagnostics=notes, quota=quotas, utilisation=uses)


def test_thousands_of_jobs_have_room_in_one_comment_that_says_what_it_leaves_out() -> None:
    text = reviewed(crowd(2_000, 0), crowd(2_000, 3))
    assert 10_000 < len(text.encode()) <= BYTES
    assert "Parts are left out for length" in text
    assert "2,000 later" in verdict(text)


def test_a_change_that_is_told_whole_is_reviewed_whole_however_long_the_rest_of_the_plan_is() -> None:
    before = crowd(2_000, 0)
    after = before.model_copy(update={"placements": (*before.placements, a_placement("zoo/new", 1, 4))})
    text = reviewed(before, after)
    assert len(text.encode()) <= BYTES
    assert header(text)["truncated"] is False
    assert "Parts are left out for length" in text
    assert re.search(r"_[0-9,]+ more lines are left out here\._", text)


def test_a_change_that_is_not_told_whole_proves_no_approval() -> None:
    assert header(reviewed(crowd(300, 0), crowd(300, 1), limit=4_000))["truncated"] is True
    assert header(comment(crowd(2_000, 0)))["truncated"] is True


@pytest.mark.parametrize("limit", [4_000, 9_000, 30_000, 60_000])
def test_a_comment_keeps_its_limit_and_all_that_opens_closes(limit: int) -> None:
    text = reviewed(crowd(300, 0), crowd(300, 1), limit=limit)
    assert len(text.encode()) <= limit
    assert text.count("<details") == text.count("</details>")
    assert len(re.findall(r"^`{3,}", text, re.MULTILINE)) % 2 == 0
    assert text.splitlines()[-1].startswith("digest `sha256:")


@given(st.lists(texts, min_size=1, max_size=4))
def test_no_text_of_a_plan_becomes_markup_of_the_comment(hostile: list[str]) -> None:
    notes = tuple(Note(code="LINT501", subject=text, message=text, fix=text) for text in hostile)
    refused = tuple(
        unplaced(f"vision/x{number}", a_reason(subject=text, message=text, fix=text))
        for number, text in enumerate(hostile)
    )
    placed = [a_placement("vision/a", 0, 6), a_placement("vision/x0", 1, 2)]
    before = a_plan(placed)
    after = a_plan(placed[:1], unplaced=refused, diagnostics=notes)
    text = reviewed(before, after)
    own = {
        "<!-- -->",
        "<details>",
        "<details open>",
        "</details>",
        "</summary>",
        "<summary>",
        "<b>",
        "</b>",
        "<code>",
        "</code>",
    }
    body = text.partition("\n")[2]
    assert len(body.encode()) <= BYTES
    for token in READER.parse(body):
        for each in [token, *(token.children or [])]:
            if each.type.startswith("html"):
                assert set(re.findall(r"<[^>]*>", each.content)) <= own
            assert each.type not in {"link_open", "image", "em_open", "s_open", "hr"}


def test_a_timeline_has_few_rows_and_the_changed_and_urgent_ones_first() -> None:
    before, after = crowd(300, 0), crowd(300, 0)
    jobs = [*after.placements, a_placement("zoo/new", 40, 44), a_placement("zoo/core", 41, 44, priority="P0")]
    after = a_plan(jobs)
    changes = {item.address: item for item in compare(before, after).jobs}
    text, note = gantt(after, changes)
    tasks = [row for row in text.splitlines() if " :" in row]
    assert len(tasks) == ROWS
    assert note.startswith(f"{ROWS} of 302 jobs;")
    assert any("new :active, 2026-12-02T16:00" in row for row in tasks)
    assert any("core :crit, active" in row for row in tasks)


def test_a_timeline_ends_after_two_weeks_and_says_so() -> None:
    plan = a_plan([a_placement("vision/a", 0, 400), a_placement("vision/b", 337, 340)], slots=600)
    text, note = gantt(plan, {})
    assert "2026-12-15T00:00" in text
    assert "P2 b" not in text
    assert note.startswith("1 of 2 jobs, the first 14 days;")


@given(st.lists(texts, min_size=1, max_size=60, unique=True))
def test_names_cannot_break_a_timeline(names: list[str]) -> None:
    jobs = [a_placement(f"team/{name.replace('/', '')}", 0, 4, team=name or "x") for name in names]
    text, _ = gantt(a_plan(jobs), {})
    assert len(text) < GANTT_BYTES
    for row in text.splitlines()[4:]:
        assert re.fullmatch(
            r"    (section [A-Za-z0-9 _./()+-]+|P2 [A-Za-z0-9 _./()+-]+ :2026-12-01T00:00, 2026-12-01T04:00)", row
        )


def test_the_same_plans_give_the_same_comment() -> None:
    assert reviewed(crowd(50, 0), crowd(50, 2)) == reviewed(crowd(50, 0), crowd(50, 2))
