"""Denials of a policy: each condition bites on its own side only, all conditions together, and plans move nothing."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, planned

FLEET = a_cluster(a_pool("x", nodes=2), a_pool("y", nodes=2))
CLOUD = a_cluster(
    a_pool("p5", nodes=2, price={"on_demand": "USD 8/h"}, max_nodes={"on_demand": 2}),
    name="aws", place={"provider": "aws", "region": "us-east-1"},
)  # fmt: skip


def a_rule(what: str = "place", message: str = "", **where: Any) -> Document:
    """A policy with one denial that skips what can never run."""
    return a_policy(on_invalid="skip", deny=[{"id": "rule-1", "what": what, "where": where, "message": message}])


def denied(*documents: Document) -> list[str]:
    """The pools that the rule keeps from the one job of the tree."""
    (work,) = compile_specs(*documents).works
    return [each.subject for each in work.refusals if each.code.value == "denied"]


@pytest.mark.parametrize(
    ("where", "job", "pools"),
    [
        ({}, a_job(), ["pool/aws/p5", "pool/dc1/x", "pool/dc1/y"]),
        ({"pool": "dc1/x"}, a_job(), ["pool/dc1/x"]),
        ({"pool": ["dc1/x", "aws/p5"]}, a_job(), ["pool/aws/p5", "pool/dc1/x"]),
        ({"market": "on_demand"}, a_job(), ["pool/aws/p5"]),
        ({"market": "spot"}, a_job(), []),
        ({"vendor": "nvidia", "pool": "dc1/y"}, a_job(), ["pool/dc1/y"]),
        ({"vendor": "amd"}, a_job(), []),
        ({"team": "vision", "pool": "dc1/x"}, a_job(), ["pool/dc1/x"]),
        ({"team": "nlp", "pool": "dc1/x"}, a_job(), []),
        ({"priority": ["P0", "P1"], "pool": "dc1/x"}, a_job(priority="P1"), ["pool/dc1/x"]),
        ({"priority": ["P0", "P1"], "pool": "dc1/x"}, a_job(priority="P2"), []),
        ({"checkpoint": "missing", "pool": "dc1/x"}, a_job(), ["pool/dc1/x"]),
        ({"checkpoint": "missing", "pool": "dc1/x"}, a_job(checkpoint={"every": "20m"}), []),
    ],
)
def test_a_rule_keeps_out_what_meets_all_its_conditions(where: Document, job: Document, pools: list[str]) -> None:
    team = {"apiVersion": "planner/v1", "kind": "Team", "name": "nlp"}
    assert denied(FLEET, CLOUD, team, a_rule(**where), job) == pools


def test_the_reason_names_the_rule_and_gives_its_message() -> None:
    (work,) = compile_specs(a_cluster(), a_rule(message="ask the platform team first"), a_job()).works
    (reason,) = work.refusals
    assert reason.message == "rule rule-1 of the policy denies it: ask the platform team first"
    assert reason.fix == "change rule rule-1 of the policy"


def test_denied_work_goes_elsewhere_and_nothing_else_is_held_up() -> None:
    plan = planned(FLEET, a_rule(priority="P3", pool="dc1/x"), *(
        a_job(f"j{at}", priority=priority) for at, priority in enumerate(("P3", "P3", "P2", "P2"))
    ))  # fmt: skip
    pools = {each.address: each.segments[0].pool for each in plan.placements}
    assert pools["job/vision/j0"] == pools["job/vision/j1"] == "dc1/y"
    assert {each.start for each in plan.placements} == {"2026-12-01T00:00:00Z"}


def test_work_denied_everywhere_is_an_error_unless_skipped() -> None:
    policy = a_policy(deny=[{"id": "rule-1", "what": "place"}])
    with pytest.raises(SpecError) as caught:
        compile_specs(a_cluster(), policy, a_job())
    assert "rule rule-1 of the policy denies it" in caught.value.diagnostics[0].help


@pytest.mark.parametrize("what", ["preempt", "move"])
def test_denials_to_interrupt_and_move_hold_since_plans_do_neither(what: str) -> None:
    plan = planned(a_cluster(), a_rule(what), *(a_job(name, duration="3h") for name in ("a", "b")))
    assert len(plan.placements) == 2
    assert (plan.preemptions, plan.moves) == ((), ())
