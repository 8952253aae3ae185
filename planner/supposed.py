"""Specs as they would be: documents changed, added and left out, without touching the files that hold them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner import yamlio
from planner.diagnostics import SpecError, UsageError, did_you_mean, quoted
from planner.source import SUFFIXES, SourceFile

_OF_TEAMS: Final = ("job", "service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A field of one document and the value that it would have; `path` are keys, names of list items, or indices."""

    address: str
    path: tuple[str, ...]
    value: Any

    @classmethod
    def parse(cls, text: str) -> Setting:
        """Read `job/vision/resnet.gpus=16`; the value is YAML on one line. Raises `UsageError`."""
        where, sign, value = text.partition("=")
        address, *path = where.split(".")
        if not sign or not path or not all(path) or "\n" in text:
            raise UsageError(f"{quoted(text)} is not ADDRESS.FIELD=VALUE, for example job/vision/resnet.gpus=16")
        documents, faults = yamlio.read(SourceFile(text, f"value: {value}\n".encode()))
        if faults or len(documents) != 1 or not isinstance(documents[0].value, dict):
            raise UsageError(f"{quoted(value)} is not a value; write it as it would stand in a spec, on one line")
        return cls(address=address, path=tuple(path), value=documents[0].value.get("value"))


def supposed(
    files: Iterable[SourceFile], settings: Iterable[Setting] = (), without: Iterable[str] = ()
) -> tuple[SourceFile, ...]:
    """`files` with fields set and documents left out; files that nothing changes in stay as they are.

    Raises `UsageError` for an address that no document has, and for a path that leads nowhere.
    """
    wanted, gone = tuple(settings), frozenset(without)
    given = tuple(files)
    known = [address for file in given if file.path.endswith(SUFFIXES) for address, _ in _documents(file)]
    for address in (*(item.address for item in wanted), *gone):
        if address not in known:
            raise UsageError(f"there is no {quoted(address)}; {did_you_mean(address, known, list_at_most=5)}")
    touched = gone.union(item.address for item in wanted)
    return tuple(_changed(file, wanted, gone, touched) if file.path.endswith(SUFFIXES) else file for file in given)


def _changed(
    file: SourceFile, settings: tuple[Setting, ...], gone: frozenset[str], touched: frozenset[str]
) -> SourceFile:
    documents = tuple(_documents(file))
    if touched.isdisjoint(address for address, _ in documents):
        return file
    kept = [_set(address, value, settings) for address, value in documents if address not in gone]
    return SourceFile(file.path, "".join(f"---\n{json.dumps(value)}\n" for value in kept).encode())


def _set(address: str, document: Mapping[str, Any], settings: tuple[Setting, ...]) -> Any:
    changed: Any = document
    for item in settings:
        if item.address == address:
            changed = _put(changed, item.path, item)
    return changed


def _put(holder: Any, path: tuple[str, ...], item: Setting) -> Any:
    """A copy of `holder` with the value of a setting at the end of `path`; keys that are not there are made."""
    if not path:
        return item.value
    first, rest = path[0], path[1:]
    if isinstance(holder, dict):
        return {**holder, first: _put(holder.get(first, {} if rest else None), rest, item)}
    if isinstance(holder, list):
        names = [str(each.get("name")) if isinstance(each, dict) else "" for each in holder]
        at = names.index(first) if first in names else int(first) if first.isdecimal() else len(holder)
        if at < len(holder):
            return [*holder[:at], _put(holder[at], rest, item), *holder[at + 1 :]]
    raise UsageError(f"{item.address} has no {quoted('.'.join(item.path))}: nothing is at {quoted(first)}")


def _documents(file: SourceFile) -> Iterator[tuple[str, Any]]:
    """The documents of a file by their addresses; what has none is under the empty one."""
    documents, faults = yamlio.read(file)
    if any(fault.is_error for fault in faults):
        raise SpecError(faults)
    for document in documents:
        yield _address(document.value), document.value


def _address(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    kind, team, name = (str(value.get(key, "")) for key in ("kind", "team", "name"))
    return "/".join((kind.lower(), team, name) if kind.lower() in _OF_TEAMS else (kind.lower(), name))
