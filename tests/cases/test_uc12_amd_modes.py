"""UC-12: an AMD compute mode changes how many devices there are, what they are called, and how much memory each has."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planner.specset import load
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, files, planned

MI300X = "mi300x"


def a_node(name: str, **partitions: Any) -> Document:
    """A node of 8 MI300X in that mode."""
    return a_pool(name, model=MI300X, nodes=f"{name}-1", partitions=partitions)


def amd(name: str = "train", **gpus: Any) -> Document:
    """A job on AMD devices."""
    return a_job(name, gpus={"vendor": "amd", "model": MI300X} | gpus, duration="24h")


def test_eight_cards_in_cpx_are_sixty_four_partitions() -> None:
    pool = a_node("a", compute="CPX", memory="NPS4")
    jobs = [amd(f"j{at:02}", count=4, partition="cpx") for at in range(17)]
    plan = planned(a_cluster(pool), *jobs)
    assert (len(plan.placements), len(plan.unplaced)) == (16, 1)
    devices = Counter(
        (device.index, device.at) for each in plan.placements for device in each.segments[0].nodes[0].devices
    )
    assert set(devices.values()) == {1}
    assert len(devices) == 64
    assert {each.gpus for each in plan.placements} == {"1/2"}
    assert {device.profile for each in plan.placements for device in each.segments[0].nodes[0].devices} == {"cpx"}
    assert "needs 4 times cpx on one node free" in plan.unplaced[0].reasons[0].message


@pytest.mark.parametrize(("count", "fits"), [(64, True), (65, False)])
def test_a_node_has_so_many_partitions_and_no_more(count: int, fits: bool) -> None:
    pool = a_node("a", compute="CPX", memory="NPS4")
    (work,) = compile_specs(a_cluster(pool), a_policy(on_invalid="skip"), amd(count=count, partition="CPX")).works
    assert bool(work.candidates) is fits
    assert [each.code for each in work.refusals] == ([] if fits else ["size"])


def test_a_mixed_node_has_whole_cards_and_partitions() -> None:
    mixed = {str(card): [{"profile": "CPX", "at": 0}] for card in (5, 6, 7)}
    pool = a_node("b", memory="NPS1", fixed={"b-1": mixed})
    plan = planned(a_cluster(pool), amd("whole", count=5), amd("parts", count=24, partition="cpx"))
    held = {each.address: each.segments[0].nodes[0].devices for each in plan.placements}
    assert [device.index for device in held["job/vision/whole"]] == [0, 1, 2, 3, 4]
    assert {device.index for device in held["job/vision/parts"]} == {5, 6, 7}
    assert len(held["job/vision/parts"]) == 24
    (total,) = [each for each in plan.utilisation if each.by == "pool"]
    assert total.used_device_seconds == 8 * 86_400


def test_whole_cards_are_no_longer_there_in_cpx() -> None:
    (work,) = compile_specs(
        a_cluster(a_node("a", compute="CPX", memory="NPS4")), a_policy(on_invalid="skip"), amd(count=1)
    ).works
    assert [(each.code, each.message) for each in work.refusals] == [
        ("partition", "every device of the pool is partitioned, the job asks for whole ones")
    ]
    assert compile_specs(a_cluster(a_node("a", compute="SPX", memory="NPS1")), amd(count=8)).works[0].candidates


def test_a_partition_has_its_part_of_the_memory() -> None:
    """192 GiB in eight parts are 24."""
    pool = a_node("a", compute="CPX", memory="NPS4")
    for memory, codes in (("24Gi", []), ("25Gi", ["device_memory"])):
        (work,) = compile_specs(
            a_cluster(pool), a_policy(on_invalid="skip"), amd(count=1, partition="cpx", memory=memory)
        ).works
        assert [each.code for each in work.refusals] == codes


def test_one_mode_for_all_cards_under_a_memory_mode_that_is_the_nodes() -> None:
    mixed = {str(card): [{"profile": "CPX", "at": 0}] for card in (5, 6, 7)}
    result = load(files([a_cluster(a_node("b", memory="NPS4", fixed={"b-1": mixed}))]))
    assert [(fault.code, fault.summary) for fault in result.diagnostics if fault.code == "SPEC309"] == [
        ("SPEC309", "cards of 'b-1' are in CPX and SPX, and NPS4 holds for cards in one mode only")
    ]
    every = {str(card): [{"profile": "CPX", "at": 0}] for card in range(8)}
    assert not [each for each in load(files([a_cluster(a_node("b", memory="NPS4", fixed={"b-1": every}))])).diagnostics
                if each.code == "SPEC309"]  # fmt: skip


def test_the_plan_tells_how_every_card_is_partitioned() -> None:
    plan = planned(a_cluster(a_node("a", compute="CPX", memory="NPS4")), amd(count=1, partition="cpx"))
    assert [(each.pool, each.node, each.device) for each in plan.layouts] == [
        ("dc1/a", "a-1", card) for card in range(8)
    ]
    (window,) = plan.layouts[0].windows
    assert [part.at for part in window.partitions] == list(range(8))
    assert (window.start, window.end) == ("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z")


@pytest.mark.parametrize(("memory", "cut"), [("NPS4", 8), ("NPS1", 1)])
def test_modes_are_chosen_by_card_or_for_the_whole_node(memory: str, cut: int) -> None:
    pool = a_pool("a", model=MI300X, nodes="a-1", partitions={"allowed": ["SPX", "CPX"], "memory": memory})
    plan = planned(a_cluster(pool), amd(count=4, partition="cpx"))
    assert len(plan.layouts) == cut
    assert len(plan.placements) == 1
