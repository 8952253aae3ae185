"""What `diff` compares beside plans: the specs of both sides, and the manifests of both plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.diagnostics import UsageError

if TYPE_CHECKING:
    from planner.commands.sides import Side
    from planner.edits import FileEdit, SpecEdit
    from planner.plan import Plan
    from planner.specset import SpecSet

WHAT: Final = ("plan", "specs", "manifests")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What differs beside the plan; None where it was not compared."""

    specs: tuple[SpecEdit, ...] | None = None
    manifests: tuple[FileEdit, ...] | None = None

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.specs or self.manifests)

    def compared(self) -> dict[str, Sequence[object]]:
        """What was compared, by name."""
        named = {"specs": self.specs, "manifests": self.manifests}
        return {name: items for name, items in named.items() if items is not None}


def edits(what: tuple[str, ...], sides: tuple[Side, Side], plans: tuple[Plan, Plan]) -> Edits:
    """Compare what was asked for; by default the specs, where both sides have them."""
    from planner.edits import file_edits, spec_edits

    before, after = (side.given.specset if side.given else None for side in sides)
    if before is None or after is None:
        if wanted := [part for part in what if part != "plan"]:
            raise UsageError(
                f"--what {wanted[0]} needs specs on both sides: name directories or commits, no lock files"
            )
        return Edits()
    specs = spec_edits(before, after) if "specs" in what or not what else None
    manifests = file_edits(_files(plans[0], before), _files(plans[1], after)) if "manifests" in what else None
    return Edits(specs=specs, manifests=manifests)


def _files(plan: Plan, specset: SpecSet) -> dict[str, str]:
    from renderers import render

    return {manifest.path: manifest.text for manifest in render(plan, specset).manifests}
