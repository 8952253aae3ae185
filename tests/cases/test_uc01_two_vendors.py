"""UC-01: one cluster with two vendors is planned as one fleet, and its totals are keyed by what there is."""

from __future__ import annotations

from planner.plan import Plan
from tests.builders import a_cluster, a_job, a_pool, planned

POOLS = (a_pool("l40s", nodes=2, count=4, model="l40s"), a_pool("mi300x", nodes=1, count=8, model="mi300x"))
CUDA = a_job("cuda", gpus={"count": 4, "vendor": "nvidia"}, duration={"l40s": "4h"})
ROCM = a_job("rocm", gpus={"count": 8, "vendor": "amd"}, duration={"mi300x": "4h"})
EITHER = a_job(
    "either",
    gpus=2,
    duration="7h",
    variants=[
        {"name": "cuda", "vendor": "nvidia", "image": "registry/train:cu12", "duration": {"l40s": "7h"}},
        {"name": "rocm", "vendor": "amd", "image": "registry/train:rocm6", "duration": {"mi300x": "5h"}},
    ],
)


def totals(plan: Plan, by: str) -> dict[str, tuple[int, int]]:
    """Devices and used device-hours by name."""
    return {each.name: (each.devices, each.used_device_seconds // 3_600) for each in plan.utilisation if each.by == by}


def test_all_three_jobs_are_planned_at_once() -> None:
    plan = planned(a_cluster(*POOLS), CUDA, ROCM, EITHER)
    assert [each.address for each in plan.placements] == [f"job/vision/{name}" for name in ("cuda", "either", "rocm")]
    assert plan.unplaced == ()


def test_the_job_with_two_images_gets_exactly_one_vendor() -> None:
    plan = planned(a_cluster(*POOLS), CUDA, ROCM, EITHER)
    placement = plan.placement("job/vision/either")
    assert placement is not None
    (segment,) = placement.segments
    assert (segment.variant, segment.vendor, segment.model, segment.pool) in {
        ("cuda", "nvidia", "l40s", "dc1/l40s"),
        ("rocm", "amd", "mi300x", "dc1/mi300x"),
    }


def test_the_job_with_two_images_takes_the_vendor_that_is_left() -> None:
    busy = planned(a_cluster(a_pool("l40s", count=2, model="l40s"), POOLS[1]), EITHER, ROCM)
    placement = busy.placement("job/vision/either")
    assert placement is not None
    assert placement.segments[0].vendor == "nvidia"


def test_totals_list_every_vendor_and_model_with_zeros_where_nothing_runs() -> None:
    plan = planned(a_cluster(*POOLS), CUDA)
    assert totals(plan, "vendor") == {"nvidia": (8, 16), "amd": (8, 0)}
    assert totals(plan, "model") == {"l40s": (8, 16), "mi300x": (8, 0)}
    assert totals(plan, "pool") == {"dc1/l40s": (8, 16), "dc1/mi300x": (8, 0)}
    assert [each.name for each in plan.costs.vendors] == ["amd", "nvidia"]
