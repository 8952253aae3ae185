"""`planner show`: print a plan from its lock file, or the catalogue of accelerators."""

from __future__ import annotations

from pathlib import Path

import click

from planner.commands import console, inputs, options
from planner.exits import Exit


@options.verb(
    "show",
    "Print a plan, or the catalog of accelerators.",
    "planner show",
    "planner show build/plan.lock.json --full",
    "planner show plan.lock.json --format json",
    "planner show catalog",
    options=(
        click.argument("what", default="plan.lock.json", required=False),
        options.full,
        options.formats("text", "json", "markdown"),
    ),
)
def command(what: str, full: bool, form: str, colour: str) -> Exit:
    """Print the plan in the lock file WHAT (default: plan.lock.json) as `planner plan` printed it, or the catalog.

    With --format json, a plan is its lock file, byte for byte; with markdown it is a comment for a pull request.
    """
    if what == "catalog":
        _catalog(form, colour)
    else:
        _plan(Path(what), full, form, colour)
    return Exit.OK


def _plan(path: Path, full: bool, form: str, colour: str) -> None:
    from planner.plan import to_json
    from planner.report.plan import plan_page

    plan = inputs.lock(path)
    if form == "json":
        console.out(to_json(plan))
        return
    if form == "markdown":
        from planner.report.comment import comment

        console.out(comment(plan, lock=str(path)))
        return
    medium = console.medium(full=full)
    console.show(plan_page(plan, medium, lock=str(path)), medium, colour)


def _catalog(form: str, colour: str) -> None:
    from planner import catalog
    from planner.catalog.table import HEADER, rows
    from planner.report.catalog import catalog_page
    from planner.report.json import rows_json

    table = rows(catalog.load())
    if form == "json":
        console.out(rows_json("accelerators", [title.lower() for title in HEADER], table))
        return
    medium, page = console.medium(), catalog_page(HEADER, table)
    if form == "markdown":
        from planner.report.comment import BYTES
        from planner.report.markdown import rendered

        console.out(rendered(page.blocks, BYTES).text)
        return
    console.show(page, medium, colour)
