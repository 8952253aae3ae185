"""`planner discover`: what this host holds, or many hosts together, as specs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.commands import console, options
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.catalog import Catalog
    from planner.discovery.facts import HostFacts
    from planner.discovery.write import Written
    from planner.source import SourceFile

_LATER = "--snapshot writes what runs on a cluster, which comes with discovery of clusters."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What the specs are to be called, and where they go."""

    target: Path | None
    check: bool
    name: str
    back_end: str | None


@options.verb(
    "discover",
    "Find out what a host holds, as specs.",
    "planner discover",
    "planner discover --write specs/cluster.yaml --name dc1",
    "planner discover --write specs/cluster.yaml --name dc1 --check",
    "planner discover --format json > $(hostname).json",
    "planner discover --merge *.json --write specs/cluster.yaml --name dc1",
    options=(
        click.argument("files", nargs=-1, type=click.Path(path_type=Path)),
        click.option("--merge", is_flag=True, help="Join the hosts told by FILES, the JSON output of each."),
        click.option(
            "--write", "target", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
            help="Write the specs there; comments and everything else in the file stay.",
        ),
        click.option("--check", is_flag=True, help="Write nothing; exit with 2 when FILE says otherwise."),
        click.option("--name", default="discovered", show_default=True, help="The name of the Cluster."),
        click.option(
            "--backend", "back_end", type=click.Choice(["kubernetes", "slurm", "compose"]),
            help="What runs the hosts. Default: what there are traces of, else compose.",
        ),
        click.option("--node", default="", metavar="NAME", help="The node's name, where the host's own is another."),
        click.option(
            "--root", type=click.Path(path_type=Path, file_okay=False), default=Path("/"), metavar="DIR",
            help="Where /proc and /sys of the host are; in a container for example /host.",
        ),
        options.refused("--snapshot", _LATER, takes_value=True),
        options.formats("text", "json"),
    ),
)  # fmt: skip
def command(files: tuple[Path, ...], merge: bool, node: str, root: Path, form: str, colour: str, **wanted: Any) -> Exit:
    """Ask the driver libraries and the operating system of this host what it holds.

    Cards are named by the catalogue. What cannot be found out stays unknown and is told; that is no failure. With
    --merge the output of many hosts becomes pools of identical nodes.
    """
    from planner import catalog

    goal = _Wanted(**wanted)
    _refuse(files, merge, goal, form)
    if merge and node:
        raise click.UsageError("--node names the host at hand; leave it out with --merge")
    known = catalog.load()
    hosts = _read(files) if merge else (_this_host(root, node, known),)
    if form == "json":
        from planner.discovery.facts import as_json

        console.out(as_json(hosts[0]))
        return Exit.OK
    return _as_specs(hosts, goal, known, colour)


def _refuse(files: tuple[Path, ...], merge: bool, goal: _Wanted, form: str) -> None:
    if files and not merge:
        raise click.UsageError(
            f"what is '{files[0]}'? Files of hosts need --merge; discovering a whole cluster is yet to come"
        )
    if merge and not files:
        raise click.UsageError("--merge needs the files to join, the JSON output of each host")
    if goal.check and goal.target is None:
        raise click.UsageError("--check needs --write FILE: the file to compare with")
    if form == "json" and (merge or goal.target):
        raise click.UsageError("--format json tells one host; leave out --merge and --write")


def _this_host(root: Path, node: str, known: Catalog) -> HostFacts:
    from planner.discovery.discover import discover

    return discover(root, os.uname().machine, known, node=node)


def _read(files: tuple[Path, ...]) -> tuple[HostFacts, ...]:
    from planner.diagnostics import UsageError
    from planner.discovery.facts import HOST_BYTES, from_json

    hosts = []
    for path in files:
        try:
            with path.open("rb") as stream:
                hosts.append(from_json(stream.read(HOST_BYTES + 1)))
        except OSError as error:
            raise UsageError(f"cannot read '{path}': {error.strerror or error}") from None
        except ValueError as error:
            raise UsageError(f"'{path}': {error}") from None
    return tuple(hosts)


def _as_specs(hosts: tuple[HostFacts, ...], goal: _Wanted, known: Catalog, colour: str) -> Exit:
    from planner.discovery.merge import merge
    from planner.discovery.page import fleet_page
    from planner.discovery.resolve import resolved
    from planner.discovery.spec import back_end_of
    from planner.discovery.write import fresh, merged
    from planner.names import parse_name

    try:
        parse_name(goal.name)
    except ValueError as error:
        raise click.UsageError(f"--name: {error}") from None
    fleet = merge((resolved(host, known) for host in hosts), known)
    back_end = goal.back_end or back_end_of(hosts)
    spec = "" if goal.target else fresh(fleet, goal.name, back_end, known)
    console.show(fleet_page(fleet), console.medium(), colour)
    if goal.target is None:
        console.out(f"\n# Spec; --write FILE puts it into a file.\n{spec}")
        return Exit.OK
    written = merged(_before(goal.target), fleet, goal.name, back_end, known)
    return _keep(goal.target, written, goal.check)


def _before(target: Path) -> SourceFile | None:
    from planner.diagnostics import UsageError
    from planner.source import SourceFile

    try:
        return SourceFile(str(target), target.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read '{target}': {error.strerror or error}") from None


def _keep(target: Path, written: Written, check: bool) -> Exit:
    """Write the file, or with `check` only say how it differs."""
    from planner import lockfile
    from planner.diagnostics import printable

    for sentence in written.changes:
        console.out(f"{printable(sentence)}\n")
    for sentence in written.held_back:
        console.out(f"{printable(sentence)}: not written\n")
    if check:
        differs = bool(written.changes or written.held_back)
        console.err(f"{target} {'differs from' if differs else 'agrees with'} what was discovered\n")
        return Exit.CHANGES if differs else Exit.OK
    if written.changes:
        lockfile.write(target, written.text)
    console.err(f"wrote {target}\n" if written.changes else f"{target} needs no change\n")
    return Exit.OK
