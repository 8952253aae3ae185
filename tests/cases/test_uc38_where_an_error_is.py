"""UC-38: every error says its file, line and path, all at once, and without a traceback."""

from __future__ import annotations

import pytest

from planner.diagnostics import Diagnostic, SpecError, as_text
from planner.source import SourceFile
from planner.specset import load

HEAD = "apiVersion: planner/v1\nkind: Job\nteam: t\nimage: r/x:1\nduration: 1h\n"


def told(**files: str) -> tuple[Diagnostic, ...]:
    return load([SourceFile(f"specs/{name}.yaml", text.encode()) for name, text in files.items()]).diagnostics


def test_a_wrong_type_in_the_third_job_of_the_second_file_is_found_there() -> None:
    jobs = [HEAD + f"name: j{number}\ngpus: {gpus}\n" for number, gpus in enumerate(("8", "8", "8", "{count: many}"))]
    (error,) = told(a=jobs[0], b="---\n".join(jobs[1:]))
    assert str(error.place) == "specs/b.yaml:23:15"
    assert error.path == "gpus.count"
    assert error.address == "job/t/j3"
    assert as_text([error]).startswith(
        "specs/b.yaml:23:15: error[SPEC205]: job/t/j3: gpus.count: a whole number is needed here"
    )


def test_an_unknown_key_is_told_with_the_key_that_was_meant() -> None:
    (error,) = told(a=HEAD + "name: j\ngpu: 8\n")
    assert (str(error.place), error.help) == ("specs/a.yaml:7:1", "did you mean 'gpus'?")


def test_errors_between_fields_point_at_the_field() -> None:
    fleet = "apiVersion: planner/v1\nkind: Team\nname: t\n"
    (error,) = told(a=fleet, b=HEAD + "name: j\ngpus: 0\nreplicas:\n  min: 8\n  max: 4\n")
    assert (error.code, str(error.place)) == ("SPEC415", "specs/b.yaml:10:8")


def test_an_empty_file_is_a_warning() -> None:
    assert [item.code for item in told(a="", b="# nothing\n", c="---\n")] == ["LINT501", "LINT501", "LINT501"]


@pytest.mark.parametrize("text", ["[a, b]", "text", "5", "- a: 1", "null\n---\ntrue"])
def test_what_is_not_a_mapping_is_told_as_such(text: str) -> None:
    assert {item.code for item in told(a=text)} <= {"SPEC113", "LINT501"}
    assert told(a=text)


def test_all_errors_of_all_files_are_told_at_once() -> None:
    found = told(a=HEAD + "name: J\ngpuz: 8\npriority: high\n", b=HEAD + "name: j\ngpus: -1\n", c="a: [")
    assert [(item.place.file if item.place else "", item.code) for item in found] == [
        ("specs/a.yaml", "SPEC210"),
        ("specs/a.yaml", "SPEC202"),
        ("specs/a.yaml", "SPEC209"),
        ("specs/b.yaml", "SPEC208"),
        ("specs/c.yaml", "SPEC101"),
    ]


def test_invalid_specs_exit_with_three() -> None:
    assert SpecError(told(a="a: [")).exit_code == 3
