"""Work that nothing in the fleet can ever run, as a fault of its spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner.compile.unsupported import place_of
from planner.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from planner.names import Address
    from planner.specset import SpecSet


def impossible(specset: SpecSet, where: Address, reasons: Iterable[str]) -> Diagnostic:
    """Say that the work at `where` can never run, with one reason for each pool."""
    return Diagnostic(
        code="SPEC420",
        severity=Severity.ERROR,
        summary=f"nothing in the fleet can ever run {where}",
        place=place_of(specset, where),
        address=where,
        help="\n".join(["change it, or set on_invalid: skip in the Policy to plan the rest", *reasons]),
    )
