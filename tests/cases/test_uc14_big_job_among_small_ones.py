"""UC-14: a big job keeps the start that it was promised, however many small ones come after it."""

from __future__ import annotations

from planner.plan import Plan
from planner.units import format_time, parse_time
from tests.builders import HOUR, START, Document, a_cluster, a_job, a_policy, a_pool, hours, planned

POOLS = a_cluster(a_pool(nodes=1), a_pool("a100", nodes=1, model="a100-sxm4-80gb"))
BIG = "job/vision/big"


def a_snapshot(plan: Plan, at: int) -> Document:
    """What the plan has running and finished at a moment, as if all had gone as planned."""
    running, finished = [], []
    for each in plan.placements:
        first = each.segments[0]
        job = each.address.removeprefix("job/")
        if parse_time(each.finish, "UTC") <= at:
            finished.append({"job": job, "spec": each.spec, "state": "succeeded", "at": each.finish})
        elif parse_time(each.start, "UTC") < at:
            nodes = [{"name": n.name, "devices": [{"index": d.index} for d in n.devices]} for n in first.nodes]
            running.append({"job": job, "pool": first.pool, "nodes": nodes, "started_at": each.start})
    return {
        "apiVersion": "planner/v1", "kind": "Snapshot", "name": "now", "taken_at": format_time(at),
        "running": running, "finished": finished,
    }  # fmt: skip


def small(name: str, duration: str, submitted: int) -> Document:
    """One device of the pool that the big job needs whole."""
    gpus = {"count": 1, "model": "h100-sxm5-80gb"}
    return a_job(name, gpus=gpus, duration=duration, priority="P1", submitted=format_time(submitted))


def the_first_jobs() -> list[Document]:
    """Four jobs that run until 2 h, the big one, then twelve small ones, and work of its own for the other pool."""
    early = [small(f"early-{at}", "4h", START - 2 * HOUR) for at in range(4)]
    whole = {"count": 8, "model": "h100-sxm5-80gb"}
    big = a_job("big", gpus=whole, duration="4h", priority="P1", submitted=format_time(START - HOUR))
    later = [small(f"short-{at}", "2h", START) for at in range(2)] + [
        small(f"long-{at}", "3h", START) for at in range(10)
    ]
    other = [
        a_job(f"other-{at}", gpus={"count": 4, "model": "a100-sxm4-80gb"}, duration="2h", priority="P1")
        for at in range(2)
    ]
    return [*early, big, *later, *other]


def the_first_snapshot() -> Document:
    """The four jobs, half done."""
    runs = [
        {"job": f"vision/early-{at}", "pool": "dc1/h100", "started_at": format_time(START - 2 * HOUR),
         "nodes": [{"name": "h100-0001", "devices": [{"index": at}]}]}
        for at in range(4)
    ]  # fmt: skip
    return {
        "apiVersion": "planner/v1",
        "kind": "Snapshot",
        "name": "now",
        "taken_at": format_time(START),
        "running": runs,
    }


def test_ten_plans_with_five_more_small_jobs_each_keep_the_promise() -> None:
    jobs, at = the_first_jobs(), START
    plan = planned(POOLS, a_policy(slot="30m"), the_first_snapshot(), *jobs, start=at, budget=200)
    promised = hours(plan, BIG)[0]
    assert 2 <= promised <= 6
    assert {hours(plan, f"job/vision/other-{number}") for number in range(2)} == {(0, 2)}
    for turn in range(10):
        at += HOUR // 2
        jobs += [small(f"more-{turn}-{number}", "3h", at) for number in range(5)]
        plan = planned(POOLS, a_policy(slot="30m"), a_snapshot(plan, at), *jobs, start=at, previous=plan, budget=200)
        assert hours(plan, BIG)[0] <= promised
