"""A back end that is a folder: every object is a file, and a log says what happened. For tests, and to try apply out.

CLUSTER/objects/NAME.json    one object: its key, its references and its text
log.jsonl                    every effect with its key: `created`, `changed`, `removed`, `released`, `interrupted`
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planner import lockfile
from planner.apply.backend import BackendError
from planner.apply.item import Action, Departure, Item, Presence, Record, Standing, Step
from planner.apply.workfiles import changed_line

OWNER: Final = "gpu-fleet-planner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Keeps objects below `root`."""

    root: Path

    def describe(self, step: Step) -> tuple[str, ...]:
        """What would be written or removed."""
        return (f"{step.action} {self._file(step.record)}",)

    def presence(self, items: Iterable[Item]) -> Mapping[str, Presence]:
        """Whose the files are, by the owner that they name."""
        return {item.key: self._presence(item.record) for item in items}

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """Objects whose file is gone or holds another text, and files of ours that nobody wants."""
        wanted = {item.key: item.text for item in items}
        there = {key: text for key, text in self.objects().items() if key.partition("/")[0] == cluster}
        for key in sorted(wanted.keys() | there.keys()):
            if key not in there:
                yield Departure(key=key, standing=Standing.MISSING)
            elif key not in wanted:
                yield Departure(key=key, standing=Standing.EXTRA)
            elif there[key] != wanted[key]:
                yield Departure(key=key, standing=Standing.CHANGED, **changed_line(wanted[key], there[key]))

    def perform(self, step: Step) -> None:
        """Write or remove the file of an object; nothing where it is as wanted already."""
        target, found = self._file(step.record), self._read(step.record)
        if step.action is Action.REMOVE or step.item is None:
            if found is not None:
                target.unlink()
                self._log("removed", step.record.key)
            return
        wanted = {"owner": OWNER, "key": step.record.key, "refs": list(step.record.refs), "text": step.item.text}
        if found != wanted:
            lockfile.write(target, json.dumps(wanted, sort_keys=True) + "\n")
            self._log("changed" if found else "created", step.record.key)

    def release(self, record: Record, address: str) -> bool:
        """Note in the log that work may begin, once for each object and address."""
        told = [effect for effect, what in self.log() if what == f"{record.key} {address}"]
        if self._read(record) is None:
            raise BackendError(f"{record.key} is not there")
        if told[-1:] == ["released"]:
            return False
        self._log("released", f"{record.key} {address}")
        return True

    def interrupt(self, record: Record, address: str) -> bool:
        """Note in the log that work is stopped, unless that was the last that happened to it."""
        told = [effect for effect, what in self.log() if what == f"{record.key} {address}"]
        if self._read(record) is None:
            raise BackendError(f"{record.key} is not there")
        if told[-1:] == ["interrupted"]:
            return False
        self._log("interrupted", f"{record.key} {address}")
        return True

    def objects(self) -> dict[str, str]:
        """The text of every object by its key."""
        found = (json.loads(path.read_bytes()) for path in sorted(self.root.glob("*/objects/*.json")))
        return {entry["key"]: entry["text"] for entry in found if entry["owner"] == OWNER}

    def log(self) -> tuple[tuple[str, str], ...]:
        """What happened, as pairs of effect and key."""
        path = self.root / "log.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else ()
        return tuple((entry["effect"], entry["key"]) for entry in map(json.loads, lines))

    def _presence(self, record: Record) -> Presence:
        found = self._read(record)
        if found is None:
            return Presence.ABSENT
        return Presence.OURS if found.get("owner") == OWNER else Presence.FOREIGN

    def _read(self, record: Record) -> dict[str, Any] | None:
        try:
            found = json.loads(self._file(record).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            raise BackendError(f"{self._file(record)} is not JSON") from None
        return found if isinstance(found, dict) else {}

    def _file(self, record: Record) -> Path:
        """The file of an object, named by the hash of its key so that no key leads elsewhere."""
        name = hashlib.sha256(record.key.encode()).hexdigest()[:32]
        return self.root / hashlib.sha256(record.cluster.encode()).hexdigest()[:8] / "objects" / f"{name}.json"

    def _log(self, effect: str, key: str) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"effect": effect, "key": key}) + "\n")
