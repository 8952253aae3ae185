"""The catalogue as plain rows, for whoever prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.catalog.lookup import Catalog
    from planner.catalog.model import Accelerator

UNKNOWN = "unknown"
HEADER = ("MODEL", "NAME", "VENDOR", "ARCH", "MEMORY", "POWER", "LINK", "ISLAND", "PARTITIONS", "SPEED", "HOST")


def rows(catalog: Catalog) -> tuple[tuple[str, ...], ...]:
    """Give one row of text per accelerator in the order of the catalogue, cells as in HEADER.

    SPEED is relative to the reference model in percent; what has no source says so.
    """
    return tuple(_row(item) for item in catalog.accelerators)


def _row(item: Accelerator) -> tuple[str, ...]:
    return (
        item.slug,
        item.title,
        item.vendor.value,
        item.arch or UNKNOWN,
        _memory(item.memory_mib),
        _watts(item.tdp_milliwatts),
        _link(item),
        UNKNOWN if item.island is None else str(item.island),
        _partitions(item),
        _percent(item.speed_ppm),
        item.host_arch or "any",
    )


def _memory(mib: int | None) -> str:
    if mib is None:
        return UNKNOWN
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"


def _watts(milliwatts: int | None) -> str:
    if milliwatts is None:
        return UNKNOWN
    return f"{milliwatts // 1000}W" if milliwatts % 1000 == 0 else f"{milliwatts}mW"


def _link(item: Accelerator) -> str:
    if item.link is None:
        return "none" if item.island == 1 else UNKNOWN
    return item.link if item.link_gbs is None else f"{item.link} {item.link_gbs}GB/s"


def _partitions(item: Accelerator) -> str:
    names = " ".join(profile.name for profile in item.partitions)
    return names or item.partitioning.value


def _percent(ppm: int | None) -> str:
    if ppm is None:
        return UNKNOWN
    return f"{(ppm + 5_000) // 10_000}%"
