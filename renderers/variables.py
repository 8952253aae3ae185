"""Which variables of a job a script may have itself, and which only the job's own process is given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from renderers.payload import EnvVar, Payload

_OF_OTHERS: Final = re.compile(
    "BASH.*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|OPTARG|OPTIND|PIPESTATUS|PPID|RANDOM"
    "|SECONDS|SHELLOPTS|SRANDOM|UID|_|IFS|PATH|LD_.*|(SLURM|SBATCH|SRUN)_.*"
)
"""Variables that shells do not keep as they are assigned, or that would change what srun or apptainer is and does."""


def exported(payload: Payload) -> tuple[EnvVar, ...]:
    """The variables that the script has too."""
    return tuple(item for item in payload.env if not item.secret and _OF_OTHERS.fullmatch(item.name) is None)


def command_of(payload: Payload) -> tuple[str, ...]:
    """The job's command, started by `env` where it has variables that the script itself must not have."""
    handed = tuple(
        f"{item.name}={item.value}" for item in payload.env if not item.secret and _OF_OTHERS.fullmatch(item.name)
    )
    if handed and not payload.command:
        raise Unsupported(f"{handed[0].partition('=')[0]} can be set only for a command. Write the job's command")
    return ("env", *handed, *payload.command) if handed else payload.command
