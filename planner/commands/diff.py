"""`planner diff`: what one plan changes against another, in jobs, hours, money and quota."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import console, edits, inputs, options
from planner.diagnostics import UsageError
from planner.exits import Exit, worst

if TYPE_CHECKING:
    from planner.commands.edits import Edits
    from planner.commands.planning import Wish
    from planner.commands.sides import Side
    from planner.diff import Changes
    from planner.plan import Plan
    from planner.report.page import Medium


def _parts(_context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The words of a list, each one that is known."""
    parts = tuple(part.strip() for part in value.split(",")) if value else ()
    for part in parts:
        if part not in edits.WHAT:
            raise click.BadParameter(f"'{part}' is not one of {', '.join(edits.WHAT)}.", param=parameter)
    return parts


_WHAT: Final = click.option(
    "--what", metavar="LIST", callback=_parts, is_eager=True,
    help="What is compared, of plan, specs and manifests. Default: plan, and specs where both sides have them.",
)  # fmt: skip


FIRST_LOOK: Final = 250
"""How long a comparison looks by itself, in the solver's units: the plan that it starts from was searched for."""
_EFFORT: Final = click.option(
    "--effort", type=click.Choice(["quick", "normal", "deep"]),
    help="How much work to spend, as plan does. Default: a first look from the plan that is compared with, in seconds.",
)  # fmt: skip
_OWNERS: Final = click.option(
    "--owners", is_flag=True, help="Tell only the owners of jobs that moved: from when to when, and because of what."
)


@options.verb(
    "diff",
    "Say what one plan changes against another.",
    "planner diff",
    "planner diff --base origin/main --format markdown",
    "planner diff v1.2 HEAD",
    "planner diff plan.lock.json specs",
    "planner diff --what plan,specs,manifests --full",
    "planner diff old.lock.json new.lock.json --detailed-exitcode",
    "planner diff old.lock.json new.lock.json --owners --format markdown",
    options=(
        click.argument("a", required=False), click.argument("b", required=False), options.at, _EFFORT,
        options.budget, options.formats("text", "json", "markdown"), options.detailed_exitcode, options.full,
        options.base, options.specs, _WHAT, _OWNERS,
    ),
)  # fmt: skip
def command(  # noqa: PLR0913, PLR0917 - click passes one argument a flag
    a: str | None,
    b: str | None,
    at: str | None,
    effort: str | None,
    budget: int | None,
    form: str,
    detailed_exitcode: bool,
    full: bool,
    base: str | None,
    specs: Path,
    what: tuple[str, ...],
    owners: bool,
    colour: str,
) -> Exit:
    """Say what plan B changes against plan A: for people first, then for machines.

    A and B are lock files, which are only compared, or directories of specs or commits, which are planned now (A's plan
    is the previous one of B's). Without B the specs are taken as they are in the files; without A, the commit is taken
    where HEAD parted from the default branch, or from --base. A plan that is committed beside the specs is not made
    again.
    """
    from planner.commands import planning
    from planner.commands.sides import sides
    from planner.diff import compare

    if owners and form == "json":
        raise UsageError("--owners is for people, as text or markdown; json without it has every job and team")
    first, second = sides(a, b, base, specs)
    is_look = effort is None and budget is None
    wish = planning.Wish(
        at=_moment(first, second, at),
        effort=effort or "quick",
        budget=FIRST_LOOK if is_look else budget,
        colour=colour,
        any_effort=is_look,
    )
    before, cut = _plan(first, wish, first.given.lock if first.given else None)
    after, cut_too = _plan(second, wish, before)
    renamed = planning.renamed(second.given.specset, before) if second.given else {}
    changes = compare(before, after, renamed=renamed)
    edited = edits.edits(what, (first, second), (before, after))
    if owners:
        medium = None if form == "markdown" else console.medium(full=full)
        _tell_owners(changes, second, after, specs, medium=medium, colour=colour)
    else:
        show(changes, edited, (before, after), form, full, colour)
    codes = [Exit.CHANGES] if detailed_exitcode and (changes.any or edited.any) else []
    if cut or cut_too:
        console.err("interrupted: the best plans so far were compared\n")
        codes.append(Exit.INTERRUPTED)
    return worst(codes)


def _moment(first: Side, second: Side, at: str | None) -> str | None:
    """When both plans start: as asked for, as one of them does already, or as the second one would."""
    from planner.commands import planning
    from planner.units import format_time

    if second.given is None or first.plan or at not in (None, "now"):
        known = first.plan or second.plan
        return at or (known.inputs.start if known else None)
    lock = first.given.lock if first.given else None
    if at is None and lock and first.given and lock.inputs.specs_digest == first.given.specset.digest:
        return lock.inputs.start
    wish = planning.Wish(at=at, effort="", budget=None, colour="")
    return format_time(planning.started(second.given, wish))


def _plan(side: Side, wish: Wish, previous: Plan | None) -> tuple[Plan, bool]:
    from planner.commands import planning

    if side.given is None:
        assert side.plan is not None
        return side.plan, False
    return planning.recorded(side.given, wish, previous)


def show(changes: Changes, edited: Edits, plans: tuple[Plan, Plan], form: str, full: bool, colour: str) -> None:
    """Show what differs in one of its forms."""
    from planner.report import comment
    from planner.report.difference import difference_page
    from planner.report.edits import files_blocks, specs_blocks
    from planner.report.json import changes_json
    from planner.report.page import Page

    before, after = plans
    medium = console.medium(full=full)
    more = (*specs_blocks(edited.specs or (), medium), *files_blocks(edited.manifests or (), medium))
    match form:
        case "json":
            console.out(changes_json(changes, before, after, **edited.compared()))
        case "markdown":
            console.out(comment.comment(after, base=comment.Base(plan=before), changes=changes, more=more))
        case _:
            blocks = difference_page(changes, before, after, medium).blocks
            console.show(Page(blocks=(*blocks, *more)), medium, colour)


def _tell_owners(
    changes: Changes, second: Side, after: Plan, specs: Path, *, medium: Medium | None, colour: str
) -> None:
    """Whose job moved, with the owners that the specs of the second side, or else those in the files, name.

    Without a medium it is markdown.
    """
    from planner.report.owners import owners_markdown, owners_page

    specset = second.given.specset if second.given else inputs.valid(specs) if specs.exists() else None
    owners = {team.name: team.owners for team in specset.teams} if specset else {}
    if medium is None:
        console.out(owners_markdown(changes, after, owners))
    else:
        console.show(owners_page(changes, after, owners, medium), medium, colour)
