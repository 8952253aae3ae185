"""`planner whatif`: what a change would do to everybody, without making it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import inputs, options
from planner.commands.diff import FIRST_LOOK
from planner.diagnostics import SpecError
from planner.exits import Exit, worst

if TYPE_CHECKING:
    from planner.commands.trees import Given
    from planner.plan import Plan

_SET: Final = click.option(
    "--set", "settings", multiple=True, metavar="ADDRESS.FIELD=VALUE",
    help="A field as it would be, e.g. job/vision/resnet.gpus=16 or cluster/dc1.pools.h100.nodes='h100-[001-020]'.",
)  # fmt: skip
_ADD: Final = click.option(
    "--add", "added", multiple=True, metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Specs that there would be too.",
)  # fmt: skip
_REMOVE: Final = click.option(
    "--remove",
    "removed",
    multiple=True,
    metavar="ADDRESS",
    help="A spec that there would not be, e.g. job/nlp/distill.",
)


@options.verb(
    "whatif",
    "Say what a change would do, without making it.",
    "planner whatif --set job/vision/resnet.gpus=16",
    "planner whatif --set 'cluster/dc1.pools.h100.nodes=h100-[001-020]'",
    "planner whatif --add new-job.yaml --remove job/nlp/distill --format json",
    options=(
        options.specs_path, _SET, _ADD, _REMOVE, options.at, options.budget,
        options.formats("text", "json", "markdown"), options.full,
    ),
)  # fmt: skip
def command(  # noqa: PLR0913, PLR0917 - click passes one argument a flag
    path: Path,
    settings: tuple[str, ...],
    added: tuple[Path, ...],
    removed: tuple[str, ...],
    at: str | None,
    budget: int | None,
    form: str,
    full: bool,
    colour: str,
) -> Exit:
    """Plan the specs at PATH (default: specs) as they are and as they would be, and say what differs.

    No file and no lock is written. Exits with 4 when required work would have no place.
    """
    from planner.commands import planning

    if not (settings or added or removed):
        raise click.UsageError("nothing is supposed: give --set, --add or --remove")
    given = _given(path)
    would = _would_be(given, path, settings, added, removed)
    wish = planning.Wish(
        at=at, effort="quick", budget=FIRST_LOOK if budget is None else budget, colour=colour, any_effort=budget is None
    )
    beside = inputs.lock_beside(path)
    before, cut = planning.recorded(given, wish, planning.previous_plan(None, beside))
    after, cut_too = planning.planned(would, replace(wish, at=before.inputs.start), before)
    _show(given, would, (before, after), form, full, colour)
    codes = [] if after.status.complete else [Exit.UNSATISFIED]
    return worst((*codes, Exit.INTERRUPTED) if cut or cut_too else codes)


def _given(path: Path) -> Given:
    from planner.commands import trees

    with trees.repository(path) as work:
        return trees.folder(path, work)


def _would_be(
    given: Given, path: Path, settings: tuple[str, ...], added: tuple[Path, ...], removed: tuple[str, ...]
) -> Given:
    """The specs as they would be, from the same commit."""
    from planner.source import read_tree
    from planner.specset import load
    from planner.supposed import Setting, supposed

    files = supposed(inputs.files(path), map(Setting.parse, settings), removed)
    result = load((*files, *(file for each in added for file in read_tree(each))))
    if result.specset is None:
        raise SpecError(result.diagnostics)
    return replace(given, specset=result.specset, warnings=result.diagnostics)


def _show(given: Given, would: Given, plans: tuple[Plan, Plan], form: str, full: bool, colour: str) -> None:
    from planner.commands.diff import show
    from planner.commands.edits import Edits
    from planner.commands.planning import renamed
    from planner.diff import compare
    from planner.edits import spec_edits

    changes = compare(*plans, renamed=renamed(would.specset, plans[0]))
    show(changes, Edits(specs=spec_edits(given.specset, would.specset)), plans, form, full, colour)
