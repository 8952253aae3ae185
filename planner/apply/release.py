"""Interrupting due work and letting it begin, and holding teams and pools back: what the state folder notes of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, assert_never

from planner.apply import sealed
from planner.apply.backend import Backend
from planner.apply.due import Due, Interruption, Left, Release
from planner.apply.item import Record
from planner.apply.lease import Held
from planner.apply.sealed import StateError
from planner.diagnostics import PlannerError

FORMAT: Final = "planner/paused/v1"


def paused(path: Path) -> tuple[str, ...]:
    """The teams and pools that are held back, sorted; none where there is no file."""
    found = sealed.read(path, FORMAT)
    names = found[0].get("paused") if found else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise StateError(f"{path} is not a list of teams and pools")
    return tuple(sorted(set(names)))


def set_paused(path: Path, names: Iterable[str]) -> None:
    """Hold back exactly these teams and pools."""
    sealed.write(path, {"format": FORMAT, "paused": sorted(set(names))})


def release(
    due: Due, records: Mapping[str, Record], backends: Mapping[str, Backend], lease: Held,
    tell: Callable[[Interruption | Release], None] = lambda _: None,
) -> tuple[Left, ...]:  # fmt: skip
    """Interrupt all that is due for that, let all that is due begin, and say what is left.

    `tell` hears of work that ran, or was held, until now. One piece of work that cannot be interrupted or begin keeps
    no other from that.
    """
    left = list(due.left)
    every: tuple[Interruption | Release, ...] = (*due.interruptions, *due.releases)
    for item in every:
        lease.check()
        held = [
            record
            for record in records.values()
            if record.is_workload and record.cluster == item.cluster and item.address in record.addresses
        ]
        if not held:
            left.append(Left(address=item.address, why="it is not in the inventory; apply the plan first"))
        try:
            done = [_do(backends[item.cluster], item, record) for record in held]
        except (PlannerError, OSError) as error:
            left.append(Left(address=item.address, why=str(error)))
            continue
        if any(done):
            tell(item)
    return tuple(left)


def _do(backend: Backend, item: Interruption | Release, record: Record) -> bool:
    match item:
        case Interruption():
            return backend.interrupt(record, item.address)
        case Release():
            return backend.release(record, item.address)
        case never:
            assert_never(never)
