"""UC-11: two slots of a time-sliced device are not two devices."""

from __future__ import annotations

import pytest

from tests.builders import a_cluster, a_job, a_policy, a_pool, compile_specs, planned

SLICED = a_pool("sliced", count=2, sharing={"by": "time_slicing", "units": 4})


@pytest.mark.parametrize("by", ["time_slicing", "mps"])
@pytest.mark.parametrize("gpus", [1, 2])
def test_whole_devices_are_not_mapped_to_shared_slots(by: str, gpus: int) -> None:
    pool = a_pool("sliced", count=2, sharing={"by": by, "units": 4})
    job = a_job(gpus=gpus)
    (work,) = compile_specs(a_cluster(pool), a_policy(on_invalid="skip"), job).works
    (refusal,) = work.refusals
    assert refusal.message == f"every device of the pool is shared by {by} in 4 units, the job asks for whole ones"
    assert refusal.fix == "ask for a share, or add a pool that shares nothing"
    (placement,) = planned(a_cluster(pool, a_pool("whole", count=2)), job).placements
    assert placement.segments[0].pool == "dc1/whole"


def test_a_quarter_is_one_slot_of_one_device() -> None:
    jobs = [a_job(f"q{at}", gpus="1/4", duration="24h") for at in range(8)]
    plan = planned(a_cluster(SLICED), *jobs)
    assert len(plan.placements) == 8
    devices = [each.segments[0].nodes[0].devices for each in plan.placements]
    assert all(len(mine) == 1 and mine[0].share == "1/4" for mine in devices)
    assert sorted(mine[0].index for mine in devices) == [0] * 4 + [1] * 4


def test_a_share_needs_a_pool_that_shares() -> None:
    (free,) = compile_specs(a_cluster(a_pool("plain"), SLICED), a_job(gpus="1/4")).works
    assert [each.message for each in free.refusals] == ["the pool shares no devices, the job asks for a share"]
