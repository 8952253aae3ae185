"""What is edited: two sets of specs compared field by field, and two sets of files line by line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from planner.specset.model import address_of_spec

if TYPE_CHECKING:
    from planner.spec.envelope import Envelope
    from planner.specset import SpecSet


class Edit(StrEnum):
    """What happens to a spec or file."""

    REMOVED = "removed"
    CHANGED = "changed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class FieldEdit:
    """One field, as `pools[h100].nodes`, with what it says on each side as JSON; None where it is not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecEdit:
    """What happens to one spec; `fields` only where it is changed, `formerly` only where it is renamed."""

    address: str
    edit: Edit
    fields: tuple[FieldEdit, ...] = ()
    formerly: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """What happens to one file: lines that come and go, and all of them as a unified diff."""

    path: str
    edit: Edit
    added: int
    removed: int
    diff: str


def spec_edits(before: SpecSet, after: SpecSet) -> tuple[SpecEdit, ...]:
    """What differs between the specs, by address; renames are followed by `formerly`. Snapshots are no specs of people.

    Specs are compared as they are resolved, so that a team's changed defaults are seen in its jobs.
    """
    old, new = (_by_address(side) for side in (before, after))
    former = {
        address: next((name for name in getattr(spec, "formerly", ()) if name in old and name not in new), None)
        for address, spec in new.items()
        if address not in old
    }
    gone = old.keys() - new.keys() - set(former.values())
    edits = [SpecEdit(address=address, edit=Edit.REMOVED) for address in gone]
    for address, spec in new.items():
        earlier = former.get(address) or address
        edit = _changed(address, earlier, old[earlier], spec) if earlier in old else _added(address)
        edits += [edit] if edit else []
    return tuple(sorted(edits, key=lambda item: item.address))


def _by_address(specset: SpecSet) -> dict[str, Envelope]:
    return {address_of_spec(spec): spec for spec in specset.specs() if spec.kind != "Snapshot"}


def _added(address: str) -> SpecEdit:
    return SpecEdit(address=address, edit=Edit.ADDED)


def _changed(address: str, formerly: str, before: Envelope, after: Envelope) -> SpecEdit | None:
    old, new = (dict(_fields(_tree(spec), "")) for spec in (before, after))
    fields = tuple(
        FieldEdit(path=path, before=old.get(path), after=new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    )
    renamed = formerly if formerly != address else None
    return SpecEdit(address=address, edit=Edit.CHANGED, fields=fields, formerly=renamed) if fields or renamed else None


def _tree(spec: Envelope) -> dict[str, Any]:
    tree: dict[str, Any] = spec.model_dump(mode="json", exclude_defaults=True, exclude={"formerly"})
    return tree


def _fields(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every field that holds no fields of its own, with its text; items of a list go by name where they have one."""
    if isinstance(value, dict) and value:
        for key in value:
            yield from _fields(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _fields(item, f"{path}[{item.get('name', number)}]")
    else:
        yield path, json.dumps(value, sort_keys=True, ensure_ascii=False)


def file_edits(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileEdit, ...]:
    """What differs between two sets of files, by path."""
    return tuple(
        _file(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _file(path: str, old: str | None, new: str | None) -> FileEdit:
    lines = list(
        difflib.unified_diff(
            (old or "").splitlines(), (new or "").splitlines(), f"a/{path}", f"b/{path}", n=2, lineterm=""
        )
    )
    edit = Edit.ADDED if old is None else Edit.REMOVED if new is None else Edit.CHANGED
    return FileEdit(
        path=path, edit=edit, diff="\n".join(lines),
        added=sum(line.startswith("+") for line in lines[2:]), removed=sum(line.startswith("-") for line in lines[2:]),
    )  # fmt: skip
