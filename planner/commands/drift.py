"""`planner drift`: what the clusters have otherwise than the plan that is applied."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.commands import console, inputs, options, reaching
from planner.commands.statekeeping import STATE_BRANCH, kept
from planner.exits import Exit, worst

if TYPE_CHECKING:
    from planner.report.drift import Looked
    from planner.specset import SpecSet

_LOCK: Final = click.argument("lock", type=click.Path(path_type=Path), required=False)
_SNAPSHOT: Final = click.option(
    "--snapshot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="What runs now, as discover wrote it; without it only objects are compared.",
)  # fmt: skip
_OBJECTS: Final = click.option(
    "--objects/--no-objects", default=True, show_default=True,
    help="Ask the clusters for their objects; without, the snapshot alone is compared and no cluster is reached.",
)  # fmt: skip


@options.verb(
    "drift",
    "Say what the clusters have otherwise than the applied plan.",
    "planner drift --snapshot now.yaml",
    "planner drift state/applied.lock.json --snapshot now.yaml --detailed-exitcode",
    "planner drift --snapshot now.yaml --format markdown > issue.md",
    "planner drift planner-state:applied.lock.json --no-objects --snapshot now.yaml",
    options=(
        _LOCK, options.specs, reaching.STATE, STATE_BRANCH, _SNAPSHOT, _OBJECTS, reaching.AT, reaching.CONTEXT,
        reaching.TRUST, reaching.RECORD, options.formats("text", "markdown", "json", "github"),
        options.detailed_exitcode, options.full,
    ),
)  # fmt: skip
def command(lock: Path | None, form: str, detailed_exitcode: bool, full: bool, colour: str, **flags: Any) -> Exit:
    """Compare the clusters with the plan in LOCK (default: applied.lock.json in the state folder).

    Objects that are missing, changed by hand or nobody's; work that is late, runs elsewhere, runs too long or cannot
    run any longer. Nothing is changed. Exits with 2 when anything drifted and --detailed-exitcode is given, with 1 when
    a cluster does not answer.
    """
    how = _Flags(**flags)
    if how.snapshot is None and not how.objects:
        raise click.UsageError("--no-objects needs --snapshot: else nothing is compared")
    with kept(how.root, how.state_branch, how.specs, "", commits=False):
        looked, specset = _looked(lock or how.root / "applied.lock.json", how)
    _show(looked, specset, form, full, colour)
    codes = [Exit.FAILURE] if any(item.kind.value == "unreached" for item in looked.found) else []
    return worst((*codes, Exit.CHANGES) if looked.found and detailed_exitcode else codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags:
    """How the clusters are looked at."""

    specs: Path
    root: Path
    state_branch: str | None
    snapshot: Path | None
    objects: bool
    at: str
    contexts: tuple[str, ...]
    trust_commands: bool
    record: Path | None


def _looked(lock: Path, how: _Flags) -> tuple[Looked, SpecSet]:
    """Look at the clusters, and at what the snapshot says."""
    from planner.apply import drift
    from planner.apply.state import State
    from planner.report.drift import Looked

    plan = inputs.lock(lock)
    specset, seen = reaching.specs_of(plan, how.specs, how.snapshot)
    moment = reaching.moment(how.at, specset)
    found: list[drift.Drifted] = []
    if how.objects:
        reach = reaching.Reach(
            contexts=how.contexts, work=State(root=how.root).work, record=how.record, trust_commands=how.trust_commands
        )
        backends = reaching.backends(specset, reach)
        found += drift.of_objects(plan, reaching.items_of(plan, specset), backends, at=moment, snapshot=seen)
    if seen is not None:
        found += drift.of_runs(plan, seen, at=moment)
    return Looked(plan=plan, at=moment, found=drift.in_order(found), runs=seen is not None), specset


def _show(looked: Looked, specset: SpecSet, form: str, full: bool, colour: str) -> None:
    from planner.report.drift import drift_findings, drift_json, drift_markdown, drift_page

    match form:
        case "json":
            console.out(drift_json(looked))
        case "markdown":
            console.out(drift_markdown(looked))
        case "github":
            console.out(inputs.diagnostics_text(drift_findings(looked, specset), form))
        case _:
            medium = console.medium(full=full)
            console.show(drift_page(looked, medium), medium, colour)
