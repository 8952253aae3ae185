"""The `#SBATCH` lines of a job. Free text never stands in them: only checked names, integers and times."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.hosts import fold
from planner.units import ceil_fraction, parse_time
from renderers.refusal import Unsupported
from renderers.slurm import words
from renderers.slurm.accounts import account_name, is_borrowed, qos_name
from renderers.slurm.devices import Block, blocks_of, device_options
from renderers.slurm.features import Feature, has, nodes_are_named_by_exclusion, parse

if TYPE_CHECKING:
    from planner.spec.team import Team
    from renderers.payload import Payload

WARNING_SECONDS: Final = 120
"""How long before its limit a job that checkpoints gets SIGTERM; Slurm may send it up to a minute earlier."""
SHORTEST_WARNED_SECONDS: Final = 5 * WARNING_SECONDS
"""A shorter job would lose too much of its time to the warning."""

CHANGEABLE: Final = (
    ("account", "Account"),
    ("qos", "QOS"),
    ("begin", "StartTime"),
    ("nodelist", "ReqNodeList"),
    ("exclude", "ExcNodeList"),
)
"""Options that a job in the queue can be given by its user, and their names there."""
_EITHER: Final = frozenset({"nodelist", "exclude"})
"""Options that must be taken away where the plan has them no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """One `#SBATCH --name=value`; a flag has no value."""

    name: str
    value: str | int | None = None


Options = tuple[Directive, ...]


def header(payload: Payload, team: Team, mark: str = "") -> tuple[Options, ...]:
    """The directives of each component of a job; more than one make a heterogeneous job.

    `mark` becomes part of the comment, by which a queued job is told from one that was written otherwise.
    Raises `Unsupported` where the site's own words cannot stand in a directive, or its version lacks what is needed.
    """
    blocks = blocks_of(payload)
    if len(blocks) > 1 and not has(parse(payload.cluster.backend.version), Feature.HET_JOBS):
        raise Unsupported("its parts are not alike, which this version of Slurm has no heterogeneous jobs for")
    return tuple(
        (
            *_identity(payload, team, mark),
            *_shape(payload, block),
            *_time(payload),
            *_nodes(payload, block),
            *_interruption(payload),
            Directive(name="export", value="NONE"),
        )
        for block in blocks
    )


def job_name(payload: Payload) -> str:
    """The name by which a job is found in the queue: the same until its spec changes."""
    return words.job_name(words.stem(payload.address), payload.placement.spec)


def settings(components: tuple[Options, ...]) -> tuple[str, ...]:
    """What `scontrol update` takes to give a queued job another place, time and account; nothing for unlike parts."""
    if len(components) > 1:
        return ()
    given = {directive.name: directive.value for directive in components[0]}
    return tuple(f"{setting}={given.get(name, '')}" for name, setting in CHANGEABLE if name in given or name in _EITHER)


def _identity(payload: Payload, team: Team, mark: str) -> Options:
    borrowed = is_borrowed(payload.segment)
    return (
        Directive(name="job-name", value=job_name(payload)),
        Directive(name="comment", value=words.comment(payload.address, payload.placement.spec, mark)),
        Directive(name="account", value=account_name(team, borrowed=borrowed)),
        Directive(name="qos", value=qos_name(payload.placement.priority, borrowed=borrowed)),
        Directive(name="partition", value=words.plain_list(payload.pool.partition or payload.pool.name, "partition")),
    )


def _shape(payload: Payload, block: Block) -> Options:
    cpus = cpus_per_task(payload, block)
    return (
        Directive(name="nodes", value=len(block.nodes)),
        Directive(name="ntasks-per-node", value=payload.job.tasks_per_node or 1),
        *((Directive(name="cpus-per-task", value=cpus),) if cpus else ()),
        *_memory(payload, block),
        *(Directive(name=name, value=value) for name, value in device_options(payload, block)),
    )


def cpus_per_task(payload: Payload, block: Block) -> int | None:
    """The CPU cores of each task on the nodes of a block; None where neither the job nor the pool says."""
    cpus = _part_of(payload, block, payload.cpus)
    return None if cpus is None else max(1, cpus // (payload.job.tasks_per_node or 1))


def _memory(payload: Payload, block: Block) -> Options:
    """Exactly one of Slurm's memory options, per node; all of a node only where the job has the node for itself."""
    if payload.cluster.backend.exclusive:
        return (Directive(name="exclusive"), Directive(name="mem", value=0))
    memory_mib = _part_of(payload, block, payload.memory_mib)
    return () if memory_mib is None else (Directive(name="mem", value=f"{memory_mib}M"),)


def _part_of(payload: Payload, block: Block, amount: int | None) -> int | None:
    """What a node of this block needs, where the parts of a gang differ: in proportion to its devices."""
    most = max(len(node.devices) for node in payload.nodes)
    if amount is None or not most:
        return amount
    return max(1, ceil_fraction(amount * Fraction(len(block.devices), most)))


def _time(payload: Payload) -> Options:
    longest = payload.pool.max_duration
    wall = words.wall_time(payload.placement.limit_seconds, longest.milliseconds if longest else None)
    return (
        Directive(name="time", value=wall),
        Directive(name="begin", value=words.begin(parse_time(payload.segment.start, "UTC"))),
    )


def _nodes(payload: Payload, block: Block) -> Options:
    declared = frozenset(payload.pool.features)
    features = tuple(words.plain(item, "feature") for item in payload.job.needs.features if item in declared)
    wanted = (Directive(name="constraint", value="&".join(features)),) if features else ()
    if not payload.pool.nodes.names:
        return wanted
    return (*wanted, _chosen(payload, block))


def _chosen(payload: Payload, block: Block) -> Directive:
    """The planned nodes: named, or where that is not safe, by leaving out the pool's others."""
    blocks = bool(payload.pool.nvlink_domains or payload.pool.nodes_per_nvlink_domain)
    others = tuple(name for name in payload.pool.nodes.names if name not in block.nodes)
    if others and nodes_are_named_by_exclusion(parse(payload.cluster.backend.version), blocks=blocks):
        return Directive(name="exclude", value=fold(others))
    return Directive(name="nodelist", value=fold(block.nodes))


def _interruption(payload: Payload) -> Options:
    """Requeued only if it can resume; then its log goes on, and it is told before its limit is reached."""
    if payload.job.checkpoint is None:
        return (Directive(name="no-requeue"),)
    again = (Directive(name="requeue"), Directive(name="open-mode", value="append"))
    warned = payload.placement.limit_seconds >= SHORTEST_WARNED_SECONDS
    warning = (Directive(name="signal", value=f"TERM@{WARNING_SECONDS}"),) if warned else ()
    return (*(again if payload.job.preemptible else (Directive(name="no-requeue"),)), *warning)
