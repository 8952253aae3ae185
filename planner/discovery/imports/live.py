"""What is imported from a running cluster: the outputs of its own commands, and the scripts of jobs in its queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from planner.discovery.found import Text
from planner.discovery.imports.batch import script
from planner.discovery.imports.imported import ImportWish, Refused, Result
from planner.discovery.kubernetes.read import ABSENT, WORKLOADS
from planner.discovery.models import Models
from planner.discovery.running import outputs
from planner.discovery.slurm import history
from planner.discovery.slurm.jobs import Batch, batches

SOURCES: Final = ("kubernetes", "slurm")
_QUEUE: Final = ("squeue", "--json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The script of a job in the queue, and the options that the job was queued with."""

    job: Batch
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Files as commands printed them, scripts of queued jobs, and in sentences what could not be read."""

    texts: tuple[Text, ...]
    scripts: tuple[Script, ...] = ()
    untold: tuple[str, ...] = ()


def live(source: str) -> Live:
    """Read one of `SOURCES` by its own read-only commands; `PlannerError` where the first of them fails."""
    return _slurm() if source == "slurm" else _kubernetes()


def _kubernetes() -> Live:
    texts, untold = outputs(WORKLOADS, ABSENT)
    return Live(texts=texts, untold=untold)


def _slurm() -> Live:
    """The queue, the accounts of what is over, and each script, which only its owner and operators may read."""
    (queue, *accounts), untold = outputs((_QUEUE, history.COMMAND))
    jobs = batches(queue.name, queue.data)
    commands = {job: ("scontrol", "write", "batch_script", str(job.number), "-") for job in jobs}
    found, unread = outputs(tuple(commands.values()), needed=0)
    by_name = {text.name: text for text in found}
    scripts = (
        Script(job=job, text=text)
        for job, command in commands.items()
        if (text := by_name.get(" ".join(command))) is not None
    )
    return Live(texts=tuple(accounts), scripts=tuple(scripts), untold=(*untold, *unread))


def queued(found: Iterable[Script], wish: ImportWish, models: Models) -> tuple[Result, ...]:
    """The scripts of queued jobs as specs; what runs without one, as `srun` does, is refused."""
    return tuple(_queued(each, wish, models) for each in sorted(found, key=lambda each: each.job.number))


def _queued(each: Script, wish: ImportWish, models: Models) -> Result:
    name = f"job-{each.job.number}"
    if not each.text.data.startswith(b"#!"):
        return Refused(subject=name, reason="it has no script")
    return script(name, each.text.data, wish, models, dict(each.job.options))
