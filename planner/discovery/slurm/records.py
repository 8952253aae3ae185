"""The one-line records that `scontrol -o` prints, and the small grammars inside their values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from planner import hosts
from planner.units import ceil_div

Record = dict[str, str]

_KEY: Final = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z0-9_:/]*)=")
_GRES: Final = re.compile(
    r"([A-Za-z_][\w.-]*)(?::(?![0-9]+[KMG]?(?:[:,(]|$))([^:,()]+))?(?::([0-9]+)([KMG]?))?(?=[:,(]|$)"
)
_INDICES: Final = re.compile(r"\(IDX:([0-9,-]+)\)")
_TIME: Final = re.compile(r"(?:([0-9]+)-)?([0-9]+):([0-9]{2}):([0-9]{2})")
_MOST: Final = 4_096
_SCALES: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_NOTHING: Final = frozenset({"", "(null)", "N/A", "NONE", "UNLIMITED", "INFINITE", "Unknown", "ALL"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Gres:
    """One item of a gres list: `gpu:h100:8(IDX:0-3)`."""

    name: str
    type: str
    count: int
    indices: tuple[int, ...] = ()


def records(text: str) -> Iterator[Record]:
    """The records of a text, one a line. Of a key that is there twice the first counts: free text stands at the end."""
    for line in text.splitlines():
        found = list(_KEY.finditer(line))
        ends = [*(match.start() for match in found[1:]), len(line)]
        record: Record = {}
        for match, end in zip(found, ends, strict=True) if found else ():
            record.setdefault(match[1], line[match.end() : end].strip())
        if record:
            yield record


def table(text: str, key: str) -> Iterator[Record]:
    """The rows of a table whose cells `|` divides, by the names in its header; rows without a `key` are left out.

    The last column may hold the sign that divides.
    """
    lines = text.splitlines()
    names = lines[0].split("|") if lines else []
    for line in lines[1:]:
        row = dict(zip(names, line.split("|", len(names) - 1), strict=False))
        if row.get(key):
            yield row


def rest_of(line: str, key: str) -> str:
    """Free text behind a key, up to the bracket in which Slurm says who wrote it and when."""
    _, found, text = line.partition(f" {key}=")
    return re.sub(r"\s*\[[^\[\]]*@[^\[\]]*\]\s*$", "", text).strip() if found else ""


def stated(value: str | None) -> str:
    """A value, or nothing where Slurm writes a word for nothing."""
    return "" if value is None or value in _NOTHING else value


def number(value: str | None) -> int | None:
    """A whole number, None where there is none."""
    return int(value) if value is not None and re.fullmatch(r"[0-9]{1,15}", value) else None


def gres(text: str | None) -> tuple[Gres, ...]:
    """The items of a gres list, in their order."""
    items = re.split(r",(?![^()]*\))", stated(text))
    return tuple(item for item in map(_gres, items) if item is not None)


def _gres(text: str) -> Gres | None:
    match = _GRES.match(text.strip().removeprefix("gres:").removeprefix("gres/"))
    if match is None:
        return None
    count = int(match[3] or 1) * _SCALES[match[4] or ""]
    indices = _INDICES.search(text)
    return Gres(name=match[1], type=match[2] or "", count=count, indices=_numbers(indices[1]) if indices else ())


def _numbers(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found += range(int(first), min(int(last or first), int(first) + _MOST) + 1)
    return tuple(found)


def nodes(text: str | None) -> tuple[str, ...]:
    """The nodes of a host list; none where it is not one."""
    try:
        return hosts.expand(stated(text)) if stated(text) else ()
    except ValueError:
        return ()


def seconds(text: str | None) -> int | None:
    """A length as Slurm prints it, `[days-]hours:minutes:seconds`; None for none or no limit."""
    match = _TIME.fullmatch(text or "")
    if match is None:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def moment(text: str | None) -> int | None:
    """A time as Slurm prints it under TZ=UTC, in seconds since 1970; None for none."""
    try:
        return int(datetime.strptime(text or "", "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def tres(text: str | None) -> dict[str, str]:
    """`cpu=4,mem=64G,gres/gpu:h100=8` by name."""
    pairs = (part.partition("=") for part in stated(text).split(","))
    return {name: value for name, equals, value in pairs if equals}


def mebibytes(text: str | None) -> int | None:
    """Memory as Slurm prints it, `64G` or `2063000M`; rounded up."""
    match = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,6}))?([KMGT])", text or "")
    if match is None:
        return None
    scale = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}[match[3]]
    part = match[2] or "0"
    kibibytes: int = int(match[1]) * scale + ceil_div(int(part) * scale, int("1" + "0" * len(part)))
    return ceil_div(kibibytes, 1024)
