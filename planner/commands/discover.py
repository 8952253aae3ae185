"""`planner discover`: what this host holds, many hosts together, or a whole cluster, as specs."""

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

_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What the specs are to be called, and where they go."""

    target: Path | None
    check: bool
    name: str
    back_end: str | None


@options.verb(
    "discover",
    "Find out what a host or a cluster holds, as specs.",
    "planner discover",
    "planner discover --write specs/cluster.yaml --name dc1",
    "planner discover --write specs/cluster.yaml --name dc1 --check",
    "planner discover --format json > $(hostname).json",
    "planner discover --merge *.json --write specs/cluster.yaml --name dc1",
    "planner discover --from slurm --write specs/dc1.yaml --teams specs/teams.yaml --name dc1",
    "planner discover --from slurm --name dc1 --snapshot snapshot.yaml",
    options=(
        click.argument("files", nargs=-1, type=click.Path(path_type=Path)),
        click.option(
            "--from", "source", type=click.Choice(["kubernetes", "slurm", "compose"]),
            help="Read a cluster by its own commands, or from FILES that hold their output; of compose this host.",
        ),
        click.option("--merge", is_flag=True, help="Join the hosts told by FILES, the JSON output of each."),
        click.option(
            "--write", "target", type=_FILE, metavar="FILE",
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
        click.option("--teams", type=_FILE, metavar="FILE", help="Of a cluster: write Teams and Quotas there."),
        click.option("--snapshot", type=_FILE, metavar="FILE", help="Of a cluster: write what runs there."),
        options.specs,
        click.option(
            "--model", "models", multiple=True, metavar="WORD=MODEL",
            help="Of a cluster: the model that its word for a card means, e.g. h100=h100-sxm5-80gb.",
        ),
        options.prometheus,
        options.window,
        options.usage,
        click.option("--at", metavar="TIME", help="When FILES of a cluster were written; now is this moment."),
        options.formats("text", "json"),
    ),
)  # fmt: skip
def command(files: tuple[Path, ...], merge: bool, node: str, root: Path, form: str, colour: str, **wanted: Any) -> Exit:
    """Ask the driver libraries and the operating system of this host what it holds.

    Cards are named by the catalogue. What cannot be found out stays unknown and is told; that is no failure. With
    --merge the output of many hosts becomes pools of identical nodes. With --from a cluster's own commands, or files
    with what they print, tell its nodes, who may use them, and what runs; nothing is changed there.
    """
    from planner import catalog

    if wanted["source"] is not None:
        return _cluster(files, merge, node, form, colour, **wanted)
    goal = _host_goal(**wanted)
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


def _cluster(files: tuple[Path, ...], merge: bool, node: str, form: str, colour: str, **wanted: Any) -> Exit:
    from planner.commands.discovering import ClusterWish, cluster
    from planner.commands.metering import Meters

    meters = Meters(prometheus=wanted.pop("prometheus"), window=wanted.pop("window"), files=wanted.pop("usage"))
    if merge or wanted.pop("back_end") or form == "json":
        raise click.UsageError("--from reads a cluster; leave out --merge, --backend and --format json")
    if wanted["check"] and wanted["target"] is None and wanted["teams"] is None:
        raise click.UsageError("--check needs --write FILE or --teams FILE: the file to compare with")
    _require_name(wanted["name"])
    return cluster(ClusterWish(files=files, node=node, colour=colour, meters=meters, **wanted))


def _host_goal(
    target: Path | None, check: bool, name: str, back_end: str | None, specs: Path, window: str, **clusters: Any
) -> _Wanted:
    given = [f"--{key.removesuffix('s') if key == 'models' else key}" for key, value in clusters.items() if value]
    if given:
        raise click.UsageError(f"{' and '.join(sorted(given))} need --from: only a cluster tells that")
    return _Wanted(target=target, check=check, name=name, back_end=back_end)


def _require_name(name: str) -> None:
    from planner.names import parse_name

    try:
        parse_name(name)
    except ValueError as error:
        raise click.UsageError(f"--name: {error}") from None


def _refuse(files: tuple[Path, ...], merge: bool, goal: _Wanted, form: str) -> None:
    if files and not merge:
        raise click.UsageError(
            f"what is '{files[0]}'? Files of hosts need --merge, files of a cluster --from and the back end's name"
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
    from planner.commands.discovering import before, keep
    from planner.discovery.merge import merge
    from planner.discovery.page import fleet_page
    from planner.discovery.resolve import resolved
    from planner.discovery.spec import back_end_of
    from planner.discovery.write import fresh, merged

    _require_name(goal.name)
    fleet = merge((resolved(host, known) for host in hosts), known)
    back_end = goal.back_end or back_end_of(hosts)
    spec = "" if goal.target else fresh(fleet, goal.name, back_end, known)
    console.show(fleet_page(fleet), console.medium(), colour)
    if goal.target is None:
        console.out(f"\n# Spec; --write FILE puts it into a file.\n{spec}")
        return Exit.OK
    return keep(goal.target, merged(before(goal.target), fleet, goal.name, back_end, known), goal.check)
