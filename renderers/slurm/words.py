"""How Slurm spells names, times and devices; nothing here lets a blank, quote, `#` or backslash through."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from planner.names import without_index
from planner.units import ceil_div
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME_LENGTH: Final = 128
"""Longest job name written; Slurm's accounting keeps 255 bytes."""
_HASH: Final = 8
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,126}[A-Za-z0-9_])?")
_MINUTE: Final = 60


def stem(address: str) -> str:
    """`vision.resnet` of `job/vision/resnet`, `vision.sweep.3` of an array's element: unique, as names hold no dot."""
    array = without_index(address)
    index = address[len(array) :].strip("[]")
    return ".".join([*array.split("/")[1:], *([index] if index else [])])


def job_name(text: str, run: str) -> str:
    """`text` with only letters, digits, `.`, `_` and `-`, then a hash of `run`: the same run always has the same name.

    A text that had to be changed or cut gets a hash of all of it too, so that two texts never become one name.
    """
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    room = NAME_LENGTH - _HASH - 1
    if not clean or clean != text or len(clean) > room:
        clean = f"{clean[: room - _HASH - 1].rstrip('-._')}-{_hash(text)}".lstrip("-")
    return f"{clean}-{_hash(run)}"


def comment(address: str, spec: str, mark: str) -> str:
    """What a job is told apart by in Slurm: its address, the hash of its spec, and how it was written (`mark`)."""
    return plain_comment(f"planner:{address}@{spec.removeprefix('sha256:')[:12]}+{mark}")


def mark(kept: str, changeable: str) -> str:
    """Two hashes with a dot between: of what only a new job can have, and of what a queued one can be given."""
    return f"{_hash(kept)}.{_hash(changeable)}"


def plain_comment(text: str) -> str:
    """`text` if a comment can hold it as it is."""
    if re.fullmatch(r"[A-Za-z0-9_.:/@+\[\]-]+", text) is None:
        raise Unsupported(f"'{text}' cannot stand in a comment of Slurm")
    return text


def plain(text: str, what: str) -> str:
    """`text` if it is a bare name; otherwise `Unsupported`, because `#SBATCH` lines know no safe quoting."""
    if _PLAIN.fullmatch(text) is None:
        raise Unsupported(
            f"the {what} '{text}' cannot stand in an #SBATCH line: it takes letters, digits, '_', '.' and '-'"
        )
    return text


def plain_list(text: str, what: str) -> str:
    """`text` if it is a bare name, or several with commas between."""
    return ",".join(plain(part, what) for part in text.split(","))


def wall_time(limit_seconds: int, most_milliseconds: int | None = None) -> str:
    """`D-HH:MM:SS`: the limit rounded up to a minute, but never past the longest run that the back end allows.

    Raises `Unsupported` where the limit itself is longer than that.
    """
    minutes = max(1, ceil_div(limit_seconds, _MINUTE))
    if most_milliseconds is not None:
        if limit_seconds * 1000 > most_milliseconds:
            raise Unsupported(
                f"its limit of {limit_seconds} s is more than the {most_milliseconds // 1000} s that the pool allows"
            )
        minutes = max(1, min(minutes, most_milliseconds // 1000 // _MINUTE))
    days, rest = divmod(minutes, 24 * 60)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00"


def seconds_of(wall: str) -> int:
    """The seconds of a `D-HH:MM:SS`; raises `ValueError` for any other spelling."""
    match = re.fullmatch(r"([0-9]+)-([0-9]{2}):([0-9]{2}):([0-9]{2})", wall)
    if match is None:
        raise ValueError(f"'{wall}' is not D-HH:MM:SS")
    days, hours, minutes, seconds = map(int, match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def begin(epoch_seconds: int) -> str:
    """A moment, the same in every time zone: Slurm reads any other spelling in that of the submitting host."""
    return f"uts{epoch_seconds}"


def gres(amounts: Iterable[tuple[str, str | None, int]]) -> str:
    """One list of (name, type or None, how many per node): `gpu:h100:8,nvme:2`."""
    return ",".join(":".join([name, *([kind] if kind else []), str(count)]) for name, kind, count in amounts)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
