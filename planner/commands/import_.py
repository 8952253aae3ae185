"""`planner import`: existing manifests, compose files and scripts as Job specs with templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.commands import console, options
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.discovery.found import Text
    from planner.discovery.imports.imported import Imported, Refused


@options.verb(
    "import",
    "Turn existing manifests, compose files and sbatch scripts into Job specs.",
    "planner import jobs/*.yaml --team vision --out specs",
    "planner import train.sbatch --out specs",
    "planner import --from kubernetes --duration 24h --out specs",
    options=(
        click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False)),
        click.option(
            "--from", "source", type=click.Choice(["kubernetes"]),
            help="Read the jobs of a cluster instead of FILES; nothing is changed there.",
        ),
        click.option(
            "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
            help="Write DIR/TEAM/NAME.yaml and its template; without it specs are only shown.",
        ),
        options.specs,
        click.option("--team", default="", metavar="NAME", help="Whose jobs they are. Default: namespace or account."),
        click.option("--duration", default="", metavar="TIME", help="How long those take that do not say, e.g. 24h."),
        click.option(
            "--model", "models", multiple=True, metavar="WORD=MODEL",
            help="The model that a type of card means, e.g. h100=h100-sxm5-80gb.",
        ),
    ),
)  # fmt: skip
def command(
    files: tuple[Path, ...], source: str | None, out: Path | None, models: tuple[str, ...], specs: Path, **words: str
) -> Exit:
    """Read Jobs, JobSets and PyTorchJobs of Kubernetes, compose files, and scripts of sbatch, as Job specs.

    What no field can say stays in the template, and is told job by job. Values of environment variables are never
    written, and files that are there are never replaced.
    """
    from planner import catalog
    from planner.discovery.imports.imported import Imported, ImportWish, Refused
    from planner.discovery.imports.read import imported
    from planner.discovery.models import said

    if bool(files) == bool(source):
        raise click.UsageError("say what to import: FILES, or --from kubernetes")
    team, duration = words["team"], words["duration"]
    _check(team, duration)
    known = said(models, catalog.load())
    wish = ImportWish(team=team, duration=duration, devices_only=source is not None, teams=_teams(specs))
    results = imported(_texts(files), wish, known)
    jobs = [result for result in results if isinstance(result, Imported)]
    refused = [result for result in results if isinstance(result, Refused)]
    if out is None:
        _shown(jobs)
    else:
        _written(jobs, out)
    _told(jobs, refused)
    return Exit.FAILURE if refused and not jobs else Exit.OK


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


def _texts(files: tuple[Path, ...]) -> tuple[Text, ...]:
    from planner.commands.discovering import text_of_file
    from planner.discovery.running import outputs

    if files:
        return tuple(map(text_of_file, files))
    from planner.discovery.kubernetes.read import ABSENT, WORKLOADS

    texts, failed = outputs(WORKLOADS, ABSENT)
    for sentence in failed:
        console.err(f"{sentence}\n")
    return texts


def _shown(jobs: list[Imported]) -> None:
    from planner.discovery.write import text_of

    console.out(text_of(job.document for job in jobs))


def _written(jobs: list[Imported], out: Path) -> None:
    """Write specs and templates; a file that holds something else stops all of it before anything is written."""
    from planner import lockfile
    from planner.diagnostics import PlannerError
    from planner.discovery.write import text_of

    files: dict[Path, bytes] = {}
    for job in jobs:
        folder = out / job.team
        files[folder / f"{job.name}.yaml"] = text_of([job.document]).encode()
        files[folder / f"{job.name}{job.suffix}"] = job.template
    there = [path for path, data in files.items() if path.exists() and path.read_bytes() != data]
    if there:
        listed = ", ".join(f"'{path}'" for path in there)
        raise PlannerError(f"these files are there already and hold something else: {listed}; nothing was written")
    for path, data in files.items():
        lockfile.write(path, data.decode("utf-8", "surrogateescape"))
    console.err(f"wrote {len(files)} files below {out}\n" if files else "nothing to write\n")


def _told(jobs: list[Imported], refused: list[Refused]) -> None:
    from planner.diagnostics import printable

    for job in jobs:
        told = [f"{job.subject} -> job/{job.team}/{job.name}", *(f"  {sentence}" for sentence in job.untold)]
        console.err("".join(f"{printable(line)}\n" for line in told))
    for one in refused:
        console.err(printable(f"{one.subject}: not imported: {one.reason}") + "\n")
