"""Partitions: legal MIG placements, AMD modes, names in Kubernetes and Slurm."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

import planner.catalog
from planner.catalog import Accelerator, Naming, Partitioning, PartitionProfile, resource_name

CATALOG = planner.catalog.load()
PLACED = [item for item in CATALOG.accelerators if any(part.placements is not None for part in item.partitions)]
SEVEN_SLICES = [item for item in PLACED if item.memory_slots == 8 and item.partitioning is Partitioning.INSTANCES]


def found(slug: str) -> Accelerator:
    item = CATALOG.get(slug)
    assert item is not None, slug
    return item


def profile(slug: str, name: str) -> PartitionProfile:
    part = found(slug).partition(name)
    assert part is not None, (slug, name)
    return part


def most_instances(part: PartitionProfile) -> int:
    """Count by brute force how many instances of one profile fit without sharing a slot."""
    starts = part.placements or ()
    for count in range(len(starts), 0, -1):
        for chosen in combinations(starts, count):
            taken = [slot for start in chosen for slot in part.slots_from(start)]
            if len(taken) == len(set(taken)):
                return count
    return 0


def fits(slug: str, *wanted: tuple[str, int]) -> bool:
    taken = [slot for name, start in wanted for slot in profile(slug, name).slots_from(start)]
    return len(taken) == len(set(taken))


def test_placements_are_known_for_every_partitionable_model_but_one() -> None:
    unknown = {item.slug for item in CATALOG.accelerators for part in item.partitions if part.placements is None}
    assert unknown == {"rtx-pro-4500-bw"}
    assert len(SEVEN_SLICES) == 16


@pytest.mark.parametrize("item", PLACED, ids=lambda item: item.slug)
def test_as_many_instances_fit_as_the_vendor_counts(item: Accelerator) -> None:
    for part in item.partitions:
        media = "+me" in part.name
        assert part.max_instances == (1 if media else most_instances(part)), part.name
        assert part.max_instances <= most_instances(part), part.name


@pytest.mark.parametrize("item", PLACED, ids=lambda item: item.slug)
def test_every_placement_lies_inside_the_device(item: Accelerator) -> None:
    for part in item.partitions:
        assert part.memory_slots == item.memory_slots
        assert all(
            0 <= slot < (item.memory_slots or 0) for start in part.placements or () for slot in part.slots_from(start)
        )


@pytest.mark.parametrize("item", SEVEN_SLICES, ids=lambda item: item.slug)
def test_seven_slice_devices_share_one_geometry(item: Accelerator) -> None:
    shape = {part.name.partition(".")[0] + f"/{part.memory_slices}": part.placements for part in item.partitions}
    assert shape == {
        "1g/1": (0, 1, 2, 3, 4, 5, 6),
        "1g/2": (0, 2, 4, 6),
        "2g/2": (0, 2, 4),
        "3g/4": (0, 4),
        "4g/4": (0,),
        "7g/8": (0,),
    }


def test_slots_are_packed_not_slice_sums() -> None:
    slug = "a100-sxm4-40gb"
    assert fits(slug, ("4g.20gb", 0), ("3g.20gb", 4))
    assert fits(slug, ("4g.20gb", 0), ("2g.10gb", 4), ("1g.5gb", 6))
    assert not fits(slug, ("4g.20gb", 0), ("2g.10gb", 2))
    with pytest.raises(ValueError, match="2g\\.10gb cannot start at memory slot 6; it may start at 0, 2, 4\\."):
        fits(slug, ("4g.20gb", 0), ("2g.10gb", 4), ("2g.10gb", 6))


def test_leftovers_at_0_1_and_5_leave_no_room_for_3g_and_one_for_2g() -> None:
    """UC-10: three small instances, four slices free, and a half-card instance fits nowhere."""
    slug = "h100-sxm5-80gb"
    held = [("1g.10gb", 0), ("1g.10gb", 1), ("1g.10gb", 5)]
    assert [start for start in profile(slug, "3g.40gb").placements or () if fits(slug, *held, ("3g.40gb", start))] == []
    assert [start for start in profile(slug, "2g.20gb").placements or () if fits(slug, *held, ("2g.20gb", start))] == [
        2
    ]
    assert fits(slug, ("1g.10gb", 0), ("1g.10gb", 1), ("2g.20gb", 2), ("3g.40gb", 4))


def test_the_a30_has_four_slots_and_the_rtx_pro_6000_twelve() -> None:
    assert found("a30").memory_slots == 4
    assert profile("a30", "2g.12gb").placements == (0, 2)
    assert found("rtx-pro-6000-bw-server").memory_slots == 12
    assert profile("rtx-pro-6000-bw-server", "1g.24gb").placements == (0, 3, 6, 9)
    assert profile("rtx-pro-6000-bw-server", "2g.48gb").slots_from(6) == (6, 7, 8, 9, 10, 11)


@pytest.mark.parametrize(
    ("slug", "name", "part", "mib"),
    [
        ("h100-sxm5-80gb", "1g.10gb", Fraction(1, 8), 10_240),
        ("h100-sxm5-80gb", "1g.20gb", Fraction(1, 4), 20_480),
        ("h100-sxm5-80gb", "3g.40gb", Fraction(1, 2), 40_960),
        ("h100-sxm5-80gb", "7g.80gb", Fraction(1), 81_920),
        ("gb200-186gb", "1g.23gb", Fraction(1, 8), 23_808),
        ("a30", "1g.6gb", Fraction(1, 4), 6_144),
        ("rtx-pro-6000-bw-maxq", "1g.24gb", Fraction(1, 4), 24_576),
        ("mi300x", "cpx", Fraction(1, 8), 24 * 1024),
        ("mi300x", "dpx", Fraction(1, 2), 96 * 1024),
        ("mi300a", "tpx", Fraction(1, 3), 43_690),
    ],
)
def test_a_partition_counts_as_its_part_of_the_device(slug: str, name: str, part: Fraction, mib: int) -> None:
    item = profile(slug, name)
    assert (item.part, item.memory_mib) == (part, mib)


def test_a_partition_of_unknown_slots_has_no_part_and_no_placement() -> None:
    item = profile("rtx-pro-4500-bw", "1g.16gb")
    assert (item.part, item.memory_mib, item.placements) == (None, None, None)
    with pytest.raises(ValueError, match="Where 1g\\.16gb may be placed is not known\\."):
        item.slots_from(0)


def test_amd_modes_hold_for_a_whole_card_and_mig_does_not() -> None:
    assert [part.name for part in found("mi300x").modes] == ["spx", "dpx", "qpx", "cpx"]
    assert [part.name for part in found("mi300a").modes] == ["spx", "tpx", "cpx"]
    assert found("h100-sxm5-80gb").modes == ()
    assert found("mi250x").partitioning is Partitioning.NONE


@pytest.mark.parametrize(
    ("slug", "mode", "count", "of_mode", "allowed"),
    [
        ("mi300x", "spx", 1, ("nps1",), ("nps1",)),
        ("mi300x", "dpx", 2, ("nps1", "nps2"), ("nps1",)),
        ("mi300x", "qpx", 4, ("nps1", "nps4"), ("nps1", "nps4")),
        ("mi300x", "cpx", 8, ("nps1", "nps4"), ("nps1", "nps4")),
        ("mi325x", "cpx", 8, ("nps1", "nps4"), ("nps1",)),
        ("mi300a", "cpx", 6, ("nps1", "nps4"), ("nps1",)),
    ],
)
def test_a_memory_mode_must_be_allowed_by_the_mode_and_the_board(
    slug: str, mode: str, count: int, of_mode: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    item = profile(slug, mode)
    assert (item.max_instances, item.memory_modes) == (count, of_mode)
    assert found(slug).allowed_memory_modes(item) == allowed


def test_nps4_wants_one_mode_on_all_cards_of_a_node_and_nps1_does_not() -> None:
    assert found("mi300x").uniform_memory_modes == ("nps4",)
    assert "nps1" not in found("mi300x").uniform_memory_modes


@pytest.mark.parametrize(
    ("slug", "name", "memory_mode", "naming", "resource"),
    [
        ("h100-sxm5-80gb", None, "nps1", Naming.SINGLE, "nvidia.com/gpu"),
        ("h100-sxm5-80gb", None, "nps1", Naming.MIXED, "nvidia.com/gpu"),
        ("h100-sxm5-80gb", "1g.10gb", "nps1", Naming.SINGLE, "nvidia.com/gpu"),
        ("h100-sxm5-80gb", "1g.10gb", "nps1", Naming.MIXED, "nvidia.com/mig-1g.10gb"),
        ("h100-sxm5-80gb", "1g.10gb+me", "nps1", Naming.MIXED, "nvidia.com/mig-1g.10gb.me"),
        ("rtx-pro-6000-bw-server", "1g.24gb-me", "nps1", Naming.MIXED, "nvidia.com/mig-1g.24gb-me"),
        ("mi300x", None, "nps1", Naming.SINGLE, "amd.com/gpu"),
        ("mi300x", None, "nps1", Naming.MIXED, "amd.com/spx_nps1"),
        ("mi210", None, "nps1", Naming.MIXED, "amd.com/gpu"),
        ("mi300x", "cpx", "nps4", Naming.SINGLE, "amd.com/gpu"),
        ("mi300x", "cpx", "nps4", Naming.MIXED, "amd.com/cpx_nps4"),
        ("mi300x", "cpx", "nps1", Naming.MIXED, "amd.com/cpx_nps1"),
        ("gaudi3", None, "nps1", Naming.SINGLE, "habana.ai/gaudi"),
        ("max-1550", None, "nps1", Naming.SINGLE, None),
    ],
)
def test_resources_are_named_by_strategy(
    slug: str, name: str | None, memory_mode: str, naming: Naming, resource: str | None
) -> None:
    item = found(slug)
    part = None if name is None else profile(slug, name)
    facts = planner.catalog.vendors()[item.vendor]
    assert resource_name(facts, item, naming=naming, profile=part, memory_mode=memory_mode) == resource


def test_a_partition_has_no_resource_where_the_vendor_names_none() -> None:
    facts = planner.catalog.vendors()[planner.catalog.Vendor.INTEL]
    part = PartitionProfile(name="half", max_instances=2)
    assert resource_name(facts, found("max-1550"), naming=Naming.MIXED, profile=part) is None


def test_a_profile_is_found_in_any_case_and_with_dots_for_plus() -> None:
    item = found("h100-sxm5-80gb")
    assert item.partition("1G.10GB") == item.partitions[0]
    assert item.partition("1g.10gb.me") == item.partitions[1]
    assert item.partition("1g.12gb") is None
    assert found("mi300x").partition("CPX") == found("mi300x").partitions[3]


def test_slurm_types_of_partitions_are_given_only_where_seen() -> None:
    assert found("a100-sxm4-40gb").gres_partition_type(profile("a100-sxm4-40gb", "3g.20gb")) == "nvidia_a100_3g.20gb"
    assert found("h100-nvl-94gb").gres_partition_type(profile("h100-nvl-94gb", "1g.12gb")) == "nvidia_h100_nvl_1g.12gb"
    assert found("a30").gres_partition_type(profile("a30", "1g.6gb")) is None
