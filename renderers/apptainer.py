"""How Apptainer starts a job's image: the same words under Slurm and on a host of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.spec.work import Mount
    from renderers.payload import Payload


def command_of(payload: Payload, command: tuple[str, ...]) -> tuple[str, ...]:
    """The whole command, word by word; without a command of the job what the image itself runs.

    Raises `Unsupported` for a mount whose path Apptainer would read otherwise.
    """
    flag = payload.facts.apptainer_flag if payload.facts else None
    binds = tuple(word for mount in bound(payload) for word in ("--bind", bind(mount)))
    verb = "exec" if command else "run"
    return ("apptainer", verb, *((flag,) if flag else ()), *binds, apptainer_image(payload.image), *command)


def apptainer_image(image: str) -> str:
    """An image reference as Apptainer reads it: a file, or a URI; a plain reference is a registry's."""
    if "://" in image or image.startswith(("/", "./")) or image.endswith(".sif"):
        return image
    return f"docker://{image.replace('#', '/')}"


def bound(payload: Payload) -> tuple[Mount, ...]:
    """The directories of the host that a job sees."""
    return tuple(mount for mount in payload.job.mounts if mount.host is not None)


def bind(mount: Mount) -> str:
    """A directory of the host in the words of container tools on clusters."""
    for path in (mount.host or "", mount.path):
        if re.search(r"[,:\\]", path):
            raise Unsupported(
                f"the path '{path}' of a mount holds ',', ':' or '\\', which container tools read as their own"
            )
    return f"{mount.host}:{mount.path}" + (":ro" if mount.read_only else "")
