"""Finding accelerators by slug, alias, family and likeness; extending the catalogue by data alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner.catalog
from planner.catalog import Partitioning, Vendor
from planner.catalog.load import accelerator
from planner.catalog.lookup import names_of, normalised, without_brand

CATALOG = planner.catalog.load()
ENTRY = {
    "slug": "x9-sxm-64gb",
    "title": "Acme X9",
    "arch": "sm_99",
    "family": "x9",
    "memory_mib": 65_536,
    "memory_slots": 8,
    "partitioning": "instances",
    "partitions": [
        {"name": "1g.8gb", "memory_slices": 1, "compute_slices": 1, "placements": [0, 1], "max_instances": 2}
    ],
    "product_label": "ACME-X9",
    "aliases": ["x9-sxm"],
    "sources": {"hardware": ["S1"]},
}


def slugs(text: str) -> list[str]:
    return [item.slug for item in CATALOG.resolve(text)]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("h100-sxm5-80gb", "h100-sxm5-80gb"),
        ("H100-SXM5-80GB", "h100-sxm5-80gb"),
        ("h100_sxm5 80gb", "h100-sxm5-80gb"),
        ("h100-sxm", "h100-sxm5-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("nvidia_h100_80gb_hbm3", "h100-sxm5-80gb"),
        ("NVIDIA-H100-80GB-HBM3", "h100-sxm5-80gb"),
        ("H100 80GB HBM3", "h100-sxm5-80gb"),
        ("10de:2330", "h100-sxm5-80gb"),
        ("10DE:2330", "h100-sxm5-80gb"),
        ("NVIDIA H100 PCIe", "h100-pcie-80gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("NVIDIA-A100-PCIE-40GB", "a100-pcie-40gb"),
        ("tesla_v100-sxm2-16gb", "v100-sxm2-16gb"),
        ("Tesla T4", "t4"),
        ("nvidia_geforce_rtx_3090", "rtx-3090"),
        ("NVIDIA GH200 480GB", "gh200-96gb"),
        ("NVIDIA H200", "h200-sxm5-141gb"),
        ("nvidia_h200", "h200-sxm5-141gb"),
        ("NVIDIA H200 NVL", "h200-nvl-141gb"),
        ("amd_instinct_mi300x_oam", "mi300x"),
        ("AMD Instinct MI300X", "mi300x"),
        ("MI300X", "mi300x"),
        ("amd_instinct_mi355_oam", "mi355x"),
        ("AMD_Instinct_MI325_OAM", "mi325x"),
        ("1002:74a1", "mi300x"),
        ("mi250", "mi250"),
        ("b200", "b200-sxm-180gb"),
    ],
)
def test_a_name_as_found_in_the_wild_means_one_model(text: str, slug: str) -> None:
    assert slugs(text) == [slug]


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("h200", ["h200-nvl-141gb", "h200-sxm5-141gb"]),
        ("H100", ["h100-nvl-94gb", "h100-pcie-80gb", "h100-sxm5-80gb"]),
        ("NVIDIA H100", ["h100-nvl-94gb", "h100-pcie-80gb", "h100-sxm5-80gb"]),
        ("h100-80gb", ["h100-pcie-80gb", "h100-sxm5-80gb"]),
        ("a100", ["a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm4-40gb", "a100-sxm4-80gb"]),
        ("A100-80GB", ["a100-pcie-80gb", "a100-sxm4-80gb"]),
        ("mi300", ["mi300a", "mi300x"]),
        ("gh200", ["gh200-144gb", "gh200-96gb"]),
        ("rtx-pro-6000", ["rtx-pro-6000-bw-maxq", "rtx-pro-6000-bw-server"]),
    ],
)
def test_a_family_means_all_its_members(text: str, members: list[str]) -> None:
    assert slugs(text) == members


@pytest.mark.parametrize("text", ["", " ", "h10o-sxm5-80gb", "A1000", "gpu", "nvidia", "h100-sxm5-80gb-x", "10de:ffff"])
def test_an_unknown_name_resolves_to_nothing(text: str) -> None:
    assert CATALOG.resolve(text) == ()


def test_every_name_of_every_model_resolves_to_it_alone() -> None:
    for item in CATALOG.accelerators:
        for name in names_of(item):
            assert CATALOG.resolve(name) == (item,), (item.slug, name)
            assert CATALOG.resolve(name.upper().replace("-", "_")) == (item,), (item.slug, name)


def test_every_family_and_group_holds_all_who_name_it() -> None:
    for item in CATALOG.accelerators:
        for group in (item.family, *item.groups):
            members = CATALOG.resolve(group)
            assert item in members or [group] == [member.slug for member in members], (item.slug, group)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("h10o-sxm5-80gb", "h100-sxm5-80gb"),
        ("h100-smx5-80gb", "h100-sxm5-80gb"),
        ("mi300z", "mi300x"),
        ("L40z", "l40"),
        ("rtx-4900", "rtx-4090"),
        ("NVIDIA H10O 80GB HBM3", "h100-sxm5-80gb"),
    ],
)
def test_a_misspelling_is_near_what_was_meant(text: str, first: str) -> None:
    assert first in CATALOG.near(text)[:2]


def test_a_family_misspelt_brings_its_members() -> None:
    assert set(CATALOG.near("A1000")) & {"a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm4-40gb", "a100-sxm4-80gb"}
    assert CATALOG.near("A1000")[0].startswith("a100-")


def test_nothing_is_near_gibberish() -> None:
    assert CATALOG.near("zzzzzzzz") == ()
    assert CATALOG.near("") == ()


@given(st.text(max_size=60))
def test_any_text_is_looked_up_without_failing_and_near_names_are_slugs(text: str) -> None:
    assert all(CATALOG.get(item.slug) is item for item in CATALOG.resolve(text))
    near = CATALOG.near(text)
    assert len(near) <= 5 and len(set(near)) == len(near)
    assert all(CATALOG.get(slug) is not None for slug in near)


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)
    assert without_brand(without_brand(text)) == without_brand(text)


def test_get_takes_a_slug_only() -> None:
    assert CATALOG.get("h100-sxm") is None
    assert CATALOG.get("H100-SXM5-80GB") is None


def test_an_accelerator_is_added_by_one_entry_and_no_code() -> None:
    extended = CATALOG.extended((accelerator(Vendor.NVIDIA, ENTRY),))
    item = extended.get("x9-sxm-64gb")
    assert item is not None
    assert len(extended.accelerators) == 69 and len(CATALOG.accelerators) == 68
    assert extended.resolve("X9") == extended.resolve("nvidia x9_sxm") == extended.resolve("ACME-X9") == (item,)
    assert item.kubernetes_labels == (("nvidia.com/gpu.product", "ACME-X9"),)
    assert item.partitioning is Partitioning.INSTANCES
    assert item.partitions[0].memory_mib == 8_192
    assert (item.bf16, item.speed_ppm, item.tdp_milliwatts) == (None, None, None)
    assert extended.reference == CATALOG.reference and extended.sources == CATALOG.sources


def test_the_order_of_extension_does_not_matter() -> None:
    one, two = accelerator(Vendor.AMD, {"slug": "x1"}), accelerator(Vendor.AMD, {"slug": "x2"})
    assert CATALOG.extended((one, two)) == CATALOG.extended((two, one)) == CATALOG.extended((two,)).extended((one,))


def test_an_entry_of_a_known_slug_replaces_it_as_a_whole() -> None:
    mine = accelerator(Vendor.NVIDIA, {"slug": "h20-96gb", "memory_mib": 1024})
    extended = CATALOG.extended((mine,))
    assert len(extended.accelerators) == len(CATALOG.accelerators)
    assert extended.get("h20-96gb") is mine and extended.resolve("NVIDIA H20") == ()


def test_two_additions_of_one_slug_are_refused() -> None:
    twin = accelerator(Vendor.AMD, {"slug": "x1"})
    with pytest.raises(ValueError, match="Two accelerators claim the name 'x1': x1 and x1"):
        CATALOG.extended((twin, twin))


def test_a_misspelt_key_of_an_entry_is_refused() -> None:
    with pytest.raises(TypeError, match="memory_gb"):
        accelerator(Vendor.NVIDIA, {"slug": "x9", "memory_gb": 64})


@pytest.mark.parametrize(
    "entry",
    [
        {"slug": "mine", "aliases": ["NVIDIA_H100_80GB_HBM3"]},
        {"slug": "mine", "product_label": "NVIDIA-H100-80GB-HBM3"},
        {"slug": "h100-sxm"},
    ],
)
def test_a_name_that_is_taken_is_refused_and_both_owners_named(entry: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Two accelerators claim the name") as refusal:
        CATALOG.extended((accelerator(Vendor.NVIDIA, entry),))
    assert "h100-sxm5-80gb" in str(refusal.value)
    assert str(entry["slug"]) in str(refusal.value)
