"""`planner report`: the sums of a plan, for those who pay for the fleet."""

from __future__ import annotations

from pathlib import Path

import click

from planner.commands import console, inputs, options
from planner.exits import Exit


@options.verb(
    "report",
    "Sum up what a plan does: work, money, use, quotas.",
    "planner report",
    "planner report planner-state:applied.lock.json --format markdown",
    "planner report plan.lock.json --format json",
    options=(
        click.argument("lock", type=click.Path(path_type=Path), default=Path("plan.lock.json"), required=False),
        options.formats("text", "markdown", "json"),
        options.full,
    ),
)
def command(lock: Path, form: str, full: bool, colour: str) -> Exit:
    """Sum up the plan in LOCK (default: plan.lock.json): work by priority, cost by team, pool and vendor, how full
    pools are, what teams have of their quotas, and where one more device would be worth most.
    """
    from planner.report.summary import summary_json, summary_page

    plan = inputs.lock(lock)
    if form == "json":
        console.out(summary_json(plan))
        return Exit.OK
    medium = console.medium(full=full)
    page = summary_page(plan, medium)
    if form == "markdown":
        from planner.report.comment import BYTES
        from planner.report.markdown import rendered

        console.out(rendered(page.blocks, BYTES).text)
        return Exit.OK
    console.show(page, medium, colour)
    return Exit.OK
