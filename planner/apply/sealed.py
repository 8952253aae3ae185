"""JSON documents that carry a digest of their own content, so that a hand or a broken disk does not go unnoticed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from planner import lockfile
from planner.diagnostics import PlannerError

_LARGEST: Final = 256 << 20


class StateError(PlannerError):
    """A file of the state is not as apply left it."""


def text_of(content: dict[str, Any]) -> str:
    """`content` with its seal as text: sorted keys, LF."""
    return json.dumps({**content, "seal": seal_of(content)}, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def seal_of(content: dict[str, Any]) -> str:
    """`sha256:…` over `content`."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def write(path: Path, content: dict[str, Any]) -> str:
    """Put a sealed document into `path` at once, and give its seal."""
    lockfile.write(path, text_of(content))
    return seal_of(content)


def read(path: Path, format_name: str) -> tuple[dict[str, Any], str] | None:
    """The content of a sealed document and its seal; None when there is no file; `StateError` when it is not whole."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise StateError(f"{path} is not a plain file; {_MEND}")
    try:
        data = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
    except FileNotFoundError:
        return None
    return checked(data, format_name, str(path))


def checked(data: bytes | str, format_name: str, where: str) -> tuple[dict[str, Any], str]:
    """The content of a sealed text and its seal; raises `StateError` naming `where`."""
    try:
        content = json.loads(data)
        seal = content.pop("seal")
        is_whole = content["format"] == format_name and seal == seal_of(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StateError(f"{where} is not a file of the form {format_name}; {_MEND}") from None
    if not is_whole:
        raise StateError(f"{where} was changed after it was written; {_MEND}")
    return content, seal


_MEND: Final = "restore the state folder from the last commit of it, or compare it with what runs before going on"
