"""`planner import`: existing manifests, compose files and scripts as specs of Jobs and Services with templates."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.commands import console, options
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.discovery.imports.imported import Imported, ImportWish, Refused
    from planner.discovery.imports.live import Live


@options.verb(
    "import",
    "Turn existing manifests, compose files and sbatch scripts into specs.",
    "planner import jobs/*.yaml --team vision --out specs",
    "planner import train.sbatch --out specs",
    "planner import --from kubernetes --duration 24h --prometheus http://prometheus:9090 --out specs",
    "planner import --from slurm --out specs",
    options=(
        click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False)),
        click.option(
            "--from", "source", type=click.Choice(["kubernetes", "slurm"]),
            help="Read the work of a cluster instead of FILES; nothing is changed there.",
        ),
        click.option(
            "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
            help="Write DIR/TEAM/NAME.yaml and its template; without it specs are only shown.",
        ),
        options.specs,
        options.prometheus,
        options.window,
        options.usage,
        click.option("--team", default="", metavar="NAME", help="Whose work it is. Default: namespace or account."),
        click.option("--duration", default="", metavar="TIME", help="How long those take that do not say, e.g. 24h."),
        click.option(
            "--model", "models", multiple=True, metavar="WORD=MODEL",
            help="The model that a type of card means, e.g. h100=h100-sxm5-80gb.",
        ),
    ),
)  # fmt: skip
def command(
    files: tuple[Path, ...], source: str | None, out: Path | None, models: tuple[str, ...], specs: Path, **words: Any
) -> Exit:
    """Read workloads of Kubernetes, compose files, and scripts of sbatch, as specs of Jobs and Services.

    What no field can say stays in the template, and is told one by one. How long runs really took is known from a
    Prometheus, and from the output of sacct among FILES. Values of environment variables are never written, and files
    that are there are never replaced.
    """
    from planner import catalog
    from planner.discovery.imports.imported import Imported, Refused
    from planner.discovery.imports.read import imported
    from planner.discovery.models import said

    if bool(files) == bool(source):
        raise click.UsageError("say what to import: FILES, or --from and the back end")
    _check(words["team"], words["duration"])
    known, wish = said(models, catalog.load()), _wish(source, specs, **words)
    there = _there(files, source)
    results = imported(there.texts, wish, known, there.scripts)
    made = [result for result in results if isinstance(result, Imported)]
    refused = [result for result in results if isinstance(result, Refused)]
    if out is None:
        _shown(made)
    else:
        _written(made, out)
    _told(made, refused)
    return Exit.FAILURE if refused and not made else Exit.OK


def _wish(
    source: str | None, specs: Path, team: str, duration: str, prometheus: str | None, window: str, **files: Any
) -> ImportWish:
    """What is said of everything that is imported, and what meters say of its runs up to this moment."""
    from planner.commands.metering import Meters
    from planner.discovery.imports.imported import ImportWish

    meters = Meters(prometheus=prometheus, window=window, files=files["usage"])
    past = meters.runs(int(time.time())) if prometheus or files["usage"] else ()
    return ImportWish(team=team, duration=duration, devices_only=source is not None, teams=_teams(specs), past=past)


def _teams(specs: Path) -> tuple[tuple[str, str], ...]:
    """The teams of namespaces and accounts in the specs; none where there are no valid specs."""
    from planner.specset import load, read_tree

    found = load(read_tree(specs)).specset if specs.exists() else None
    teams = found.teams if found else ()
    pairs = ((word, team.name) for team in teams for word in (team.name, team.namespace, team.account) if word)
    return tuple(sorted(pairs))


def _check(team: str, duration: str) -> None:
    from planner.names import parse_name
    from planner.units import Duration

    for flag, value, parse in (("--team", team, parse_name), ("--duration", duration, Duration.parse)):
        try:
            if value:
                parse(value)
        except ValueError as error:
            raise click.UsageError(f"{flag}: {error}") from None


def _there(files: tuple[Path, ...], source: str | None) -> Live:
    from planner.commands.texts import text_of_file
    from planner.discovery.imports.live import Live, live

    if source is None:
        return Live(texts=tuple(map(text_of_file, files)))
    there = live(source)
    for sentence in there.untold:
        console.err(f"{sentence}\n")
    return there


def _shown(made: list[Imported]) -> None:
    from planner.discovery.write import text_of

    console.out(text_of(each.document for each in made))


def _written(made: list[Imported], out: Path) -> None:
    """Write specs and templates; a file that holds something else stops all of it before anything is written."""
    from planner import lockfile
    from planner.diagnostics import PlannerError
    from planner.discovery.write import text_of

    files: dict[Path, bytes] = {}
    for each in made:
        folder = out / each.team
        files[folder / f"{each.name}.yaml"] = text_of([each.document]).encode()
        files[folder / f"{each.name}{each.suffix}"] = each.template
    there = [path for path, data in files.items() if path.exists() and path.read_bytes() != data]
    if there:
        listed = ", ".join(f"'{path}'" for path in there)
        raise PlannerError(f"these files are there already and hold something else: {listed}; nothing was written")
    for path, data in files.items():
        lockfile.write(path, data.decode("utf-8", "surrogateescape"))
    console.err(f"wrote {len(files)} files below {out}\n" if files else "nothing to write\n")


def _told(made: list[Imported], refused: list[Refused]) -> None:
    from planner.diagnostics import printable

    for each in made:
        told = [f"{each.subject} -> {each.address}", *(f"  {sentence}" for sentence in each.untold)]
        console.err("".join(f"{printable(line)}\n" for line in told))
    for one in refused:
        console.err(printable(f"{one.subject}: not imported: {one.reason}") + "\n")
