"""Slurm's nodes as hosts."""

from __future__ import annotations

import pytest

from planner.diagnostics import UsageError
from planner.discovery.models import said
from planner.discovery.slurm.nodes import inventory
from tests.planner.discovery.slurm.site import CATALOG, MODELS, TAKEN_AT, facts, node


def test_real_output_gives_nodes_with_their_devices_features_and_racks() -> None:
    found = {host.name: host for host in facts().hosts}
    assert sorted(found) == ["gpu1", "gpu2", "gpu3", "mi1"]
    assert [device.model for device in found["gpu1"].devices] == ["h100-sxm5-80gb"] * 8
    assert (found["gpu1"].cpus, found["gpu1"].memory_mib, found["gpu1"].architecture) == (192, 2_063_000, "amd64")
    words = found["gpu1"].scheduled
    assert words is not None
    assert (words.partition, words.gres_type, words.rack) == ("h100", "h100", "rack1")
    assert words.features == ("hopper", "ib", "nvidia")


def test_a_node_in_several_partitions_gets_the_smallest() -> None:
    partitions = {host.name: host.scheduled.partition for host in facts().hosts if host.scheduled}
    assert partitions == {"gpu1": "h100", "gpu2": "h100", "gpu3": "h100", "mi1": "amd"}


def test_a_type_that_may_be_several_models_is_asked_about() -> None:
    with pytest.raises(UsageError, match=r"type 'h100': it may be h100-nvl-94gb, h100-pcie-80gb, h100-sxm5-80gb"):
        facts(said([], CATALOG))


def test_a_type_that_means_one_model_needs_no_word() -> None:
    found = inventory({"node": node("m1", "gpu:mi300x:8")}, said([], CATALOG), TAKEN_AT)
    assert {device.model for device in found.hosts[0].devices} == {"mi300x"}


@pytest.mark.parametrize(
    ("gres", "word"),
    [("gpu:8", "cards without a type"), ("gpu:zz9:1", "type 'zz9': the catalogue knows no such card")],
)
def test_cards_that_cannot_be_named_are_asked_about(gres: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        inventory({"node": node("n1", gres)}, MODELS, TAKEN_AT)


def test_untyped_cards_can_be_told() -> None:
    found = inventory({"node": node("n1", "gpu:2")}, said(["gpu=a100-sxm4-80gb"], CATALOG), TAKEN_AT)
    assert [device.model for device in found.hosts[0].devices] == ["a100-sxm4-80gb"] * 2


@pytest.mark.parametrize("option", ["h100", "h100=", "=h100-sxm5-80gb", "h100=h100", "h100=nonsense"])
def test_a_word_for_a_model_must_be_written_so(option: str) -> None:
    with pytest.raises(UsageError, match="write WORD=MODEL"):
        said([option], CATALOG)


@pytest.mark.parametrize(
    ("state", "is_broken"),
    [("IDLE", False), ("MIXED", False), ("ALLOCATED+CLOUD", False), ("IDLE+DRAIN", True), ("DOWN*", True),
     ("MIXED+DRAIN", True), ("IDLE*", True), ("FAIL", True), ("IDLE+PLANNED", False), ("IDLE+NOT_RESPONDING", True)],
)  # fmt: skip
def test_nodes_that_take_no_work_are_down(state: str, is_broken: bool) -> None:
    found = inventory({"node": node("n1", "gpu:h100:8", State=state)}, MODELS, TAKEN_AT)
    assert bool(found.broken) is is_broken


def test_a_drained_node_says_why() -> None:
    reasons = {(each.node, each.reason) for each in facts().broken}
    assert ("gpu3", "fan = broken State=IDLE") in reasons


@pytest.mark.parametrize(("taken_at", "is_down"), [(TAKEN_AT, True), (1_796_073_557, False), (1_796_080_758, False)])
def test_maintenance_counts_while_it_lasts(taken_at: int, is_down: bool) -> None:
    texts = {
        "node": node("gpu3", "gpu:h100:8"),
        "reservation": "ReservationName=maint StartTime=2026-11-30T21:19:18 EndTime=2026-11-30T23:19:18 Nodes=gpu3 "
        "Flags=MAINT,IGNORE_JOBS",
    }
    found = inventory(texts, MODELS, taken_at)
    assert [each.until for each in found.broken] == ([1_796_080_758] if is_down else [])


def test_reservations_and_restrictions_that_specs_cannot_say_are_told() -> None:
    texts = {
        "node": node("n1", "gpu:h100:8,shard:64,nvme:4"),
        "partition": "PartitionName=h100 AllowAccounts=vision,nlp AllowQos=ALL MaxTime=7-00:00:00 State=UP",
        "reservation": "ReservationName=demo StartTime=2026-12-01T00:00:00 EndTime=2026-12-02T00:00:00 Nodes=n1 Flags=",
    }
    found = inventory(texts, MODELS, TAKEN_AT)
    assert found.untold == (
        "partition h100: AllowAccounts=vision,nlp is not written",
        "reservation demo of n1 is not written: plans know none",
        "node n1: shard:64 is not written; sharing is for you to choose",
    )
    words = found.hosts[0].scheduled
    assert words is not None
    assert (words.gres, words.max_run_seconds) == ((("nvme", 4),), 604_800)


def test_mig_devices_are_told_and_not_counted_as_cards() -> None:
    found = inventory({"node": node("n1", "gpu:h100:6,gpu:nvidia_h100_3g.40gb:4")}, MODELS, TAKEN_AT)
    assert len(found.hosts[0].devices) == 6
    assert found.untold == ("node n1: 4 partitions nvidia_h100_3g.40gb: Slurm does not tell on which card they are",)


def test_memory_kept_for_the_system_is_not_there_for_work() -> None:
    found = inventory({"node": node("n1", "gpu:h100:8", MemSpecLimit="12000", CPUEfctv="60")}, MODELS, TAKEN_AT)
    assert (found.hosts[0].memory_mib, found.hosts[0].cpus) == (500_000, 60)


def test_blocks_become_racks_and_say_so() -> None:
    texts = {"node": node("n1", "gpu:h100:8"), "topology": "BlockName=b1 BlockIndex=0 Nodes=n[1-18] BlockSize=18"}
    found = inventory(texts, MODELS, TAKEN_AT)
    assert found.hosts[0].scheduled is not None
    assert found.hosts[0].scheduled.rack == "b1"
    assert "blocks of topology.conf are written as racks" in found.untold[0]
