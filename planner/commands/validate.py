"""`planner validate`: read and check specs, and say everything that is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.commands import console, inputs, options
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.specset import LoadResult


@options.verb(
    "validate",
    "Check specs and say everything that is wrong with them.",
    "planner validate",
    "planner validate specs/teams/vision",
    "planner validate --format github",
    "planner validate --ref origin/main",
    options=(options.specs_path, options.formats("text", "json", "github"), options.ref),
)
@click.pass_context
def command(context: click.Context, path: Path, form: str, ref: str | None, colour: str) -> Exit:
    """Check the specs at PATH (default: specs).

    Every problem is told with its file, line and column, and how to mend it. Exits with 3 when there are errors;
    warnings alone are no failure. On GitHub Actions the form is github unless another one is asked for.
    """
    if (
        context.get_parameter_source("form") is click.core.ParameterSource.DEFAULT
        and os.environ.get("GITHUB_ACTIONS") == "true"
    ):
        form = "github"
    result = inputs.load(path) if ref is None else _load_at(path, ref)
    console.out(inputs.diagnostics_text(result.diagnostics, form))
    errors = sum(1 for item in result.diagnostics if item.is_error)
    summary = _summary(errors, len(result.diagnostics) - errors)
    (console.out if form == "text" else console.err)(summary)
    return Exit.INVALID if result.specset is None else Exit.OK


def _load_at(path: Path, ref: str) -> LoadResult:
    from planner.commands import trees

    with trees.repository(path) as work:
        return trees.loaded(path, work, trees.resolved(work, path, ref))


def _summary(errors: int, warnings: int) -> str:
    from planner.report.figures import plural

    counts = [plural(count, noun) for count, noun in ((errors, "error"), (warnings, "warning")) if count]
    return f"{'invalid' if errors else 'valid'}: {', '.join(counts) or 'no errors, no warnings'}\n"
