"""Slurm's queue as what runs, what waits, and what ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from planner.diagnostics import UsageError
from planner.discovery.found import Ended, Seat, Use
from planner.discovery.slurm.comments import marked
from planner.discovery.slurm.records import gres, mebibytes, nodes, number, tres
from planner.units import ceil_div

_RUNNING: Final = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT", "CONFIGURING"})
_WAITING: Final = frozenset({"PENDING"})
_SUCCEEDED: Final = frozenset({"COMPLETED"})
_FAILED: Final = frozenset({"FAILED", "TIMEOUT", "OUT_OF_MEMORY", "BOOT_FAIL", "NODE_FAIL", "DEADLINE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The jobs of a cluster; `version` is Slurm's own, where it tells."""

    uses: tuple[Use, ...] = ()
    ended: tuple[Ended, ...] = ()
    waiting: int = 0
    version: str = ""
    untold: tuple[str, ...] = ()


def queue(name: str, data: bytes) -> Queue:
    """Read `squeue --json`, of any version; `UsageError` where it is not that. Finished jobs are in it for a while.

    What a job is called, its script and its environment are left unread: only what the planner wrote into its comment.
    """
    tree, jobs = _jobs(name, data)
    running = [job for job in jobs if _states(job) & _RUNNING and not _states(job) & _WAITING]
    uses = [_use(job) for job in running]
    return Queue(
        uses=tuple(use for use in uses if use.seats),
        ended=tuple(ended for job in jobs for ended in _ended(job)),
        waiting=sum(bool(_states(job) & _WAITING) for job in jobs),
        version=_version(tree),
        untold=tuple(f"{use.name}: on which nodes it runs is not told" for use in uses if not use.seats),
    )


def _jobs(name: str, data: bytes) -> tuple[Any, list[dict[str, Any]]]:
    """The whole tree, and the jobs in it by their numbers."""
    try:
        tree = json.loads(data)
        jobs = [job for job in tree["jobs"] if isinstance(job, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"'{name}' is not the output of 'squeue --json': {error}") from None
    return tree, sorted(jobs, key=lambda job: _number(job.get("job_id")) or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A job that waits or runs and is not the planner's: its number, and in the options of sbatch what it asked for."""

    number: int
    options: tuple[tuple[str, str], ...]


def batches(name: str, data: bytes) -> tuple[Batch, ...]:
    """The jobs of others in the output of `squeue --json`, an array once; `UsageError` where it is not that."""
    found: dict[int, Batch] = {}
    for job in _jobs(name, data)[1]:
        alive = _states(job) & (_RUNNING | _WAITING)
        identity = _number(job.get("array_job_id")) or _number(job.get("job_id"))
        if alive and identity and not _marked(job)[0]:
            found.setdefault(identity, Batch(number=identity, options=tuple(_options(job))))
    return tuple(found.values())


def _options(job: dict[str, Any]) -> Iterator[tuple[str, str]]:
    minutes, count = _number(job.get("time_limit")), _number(job.get("node_count"))
    devices = ",".join(f"{item.name}:{item.type}:{item.count}" for item in gres(_text(job.get("tres_per_node"))))
    wanted = {
        "account": _text(job.get("account")),
        "job-name": _text(job.get("name")),
        "qos": _text(job.get("qos")),
        "time": str(minutes) if minutes else "",
        "nodes": str(count) if count else "",
        "gres": devices.replace("::", ":"),
    }
    yield from ((option, value) for option, value in wanted.items() if value)


def _version(tree: Any) -> str:
    meta = tree.get("meta") if isinstance(tree, dict) else None
    told = [meta[key] for key in ("slurm", "Slurm") if key in meta] if isinstance(meta, dict) else []
    release = next((each.get("release") for each in told if isinstance(each, dict)), "")
    match = re.match(r"[0-9]{2}\.[0-9]{2}", str(release))
    return match[0] if match else ""


def _states(job: dict[str, Any]) -> set[str]:
    value = job.get("job_state")
    return {str(word) for word in value} if isinstance(value, list) else set(str(value or "").split())


def _number(value: Any) -> int | None:
    """A number as old versions write it, or as newer ones do: `{set, infinite, number}`."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 2**53 else None


def _use(job: dict[str, Any]) -> Use:
    address, spec = _marked(job)
    seats = tuple(_seats(job))
    held = tres(_text(job.get("tres_alloc_str")))
    cpus, memory = number(held.get("cpu")), mebibytes(held.get("mem"))
    return Use(
        name=f"job {_number(job.get('job_id'))}",
        parts=(f"job {_number(job.get('job_id'))}",),
        owner="/".join(filter(None, (_text(job.get("account")), _text(job.get("user_name"))))),
        seats=seats,
        address=address,
        spec=spec,
        started_at=_number(job.get("start_time")) or None,
        until=_number(job.get("end_time")) or None,
        cpus=ceil_div(cpus, len(seats)) if cpus and seats else None,
        memory_mib=ceil_div(memory, len(seats)) if memory and seats else None,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _seats(job: dict[str, Any]) -> Iterator[Seat]:
    """Nodes with their devices; Slurm tells the devices node by node, in the order of the host list."""
    names = nodes(_text(job.get("nodes")))
    detail = job.get("gres_detail")
    told = [_text(each) for each in detail] if isinstance(detail, list) else []
    counts = [item.count for item in gres(_text(job.get("tres_per_node"))) if item.name == "gpu"]
    for position, name in enumerate(names):
        items = [item for item in gres(told[position]) if item.name == "gpu"] if position < len(told) else []
        indices = tuple(sorted({index for item in items for index in item.indices}))
        unseen = sum(item.count for item in items) if items else 0 if told else sum(counts)
        yield Seat(node=name, devices=indices, count=0 if indices else unseen)


def _marked(job: dict[str, Any]) -> tuple[str, str]:
    comment = job.get("comment")
    return marked(_text(comment.get("job")) if isinstance(comment, dict) else _text(comment))


def _ended(job: dict[str, Any]) -> Iterator[Ended]:
    address, spec = _marked(job)
    states, at = _states(job), _number(job.get("end_time"))
    if address and at and states & (_SUCCEEDED | _FAILED) and not states & (_RUNNING | _WAITING):
        yield Ended(address=address, spec=spec, succeeded=bool(states & _SUCCEEDED), at=at)
