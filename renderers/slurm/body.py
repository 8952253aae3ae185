"""What a job's script does after its `#SBATCH` lines: environment, rendezvous, and one `srun` of the command."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.spec.backend import Containers
from renderers import apptainer, variables
from renderers.refusal import Unsupported
from renderers.slurm.devices import blocks_of
from renderers.slurm.header import cpus_per_task

if TYPE_CHECKING:
    from renderers.payload import EnvVar, Payload

_REGISTRY: Final = re.compile(r"(?P<host>[^/#]*[.:][^/#]*|localhost)/(?P<rest>[^#]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The values of the body's template; `srun` is the whole command, word by word.

    `foreign` are the variables by which other vendors select devices: they are unset, because stacked they pick wrong
    ones. `processes` is how many one torchrun starts on a node, None where Slurm itself starts several tasks.
    """

    start: str
    end: str
    env: tuple[EnvVar, ...]
    secrets: tuple[str, ...]
    foreign: tuple[str, ...]
    processes: str | None
    nodes: int
    srun: tuple[str, ...]

    @property
    def is_gang(self) -> bool:
        """Whether the parts have to find each other."""
        return self.nodes > 1


def body(payload: Payload) -> Body:
    """What the script of a job does; raises `Unsupported` where its container cannot be started this way."""
    return Body(
        start=payload.segment.start,
        end=payload.segment.end,
        env=variables.exported(payload),
        secrets=tuple(item.name for item in payload.env if item.secret),
        foreign=payload.facts.foreign_visible_devices if payload.facts else (),
        processes=_processes(payload),
        nodes=len(payload.nodes),
        srun=(*_srun(payload), "--", *_unsplit(_started(payload))),
    )


def own_body(payload: Payload) -> Body:
    """What is added to a script of the job's own, which starts what it starts itself."""
    return Body(
        start=payload.segment.start,
        end=payload.segment.end,
        env=variables.exported(payload),
        secrets=(),
        foreign=(),
        processes=None,
        nodes=len(payload.nodes),
        srun=(),
    )


def _processes(payload: Payload) -> str | None:
    """One process a device; `auto` lets each part of an uneven gang count its own."""
    if payload.job.tasks_per_node not in (None, 1) or payload.facts is None:
        return None
    return str(len(payload.devices)) if payload.is_even else "auto"


def _srun(payload: Payload) -> tuple[str, ...]:
    """`srun` with what a step does not take over from its job.

    Slurm 22.05 and later pass `--cpus-per-task` on only when told. A gang is over when one of its tasks has failed.
    """
    blocks = blocks_of(payload)
    together = (f"--het-group=0-{len(blocks) - 1}",) if len(blocks) > 1 else ()
    fewest = min(cpus_per_task(payload, block) or 0 for block in blocks)
    cpus = (f"--cpus-per-task={fewest}",) if fewest else ()
    pyxis = _pyxis(payload) if _containers(payload) is Containers.PYXIS else ()
    return ("srun", "--kill-on-bad-exit=1", *together, *cpus, *pyxis)


def _containers(payload: Payload) -> Containers:
    """What starts the image; nothing does where the job names none."""
    return payload.cluster.backend.containers if payload.image else Containers.NONE


def _unsplit(command: tuple[str, ...]) -> tuple[str, ...]:
    """A command that srun takes as one: any word `:` divides it into parts of a heterogeneous job, even after `--`."""
    return ("/bin/sh", "-c", f"exec {shlex.join(command)}") if ":" in command else command


def _started(payload: Payload) -> tuple[str, ...]:
    command = variables.command_of(payload)
    match _containers(payload):
        case Containers.APPTAINER:
            return apptainer.command_of(payload, command)
        case _ if command:
            return command
        case _:
            raise Unsupported("Slurm starts commands, and the job has none. Write its command")


def _pyxis(payload: Payload) -> tuple[str, ...]:
    mounts = ",".join(apptainer.bind(mount) for mount in apptainer.bound(payload))
    return (
        f"--container-image={pyxis_image(payload.image)}",
        *((f"--container-mounts={mounts}",) if mounts else ()),
    )


def pyxis_image(image: str) -> str:
    """An image reference as Pyxis reads it: a registry ends at `#`, where others write `/`."""
    match = _REGISTRY.fullmatch(image)
    local = image.startswith(("/", "./")) or image.endswith(".sqsh") or "://" in image
    return image if match is None or local else f"{match['host']}#{match['rest']}"
