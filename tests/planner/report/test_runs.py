"""Work that stops, moves or serves: who, when, and at what loss."""

from __future__ import annotations

from fractions import Fraction

from planner.plan import Move, Plan, Preemption, ServicePlan, ServiceStep
from planner.report.loads import holds
from planner.report.page import Medium
from planner.report.plan import plan_page
from planner.report.text import as_text
from tests.planner.plans import a_placement, a_plan, a_reason, a_segment, at


def shown(plan: Plan) -> str:
    """The report as text."""
    medium = Medium(width=120)
    return as_text(plan_page(plan, medium), medium)


def test_an_interruption_names_victim_beneficiary_time_and_loss() -> None:
    stop = Preemption(victim="job/t/small", by="job/t/big", at=at(9), gpus="1/2", lost_work_seconds=720)
    assert "Tue 12-01 09:00  t/small gives 0.5 GPUs to t/big, losing 12 min of work" in shown(
        a_plan(preemptions=(stop,))
    )


def test_a_move_names_the_nodes_it_leaves_and_takes() -> None:
    move = Move.model_validate(
        {
            "address": "job/t/small",
            "at": at(9),
            "from": ["n1", "n2"],
            "to": ["n5"],
            "for": "job/t/big",
            "lost_work_seconds": 0,
        }
    )
    assert "t/small from n[1-2] to n5 for t/big, losing 0 s of work" in shown(a_plan(moves=(move,)))


def service(*capacities: int) -> ServicePlan:
    """A service under a load of ten requests a second, a step an hour."""
    steps = tuple(
        ServiceStep(
            start=at(hour), end=at(hour + 1), replicas=hour + 1, replicas_needed=1, load_milliqps=10_000,
            capacity_milliqps=capacity, segments=(a_segment(hour, hour + 1, gpus=2),),
        )
        for hour, capacity in enumerate(capacities)
    )  # fmt: skip
    return ServicePlan(address="service/nlp/chat", spec="sha256:1", team="nlp", priority="P0", steps=steps)


def test_a_service_says_whether_it_bears_its_load() -> None:
    rows = [line.split() for line in shown(a_plan(services=(service(10_000, 20_000),))).splitlines()]
    assert ["service/nlp/chat", "P0", "1–2", "always"] in rows
    assert "not in 1 step" in shown(a_plan(services=(service(10_000, 9_999),)))


def test_services_count_in_the_load_of_pools_as_jobs_do() -> None:
    plan = a_plan([a_placement("t/a", 0, 4)], services=(service(10_000),))
    assert [hold.devices for hold in holds(plan)] == [Fraction(8), Fraction(2)]


def test_a_share_counts_as_its_part_of_a_device() -> None:
    segment = a_segment(0, 1, gpus=2)
    node = segment.nodes[0]
    halves = tuple(device.model_copy(update={"share": "1/8"}) for device in node.devices[:1]) + node.devices[1:]
    shared = segment.model_copy(update={"nodes": (node.model_copy(update={"devices": halves}),)})
    plan = a_plan([a_placement("t/a", 0, 1).model_copy(update={"segments": (shared,)})])
    assert [hold.devices for hold in holds(plan)] == [Fraction(9, 8)]


def test_a_service_that_lacks_replicas_says_why_and_what_would_help() -> None:
    reasons = (
        a_reason("replicas", "service/nlp/chat", "the load needs 3 replicas, replicas.max allows 1", "raise it to 3"),
        a_reason("capacity", "pool/dc1/h100", "needs 1 node"),
    )
    short = service(10_000).model_copy(update={"reasons": reasons})
    text = shown(a_plan(services=(short,)))
    assert "service/nlp/chat the load needs 3 replicas, replicas.max allows 1 [replicas]" in text
    assert "try: raise it to 3" in text
    assert "service/nlp/chat pool/dc1/h100: needs 1 node [capacity]" in text
