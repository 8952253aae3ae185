"""Which pools take a job, in which shape and for how long, and the reasons of those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from planner.catalog import Vendor, vendors
from planner.compile.ask import toolkit
from tests.builders import H100, Document, a_cluster, a_job, a_policy, a_pool, a_quota, compile_specs


def only_work(*documents: Document, job: Document) -> Any:
    """The one job of a fleet, compiled; work that fits nowhere is kept."""
    compiled = compile_specs(*documents, a_policy(on_invalid="skip"), job)
    return compiled.works[0], compiled.problem.tasks[0]


def refusal_of(pool: Document, job: Document, *more: Document) -> tuple[str, str]:
    """Why a pool does not take a job."""
    work, _ = only_work(a_cluster(pool, a_pool("spare", nodes=64)), *more, job=job)
    found = {each.subject: each for each in work.refusals}
    refusal = found[f"pool/dc1/{pool['name']}"]
    return refusal.code.value, refusal.message


@pytest.mark.parametrize(
    ("pool", "job", "code", "message"),
    [
        (a_pool("x"), a_job(place={"pools": ["dc1/spare"]}), "place", "the job's place allows only dc1/spare"),
        (a_pool("x"), a_job(place={"not": ["dc1/x"]}), "place", "the job's place excludes dc1/x"),
        (a_pool("x"), a_job(pin={"pool": "dc1/spare"}), "pin", "the job is pinned to dc1/spare"),
        (
            a_pool("x", model="mi300x"), a_job(), "vendor",
            "mi300x is made by AMD, variant nvidia runs on NVIDIA",
        ),
        (
            a_pool("x", model="l40s"), a_job(gpus={"count": 8, "model": H100}), "model",
            f"the pool has l40s, variant nvidia asks for {H100}",
        ),
        (
            a_pool("x", model="l40s"), a_job(duration={H100: "2h"}), "model",
            f"the pool has l40s, variant nvidia has a duration only for {H100}",
        ),
        (
            a_pool("x", model="l40s"), a_job(gpus={"count": 8, "memory": "80Gi"}), "device_memory",
            "needs 80Gi on a device, l40s has 48Gi",
        ),
        (a_pool("x", nodes=4), a_job(gpus=16, pin={"nodes": "x-0002"}), "pin",
         "takes 2 nodes, pin.nodes names 1"),
        (a_pool("x"), a_job(gpus=16), "size", "needs 16 devices at once, the pool has 8"),
        (a_pool("x", nodes=2, count=4), a_job(gpus={"count": 8, "nodes": 1}), "node_size",
         "needs 8 devices on one node, a node has 4"),
        (a_pool("x", cpus=64), a_job(cpus=65), "resources", "needs 65 cpus on a node, a node has 64 cpus"),
        (a_pool("x", nodes=2, count=4), a_job(topology={"within": "node", "required": True}), "node_size",
         "needs 8 devices within one node, here they take 2 nodes"),
        (a_pool("x"), a_job(needs={"rdma": True}), "rdma", "the job needs RDMA, the pool's network states none"),
        (a_pool("x", taints=["team=x:NoSchedule"]), a_job(), "taint", "its nodes have the taint team=x:NoSchedule"),
        (a_pool("x", max_duration="1h"), a_job(), "duration_limit", "may run for 2 h, the pool allows 1 h"),
        (
            a_pool("x", software={"cuda": "12.8"}), a_job(image="registry/train:cu13"), "software",
            "the image needs cuda 13, drivers here run up to 12.8",
        ),
    ],
)  # fmt: skip
def test_a_pool_says_why_it_does_not_take_a_job(pool: Document, job: Document, code: str, message: str) -> None:
    assert refusal_of(pool, job) == (code, message)


@pytest.mark.parametrize(
    ("pool", "job"),
    [
        (a_pool("x"), a_job(place={"pools": ["dc1/x"], "not": ["dc1/spare"]})),
        (a_pool("x", cpus=64), a_job(cpus=64)),
        (a_pool("x", taints=["nvidia.com/gpu=present:NoSchedule"]), a_job()),
        (a_pool("x", taints=["team=x:NoSchedule"]), a_job(needs={"tolerations": ["team=x:NoSchedule"]})),
        (a_pool("x", taints=["team=x:PreferNoSchedule"]), a_job()),
        (a_pool("x", max_duration="2h"), a_job()),
        (a_pool("x", software={"cuda": "12.8"}), a_job(image="registry/train:cu12")),
        (a_pool("x", software={"cuda": "12.8"}), a_job(image="registry/train:1")),
        (a_pool("x", network={"rdma": True}), a_job(needs={"rdma": True})),
        (a_pool("x", features=["ib", "a"]), a_job(needs={"features": ["ib"]})),
    ],
)
def test_a_pool_that_is_just_enough_takes_the_job(pool: Document, job: Document) -> None:
    work, _ = only_work(a_cluster(pool, a_pool("spare", nodes=64)), job=job)
    assert "dc1/x" in {each.site.pool.name for each in work.candidates}


def test_the_device_taint_of_another_vendor_is_not_tolerated() -> None:
    pool = a_pool("x", taints=["amd.com/gpu=present:NoSchedule"])
    assert refusal_of(pool, a_job())[0] == "taint"


@pytest.mark.parametrize(
    ("gpus", "nodes", "each"),
    [(1, 1, 1), (8, 1, 8), (9, 3, 3), (10, 2, 5), (12, 2, 6), (16, 2, 8), (17, 17, 1), (24, 3, 8)],
)
def test_a_gang_takes_the_fewest_nodes_that_divide_it(gpus: int, nodes: int, each: int) -> None:
    _, task = only_work(a_cluster(a_pool(nodes=32)), job=a_job(gpus=gpus))
    assert [(part.count, part.use) for part in task.modes[0].parts] == [(nodes, (each,))]


def test_a_gang_that_names_its_nodes_is_spread_over_so_many() -> None:
    _, task = only_work(a_cluster(a_pool(nodes=32)), job=a_job(gpus={"count": 16, "nodes": 4}))
    assert [(part.count, part.use) for part in task.modes[0].parts] == [(4, (4,))]


def test_cpus_and_memory_are_the_fair_share_unless_stated() -> None:
    pool = a_pool(cpus=100, memory="1Ti")
    _, task = only_work(a_cluster(pool), job=a_job(gpus=3))
    assert task.modes[0].parts[0].use == (3, 37, 393_216)
    _, task = only_work(a_cluster(pool), job=a_job(gpus=3, cpus_per_gpu=8, memory="64Gi"))
    assert task.modes[0].parts[0].use == (3, 24, 65_536)


def test_each_model_of_a_mixed_node_is_counted_for_itself() -> None:
    mixed = a_pool(gpus=[{"model": "l40s", "count": 1}, {"model": H100, "count": 2}])
    _, task = only_work(a_cluster(mixed), job=a_job(gpus=2, duration={H100: "2h", "l40s": "3h"}))
    assert [(mode.duration, mode.parts[0].use) for mode in task.modes] == [(2, (2, 0, 2))]


def test_a_duration_scales_with_the_speed_of_the_catalogue_and_says_so() -> None:
    work, _task = only_work(a_cluster(a_pool(), a_pool("a100", model="a100-sxm4-80gb")), job=a_job(duration="10h"))
    by_pool = {each.site.pool.name: each for each in work.candidates}
    assert (by_pool["dc1/h100"].expected_seconds, by_pool["dc1/h100"].estimated) == (36_000, False)
    speed = by_pool["dc1/a100"].site.group.accelerator.speed_ppm
    assert by_pool["dc1/a100"].expected_seconds == -(-36_000 * 1_000_000 // speed)
    assert by_pool["dc1/a100"].estimated
    assert by_pool["dc1/a100"].limit_seconds >= by_pool["dc1/a100"].expected_seconds * 5 // 4


def test_a_limit_that_is_not_written_is_cut_to_what_the_pool_allows() -> None:
    work, _ = only_work(a_cluster(a_pool(max_duration="4h")), job=a_job(duration="4h"))
    assert [each.limit_seconds for each in work.candidates] == [14_400]
    work, _ = only_work(a_cluster(a_pool(max_duration="5h")), job=a_job(duration="4h"))
    assert [each.limit_seconds for each in work.candidates] == [18_000]


@pytest.mark.parametrize(
    ("image", "vendor", "release"),
    [
        ("registry/train:2.9-cu13", Vendor.NVIDIA, (13,)),
        ("registry/train:2.9-cuda12.8", Vendor.NVIDIA, (12, 8)),
        ("registry/train:2.9-cu128", Vendor.NVIDIA, (12, 8)),
        ("registry/cuda11/train:2.9", Vendor.NVIDIA, ()),
        ("registry/train:rocm6.3.1", Vendor.AMD, (6, 3, 1)),
        ("registry/train:latest", Vendor.AMD, ()),
    ],
)
def test_the_toolkit_is_read_from_the_last_part_of_an_image(
    image: str, vendor: Vendor, release: tuple[int, ...]
) -> None:
    assert toolkit(image, vendors()[vendor]) == release


def test_work_that_may_not_be_interrupted_runs_only_where_its_team_is_guaranteed_enough() -> None:
    job = a_job(gpus=4, preemptible=False)
    code, message = refusal_of(a_pool("x"), job, a_quota("q", "nlp", guaranteed=8))
    assert (code, message) == (
        "not_guaranteed",
        "work that may not be interrupted runs only on guaranteed devices, and team vision has no quota here",
    )
    assert refusal_of(a_pool("x"), job, a_quota("q", guaranteed=3))[0] == "not_guaranteed"
    work, _ = only_work(a_cluster(), a_quota("q", guaranteed=4), job=job)
    assert len(work.candidates) == 1
    work, _ = only_work(a_cluster(), job=job)
    assert len(work.candidates) == 1
