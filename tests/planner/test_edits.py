"""What is edited: specs field by field, whatever their files are, and files line by line."""

from __future__ import annotations

import pytest

from planner.edits import Edit, FieldEdit, file_edits, spec_edits
from planner.report.edits import files_blocks, specs_blocks
from planner.report.page import ASCII, Medium, Page
from planner.report.text import as_text
from planner.source import SourceFile
from planner.specset import SpecSet, load
from tests.planner.commands.conftest import FLEET, job

MEDIUM = Medium(width=120, glyphs=ASCII)


def specs(*jobs: str, fleet: str = FLEET) -> SpecSet:
    result = load([SourceFile("fleet.yaml", fleet.encode()), SourceFile("jobs.yaml", "".join(jobs).encode())])
    assert result.specset is not None
    return result.specset


def test_equal_specs_are_not_edited_whatever_order_they_are_written_in() -> None:
    assert spec_edits(specs(job("a"), job("b")), specs(job("b"), job("a"))) == ()


def test_specs_come_and_go_by_address() -> None:
    edits = spec_edits(specs(job("a"), job("b")), specs(job("b"), job("c")))
    assert [(item.address, item.edit) for item in edits] == [
        ("job/vision/a", Edit.REMOVED),
        ("job/vision/c", Edit.ADDED),
    ]


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        (job("a"), job("a", extra="priority: P1\n"), [FieldEdit(path="priority", before=None, after='"P1"')]),
        (job("a", extra="title: x\n"), job("a"), [FieldEdit(path="title", before='"x"', after=None)]),
        (
            job("a", extra="array: 4\n"),
            job("a", extra="array: 5\n"),
            [FieldEdit(path="array.last", before="3", after="4")],
        ),
    ],
)
def test_a_field_says_what_it_was_and_is(before: str, after: str, fields: list[FieldEdit]) -> None:
    (edit,) = spec_edits(specs(before), specs(after))
    assert (edit.address, edit.edit, list(edit.fields)) == ("job/vision/a", Edit.CHANGED, fields)


def test_items_of_a_list_go_by_their_names() -> None:
    (edit,) = spec_edits(specs(), specs(fleet=FLEET.replace("cpus: 64", "cpus: 96")))
    assert edit.address == "cluster/dc1"
    assert [field.path.split(".")[0] for field in edit.fields] == ["pools[h100]"]


def test_a_rename_is_one_edit_of_one_spec() -> None:
    (edit,) = spec_edits(specs(job("a")), specs(job("b", extra="formerly: [job/vision/a]\n")))
    assert (edit.address, edit.edit, edit.formerly) == ("job/vision/b", Edit.CHANGED, "job/vision/a")


def test_a_default_of_a_team_is_seen_in_its_jobs() -> None:
    fleet = FLEET.replace("kind: Team\nname: vision\n", "kind: Team\nname: vision\ndefaults: {priority: P1}\n")
    edits = spec_edits(specs(job("a")), specs(job("a"), fleet=fleet))
    assert [item.address for item in edits] == ["job/vision/a", "team/vision"]


def test_equal_edits_are_told_together() -> None:
    before = specs(*(job(f"j{number}") for number in range(40)))
    after = specs(*(job(f"j{number}", extra="priority: P1\n") for number in range(40)))
    text = as_text(Page(blocks=specs_blocks(spec_edits(before, after), MEDIUM)), MEDIUM)
    assert "Specs  40 specs" in text
    assert 'vision/j0, vision/j1, vision/j10 and 37 more  ~  priority  (default) -> "P1"' in text
    assert len(text.splitlines()) == 3


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (job("a", hours=6), job("a", hours=30), "duration.by_model.h100-sxm5-80gb  6 h -> 1 d 6 h"),
        (job("a"), job("a", extra="memory: 64Gi\n"), 'memory  (default) -> "64Gi"'),
        (job("a"), job("a", extra="checkpoint: {every: 15m}\n"), 'checkpoint.every  (default) -> "15m"'),
    ],
)
def test_values_are_shown_with_their_units(before: str, after: str, shown: str) -> None:
    text = as_text(Page(blocks=specs_blocks(spec_edits(specs(before), specs(after)), MEDIUM)), MEDIUM)
    assert shown in text


def test_files_are_compared_line_by_line() -> None:
    edits = file_edits({"a": "1\n2\n3\n", "b": "x\n", "same": "y\n"}, {"a": "1\n4\n3\n", "c": "z\nz\n", "same": "y\n"})
    assert [(item.path, item.edit, item.added, item.removed) for item in edits] == [
        ("a", Edit.CHANGED, 1, 1),
        ("b", Edit.REMOVED, 0, 1),
        ("c", Edit.ADDED, 2, 0),
    ]
    short = as_text(Page(blocks=files_blocks(edits, MEDIUM)), MEDIUM)
    assert "a     ~       +1 -1" in short
    assert "-2" not in short.replace("+1 -1", "")
    full = Medium(width=120, glyphs=ASCII, full=True)
    assert "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+4\n 3\n" in as_text(
        Page(blocks=files_blocks(edits, full)), full
    )


def test_nothing_edited_is_nothing_said() -> None:
    assert specs_blocks((), MEDIUM) == files_blocks((), MEDIUM) == ()
