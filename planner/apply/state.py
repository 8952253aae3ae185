"""The state folder: what apply remembers between runs. It is meant to be committed to a branch of its own.

inventory.json       every object that is ours
journal.jsonl        what an unfinished run has done; absent between runs
applied.lock.json    the plan that is applied
previous.lock.json   the plan before it
paused.json          teams and pools that are held back
work/                files of back ends that are programs on this machine
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from planner import lockfile
from planner.apply import inventory, journal
from planner.apply.inventory import Inventory
from planner.apply.item import Record
from planner.apply.journal import Journal
from planner.apply.sealed import StateError
from planner.apply.steps import Steps
from planner.plan import Plan, to_json

LEASE: Final = "apply.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is there, as far as anybody knows: records by key, and how the last run ended.

    `plan` is the digest of the plan that the inventory is of, `complete` says whether it is wholly applied, and
    `finished` is how many steps an unfinished run has done.
    """

    records: Mapping[str, Record]
    plan: str
    complete: bool
    seal: str
    finished: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The files of one state folder."""

    root: Path

    @property
    def lease(self) -> Path:
        """The lock of the folder."""
        return self.root / LEASE

    @property
    def applied_path(self) -> Path:
        """The lock file of the applied plan."""
        return self.root / "applied.lock.json"

    @property
    def previous_path(self) -> Path:
        """The lock file of the plan that was applied before."""
        return self.root / "previous.lock.json"

    @property
    def paused_path(self) -> Path:
        """The teams and pools that are held back."""
        return self.root / "paused.json"

    @property
    def work(self) -> Path:
        """Where back ends keep files."""
        return self.root / "work"

    def applied(self) -> Plan | None:
        """The plan that is applied, if any."""
        return lockfile.read(self.applied_path) if self.applied_path.exists() else None

    def known(self) -> Known:
        """The inventory with what the journal of an unfinished run adds; raises `StateError` where they disagree."""
        found, seal = inventory.read(self._inventory)
        told = journal.read(self._journal)
        if told is not None and told.base not in (seal, found.follows):
            raise StateError(
                f"{self._journal} is of another inventory than {self._inventory};"
                " restore the state folder from the last commit of it"
            )
        records, finished = dict(found.records), 0
        if told is not None and told.base == seal and not found.complete:
            finished = len(told.done)
            _replay(records, told)
        return Known(
            records=MappingProxyType(dict(sorted(records.items()))),
            plan=found.plan, complete=found.complete, seal=seal, finished=finished,
        )  # fmt: skip

    def begin(self, known: Known, todo: Steps, plan: str) -> journal.Writer:
        """Write the inventory with everything that is or may soon be there, then begin a journal on it."""
        records = dict(known.records)
        for step in todo.steps:
            records[step.record.key] = step.interim
        told = journal.read(self._journal)
        if told is not None and told.base != known.seal:
            self._journal.unlink()
        made = Inventory(plan=plan, complete=False, follows=known.seal)
        seal = inventory.write(self._inventory, inventory.with_records(made, records.values()))
        return journal.Writer(self._journal, plan, seal)

    def finish(self, plan: Plan, records: Mapping[str, Record]) -> None:
        """Write what is there now, then the plan as the applied one, and end the journal.

        Files that are right already are left alone.
        """
        found, seal = inventory.read(self._inventory)
        final = inventory.with_records(Inventory(plan=plan.digest, follows=seal), records.values())
        if found.complete:
            self._journal.unlink(missing_ok=True)
        same = (found.records, found.plan, found.complete) == (final.records, final.plan, final.complete)
        if not same or not self._inventory.exists():
            inventory.write(self._inventory, final)
        self._set_applied(plan)
        self._journal.unlink(missing_ok=True)

    def _set_applied(self, plan: Plan) -> None:
        before = self.applied()
        if before is not None and before.digest == plan.digest:
            return
        if before is not None:
            lockfile.write(self.previous_path, to_json(before))
        lockfile.write(self.applied_path, to_json(plan))

    @property
    def _inventory(self) -> Path:
        return self.root / "inventory.json"

    @property
    def _journal(self) -> Path:
        return self.root / "journal.jsonl"


def _replay(records: dict[str, Record], told: Journal) -> None:
    for done in told.done:
        if done.record is None:
            records.pop(done.key, None)
        else:
            records[done.key] = done.record
