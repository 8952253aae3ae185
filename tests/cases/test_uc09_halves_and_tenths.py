"""UC-09: parts of devices are exact, on one device each, and what the units cannot say is rounded up and said so."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from planner.plan import Placement, Plan
from planner.units import parse_share
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, a_quota, compile_specs, hours, planned


def shared(units: int, by: str = "hami", **fields: object) -> Document:
    """A pool whose devices are shared."""
    return a_pool("x", sharing={"by": by, "units": units}, **fields)  # type: ignore[arg-type]


def held(placement: Placement) -> list[tuple[str, int]]:
    """The devices of a placement."""
    return [(node.name, device.index) for node in placement.segments[0].nodes for device in node.devices]


def on_each(plan: Plan) -> Counter[tuple[str, int]]:
    """How many runs each device carries."""
    return Counter(device for placement in plan.placements for device in held(placement))


def test_sixteen_halves_lie_two_to_a_card() -> None:
    halves = [a_job(f"half-{at:02}", gpus="1/2", duration="24h") for at in range(16)]
    plan = planned(a_cluster(shared(2)), *halves)
    assert on_each(plan) == {("x-0001", index): 2 for index in range(8)}
    assert {each.gpus for each in plan.placements} == {"1/2"}
    assert all(device.share == "1/2" for each in plan.placements for device in each.segments[0].nodes[0].devices)
    (total,) = [each for each in plan.utilisation if each.by == "pool"]
    assert (total.devices, total.used_device_seconds) == (8, 8 * 86_400)


def test_a_seventeenth_half_has_no_place() -> None:
    halves = [a_job(f"half-{at:02}", gpus="1/2", duration="24h") for at in range(17)]
    plan = planned(a_cluster(shared(2)), *halves)
    assert len(plan.placements) == 16
    (left,) = plan.unplaced
    assert left.reasons[0].message.startswith("needs 1/2 of a device free for 1 d, none has that")


@pytest.mark.parametrize("tenths", [9, 10, 11])
def test_ten_tenths_are_one_card_exactly(tenths: int) -> None:
    jobs = [a_job(f"tenth-{at:02}", gpus="1/10", duration="24h") for at in range(tenths)]
    plan = planned(a_cluster(shared(10, count=1)), *jobs)
    assert (len(plan.placements), len(plan.unplaced)) == (min(10, tenths), max(0, tenths - 10))


def test_thirds_are_rounded_up_to_the_units_and_that_is_said() -> None:
    thirds = [a_job(f"third-{at}", gpus="1/3", duration="24h") for at in range(3)]
    plan = planned(a_cluster(shared(4, count=1)), *thirds)
    assert [each.gpus for each in plan.placements] == ["1/2", "1/2"]
    (reason,) = plan.placements[0].reasons
    assert (reason.code, reason.message) == (
        "rounded", "1/3 of a device takes 1/2: the pool divides a device into 4 units",
    )  # fmt: skip
    exact = planned(a_cluster(shared(3, count=1)), *thirds)
    assert [each.gpus for each in exact.placements] == ["1/3"] * 3
    assert all(not each.reasons for each in exact.placements)


def test_the_share_that_holds_so_much_memory() -> None:
    job = a_job(gpus={"share_memory": "12Gi"})
    (placement,) = planned(a_cluster(shared(8)), job).placements
    assert placement.gpus == "1/4"
    (work,) = compile_specs(a_cluster(shared(8), a_pool("y")), job).works
    assert [each.site.pool.name for each in work.candidates] == ["dc1/x"]


def test_unlike_shares_never_split_over_two_cards() -> None:
    sizes = ["1/2", "1/2", "3/4", "3/4", "1/4", "1/4"]
    jobs = [a_job(f"j{at}", gpus=size, duration="24h") for at, size in enumerate(sizes)]
    plan = planned(a_cluster(shared(4, count=3)), *jobs)
    assert len(plan.placements) == 6
    load: Counter[tuple[str, int]] = Counter()
    for each in plan.placements:
        (device,) = held(each)
        load[device] += int(4 * parse_share(str(each.gpus)))
    assert set(load.values()) == {4}


def test_a_device_is_whole_or_shared() -> None:
    jobs = [a_job("whole", gpus=7, duration="24h"), *(a_job(f"s{at}", gpus="1/2", duration="24h") for at in range(3))]
    plan = planned(a_cluster(shared(2)), *jobs)
    assert len(plan.placements) == 3
    carried = on_each(plan)
    assert sorted(carried.values()) == [1] * 7 + [2]


def test_a_share_takes_its_part_of_the_host() -> None:
    """CPUs and memory are the node's: four quarters with half of its CPUs each leave no room for a third."""
    jobs = [a_job(f"q{at}", gpus="1/4", cpus=16, duration="24h") for at in range(4)]
    pool = shared(4, count=2, cpus=32, memory="64Gi")
    plan = planned(a_cluster(pool), *jobs)
    assert (len(plan.placements), len(plan.unplaced)) == (2, 2)
    assert "needs 1/4 of a device with 16 cpus" in plan.unplaced[0].reasons[0].message
    fair = planned(a_cluster(pool), *(a_job(f"q{at}", gpus="1/4", duration="24h") for at in range(8)))
    assert len(fair.placements) == 8


