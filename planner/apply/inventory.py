"""The inventory: every object that is ours. Nothing else is ever changed or removed.

It is written with old and new objects before the first step and with the new ones alone after the last, so that a run
which is killed leaves no object that the next one does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from planner.apply import sealed
from planner.apply.item import Rank, Record
from planner.apply.sealed import StateError
from planner.spec.backend import BackendType

FORMAT: Final = "planner/inventory/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All records by key, the plan that they are of, and whether that plan is wholly applied.

    `follows` is the seal of the inventory that this one took the place of.
    """

    records: Mapping[str, Record] = field(default_factory=lambda: MappingProxyType({}))
    plan: str = ""
    complete: bool = True
    follows: str = ""


def with_records(inventory: Inventory, records: Iterable[Record]) -> Inventory:
    """`inventory` with other records, sorted by key."""
    return replace(inventory, records=MappingProxyType({record.key: record for record in sorted(records)}))


def write(path: Path, inventory: Inventory) -> str:
    """Write the inventory and give its seal."""
    return sealed.write(path, content_of(inventory))


def read(path: Path) -> tuple[Inventory, str]:
    """The inventory and its seal; an empty one where there is none; raises `StateError` for one that is not ours."""
    found = sealed.read(path, FORMAT)
    if found is None:
        return Inventory(), ""
    content, seal = found
    try:
        records = [record_of(entry) for entry in content["records"]]
        made = Inventory(plan=_text(content["plan"]), complete=content["complete"], follows=_text(content["follows"]))
        return with_records(made, records), seal
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(f"{path} is not an inventory: {error}") from None


def content_of(inventory: Inventory) -> dict[str, Any]:
    """The document of an inventory."""
    return {
        "format": FORMAT,
        "plan": inventory.plan,
        "complete": inventory.complete,
        "follows": inventory.follows,
        "records": [entry_of(record) for record in inventory.records.values()],
    }


def entry_of(record: Record) -> dict[str, Any]:
    """One record as JSON."""
    return {
        "key": record.key,
        "cluster": record.cluster,
        "backend": str(record.backend),
        "rank": record.rank.name.lower(),
        "refs": list(record.refs),
        "addresses": list(record.addresses),
        "protected": record.protected,
        "digest": record.digest,
    }


def record_of(entry: Mapping[str, Any]) -> Record:
    """One record from JSON; raises `ValueError`, `KeyError` or `TypeError` for anything that is none."""
    key, protected = _text(entry["key"]), entry["protected"]
    pure = PurePosixPath(key)
    clean = key == str(pure) and not pure.is_absolute() and ".." not in pure.parts and len(pure.parts) > 1
    if not clean or not key.isprintable() or pure.parts[0] != entry["cluster"] or not isinstance(protected, bool):
        raise ValueError(f"'{key[:80]}' is not the key of an object")
    return Record(
        key=key,
        cluster=_text(entry["cluster"]),
        backend=BackendType(entry["backend"]),
        rank=Rank[_text(entry["rank"]).upper()],
        refs=tuple(map(_text, entry["refs"])),
        addresses=tuple(map(_text, entry["addresses"])),
        protected=protected,
        digest=_text(entry["digest"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value
