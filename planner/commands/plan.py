"""`planner plan`: decide where and when everything runs, write the lock file, and tell people what they ask first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import console, inputs, options
from planner.diagnostics import PlannerError
from planner.exits import Exit, worst

if TYPE_CHECKING:
    from planner.commands.planning import Wish
    from planner.diagnostics import Diagnostic
    from planner.plan import Plan
    from planner.specset import SpecSet

_OUT: Final = click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="The lock file to write. Default: plan.lock.json beside PATH.",
)  # fmt: skip
_LOCK: Final = click.option(
    "--lock", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="The previous plan, which is kept to where nothing is gained by change. Default: plan.lock.json beside PATH.",
)  # fmt: skip
_SNAPSHOT: Final = click.option(
    "--snapshot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="What runs now, as discover wrote it.",
)  # fmt: skip
_EMIT: Final = click.option(
    "--emit",
    type=click.Choice(["problem", "solution"]),
    help="Print what the solver is given or answers, as JSON; write no lock.",
)


@options.verb(
    "plan",
    "Decide where and when everything runs.",
    "planner plan",
    "planner plan specs --at 2026-12-01T00:00:00Z --out build/plan.lock.json",
    "planner plan --effort normal --detailed-exitcode",
    "planner plan --format json > plan.json",
    "planner plan --emit problem > problem.json",
    options=(
        options.specs_path, options.at, options.effort, options.budget, _OUT, options.formats("text", "json", "github"),
        _LOCK, _SNAPSHOT, options.detailed_exitcode, _EMIT, options.full, options.base, options.enforce,
    ),
)  # fmt: skip
def command(  # noqa: PLR0913, PLR0917 - click passes one argument a flag
    path: Path,
    at: str | None,
    effort: str,
    budget: int | None,
    out: Path | None,
    form: str,
    lock: Path | None,
    snapshot: Path | None,
    detailed_exitcode: bool,
    emit: str | None,
    full: bool,
    colour: str,
) -> Exit:
    """Plan the specs at PATH (default: specs) and write the plan to a lock file.

    The plan depends on files and flags only: the same ones give the same bytes on any machine and day. Ctrl-C asks for
    the best plan so far, which is shown but not written. Exits with 4 when required work has no place.
    """
    from planner.commands import planning

    beside = inputs.lock_beside(path)
    specset, seen, warnings = planning.tree_with(path, snapshot)
    wish = planning.Wish(at=at, effort=effort, budget=budget, snapshot=seen, colour=colour)
    console.err(inputs.diagnostics_text(warnings, form) if form == "github" else "")
    previous = planning.previous_plan(lock, beside)
    if emit:
        console.out(planning.emitted(emit, specset, wish, previous))
        return Exit.OK
    target = out or beside
    plan, interrupted = _planned(specset, wish, previous, warnings, target)
    if not interrupted:
        _write(target, plan)
    _show(plan, target, form, full, colour)
    return _code(plan, previous, detailed_exitcode, interrupted, target)


def _planned(
    specset: SpecSet, wish: Wish, previous: Plan | None, warnings: Iterable[Diagnostic], target: Path
) -> tuple[Plan, bool]:
    """Plan; an answer that fails its check is kept beside the lock, so that it can be replayed."""
    from planner import lockfile
    from planner.commands.planning import planned
    from planner.pipeline import WrongSolution

    try:
        return planned(specset, wish, previous, warnings)
    except WrongSolution as error:
        kept = target.with_name("planner-failure.json")
        lockfile.write(kept, error.instance)
        raise PlannerError(f"{error}\nthe instance is kept in {kept}; please attach it to a report") from error


def _write(target: Path, plan: Plan) -> None:
    from planner import lockfile
    from planner.plan import to_json

    lockfile.write(target, to_json(plan))


def _show(plan: Plan, target: Path, form: str, full: bool, colour: str) -> None:
    from planner.plan import to_json
    from planner.report.plan import plan_page

    if form == "json":
        console.out(to_json(plan))
        return
    medium = console.medium(full=full)
    console.show(plan_page(plan, medium, lock=str(target)), medium, colour)


def _code(plan: Plan, previous: Plan | None, detailed: bool, interrupted: bool, target: Path) -> Exit:
    from planner.diff import compare

    codes = [] if plan.status.complete else [Exit.UNSATISFIED]
    if detailed and (previous is None or compare(previous, plan).any):
        codes.append(Exit.CHANGES)
    if interrupted:
        console.err(f"interrupted: this is the best plan so far; {target} was not written\n")
        codes.append(Exit.INTERRUPTED)
    return worst(codes)