def test_shares_on_two_nodes_keep_to_their_own_host() -> None:
    jobs = [a_job(f"h{at}", gpus="1/2", cpus=24, duration="24h") for at in range(4)]
    plan = planned(a_cluster(shared(2, nodes=2, count=2, cpus=32)), *jobs)
    assert Counter(node for each in plan.placements for node, _ in held(each)) == {"x-0001": 1, "x-0002": 1}


def test_a_gang_of_whole_devices_in_a_shared_pool() -> None:
    plan = planned(a_cluster(shared(2, nodes=3, cpus=64)), a_job("gang", gpus={"count": 16, "nodes": 2}),
                   a_job("half", gpus="1/2"))  # fmt: skip
    assert plan.status.complete
    gang = plan.placement("job/vision/gang")
    assert gang is not None
    assert [len(node.devices) for node in gang.segments[0].nodes] == [8, 8]
    assert all(device.share is None for node in gang.segments[0].nodes for device in node.devices)
    assert hours(plan, "job/vision/gang") == hours(plan, "job/vision/half") == (0, 2)


def test_shares_stay_where_the_previous_plan_had_them() -> None:
    specs = (a_cluster(shared(2, cpus=64)), a_policy(move="USD 1"))
    jobs = [a_job(f"j{at}", gpus="1/2", duration="4h") for at in range(5)]
    first = planned(*specs, *jobs)
    again = planned(*specs, a_job("new", gpus="1/2", duration="4h", priority="P0"), *jobs, previous=first)
    before = {each.address: (each.start, held(each)) for each in first.placements}
    after = {each.address: (each.start, held(each)) for each in again.placements}
    assert {name: after[name] for name in before} == before


def test_hard_isolation_is_no_share() -> None:
    job = a_job(gpus={"share": "1/2", "isolation": "hard"})
    (work,) = compile_specs(a_cluster(shared(2, by="mps")), a_policy(on_invalid="skip"), job).works
    assert [(each.code, each.message) for each in work.refusals] == [
        ("sharing", "work that shares a device by mps is not kept apart in memory and faults")
    ]


def test_the_worth_of_a_share_is_its_part_of_a_device() -> None:
    problem = compile_specs(a_cluster(shared(8)), a_job("whole", gpus=1), a_job("part", gpus="1/8")).problem
    worth = {task.name: task.worth_micros for task in problem.tasks}
    assert worth["job/vision/whole"] == 8 * worth["job/vision/part"]
    assert problem.units == 8
    assert Fraction(problem.pools[0].nodes[-1].capacity[0], problem.units) == 1


def test_a_share_counts_its_part_in_quotas() -> None:
    quarters = [a_job(f"q{at}", gpus="1/4", duration="24h") for at in range(6)]
    quota = a_quota(guaranteed=1, limit=1)
    plan = planned(a_cluster(shared(4)), quota, *quarters)
    assert len(plan.placements) == 4
    assert [use.guaranteed for each in plan.placements for use in each.segments[0].quota] == ["1/4"] * 4
    assert {reason.code for each in plan.unplaced for reason in each.reasons} == {"quota"}
    (row, *_) = compile_specs(a_cluster(shared(4)), quota, *quarters).problem.rows
    assert (row.limit, row.guarantee) == ((4,) * 24, (4,) * 24)


@pytest.mark.parametrize(("limit", "placed"), [(1, 1), (2, 2)])
def test_whole_devices_count_whole_beside_shares(limit: int, placed: int) -> None:
    jobs = [a_job(f"w{at}", gpus=1, duration="24h") for at in range(2)]
    plan = planned(a_cluster(shared(4)), a_quota(limit=limit), *jobs, a_job("part", gpus="1/4", priority="P3"))
    assert len([each for each in plan.placements if each.gpus == 1]) == placed
