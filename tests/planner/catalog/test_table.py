"""The catalogue as rows of text."""

from __future__ import annotations

import planner.catalog
from planner.catalog import Vendor
from planner.catalog.load import accelerator
from planner.catalog.table import HEADER, rows

CATALOG = planner.catalog.load()
ROWS = {row[0]: dict(zip(HEADER, row, strict=True)) for row in rows(CATALOG)}


def test_there_is_one_full_row_per_accelerator_in_order() -> None:
    assert [row[0] for row in rows(CATALOG)] == [item.slug for item in CATALOG.accelerators]
    assert all(len(row) == len(HEADER) and all(row) for row in rows(CATALOG))


def test_a_known_accelerator_is_told_in_units() -> None:
    row = ROWS["h100-sxm5-80gb"]
    assert (row["MEMORY"], row["POWER"], row["LINK"], row["ISLAND"]) == ("80Gi", "700W", "NVLink4 900GB/s", "8")
    assert (row["SPEED"], row["HOST"], row["VENDOR"]) == ("100%", "any", "nvidia")
    assert row["PARTITIONS"].split() == ["1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]


def test_unknown_is_told_apart_from_none() -> None:
    assert (ROWS["mi308x"]["MEMORY"], ROWS["mi308x"]["SPEED"], ROWS["mi308x"]["PARTITIONS"]) == ("unknown",) * 3
    assert (ROWS["l40s"]["LINK"], ROWS["l40s"]["PARTITIONS"]) == ("none", "none")
    assert (ROWS["h200-nvl-141gb"]["ISLAND"], ROWS["gb200-186gb"]["HOST"]) == ("unknown", "arm64")


def test_uneven_figures_keep_their_small_unit() -> None:
    item = accelerator(Vendor.AMD, {"slug": "x1", "memory_mib": 1025, "tdp_milliwatts": 62_500, "speed_ppm": 475_000})
    row = dict(zip(HEADER, rows(CATALOG.extended((item,)))[-1], strict=True))
    assert (row["MODEL"], row["MEMORY"], row["POWER"], row["SPEED"]) == ("x1", "1025Mi", "62500mW", "48%")
    assert (row["ARCH"], row["LINK"]) == ("unknown", "unknown")
