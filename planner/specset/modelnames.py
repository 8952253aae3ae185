"""Names of accelerator models, as people write them, to catalogue slugs."""

from __future__ import annotations

from planner.catalog import Accelerator, Catalog
from planner.diagnostics import one_of, quoted
from planner.spec.envelope import Envelope
from planner.specset.faults import Faults, Item
from planner.yamlio import Path


class ModelNames:
    """Looks names up in a catalogue and a fleet, and reports those that mean nothing or too much."""

    def __init__(self, catalog: Catalog, fleet: tuple[tuple[Accelerator, int | None], ...]) -> None:
        self._catalog = catalog
        self._memory = dict((accelerator.slug, memory) for accelerator, memory in fleet)
        self._known: dict[str, tuple[Accelerator, ...]] = {}

    @property
    def fleet(self) -> tuple[str, ...]:
        """The slugs of all models that the pools have, sorted."""
        return tuple(sorted(self._memory))

    def members(self, text: str) -> tuple[Accelerator, ...]:
        """What the catalogue knows under a name."""
        if text not in self._known:
            self._known[text] = self._catalog.resolve(text)
        return self._known[text]

    def one(self, text: str, item: Item[Envelope], path: Path, faults: Faults) -> str | None:
        """The slug of a name that must mean a single model, whether the fleet has it or not."""
        members = self.members(text)
        if len(members) == 1:
            return members[0].slug
        if not members:
            self._unknown(text, item, path, faults)
        else:
            slugs = one_of([member.slug for member in members])
            faults.add(
                "SPEC305", item, path, f"{quoted(text)} is a family of {len(members)} models", help=f"write {slugs}"
            )
        return None

    def of_fleet(
        self, text: str, item: Item[Envelope], path: Path, faults: Faults, *, key: bool = False
    ) -> tuple[str, ...]:
        """The slugs of this fleet that a name means; several only if they agree in vendor and memory."""
        members = self.members(text)
        present = [member for member in members if member.slug in self._memory]
        if not members:
            self._unknown(text, item, path, faults, key=key)
        elif not present:
            fleet = ", ".join(self.fleet) or "no devices at all"
            faults.add("SPEC308", item, path, f"no pool has {quoted(text)}", help=f"the fleet has: {fleet}", key=key)
        elif len({(member.vendor, self._memory[member.slug]) for member in present}) > 1:
            kinds = "\n".join(
                f"{member.slug}: {member.vendor}, {_memory_text(self._memory[member.slug])}" for member in present
            )
            summary = f"{quoted(text)} means {len(present)} models of this fleet that differ in vendor or memory"
            faults.add("SPEC305", item, path, summary, help=f"write one of them\n{kinds}", key=key)
        return tuple(member.slug for member in present)

    def known(self, text: str, item: Item[Envelope], path: Path, faults: Faults) -> tuple[str, ...]:
        """The slugs that a key of a mapping by model means; models that the fleet lacks are of no consequence."""
        members = self.members(text)
        if not members:
            self._unknown(text, item, path, faults, key=True)
            return ()
        if len(members) == 1:
            return (members[0].slug,)
        return self.of_fleet(text, item, path, faults, key=True)

    def _unknown(self, text: str, item: Item[Envelope], path: Path, faults: Faults, *, key: bool = False) -> None:
        near = self._catalog.near(text)
        if near:
            help_text = f"did you mean {one_of(near)}?"
        else:
            help_text = "the catalogue has:\n" + "\n".join(
                _wrapped([entry.slug for entry in self._catalog.accelerators])
            )
        faults.add("SPEC304", item, path, f"unknown model {quoted(text)}", help=help_text, key=key)


def _memory_text(mib: int | None) -> str:
    return "memory unknown" if mib is None else f"{mib / 1024:g} GiB"


def _wrapped(words: list[str], width: int = 100) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 2 > width:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{word}"
    return lines
