"""Documents with their models, and the diagnostics about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from planner import yamlio
from planner.diagnostics import Diagnostic, Place, Related, Severity
from planner.names import Address, address
from planner.spec.envelope import Envelope
from planner.yamlio import Document, Path

S_co = TypeVar("S_co", bound=Envelope, covariant=True)


@dataclass(frozen=True, slots=True)
class Item(Generic[S_co]):
    """A model together with the document that it was read from."""

    spec: S_co
    document: Document

    @property
    def address(self) -> Address:
        """The address of the object."""
        return address_of(self.spec.kind, self.spec.name, getattr(self.spec, "team", None))

    def place(self, *path: str | int, key: bool = False) -> Place:
        """The place of a value of this document, or of its key."""
        return yamlio.locate(self.document, path, key=key)

    def changed(self, update: Mapping[str, Any]) -> Item[S_co]:
        """The item with some fields of its model replaced; itself when there are none."""
        return replace(self, spec=self.spec.model_copy(update=update)) if update else self


def address_of(kind: str, name: str, team: object) -> Address:
    """The address of a document of `kind`; jobs and services lie below their team."""
    below = kind in ("Job", "Service") and isinstance(team, str)
    return address(kind, str(team), name) if below else address(kind, name)


class Faults:
    """Diagnostics of one stage of loading, in the order in which they were found."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    @property
    def stop(self) -> bool:
        """Whether an error was found."""
        return any(item.is_error for item in self.found)

    def add(
        self,
        code: str,
        item: Item[Envelope],
        path: Path,
        summary: str,
        *,
        help: str = "",
        key: bool = False,
        severity: Severity = Severity.ERROR,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Report something about the value of `item` at `path`."""
        self.found.append(
            about(
                item.document, path, code=code, summary=summary, help=help, key=key, severity=severity,
                address=item.address, related=related,
            )
        )  # fmt: skip

    def warn(self, code: str, item: Item[Envelope], path: Path, summary: str, *, help: str = "") -> None:
        """Report something that is legal but probably not meant."""
        self.add(code, item, path, summary, help=help, severity=Severity.WARNING)


def about(document: Document, path: Path, *, key: bool = False, **fields: Any) -> Diagnostic:
    """A diagnostic about the value of a document at `path`, with its place and its line."""
    place = yamlio.locate(document, path, key=key)
    return Diagnostic(
        place=place,
        path=yamlio.path_text(document, path),
        snippet=yamlio.line_at(document.lines, place.line),
        **fields,
    )


def also(item: Item[Envelope], *path: str | int, message: str = "also here") -> Related:
    """Another place that a diagnostic speaks of."""
    return Related(place=item.place(*path), message=message)
