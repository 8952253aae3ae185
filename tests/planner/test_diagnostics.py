"""Diagnostics as text, JSON and GitHub annotations."""

from __future__ import annotations

import json

import pytest

from planner.codes import CODES
from planner.diagnostics import (
    Blocked,
    Busy,
    Diagnostic,
    PartlyApplied,
    Place,
    PlannerError,
    Related,
    Severity,
    SpecError,
    Stale,
    Unsatisfied,
    UsageError,
    as_github,
    as_json,
    as_text,
    did_you_mean,
    nearest,
    one_of,
    ordered,
    printable,
    quoted,
)


def a_diagnostic(
    summary: str = "unknown key 'gpuz'", line: int = 6, severity: Severity = Severity.ERROR, **fields: object
) -> Diagnostic:
    place = Place("specs/resnet.yaml", line, 5, 9)
    return Diagnostic(code="SPEC202", severity=severity, summary=summary, place=place, **fields)  # type: ignore[arg-type]


def test_text_shows_the_place_the_line_and_the_advice_under_a_caret() -> None:
    item = a_diagnostic(snippet="    gpuz: 8", help="did you mean 'gpus'?", address="job/vision/resnet")
    assert as_text([item]) == (
        "specs/resnet.yaml:6:5: error[SPEC202]: job/vision/resnet: unknown key 'gpuz'\n"
        "   6 |     gpuz: 8\n"
        "     |     ^^^^ did you mean 'gpus'?\n"
    )


def test_text_shows_further_lines_of_advice_and_other_places() -> None:
    item = a_diagnostic(
        help="first\nsecond", snippet="    gpuz: 8", related=(Related(place=Place("b.yaml", 3, 1, 2), message="here"),)
    )
    assert as_text([item]).splitlines()[3:] == ["     = second", "     = b.yaml:3:1: here"]


def test_text_without_a_place_is_one_line() -> None:
    assert (
        as_text([Diagnostic(code="SPEC105", severity=Severity.WARNING, summary="large")]) == "warning[SPEC105]: large\n"
    )


def test_text_of_hostile_values_cannot_move_the_cursor() -> None:
    item = a_diagnostic("a\x1b[2Jb\u202ec\nd", snippet="\x1b]0;x\x07 \u2028", help="\x9b")
    assert not set(as_text([item])) & {"\x1b", "\x07", "\x9b", "\u202e", "\u2028"}
    assert len(as_text([item]).splitlines()) == 3


def test_a_long_line_is_shown_around_the_fault() -> None:
    place = Place("a.yaml", 1, 5_001, 5_004)
    item = Diagnostic(
        code="SPEC202", severity=Severity.ERROR, summary="x", place=place, snippet="a" * 5_000 + "BAD" + "a" * 5_000
    )
    shown = as_text([item]).splitlines()
    assert len(shown[1]) < 140
    assert shown[1][shown[2].index("^") :].startswith("BAD")
    assert shown[2].count("^") == 3


def test_json_is_one_document_with_ranges() -> None:
    document = json.loads(as_json([a_diagnostic(help="fix", path="variants[0].gpuz")]))
    assert document["format_version"] == "1.0"
    (record,) = document["diagnostics"]
    assert record["range"] == {"start": {"line": 6, "column": 5}, "end": {"line": 6, "column": 9}}
    assert (record["code"], record["severity"], record["path"]) == ("SPEC202", "error", "variants[0].gpuz")


def test_json_keeps_lone_surrogates_out() -> None:
    as_json([a_diagnostic("a\ud800b")]).encode()


def test_an_annotation_escapes_what_github_reads() -> None:
    item = Diagnostic(
        code="SPEC202", severity=Severity.ERROR, summary="50% of\na:b,c", place=Place("a,b:c.yaml", 1, 2, 2)
    )
    assert as_github([item]) == "::error file=a%2Cb%3Ac.yaml,line=1,col=2,title=SPEC202::50%25 of%0Aa:b,c\n"


def test_an_annotation_of_a_range_has_its_end() -> None:
    assert "line=6,col=5,endLine=6,endColumn=9" in as_github([a_diagnostic()])


@pytest.mark.parametrize(
    ("count", "lines", "last"), [(10, 10, "unknown"), (11, 10, "2 more errors"), (60, 10, "51 more errors")]
)
def test_at_most_ten_annotations_a_level_are_written_and_the_last_counts_the_rest(
    count: int, lines: int, last: str
) -> None:
    written = as_github([a_diagnostic(line=line) for line in range(1, count + 1)]).splitlines()
    assert len(written) == lines
    assert last in written[-1]


def test_warnings_and_errors_have_annotations_of_their_own() -> None:
    items = [
        a_diagnostic(line=line, severity=level) for level in (Severity.ERROR, Severity.WARNING) for line in range(1, 10)
    ]
    written = as_github(items).splitlines()
    assert len([line for line in written if line.startswith("::error")]) == 9
    assert len([line for line in written if line.startswith("::warning")]) == 9


def test_a_long_annotation_is_cut_below_four_kilobytes() -> None:
    assert len(as_github([a_diagnostic("ä" * 10_000)]).encode()) < 4_200


def test_diagnostics_are_ordered_by_place_and_told_once() -> None:
    first, second = a_diagnostic(line=2), a_diagnostic(line=10)
    assert ordered([second, first, second]) == (first, second)


def test_suggestions_are_the_nearest_words_or_all_of_them() -> None:
    assert nearest("gpuz", ["gpus", "cpus", "name"])[0] == "gpus"
    assert did_you_mean("gpuz", ["gpus", "name"]) == "did you mean 'gpus'?"
    assert did_you_mean("zzz", ["b", "a"]) == "known: a, b"
    assert did_you_mean("zzz", []) == ""
    assert did_you_mean("zzz", [f"w{number:03}" for number in range(50)]).endswith("w039, …")
    assert one_of(["a"]) == "'a'"
    assert one_of(["a", "b", "c"]) == "'a', 'b' or 'c'"


def test_values_are_shown_short_and_printable() -> None:
    assert quoted("a" * 100) == f"'{'a' * 59}…'"
    assert quoted("a\tb") == "'a\\tb'"
    assert printable("Zürich 東京 ✓") == "Zürich 東京 ✓"


def test_every_error_has_the_exit_code_of_the_table() -> None:
    codes: dict[type[PlannerError], int] = {
        PlannerError: 1,
        SpecError: 3,
        Unsatisfied: 4,
        Stale: 5,
        Blocked: 6,
        PartlyApplied: 7,
        Busy: 8,
        UsageError: 64,
    }
    assert {kind: kind.exit_code for kind in codes} == codes


def test_an_error_carries_its_diagnostics() -> None:
    error = SpecError([a_diagnostic()])
    assert error.diagnostics == (a_diagnostic(),)
    assert str(error) == "unknown key 'gpuz'"


def test_codes_are_sorted_and_each_is_one_sentence() -> None:
    assert sorted(CODES, key=lambda code: (not code.startswith("SPEC"), code)) == list(CODES)
    assert all(sentence.endswith(".") and ". " not in sentence for sentence in CODES.values())
