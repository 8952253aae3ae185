"""Where work may run: the devices of one model in one pool of one market, or its CPUs only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.compile.refusal import Code, Refusal

if TYPE_CHECKING:
    from planner.compile.fleet import DeviceGroup, FleetPool


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Devices of one model in one pool, or its CPUs only (`position` None)."""

    at: int
    pool: FleetPool
    position: int | None

    @property
    def group(self) -> DeviceGroup | None:
        """The devices, None for CPUs only."""
        return None if self.position is None else self.pool.groups[self.position]

    @property
    def subject(self) -> str:
        """What messages name."""
        return self.pool.address

    def refuse(self, code: Code, message: str, fix: str | None = None) -> Refusal:
        """A refusal of this site."""
        return Refusal(code=code, subject=self.subject, message=message, fix=fix)


def sites(fleet: Sequence[FleetPool], *, devices: bool) -> Iterator[Site]:
    """Where work may run: each device group, or each pool as a whole for work without devices."""
    for at, pool in enumerate(fleet):
        if devices and pool.groups:
            yield from (Site(at=at, pool=pool, position=position) for position in range(len(pool.groups)))
        else:
            yield Site(at=at, pool=pool, position=None)
