"""The command line as a whole: help, light starts, errors without tracebacks, and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from planner import diagnostics
from planner.cli import VERBS, main, planner_group
from planner.exits import Exit

ROOT = Path(__file__).parent.parent.parent

# Runs the command line, then names the heavy modules that it loaded.
LOADED = """
import sys
from planner.cli import main
code = main(sys.argv[2:])
print("loaded:", *sorted(set(sys.argv[1].split(",")) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def loaded(modules: str, *arguments: str) -> tuple[int, str, str]:
    """Run the command line in a process of its own: exit code, stdout, and which of `modules` it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, modules, *arguments],
        cwd=ROOT, env={**os.environ, "COLUMNS": "100"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.rpartition("loaded:")[2].strip()


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_is_light_and_every_verb_has_examples(verb: str) -> None:
    code, out, heavy = loaded("pydantic,rich,ortools,numba,numpy,jinja2,yaml,git", *([verb] if verb else []), "--help")
    assert (code, heavy) == (0, "")
    if verb:
        assert f"\n    planner {verb}" in out.partition("Examples:")[2]
    else:
        assert all(f"\n  {name}" in out for name in VERBS)
        assert "130  interrupted" in out


def test_the_version_is_light() -> None:
    code, out, heavy = loaded("pydantic,rich,ortools,numba", "--version")
    assert (code, heavy) == (0, "")
    assert out.startswith("planner ")


def test_nothing_is_imported_by_naming_the_verbs() -> None:
    script = "import sys, planner.cli; print(*[name for name in sys.modules if name.startswith('planner.commands.')])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {f"planner.commands.{verb}" for verb in VERBS} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "VERB"),
        (("plann",), "there is no verb 'plann'; did you mean 'plan' or 'explain'?"),
        (("\x1b[31m",), "there is no verb '\\x1b[31m'"),
        (("validate", "--nope"), "No such option"),
        (("validate", "--format", "xml"), "'xml' is not one of text, json, github"),
        (("validate", "a", "b"), "unexpected extra argument"),
        (("validate", "no-such-folder"), "there is no directory or file 'no-such-folder'"),
        (("plan", "--budget", "-1"), "-1"),
        (("plan", "--effort", "huge"), "huge"),
        (("plan", "--format", "xml"), "'xml' is not one of text, json, github, markdown"),
        (("plan", "--base", "main"), "there is no directory or file 'specs'"),
        (("plan", "--lock", "main:plan.lock.json", "--allow-moved", "-1"), "-1"),
        (("show", "main:plan.lock.json"), "would be a file in a commit, but this folder is in no git repository"),
        (("drift", "--no-objects"), "--no-objects needs --snapshot"),
        (("drift",), "there is no lock file 'state/applied.lock.json'"),
        (("diff",), "specs is in no git repository"),
        (("diff", "main", "HEAD"), "there is no directory or lock file 'main'"),
        (("show", "nothing.json"), "there is no lock file 'nothing.json'"),
        (("render", "nothing.json"), "Missing option '--out'"),
        (("render", "nothing.json", "--out", "x", "--at", "now"), "comes with apply"),
    ],
)
def test_a_wrong_command_line_ends_with_64_and_a_sentence(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == Exit.USAGE
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert "\x1b" not in captured.err
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


ENDINGS = [
    (diagnostics.PlannerError("why"), Exit.FAILURE),
    (diagnostics.Unsatisfied("why"), Exit.UNSATISFIED),
    (diagnostics.Stale("why"), Exit.STALE),
    (diagnostics.Blocked("why"), Exit.BLOCKED),
    (diagnostics.PartlyApplied("why"), Exit.PARTIAL),
    (diagnostics.Busy("why"), Exit.BUSY),
    (diagnostics.UsageError("why"), Exit.USAGE),
    (click.UsageError("why"), Exit.USAGE),
    (click.ClickException("why"), Exit.FAILURE),
    (OSError(5, "why"), Exit.FAILURE),
    (RuntimeError("why"), Exit.FAILURE),
    (KeyboardInterrupt(), Exit.INTERRUPTED),
    (click.exceptions.Abort(), Exit.INTERRUPTED),
]


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Make the verb `schema` end with an error."""

    def replace(error: BaseException) -> None:
        def fail(*_arguments: object, **_options: object) -> Exit:
            raise error

        command = planner_group.get_command(click.Context(planner_group), "schema")
        monkeypatch.setattr(command, "callback", fail)

    return replace


@pytest.mark.parametrize(("error", "code"), ENDINGS, ids=lambda value: type(value).__name__)
def test_every_error_ends_with_its_code_and_one_message(
    error: BaseException, code: Exit, ending: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    ending(error)
    assert main(["schema"]) == code
    captured = capsys.readouterr()
    assert ("interrupted" if code is Exit.INTERRUPTED else "why") in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_debug_shows_where_a_failure_came_from(
    ending: Callable[[BaseException], None], capsys: pytest.CaptureFixture[str]
) -> None:
    ending(RuntimeError("why"))
    assert main(["schema", "--debug"]) == Exit.FAILURE
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_diagnostics_of_an_error_are_told_in_the_form_that_was_asked_for(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.yaml").write_text("apiVersion: planner/v1\nkind: Team\nname: Bad Name\n")
    assert main(["plan", str(tmp_path), "--format", form, "--at", "2026-12-01"]) == Exit.INVALID
    captured = capsys.readouterr()
    assert captured.out == ""
    start = {"text": f"{tmp_path}/bad.yaml:3:7: error[SPEC210]", "json": "{", "github": "::error file="}[form]
    assert captured.err.startswith(start)


def test_a_reader_who_goes_away_is_no_failure() -> None:
    script = "import sys; from planner.cli import main; sys.exit(main(['show', 'catalog']))"
    command = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.close()
    errors = command.stderr.read()
    command.stderr.close()
    assert (command.wait(), errors) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_lacks_signs_gets_others(encoding: str) -> None:
    script = "import sys; from planner.cli import main; sys.exit(main(['show', 'catalog']))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "70"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
