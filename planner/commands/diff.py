"""`planner diff`: what one plan changes against another, in jobs, hours, money and quota."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.commands import console, inputs, options
from planner.exits import Exit, worst
from planner.names import address, without_index

if TYPE_CHECKING:
    from planner.diff import Changes
    from planner.plan import Plan
    from planner.specset import SpecSet

_GIT = "comparing commits comes with git support; name two directories or lock files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of the comparison: a plan, and the specs where it was planned from them just now."""

    plan: Plan
    specset: SpecSet | None = None
    interrupted: bool = False


@options.verb(
    "diff",
    "Say what one plan changes against another.",
    "planner diff plan.lock.json specs",
    "planner diff specs.before specs",
    "planner diff old.lock.json new.lock.json --detailed-exitcode",
    "planner diff plan.lock.json specs --format json",
    options=(
        click.argument("a", required=False), click.argument("b", required=False), options.at, options.effort,
        options.budget, options.formats("text", "json"), options.detailed_exitcode, options.full, options.base,
    ),
)  # fmt: skip
def command(  # noqa: PLR0913, PLR0917 - click passes one argument a flag
    a: str | None,
    b: str | None,
    at: str | None,
    effort: str,
    budget: int | None,
    form: str,
    detailed_exitcode: bool,
    full: bool,
    colour: str,
) -> Exit:
    """Say what plan B changes against plan A: for people first, then for machines.

    A and B are directories of specs, which are planned now (A's plan is the previous one of B's), or lock files, which
    are only compared.
    """
    from planner.diff import compare

    first, second = _place(a), _place(b)
    before = _side(first, None, at, effort, budget, colour)
    after = _side(second, before.plan, at or before.plan.inputs.start, effort, budget, colour)
    changes = compare(before.plan, after.plan, renamed=_renamed(after.specset, before.plan))
    _show(changes, before.plan, after.plan, form, full, colour)
    codes = [Exit.CHANGES] if detailed_exitcode and changes.any else []
    if before.interrupted or after.interrupted:
        console.err("interrupted: the best plans so far were compared\n")
        codes.append(Exit.INTERRUPTED)
    return worst(codes)


def _place(text: str | None) -> Path:
    """A directory or file; git references are told apart by not existing."""
    if text is None:
        raise click.UsageError(f"planner diff needs A and B: without them it compares commits, and {_GIT}.")
    path = Path(text)
    if not path.exists():
        raise click.UsageError(f"there is no directory or lock file '{text}'; {_GIT}.")
    return path


def _side(path: Path, previous: Plan | None, at: str | None, effort: str, budget: int | None, colour: str) -> Side:
    if path.is_file() and path.suffix not in (".yaml", ".yml"):
        return Side(plan=inputs.lock(path))
    from planner.commands import planning

    specset, _, warnings = planning.tree_with(path, None)
    wish = planning.Wish(at=at, effort=effort, budget=budget, colour=colour)
    plan, interrupted = planning.planned(specset, wish, previous, warnings)
    return Side(plan=plan, specset=specset, interrupted=interrupted)


def _renamed(specset: SpecSet | None, before: Plan) -> dict[str, str]:
    """From an address of the first plan to the one that the same job has now, by `formerly`."""
    jobs = specset.jobs if specset else ()
    now = {former: str(address("job", job.team, job.name)) for job in jobs for former in job.formerly}
    found = {}
    addresses = [item.address for item in before.placements] + [item.address for item in before.unplaced]
    for address_before in addresses:
        array = without_index(address_before)
        if array in now:
            found[address_before] = now[array] + address_before[len(array) :]
    return found


def _show(changes: Changes, before: Plan, after: Plan, form: str, full: bool, colour: str) -> None:
    from planner.report.difference import difference_page
    from planner.report.json import changes_json

    if form == "json":
        console.out(changes_json(changes, before, after))
        return
    medium = console.medium(full=full)
    console.show(difference_page(changes, before, after, medium), medium, colour)
