"""UC-10: what fits on a card is told by where profiles may begin, not by how many slices are free."""

from __future__ import annotations

from typing import Any

from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, planned


def carded(*layout: tuple[str, int], count: int = 1, **fields: Any) -> Document:
    """A node whose first card is partitioned so."""
    fixed = [{"profile": profile, "at": at} for profile, at in layout]
    return a_pool("x", nodes="n1", count=count, partitions={"fixed": {"n1": {"0": fixed}}} | fields)


def on(name: str, profile: str, count: int = 1, **fields: Any) -> Document:
    """A job on so many partitions."""
    return a_job(name, gpus={"count": count, "partition": profile}, duration="24h", **fields)


PINNED = (("1g.10gb", 0), ("1g.10gb", 1), ("1g.10gb", 5))


def test_runs_take_the_partitions_that_are_there() -> None:
    plan = planned(a_cluster(carded(*PINNED)), *(on(f"j{at}", "1g.10gb") for at in range(4)))
    held = sorted((device.index, device.at, device.profile) for each in plan.placements
                  for device in each.segments[0].nodes[0].devices)  # fmt: skip
    assert held == [(0, 0, "1g.10gb"), (0, 1, "1g.10gb"), (0, 5, "1g.10gb")]
    assert {each.gpus for each in plan.placements} == {"1/8"}
    assert len(plan.unplaced) == 1


def test_a_profile_that_is_not_there_is_refused_by_name() -> None:
    (work,) = compile_specs(a_cluster(carded(*PINNED)), a_policy(on_invalid="skip"), on("big", "3g.40gb")).works
    (refusal,) = work.refusals
    assert refusal.code == "partition"
    assert refusal.message.startswith("the pool has no partition 3g.40gb")


def test_cards_that_are_not_partitioned_stay_whole() -> None:
    plan = planned(a_cluster(carded(*PINNED, count=4)), a_job("whole", gpus=3, duration="24h"), on("part", "1g.10gb"))
    held = {each.address: [device.index for device in each.segments[0].nodes[0].devices] for each in plan.placements}
    assert held == {"job/vision/part": [0], "job/vision/whole": [1, 2, 3]}


def test_a_partition_counts_its_memory_slices_of_eight() -> None:
    plan = planned(a_cluster(carded(("3g.40gb", 4), ("1g.10gb", 0))), on("three", "3g.40gb"), on("one", "1G.10GB"))
    assert {each.address: each.gpus for each in plan.placements} == {"job/vision/one": "1/8", "job/vision/three": "1/2"}


CHOICE = ["1g.10gb", "2g.20gb", "3g.40gb"]


def test_the_placement_table_decides_and_not_the_sum_of_slices() -> None:
    """Four slices are free beside 0, 1 and 5: enough for 3g.40gb by the sum, and it can begin at 0 or 4 only."""
    pool = carded(*PINNED, allowed=CHOICE)
    (two, three) = compile_specs(
        a_cluster(pool), a_policy(on_invalid="skip"), on("a-two", "2g.20gb"), on("b-three", "3g.40gb")
    ).works
    assert len(two.candidates) == 1
    (refusal,) = three.refusals
    assert refusal.message == (
        "3g.40gb cannot begin anywhere: on device 0 of n1, 1g.10gb is at 0, 1g.10gb is at 1, 2g.20gb is at 2, "
        "1g.10gb is at 5; it can begin at 0 or 4"
    )
    plan = planned(a_cluster(pool), on("two", "2g.20gb"))
    (device,) = plan.placements[0].segments[0].nodes[0].devices
    assert (device.profile, device.at) == ("2g.20gb", 2)


def test_from_an_empty_card_both_kinds_fit() -> None:
    pool = a_pool("x", nodes="n1", count=1, partitions=CHOICE)
    plan = planned(a_cluster(pool), *(on(f"one-{at}", "1g.10gb") for at in range(3)), on("three", "3g.40gb"))
    assert len(plan.placements) == 4
    (layout,) = plan.layouts
    names = [part.profile for part in layout.windows[0].partitions]
    assert sorted(names) == ["1g.10gb"] * 3 + ["3g.40gb"]


def test_cards_are_cut_only_as_far_as_the_work_needs() -> None:
    pool = a_pool("x", nodes="n1", count=4, partitions=CHOICE)
    whole = a_job("whole", gpus=3, duration="24h")
    plan = planned(a_cluster(pool), whole, *(on(f"one-{at}", "1g.10gb") for at in range(7)))
    assert len(plan.placements) == 8
    assert len(plan.layouts) == 1
    none = planned(a_cluster(pool), whole)
    assert none.layouts == ()


def test_a_layout_stays_when_the_work_changes() -> None:
    pool = a_pool("x", nodes="n1", count=2, partitions=CHOICE)
    first = planned(a_cluster(pool), on("three", "3g.40gb"))
    again = planned(a_cluster(pool), on("three", "3g.40gb"), on("two", "2g.20gb"), previous=first)
    (before,) = first.layouts
    (after,) = again.layouts
    assert set(before.windows[0].partitions) < set(after.windows[0].partitions)
    assert [each.address for each in again.placements] == ["job/vision/three", "job/vision/two"]


def test_what_is_fixed_since_prevails_over_what_was_chosen() -> None:
    first = planned(a_cluster(a_pool("x", nodes="n1", count=1, partitions=CHOICE)), on("three", "3g.40gb"))
    (part,) = first.layouts[0].windows[0].partitions
    fixed = carded(("1g.10gb", part.at + 1), allowed=CHOICE)
    again = planned(a_cluster(fixed), on("three", "3g.40gb"), previous=first)
    found = {(each.profile, each.at) for each in again.layouts[0].windows[0].partitions}
    assert found == {("1g.10gb", part.at + 1), ("3g.40gb", 4 - part.at)}
