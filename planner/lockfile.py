"""The lock file on disk: read whole, and written so that it is always either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from planner.diagnostics import PlannerError
from planner.plan import Plan, PlanError, from_json

_LARGEST: Final = 1 << 30


def read(path: Path) -> Plan:
    """Read a plan; raises `PlanError` naming the file when it is none, `FileNotFoundError` when there is no file."""
    size = path.stat().st_size
    if not stat.S_ISREG(path.stat().st_mode) or size > _LARGEST:
        raise PlanError(f"{path}: not a plan: expected a plain file of at most {_LARGEST >> 20} MiB")
    try:
        return from_json(path.read_bytes())
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from None


def write(path: Path, text: str) -> None:
    """Put `text` into `path` at once.

    The text goes to a hidden file in the same folder, reaches the disk, and then takes the name. Whenever this is
    interrupted, `path` still holds what it held before; the hidden file is removed unless the process was killed.
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_through(temporary, text)
        temporary.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise PlannerError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _write_through(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(descriptor)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
