"""The command line: finds the verb, runs it, and turns what comes of it into an exit code and a readable message."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Final

import click

from planner.commands import console
from planner.commands.options import DEBUG, FORMAT, SETTINGS
from planner.diagnostics import PlannerError, printable
from planner.exits import MEANINGS, Exit

VERBS: Final = (
    "validate", "plan", "show", "diff", "render", "apply", "explain", "whatif", "drift", "report", "init",
    "discover", "import", "schema", "migrate",
)  # fmt: skip
"""The verbs in the order of help; each is `command` of the module of its name in `planner.commands`.

A name that Python keeps for itself has an underscore behind it there.
"""


class Verbs(click.Group):
    """A group that imports a verb only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the daily work."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb."""
        if cmd_name not in VERBS:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        verb: click.Command = import_module(f"planner.commands.{module}").command
        return verb

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; an unknown one is answered with the nearest."""
        from planner.diagnostics import did_you_mean, quoted

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            ctx.fail(f"there is no verb {quoted(args[0])}; {did_you_mean(args[0], VERBS)}")
        return super().resolve_command(ctx, args)


_EPILOG: Final = "\b\nExit codes:\n" + "\n".join(f"  {code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        import planner

        console.out(f"planner {planner.__version__}\n")
        context.exit()


@click.group(
    cls=Verbs,
    name="planner",
    epilog=_EPILOG,
    context_settings=SETTINGS,
    invoke_without_command=True,
    subcommand_metavar="VERB [ARGS]...",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def planner_group(context: click.Context) -> None:
    """Plan fleets of GPUs from specs in git: what runs where and when, how good that is, and the manifests for it.

    A first tour: planner validate, planner plan, planner show, and after an edit planner diff.
    """
    if context.invoked_subcommand is None:
        console.err(context.get_help() + "\n")
        context.exit(Exit.USAGE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing is raised, `--debug` shows where a failure came from."""
    console.tolerate_any_text()
    given = list(sys.argv[1:] if arguments is None else arguments)
    root: click.Context | None = None
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with planner_group.make_context("planner", given) as root:
            return int(planner_group.invoke(root))
    except click.exceptions.Exit as done:
        return done.exit_code
    except BaseException as error:
        if root is not None and root.meta.get(DEBUG):
            _traceback()
        return _told(error, root)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: object) -> None:
    """What asks a process to end, such as a cancelled job of CI, is told as Ctrl-C is."""
    raise KeyboardInterrupt


def _told(error: BaseException, root: click.Context | None) -> Exit:
    """Say what went wrong on stderr, and give the code for it."""
    match error:
        case click.exceptions.Abort() | KeyboardInterrupt():
            console.err("interrupted\n")
            return Exit.INTERRUPTED
        case click.UsageError():
            return _usage(error)
        case PlannerError():
            _message(error, root)
            return Exit(error.exit_code)
        case click.ClickException():
            console.err(f"error: {printable(error.format_message())}\n")
        case MemoryError():
            console.err("error: there is not enough memory\n")
        case OSError():
            console.err(f"error: {printable(str(error))}\n")
        case _:
            console.err(f"error: {printable(f'{type(error).__name__}: {error}')} (--debug shows where)\n")
    return Exit.FAILURE


def _usage(error: click.UsageError) -> Exit:
    hint = ""
    if error.ctx is not None:
        hint = f"{error.ctx.get_usage()}\nsee: {error.ctx.command_path} --help\n"
    console.err(f"error: {printable(error.format_message())}\n{hint}")
    return Exit.USAGE


def _message(error: PlannerError, root: click.Context | None) -> None:
    from planner.commands.inputs import diagnostics_text

    if error.diagnostics:
        form = root.meta.get(FORMAT, "text") if root is not None else "text"
        console.err(diagnostics_text(error.diagnostics, form))
    else:
        console.err(f"error: {printable(str(error))}\n")


def _traceback() -> None:
    import traceback

    console.err(traceback.format_exc())


if __name__ == "__main__":
    sys.exit(main())
