"""How verbs reach what a plan is applied to: its specs, its objects, and a back end for each cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from planner.commands import inputs
from planner.diagnostics import UsageError, quoted

if TYPE_CHECKING:
    from planner.apply.backend import Backend
    from planner.apply.item import Item
    from planner.plan import Plan
    from planner.spec.cluster import Cluster
    from planner.spec.snapshot import Snapshot
    from planner.specset import SpecSet

STATE: Final = click.option(
    "--state", "root", default=Path("state"), show_default=True, metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="What apply remembers: inventory, journal and the applied plan. Keep it on a branch of its own.",
)  # fmt: skip
AT: Final = click.option("--at", default="now", show_default=True, metavar="TIME", help="The time that counts as now.")
CONTEXT: Final = click.option(
    "--context", "contexts", multiple=True, metavar="CLUSTER=NAME",
    help="The context of kubectl for a cluster; by default the one of the cluster's name. CLUSTER= leaves it to"
    " kubectl, which in a pod takes the service account.",
)  # fmt: skip
TRUST: Final = click.option(
    "--trust-commands", is_flag=True, help="Run the commands that the specs name for Compose hosts on this machine."
)
RECORD: Final = click.option(
    "--record", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="Use this folder instead of clusters, to see what apply does.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How clusters are reached: contexts as they were given, where back ends keep files, and what is allowed."""

    contexts: tuple[str, ...]
    work: Path
    record: Path | None = None
    trust_commands: bool = False
    adopt: bool = False


def moment(at: str, specset: SpecSet) -> int:
    """The time that counts as now, in epoch seconds."""
    from planner.units import parse_time

    if at == "now":
        return int(time.time())
    try:
        return parse_time(at, specset.policy.timezone)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None


def specs_of(plan: Plan, specs: Path, snapshot: Path | None) -> tuple[SpecSet, Snapshot | None]:
    """The specs of the commit that `plan` names, where there is one, else those in the files; and the snapshot."""
    from planner.commands import trees

    with trees.repository(specs) as work:
        if work is None or plan.inputs.commit is None:
            return inputs.tree_with(inputs.files(specs), snapshot)[:2]
        given = trees.commit(specs, work, work.resolve(plan.inputs.commit), snapshot)
    return given.specset, given.snapshot


def items_of(plan: Plan, specset: SpecSet) -> tuple[Item, ...]:
    """Every object that a plan wants on the clusters."""
    from planner.apply.collect import Rendering, items_of
    from renderers import render

    files = [
        Rendering(path=file.path, text=file.text, addresses=file.addresses, executable=file.executable)
        for file in render(plan, specset).manifests
    ]
    return items_of(files, specset)


def backends(specset: SpecSet, reach: Reach) -> Mapping[str, Backend]:
    """The back end of each cluster, by its name."""
    contexts = dict(_context(word, specset) for word in reach.contexts)
    return {cluster.name: _backend(cluster, reach, contexts) for cluster in specset.clusters}


def _context(word: str, specset: SpecSet) -> tuple[str, str]:
    name, sign, context = word.partition("=")
    if not sign or name not in {cluster.name for cluster in specset.clusters}:
        raise UsageError(f"--context: {quoted(word)} is not CLUSTER=NAME with a cluster of the specs")
    return name, context


def _backend(cluster: Cluster, reach: Reach, contexts: Mapping[str, str]) -> Backend:
    from planner.apply.backend import Programs
    from planner.apply.compose import Compose
    from planner.apply.kubernetes import Kubernetes
    from planner.apply.recording import Recording
    from planner.apply.slurm import Slurm
    from planner.apply.workfiles import WorkFiles
    from planner.spec.backend import BackendType

    if reach.record is not None:
        return Recording(root=reach.record)
    runner, files = Programs(os.environ), WorkFiles(root=reach.work)
    match cluster.backend.type:
        case BackendType.KUBERNETES:
            context = contexts.get(cluster.name, cluster.name)
            return Kubernetes(context=context, runner=runner, adopts=reach.adopt)
        case BackendType.SLURM:
            return Slurm(files=files, runner=runner)
        case BackendType.COMPOSE:
            return Compose(
                cluster=cluster.name, options=cluster.backend, files=files, runner=runner,
                trusts_commands=reach.trust_commands,
            )  # fmt: skip
