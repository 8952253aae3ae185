"""Running a back end's own read-only commands: argument lists, no shell, a time limit, times in UTC."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from planner.diagnostics import PlannerError, UsageError, printable
from planner.discovery.found import FILE_BYTES, Text

SECONDS: Final = 60
_UTC: Final = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "SLURM_TIME_FORMAT": "standard"}


def outputs(
    commands: Sequence[Sequence[str]],
    absent: str = "",
    environment: Mapping[str, str] | None = None,
    *,
    needed: int = 1,
) -> tuple[tuple[Text, ...], tuple[str, ...]]:
    """What the commands print, and a sentence for each that failed; the first `needed` must work, else `PlannerError`.

    A failure in whose message `absent` stands means that there is nothing of the kind, which is no trouble.
    """
    texts: list[Text] = []
    untold: list[str] = []
    for position, command in enumerate(commands):
        data, trouble = _output(command, dict(os.environ if environment is None else environment) | _UTC)
        if trouble and position < needed:
            raise PlannerError(f"'{' '.join(command)}' failed: {trouble}")
        if trouble and absent and absent in trouble:
            continue
        if trouble:
            untold.append(f"'{' '.join(command)}' failed, and what it would tell is missing: {trouble}")
        else:
            texts.append(Text(name=" ".join(command), data=data))
    return tuple(texts), tuple(untold)


def _output(command: Sequence[str], environment: Mapping[str, str]) -> tuple[bytes, str]:
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL, env=environment
        )
    except FileNotFoundError:
        raise UsageError(f"'{command[0]}' is not installed here; give files with its output instead") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        return b"", printable(str(error))
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return b"", printable(lines[-1][:300] if lines else f"exit code {done.returncode}")
    if len(done.stdout) > FILE_BYTES:
        return b"", f"it printed more than {FILE_BYTES >> 20} MiB"
    return done.stdout, ""
