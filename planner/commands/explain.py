"""`planner explain`: why one job or service is where it is, or has no place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.commands import console, inputs, options, reaching
from planner.diagnostics import SpecError, UsageError, did_you_mean, quoted
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.plan import Plan
    from planner.specset import SpecSet


@options.verb(
    "explain",
    "Say why a job is where it is, or has no place.",
    "planner explain vision/resnet",
    "planner explain service/nlp/chat planner-state:applied.lock.json",
    "planner explain 'job/vision/sweep[3]' plan.lock.json --format json",
    options=(
        click.argument("address"),
        click.argument("lock", type=click.Path(path_type=Path), default=Path("plan.lock.json"), required=False),
        options.specs,
        options.formats("text", "json"),
    ),
)
def command(address: str, lock: Path, specs: Path, form: str, colour: str) -> Exit:
    """Say when and where the plan in LOCK (default: plan.lock.json) has ADDRESS, what it waits for, whose devices it
    takes over, what they are worth then, and every reason that the plan has for it. Nothing is planned.

    ADDRESS may leave out job/. Exits with 4 when it has no place.
    """
    from planner.report.explain import Asked, addresses, explain_json, explain_page

    plan = inputs.lock(lock)
    known = addresses(plan)
    found = address if address in known else f"job/{address}"
    if found not in known:
        raise UsageError(f"the plan has nothing at {quoted(address)}; {did_you_mean(address, known, list_at_most=5)}")
    asked = Asked(plan=plan, address=found, specset=_specs(plan, specs))
    if form == "json":
        console.out(explain_json(asked))
    else:
        console.show(explain_page(asked), console.medium(), colour)
    return Exit.UNSATISFIED if any(item.address == found for item in plan.unplaced) else Exit.OK


def _specs(plan: Plan, specs: Path) -> SpecSet | None:
    """The specs of the plan, where they are there and are those that were planned; without them less is told."""
    try:
        specset, _ = reaching.specs_of(plan, specs, None)
    except (UsageError, SpecError):
        specset = None
    if specset is None or specset.digest != plan.inputs.specs_digest:
        console.err(f"note: {specs} is not what was planned, so that only the plan itself is told\n")
        return None
    return specset
