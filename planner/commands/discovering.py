"""Discovery of a cluster for the verb: read its back end or files, then write specs and the Snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner.commands import console, inputs
from planner.diagnostics import SpecError, UsageError, printable
from planner.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner.catalog import Catalog
    from planner.commands.metering import Meters
    from planner.discovery.found import ClusterFacts
    from planner.discovery.merge import Fleet
    from planner.discovery.models import Models
    from planner.discovery.snapshot import NodeHome, Taken
    from planner.discovery.write import Written
    from planner.source import SourceFile
    from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWish:
    """What is read, what it is to be called, and which files are wanted of it."""

    source: str
    files: tuple[Path, ...]
    name: str
    node: str
    target: Path | None
    teams: Path | None
    snapshot: Path | None
    specs: Path
    check: bool
    models: tuple[str, ...]
    at: str | None
    meters: Meters
    colour: str


def cluster(wish: ClusterWish) -> Exit:
    """Discover a cluster; with no file to write, show everything."""
    from planner import catalog
    from planner.discovery.merge import merge
    from planner.discovery.models import said
    from planner.discovery.page import fleet_page

    known = catalog.load()
    taken_at = moment(wish)
    facts = _facts(wish, said(wish.models, known), taken_at)
    fleet = merge(facts.hosts, known)
    console.show(fleet_page(fleet), console.medium(), wish.colour)
    specs = _spec_text(wish, fleet, facts, known)
    teams = _team_text(wish, facts)
    taken = _snapshot(wish, facts, specs, taken_at)
    _listed("Not written", (*facts.untold, *taken.untold))
    _listed("Measured use", _used(wish, facts, taken_at))
    if wish.target is None and wish.teams is None and wish.snapshot is None:
        console.out(f"\n# Specs; --write, --teams and --snapshot put them into files.\n{specs.text}")
        console.out("".join(f"---\n{text}" for text in (teams.text, _dumped(taken)) if text))
        return Exit.OK
    return _kept(wish, specs, teams, taken)


def moment(wish: ClusterWish) -> int:
    """When the cluster was looked at: now, or for files what `--at` says."""
    from planner.units import parse_time

    if wish.at is not None and wish.at != "now":
        try:
            return parse_time(wish.at, "UTC")
        except ValueError as error:
            raise UsageError(f"--at: {error}") from None
    if wish.files and wish.at is None and wish.snapshot is not None:
        raise UsageError("--snapshot from files needs --at TIME: when they were written; --at now is this moment")
    return int(time.time())


def _facts(wish: ClusterWish, models: Models, taken_at: int) -> ClusterFacts:
    from planner.commands.texts import text_of_file
    from planner.discovery.backends import BACK_ENDS

    back_end = BACK_ENDS[wish.source]
    if wish.files:
        return back_end.read(tuple(map(text_of_file, wish.files)), models, taken_at)
    if wish.node and not back_end.is_a_host:
        raise UsageError("--node names the host at hand; a cluster tells the names of its nodes")
    texts, failed = back_end.look(wish.node)
    facts = back_end.read(texts, models, taken_at)
    return replace(facts, untold=(*failed, *facts.untold))


def before(target: Path) -> SourceFile | None:
    """The file that is to be written, as it is; None where there is none."""
    from planner.source import SourceFile

    try:
        return SourceFile(str(target), target.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read '{target}': {error.strerror or error}") from None


def _spec_text(wish: ClusterWish, fleet: Fleet, facts: ClusterFacts, known: Catalog) -> Written:
    from planner.discovery.write import merged

    there = before(wish.target) if wish.target else None
    options = ({"version": facts.version} if facts.version else {}) | dict(facts.options)
    return merged(there, fleet, wish.name, facts.back_end, known, options)


def _team_text(wish: ClusterWish, facts: ClusterFacts) -> Written:
    from planner.discovery.tenants import documents
    from planner.discovery.write import appended

    there = before(wish.teams) if wish.teams else None
    return appended(there, documents(facts, wish.name))


def _snapshot(wish: ClusterWish, facts: ClusterFacts, specs: Written, taken_at: int) -> Taken:
    from planner.discovery.homes import homes
    from planner.discovery.snapshot import snapshot

    planned = _planned(wish)
    found: dict[str, NodeHome] = homes(planned, wish.name) if planned else {}
    return snapshot(facts, wish.name, taken_at, found or _own_homes(wish, specs), _hashes(planned))


def _planned(wish: ClusterWish) -> SpecSet | None:
    """The specs that the Snapshot is to fit, where there are any."""
    return inputs.valid(wish.specs) if wish.snapshot and wish.specs.exists() else None


def _own_homes(wish: ClusterWish, specs: Written) -> dict[str, NodeHome]:
    from planner.discovery.homes import homes
    from planner.source import SourceFile
    from planner.specset import load

    result = load([SourceFile(str(wish.target or "cluster.yaml"), specs.text.encode())])
    if result.specset is None:
        raise SpecError(result.diagnostics)
    return homes(result.specset, wish.name)


def _hashes(planned: SpecSet | None) -> Callable[[str], str | None]:
    def hash_of(address: str) -> str | None:
        known = planned is not None and planned.get(address) is not None
        return planned.spec_hash(address) if known and planned is not None else None

    return hash_of


def _dumped(taken: Taken) -> str:
    from planner.discovery.write import text_of

    return text_of((taken.document,))


def _used(wish: ClusterWish, facts: ClusterFacts, taken_at: int) -> tuple[str, ...]:
    from planner.discovery.usage import told

    return told(facts.uses, wish.meters.measured(taken_at))


def _listed(title: str, sentences: tuple[str, ...]) -> None:
    if sentences:
        console.out(f"\n{title}\n" + "".join(f"  {printable(sentence)}\n" for sentence in sentences))


def _kept(wish: ClusterWish, specs: Written, teams: Written, taken: Taken) -> Exit:
    wanted = [(wish.target, specs), (wish.teams, teams)]
    codes = [keep(target, written, wish.check) for target, written in wanted if target is not None]
    if wish.snapshot is not None and not wish.check:
        from planner import lockfile

        lockfile.write(wish.snapshot, _dumped(taken))
        console.err(f"wrote {wish.snapshot}\n")
    return Exit.CHANGES if Exit.CHANGES in codes else Exit.OK


def keep(target: Path, written: Written, check: bool) -> Exit:
    """Write the file, or with `check` only say how it differs."""
    from planner import lockfile

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
