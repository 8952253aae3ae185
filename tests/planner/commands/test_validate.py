"""`planner validate`: every problem told, counted, and in the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.exits import Exit
from tests.planner.commands.conftest import Run


def test_valid_specs_end_with_success_and_say_so(run: Run) -> None:
    done = run("validate")
    assert (done.code, done.out.splitlines()[-1], done.err) == (Exit.OK, "valid: no errors, no warnings", "")


def test_errors_are_counted_and_end_with_3(run: Run, here: Path) -> None:
    (here / "specs" / "bad.yaml").write_text("apiVersion: planner/v1\nkind: Team\nname: Bad Name\ngpuz: 1\n")
    done = run("validate", "specs")
    assert done.code == Exit.INVALID
    assert "specs/bad.yaml:3:7: error[SPEC210]" in done.out
    assert done.out.splitlines()[-1] == "invalid: 2 errors"


def test_warnings_alone_are_no_failure(run: Run, here: Path) -> None:
    (here / "specs" / "empty.yaml").write_text("# nothing yet\n")
    done = run("validate")
    assert (done.code, done.out.splitlines()[-1]) == (Exit.OK, "valid: 1 warning")


@pytest.mark.parametrize("form", ["json", "github"])
def test_output_for_programs_is_nothing_else_and_the_summary_goes_to_stderr(run: Run, here: Path, form: str) -> None:
    (here / "specs" / "empty.yaml").write_text("")
    done = run("validate", "--format", form)
    assert done.err == "valid: 1 warning\n"
    if form == "json":
        assert [item["code"] for item in json.loads(done.out)["diagnostics"]] == ["LINT501"]
    else:
        assert done.out.startswith("::warning file=specs/empty.yaml,line=1")


def test_on_github_the_form_is_github_unless_another_is_asked_for(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "specs" / "empty.yaml").write_text("")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert run("validate").out.startswith("::warning")
    assert run("validate", "--format", "text").out.startswith("specs/empty.yaml:1:1")


def test_a_folder_without_specs_is_a_mistake(run: Run, here: Path) -> None:
    (here / "empty").mkdir()
    done = run("validate", "empty")
    assert done.code == Exit.USAGE
    assert "no .yaml or .yml files below 'empty'" in done.err


def test_a_single_file_can_be_checked(run: Run) -> None:
    assert run("validate", "specs/fleet.yaml").code == Exit.OK
