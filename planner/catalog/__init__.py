"""What is known about accelerators and their vendors, with the source of each fact.

`load()` gives the shipped catalogue, `vendors()` the facts of each vendor. Facts without a source are None.
"""

from __future__ import annotations

from planner.catalog.load import load, vendors
from planner.catalog.lookup import Catalog
from planner.catalog.model import Accelerator, Naming, Partitioning, PartitionProfile, Unit, Vendor
from planner.catalog.vendor import (
    ComposeStyle,
    LayoutStyle,
    VendorFacts,
    resource_name,
    vendors_named_in,
    visible_devices,
)

__all__ = [
    "Accelerator",
    "Catalog",
    "ComposeStyle",
    "LayoutStyle",
    "Naming",
    "PartitionProfile",
    "Partitioning",
    "Unit",
    "Vendor",
    "VendorFacts",
    "load",
    "resource_name",
    "vendors",
    "vendors_named_in",
    "visible_devices",
]
