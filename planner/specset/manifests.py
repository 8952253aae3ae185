"""Manifests that specs name as their template: existing objects of Kubernetes, with the place of each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner import yamlio
from planner.diagnostics import Diagnostic, Place, Severity, SpecError
from planner.source import SourceFile

if TYPE_CHECKING:
    from planner.specset.model import SpecSet

_CODE: Final = "SPEC423"


@dataclass(frozen=True, slots=True)
class ManifestTemplate:
    """One object of a template's file; `companions` are the other documents of it, which are not for the planner."""

    document: yamlio.Document
    companions: int

    @property
    def tree(self) -> dict[str, Any]:
        """The object as plain values."""
        found: dict[str, Any] = self.document.value
        return found

    def place(self, *path: str | int) -> Place:
        """Where a value stands, or the nearest that was written down."""
        return yamlio.locate(self.document, path)


def manifest_template(specset: SpecSet, where: str, name: str, kinds: frozenset[str]) -> ManifestTemplate:
    """The object of one of `kinds` in the file `name` beside the spec at an address.

    Raises `SpecError` where the file is not YAML of the strict subset, or holds none or several of them.
    """
    directory = specset.place(where).file.rpartition("/")[0]
    path = f"{directory}/{name}" if directory else name
    documents, faults = yamlio.read(SourceFile(path, specset.attachment(where, name)), every_key=True)
    if faults:
        raise SpecError(faults)
    found = [item for item in documents if isinstance(item.value, dict) and item.value.get("kind") in kinds]
    if len(found) != 1:
        summary = f"the template of {where} has {len(found)} objects of the kinds {', '.join(sorted(kinds))}"
        raise SpecError([_fault(summary, Place(path, 1, 1, 2))])
    return ManifestTemplate(found[0], len(documents) - 1)


def _fault(summary: str, place: Place) -> Diagnostic:
    help_text = "keep exactly one in the file, and other objects elsewhere"
    return Diagnostic(code=_CODE, severity=Severity.ERROR, summary=summary, place=place, help=help_text)
