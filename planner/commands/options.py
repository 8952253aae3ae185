"""Flags that several verbs share, each spelled and explained once, and how a verb is declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FORMAT: Final = "planner.format"
DEBUG: Final = "planner.debug"
"""Keys of the context that errors are reported by."""


def verb(
    name: str, summary: str, *examples: str, options: tuple[Callable[[Any], Any], ...] = ()
) -> Callable[[F], click.Command]:
    """Declare a verb: its examples end its help, its options keep their order, and all verbs take the common ones."""

    def declare(function: F) -> click.Command:
        for option in reversed((*options, colour, debug)):
            function = option(function)
        epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)
        return click.command(name, short_help=summary, epilog=epilog, context_settings=SETTINGS)(function)

    return declare


SETTINGS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _remember(key: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def keep(context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        context.meta[key] = value
        return value

    return keep


def _refuse(sentence: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def refuse(context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        if value:
            raise click.UsageError(sentence, context)
        return value

    return refuse


def refused(flag: str, sentence: str, *, takes_value: bool) -> Callable[[F], F]:
    """A flag that is known but cannot be honoured yet: said, never ignored."""
    kind: dict[str, Any] = {} if takes_value else {"is_flag": True}
    return click.option(flag, hidden=True, expose_value=False, is_eager=True, callback=_refuse(sentence), **kind)


colour = click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
    help="Colour the output; auto: on a terminal, unless NO_COLOR is set.",
)  # fmt: skip
debug = click.option(
    "--debug", is_flag=True, expose_value=False, is_eager=True, callback=_remember(DEBUG),
    help="Show the traceback of a failure.",
)  # fmt: skip
specs_path = click.argument("path", type=click.Path(path_type=Path), default=Path("specs"), required=False)
full = click.option("--full", is_flag=True, help="List everything instead of cutting long lists.")
detailed_exitcode = click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when something changes.")
at = click.option(
    "--at",
    metavar="TIME",
    help="When the plan starts, e.g. 2026-12-01T09:00:00Z; now reads the clock. Default: the policy's.",
)
effort = click.option(
    "--effort", type=click.Choice(["quick", "normal", "deep"]), default="quick", show_default=True,
    help="How much work to spend: about 5 s, 60 s or 10 min on two cores. The result does not depend on the machine.",
)  # fmt: skip
budget = click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="N",
    help="The effort in the solver's own units; 0 builds a plan and does not improve it.",
)
base = click.option(
    "--base", metavar="REF",
    help="Compare with the commit where HEAD parted from this branch, tag or commit; say origin/main in a review.",
)  # fmt: skip
ref = click.option("--ref", metavar="REF", help="Read the specs of this commit, branch or tag instead of the files.")
specs = click.option(
    "--specs", default=Path("specs"), show_default=True, type=click.Path(path_type=Path), metavar="PATH",
    help="Where the specs are, in the files and in every commit.",
)  # fmt: skip
prometheus = click.option(
    "--prometheus", metavar="URL",
    help="Ask this Prometheus how busy devices were, e.g. http://prometheus:9090; metrics of DCGM's or AMD's exporter.",
)  # fmt: skip
window = click.option(
    "--window", default="7d", show_default=True, metavar="TIME", help="How far back --prometheus is asked to look."
)
usage = click.option(
    "--usage", multiple=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="An answer of Prometheus about the use of devices in percent, where it is not asked from here.",
)  # fmt: skip
enforce = click.option(
    "--enforce", is_flag=True, help="Exit with 6 when the plan does more to what runs than Policy.safety allows."
)
ALLOWANCES: Final = (
    click.option(
        "--allow-moved", type=click.IntRange(min=0), default=0, metavar="N", help="So many running devices may move."
    ),
    click.option(
        "--allow-stopped", type=click.IntRange(min=0), default=0, metavar="N", help="So many running devices may stop."
    ),
    click.option("--allow-empty", is_flag=True, help="A plan that runs nothing is meant."),
)
"""What somebody says is meant although the Policy stops it."""


def formats(*names: str) -> Callable[[F], F]:
    """`--format` with the forms that a verb has; the first is the default."""

    def check(context: click.Context, parameter: click.Parameter, value: str) -> str:
        if value not in names:
            raise click.BadParameter(f"'{value}' is not one of {', '.join(names)}.", context, parameter)
        context.meta[FORMAT] = value
        return value

    return click.option(
        "--format", "form", metavar="|".join(names), default=names[0], show_default=True, is_eager=True, callback=check,
        help="The form of the output.",
    )  # fmt: skip
