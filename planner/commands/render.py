"""`planner render`: write the manifests of a plan into a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import console, inputs, options
from planner.diagnostics import PlannerError, Stale, UsageError
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.outfolder import Difference
    from planner.plan import Degraded, Plan
    from planner.specset import SpecSet


_LOCK: Final = click.argument("lock", type=click.Path(path_type=Path), default=Path("plan.lock.json"), required=False)
_OUT: Final = click.option(
    "--out", required=True, metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the manifests. Only files that an earlier render wrote there are replaced or removed.",
)  # fmt: skip
_SPECS: Final = click.option(
    "--specs", default=Path("specs"), show_default=True, type=click.Path(path_type=Path), metavar="PATH",
    help="The specs that were planned.",
)  # fmt: skip
_TARGET: Final = click.option("--target", metavar="CLUSTER", help="Render this cluster only.")
_CHECK: Final = click.option(
    "--check", is_flag=True, help="Write nothing; exit with 2 when the folder is not what would be written."
)
_AT: Final = options.refused(
    "--at", "render --at narrows manifests to what is due at a time, which comes with apply.", takes_value=True
)


@options.verb(
    "render",
    "Write the manifests of a plan.",
    "planner render plan.lock.json --out build/manifests",
    "planner render plan.lock.json --out build/manifests --target dc1",
    "planner render plan.lock.json --out manifests --check",
    options=(_LOCK, _OUT, _SPECS, _TARGET, _CHECK, _AT),
)
def command(lock: Path, out: Path, specs: Path, target: str | None, check: bool, colour: str) -> Exit:
    """Write the manifests of every back end for the plan in LOCK (default: plan.lock.json).

    The specs must be those that were planned: when they differ, nothing is written and the exit code is 5.
    """
    from planner import outfolder, yamlio
    from renderers import render, verify

    plan, specset = inputs.lock(lock), inputs.valid(specs)
    _refuse_stale(plan, specset, lock, specs)
    if target is not None and target not in {cluster.name for cluster in specset.clusters}:
        names = ", ".join(cluster.name for cluster in specset.clusters)
        raise UsageError(f"there is no cluster '{target}' in {specs}; there are: {names}")
    rendered = render(plan, specset)
    _refuse_faulty(verify(rendered, plan, specset, yamlio.rendered))
    files = [
        outfolder.File(path=manifest.path, text=manifest.text, executable=manifest.executable)
        for manifest in rendered.manifests
        if target is None or manifest.path.startswith(f"{target}/")
    ]
    found = (outfolder.difference if check else outfolder.write)(out, files, below=target)
    console.out(_told(found, len(files), out, check))
    _tell_degraded(rendered.degraded)
    return Exit.CHANGES if check and found.any else Exit.OK


def _refuse_stale(plan: Plan, specset: SpecSet, lock: Path, specs: Path) -> None:
    if plan.inputs.specs_digest != specset.digest:
        raise Stale(
            f"{lock} was planned from other specs than those in {specs}: it says {plan.inputs.specs_digest}, they are"
            f" {specset.digest}; plan again with: planner plan {specs}"
        )


def _refuse_faulty(faults: tuple[str, ...]) -> None:
    """Manifests that say anything but the plan are worse than none: they are held against it before any is written."""
    if faults:
        rest = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise PlannerError(f"nothing was written, for the manifests are not what was planned: {faults[0]}{rest}")


def _told(found: Difference, count: int, out: Path, check: bool) -> str:
    lines = [
        f"{sign} {path}\n"
        for sign, paths in (("+", found.created), ("~", found.changed), ("-", found.removed))
        for path in paths
    ]
    from planner.report.figures import plural

    changed = f"{len(found.created)} new, {len(found.changed)} changed, {len(found.removed)} removed"
    verb = "would hold" if check and found.any else "holds"
    return "".join(lines) + f"{out} {verb} {plural(count, 'file')}: {changed if found.any else 'all as they were'}\n"


def _tell_degraded(degraded: tuple[Degraded, ...]) -> None:
    """Say what back ends cannot enforce, once for each sentence however many workloads it concerns."""
    from planner.diagnostics import printable
    from planner.report.figures import plural
    from planner.report.naming import work_name

    sentences: dict[tuple[str, str], list[str]] = {}
    for item in degraded:
        sentences.setdefault((item.backend, item.message), []).append(item.address)
    for (backend, message), addresses in sentences.items():
        whom = work_name(addresses[0]) if len(addresses) == 1 else plural(len(addresses), "object")
        console.err(printable(f"degraded on {backend}: {message} ({whom})") + "\n")
