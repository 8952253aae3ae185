"""Whether a pool divides its devices as work asks for parts of them, or leaves them whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from planner.compile.refusal import Code, Refusal
from planner.compile.shape import profile_of, size_of
from planner.spec.cluster import SharingBy
from planner.units import Memory

if TYPE_CHECKING:
    from planner.catalog import PartitionProfile
    from planner.compile.ask import Ask
    from planner.compile.fleet import Cell
    from planner.compile.site import Site

EVERY_DEVICE: Final = frozenset({SharingBy.TIME_SLICING, SharingBy.MPS})
"""The ways of sharing that share every device of a pool."""


def _whole(ask: Ask, site: Site, _: object) -> Refusal | None:
    """Slots of a shared device are no devices: two of them may be one (UC-11)."""
    pool = site.pool
    if site.group is None or ask.portion is not None:
        return None
    sharing = pool.pool.sharing
    if sharing is not None and sharing.by in EVERY_DEVICE:
        message = (
            f"every device of the pool is shared by {sharing.by} in {sharing.units} units, the job asks for whole ones"
        )
        return site.refuse(Code.SHARING, message, "ask for a share, or add a pool that shares nothing")
    if pool.cells and not any(cell.profile is None for cells in pool.cells for cell in cells):
        return site.refuse(
            Code.PARTITION,
            "every device of the pool is partitioned, the job asks for whole ones",
            "ask for a partition",
        )
    return None


def _share(ask: Ask, site: Site, _: object) -> Refusal | None:
    portion, sharing = ask.portion, site.pool.pool.sharing
    if site.group is None or portion is None or portion.profile is not None:
        return None
    if sharing is None or not site.pool.cells:
        return site.refuse(
            Code.SHARING, "the pool shares no devices, the job asks for a share", "add sharing to the pool"
        )
    if portion.hard:
        message = f"work that shares a device by {sharing.by} is not kept apart in memory and faults"
        return site.refuse(Code.SHARING, message, "ask for a partition, or leave isolation out")
    if portion.memory_mib is not None and site.group.memory_mib is None:
        return site.refuse(
            Code.DEVICE_MEMORY, f"the memory of {site.group.model} is not known", "state gpus.memory in the pool"
        )
    if size_of(ask, site.pool, site.group) > 1:
        has = Memory(site.group.memory_mib or 0)
        return site.refuse(Code.DEVICE_MEMORY, f"needs {Memory(portion.memory_mib or 0)} of one device, it has {has}")
    return None


def _partition(ask: Ask, site: Site, _: object) -> Refusal | None:
    portion = ask.portion
    if site.group is None or portion is None or portion.profile is None:
        return None
    wanted = profile_of(ask, site.group)
    here = sorted({cell.profile for cells in site.pool.cells for cell in cells if cell.profile is not None})
    if wanted in here:
        return None
    if in_the_way := _in_the_way(site, wanted):
        return site.refuse(Code.PARTITION, f"{wanted} cannot begin anywhere: {in_the_way}", "change its partitions")
    offered = f"its devices are divided into {', '.join(here)}" if here else "its devices are not partitioned"
    return site.refuse(
        Code.PARTITION, f"the pool has no partition {portion.profile}: {offered}", "change its partitions"
    )


def _in_the_way(site: Site, wanted: str | None) -> str:
    """Which partitions keep one that the planner may choose off the first device that has some; empty for none."""
    assert site.group is not None, "only work with devices asks for partitions"
    accelerator = site.group.accelerator
    profile = accelerator.partition(wanted or "")
    allowed = [name.lower() for name in site.pool.pool.partitions.allowed]
    if profile is None or profile.name.lower() not in allowed:
        return ""
    needed = {slot for start in profile.placements or () for slot in profile.slots_from(start)}
    for node, cells in zip(site.pool.nodes, site.pool.cells, strict=True):
        for cell in cells:
            other = accelerator.partition(cell.profile or "")
            if other is not None and needed & set(other.slots_from(cell.at or 0)):
                same = [each for each in cells if each.index == cell.index]
                return f"on device {cell.index} of {node}, {_listed(same)}; it can begin at {_starts(profile)}"
    return ""


def _listed(cells: Sequence[Cell]) -> str:
    return ", ".join(f"{cell.profile} is at {cell.at}" for cell in cells)


def _starts(profile: PartitionProfile) -> str:
    return " or ".join(map(str, profile.placements or ()))


PORTIONS: Final[tuple[Callable[[Ask, Site, object], Refusal | None], ...]] = (_whole, _share, _partition)
"""The checks, in order; each gives a refusal or None."""
