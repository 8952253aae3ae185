"""Reading the catalogue's data files, which travel inside the package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from planner.catalog.lookup import Catalog
from planner.catalog.model import (
    Accelerator,
    Partitioning,
    PartitionProfile,
    PeakRates,
    RelativeSpeed,
    Source,
    SpeedEvidence,
    Unit,
    Vendor,
)
from planner.catalog.vendor import ComposeStyle, LayoutStyle, VendorFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA = Path(__file__).parent / "data"


@cache
def load() -> Catalog:
    """Give the shipped catalogue; read once."""
    speeds = _read("speeds.json")
    measured = speeds["speeds"]
    entries = ((vendor, entry) for vendor in Vendor for entry in _read(f"{vendor}.json"))
    return Catalog(
        accelerators=tuple(accelerator(vendor, entry | measured.get(entry["slug"], {})) for vendor, entry in entries),
        sources=tuple(Source(**entry) for entry in _read("sources.json")),
        relative_speeds=tuple(RelativeSpeed(**_frozen(entry)) for entry in speeds["relative"]),
        reference=speeds["reference"],
    )


@cache
def vendors() -> Mapping[Vendor, VendorFacts]:
    """Give the facts of every vendor; read once."""
    return MappingProxyType(
        {Vendor(name): _facts(Vendor(name), entry) for name, entry in _read("vendors.json").items()}
    )


def accelerator(vendor: Vendor, entry: Mapping[str, Any]) -> Accelerator:
    """Turn one entry of a vendor's data file into an Accelerator.

    Keys are the fields of Accelerator; absent ones are unknown. TypeError on a key that is not a field.
    """
    fields = _frozen(entry)
    fields["vendor"] = Vendor(vendor)
    fields["unit"] = Unit(entry.get("unit", Unit.GPU))
    fields["partitioning"] = Partitioning(entry.get("partitioning", Partitioning.NONE))
    fields["peak_gflops"] = PeakRates(**entry.get("peak_gflops", {}))
    fields["speed_from"] = tuple(SpeedEvidence(**item) for item in entry.get("speed_from", ()))
    fields["sources"] = tuple((group, tuple(keys)) for group, keys in sorted(entry.get("sources", {}).items()))
    fields["partitions"] = tuple(_profile(entry, item) for item in entry.get("partitions", ()))
    fields["kubernetes_labels"] = _labels(fields["vendor"], entry.get("product_label"))
    return Accelerator(**fields)


def _profile(entry: Mapping[str, Any], item: Mapping[str, Any]) -> PartitionProfile:
    """Add to a profile what follows from its device: how many slots there are, and the memory of its slices."""
    fields = _frozen(item) | {"memory_slots": entry.get("memory_slots")}
    match entry.get("memory_mib"), fields.get("memory_slices"), fields["memory_slots"]:
        case int(memory), int(slices), int(slots):
            fields["memory_mib"] = memory * slices // slots
    return PartitionProfile(**fields)


def _labels(vendor: Vendor, product: str | None) -> tuple[tuple[str, str], ...]:
    key = vendors()[vendor].product_label_key
    return () if key is None or product is None else ((key, product),)


def _facts(vendor: Vendor, entry: Mapping[str, Any]) -> VendorFacts:
    fields = _frozen(entry)
    fields["vendor"] = vendor
    for name, style in (("compose_style", ComposeStyle), ("partition_layout_style", LayoutStyle)):
        fields[name] = None if entry[name] is None else style(entry[name])
    return VendorFacts(**fields)


def _frozen(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Copy an entry with its lists, and lists within them, made tuples."""
    return {key: _tupled(value) for key, value in entry.items()}


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())
