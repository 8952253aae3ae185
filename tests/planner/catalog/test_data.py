"""The shipped entries are complete, consistent, and agree with the table of sourced facts."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import planner.catalog
from planner.catalog import Accelerator, Partitioning, Unit, Vendor

CATALOG = planner.catalog.load()
DATA = Path(planner.catalog.__file__).parent / "data"
TABLE = Path(__file__).parent / "data" / "accelerators.csv"
with TABLE.open(encoding="utf-8", newline="") as lines:
    ROWS = list(csv.DictReader(lines))

# Rows of the table that count a module of two dies as one.
MODULES = {"mi250": 2, "mi250x": 2}
# Labels and links that the table lacks or counts per module.
ADDED_LABELS = {"gh200-144gb", "mi325x", "mi355x"}
# Sources that show a label on a node or in a manifest, rather than derive it.
SEEN = ("S8", "S16", "S18", "S21", "S27")
ARM64 = {
    "gb10",
    "gb200-186gb",
    "gb300-278gb",
    "gh200-144gb",
    "gh200-96gb",
    "jetson-agx-orin-64gb",
    "jetson-orin-nx-16gb",
    "jetson-thor-t5000",
}


def found(slug: str) -> Accelerator:
    item = CATALOG.get(slug)
    assert item is not None, slug
    return item


def thousandths(cell: str, parts: int = 1) -> int | None:
    return int(Decimal(cell) * 1000) // parts if cell else None


def test_there_are_68_accelerators_one_for_each_row_of_the_table() -> None:
    assert len(CATALOG.accelerators) == len(ROWS) == 68
    assert {item.slug for item in CATALOG.accelerators} == {row["slug"] for row in ROWS}
    counts = {vendor: sum(item.vendor is vendor for item in CATALOG.accelerators) for vendor in Vendor}
    assert counts == {Vendor.NVIDIA: 48, Vendor.AMD: 17, Vendor.INTEL: 3}


def test_accelerators_are_sorted_by_slug_and_so_are_the_files() -> None:
    slugs = [item.slug for item in CATALOG.accelerators]
    assert slugs == sorted(slugs)
    for vendor in Vendor:
        listed = [entry["slug"] for entry in json.loads((DATA / f"{vendor}.json").read_text(encoding="utf-8"))]
        assert listed == sorted(listed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["slug"])
def test_every_fact_of_the_table_is_in_the_entry(row: dict[str, str]) -> None:
    item, parts = found(row["slug"]), MODULES.get(row["slug"], 1)
    assert (item.vendor, item.arch, item.form) == (row["vendor"], row["arch"], row["form"].lower())
    assert row["model"] in item.title
    assert item.year == (int(row["year"]) if row["year"] else None)
    assert item.memory_mib == (int(row["memory_gib"]) * 1024 // parts if row["memory_gib"] else None)
    assert item.bandwidth_mbs == thousandths(row["memory_bandwidth_gbs"], parts)
    assert item.link == (row["link"] or None)
    assert item.island == (int(row["max_link_group"]) * parts if row["max_link_group"] else None)
    assert item.pcie_generation == (int(row["pcie_gen"]) if row["pcie_gen"] else None)
    peaks = item.peak_gflops
    assert peaks.fp32 == thousandths(row["fp32_tflops"], parts)
    assert peaks.fp16 == thousandths(row["fp16_tensor_tflops"], parts)
    assert peaks.bf16 == thousandths(row["bf16_tflops"], parts)
    assert peaks.fp8 == thousandths(row["fp8_tflops"], parts)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["slug"])
def test_power_and_links_agree_with_the_table_as_counted(row: dict[str, str]) -> None:
    item = found(row["slug"])
    if item.card_tdp_milliwatts is None:
        assert item.tdp_milliwatts == thousandths(row["tdp_w"])
    elif row["tdp_w"]:
        assert item.card_tdp_milliwatts == thousandths(row["tdp_w"])
    if item.slug != "mi250x":
        assert item.link_gbs == (int(row["link_gbs"]) if row["link_gbs"] else None)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["slug"])
def test_partitions_and_labels_agree_with_the_table(row: dict[str, str]) -> None:
    item = found(row["slug"])
    if row["partition_modes"]:
        listed = [cell.split(":") for cell in row["partition_modes"].lower().split(";")]
        assert [(part.name, part.max_instances) for part in item.partitions] == [(name, int(n)) for name, n in listed]
    else:
        assert item.partitions == () or item.slug == "rtx-pro-4500-bw"
    if item.slug not in ADDED_LABELS:
        assert item.product_label == (row["k8s_product_label"] or None)
        on_nodes = any(key in row["source"].split(";") for key in SEEN)
        assert item.product_label_seen is (on_nodes if row["k8s_product_label"] else None)


def test_the_power_of_a_board_is_shared_by_the_devices_on_it() -> None:
    shared = {item.slug: item for item in CATALOG.accelerators if item.card_tdp_milliwatts is not None}
    assert set(shared) == {"a16", "k80", "mi250", "mi250x"}
    for item in shared.values():
        assert item.tdp_milliwatts == (item.card_tdp_milliwatts or 0) // item.units_per_card
    assert found("a16").tdp_milliwatts == 62_500


def test_dies_of_a_module_are_counted_apart_as_software_counts_them() -> None:
    item = found("mi250x")
    assert (item.unit, item.units_per_card, item.memory_mib, item.island) == (Unit.DIE, 2, 64 * 1024, 8)
    assert item.peak_gflops.fp16 == 191_500
    assert item.link_gbs is None
    assert found("h100-sxm5-80gb").unit is Unit.GPU


def test_hosts_are_fixed_only_where_the_device_fixes_them() -> None:
    assert {item.slug for item in CATALOG.accelerators if item.host_arch == "arm64"} == ARM64
    assert {item.slug for item in CATALOG.accelerators if item.host_arch == "amd64"} == {"mi300a"}


@pytest.mark.parametrize(
    ("slug", "fp16_tensor", "bf16", "fp8"),
    [
        ("p100-sxm2-16gb", False, False, False),
        ("v100-sxm2-16gb", True, False, False),
        ("t4", True, False, False),
        ("a100-sxm4-80gb", True, True, False),
        ("rtx-3090", True, True, False),
        ("l4", True, True, True),
        ("h100-sxm5-80gb", True, True, True),
        ("rtx-5090", True, True, True),
        ("mi50-16gb", False, False, False),
        ("mi100", True, True, False),
        ("mi300x", True, True, True),
        ("radeon-ai-pro-r9700", None, None, None),
        ("gaudi2", None, True, True),
    ],
)
def test_precisions_follow_the_architecture(
    slug: str, fp16_tensor: bool | None, bf16: bool | None, fp8: bool | None
) -> None:
    item = found(slug)
    assert (item.fp16_tensor, item.bf16, item.fp8) == (fp16_tensor, bf16, fp8)


def test_a_sourced_peak_never_contradicts_the_precision_flag() -> None:
    for item in CATALOG.accelerators:
        assert item.peak_gflops.bf16 is None or item.bf16 is True, item.slug
        assert item.peak_gflops.fp8 is None or item.fp8 is True, item.slug


@pytest.mark.parametrize(
    ("slug", "first", "dropped"),
    [
        ("k80", None, "12.0"),
        ("v100-sxm2-32gb", None, "13.0"),
        ("t4", None, None),
        ("b200-sxm-180gb", "12.8", None),
        ("b300-sxm-269gb", None, None),
        ("mi60-32gb", None, "6.0"),
        ("mi300x", None, None),
        ("mi355x", "7.0", None),
    ],
)
def test_toolkits_that_know_an_architecture_are_bounded_where_sourced(
    slug: str, first: str | None, dropped: str | None
) -> None:
    item = found(slug)
    assert (item.software_first, item.software_dropped) == (first, dropped)


def test_what_no_source_tells_stays_unknown() -> None:
    assert found("mi308x").memory_mib is None
    assert found("mi308x").partitioning is Partitioning.UNKNOWN
    assert found("v100-pcie-16gb").tdp_milliwatts is None
    assert found("h200-nvl-141gb").island is None and found("h200-nvl-141gb").linked is None
    assert found("mi210").product_label is None and found("mi210").kubernetes_labels == ()
    assert found("jetson-thor-t5000").partitions == ()


def test_links_are_told_from_their_absence() -> None:
    assert found("l40s").linked is False and found("l40s").link is None
    assert found("h100-sxm5-80gb").linked is True and found("mi300x").linked is True


def test_every_entry_cites_known_sources_for_each_group_of_facts() -> None:
    known = {source.key for source in CATALOG.sources}
    for item in CATALOG.accelerators:
        groups = dict(item.sources)
        cited = {key for keys in groups.values() for key in keys}
        assert cited <= known, (item.slug, cited - known)
        assert all(groups.values()), item.slug
        needed = {"hardware", "precision"}
        needed |= {"partitions"} if item.partitions else set()
        needed |= {"placements"} if any(part.placements for part in item.partitions) else set()
        needed |= {"label"} if item.product_label else set()
        needed |= {"gres"} if item.gres_partition_prefix else set()
        needed |= {"software"} if item.software_first or item.software_dropped else set()
        needed |= {"names"} if item.pci_ids or item.resource or item.visible_devices else set()
        assert needed <= set(groups), (item.slug, needed - set(groups))


def test_every_source_has_a_title_a_licence_and_a_key_of_its_own() -> None:
    keys = [source.key for source in CATALOG.sources]
    assert len(set(keys)) == len(keys)
    assert all(source.title and source.licence for source in CATALOG.sources)
    cited = {key for facts in planner.catalog.vendors().values() for key in facts.sources}
    assert cited <= set(keys)


def test_slugs_and_labels_are_spelled_as_their_back_ends_take_them() -> None:
    for item in CATALOG.accelerators:
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?", item.slug)
        assert item.product_label is None or re.fullmatch(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,62}", item.product_label)
        assert all(re.fullmatch(r"[a-z0-9][-a-z0-9_.]*", gres) for gres in item.gres_types)
        assert all(re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", pci) for pci in item.pci_ids)


def test_a_short_gres_type_is_part_of_the_detected_one_as_slurm_requires() -> None:
    for item in CATALOG.accelerators:
        assert all(gres in item.gres_types[-1] for gres in item.gres_types), item.slug
    assert found("h100-sxm5-80gb").gres_types == ("h100", "nvidia_h100_80gb_hbm3")
    assert found("mi300x").gres_types == ("mi300x", "amd_instinct_mi300x_oam")


def test_the_catalogue_is_immutable_and_hashable() -> None:
    item = found("mi300x")
    assert hash(item) == hash(found("mi300x"))
    with pytest.raises(AttributeError):
        item.memory_mib = 1  # type: ignore[misc]
    assert planner.catalog.load() is CATALOG
