"""The rails of a Policy, each on both sides of its limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from planner.decode.plan import remarked
from planner.plan import Cost, Costs, Move, Plan, Preemption, sealed
from planner.safety import Allowed, Rail, effects_of, judged, remarks
from planner.specset import SpecSet
from tests import builders
from tests.planner.plans import HOUR, START, a_placement, a_plan, at

NOBODY = Allowed()


def specs(safety: dict[str, Any] | None = None, deny: list[dict[str, Any]] | None = None, *labelled: str) -> SpecSet:
    """Specs with a policy, and jobs that are protected."""
    rules: dict[str, Any] = {"safety": safety or {}, "deny": deny or []}
    labels = {"planner/protected": "true"}
    jobs = [builders.a_job(name, labels=labels) for name in labelled]
    teams = (builders.a_team("vision"), builders.a_team("nlp"))
    return builders.loaded(builders.a_cluster(), *teams, builders.a_policy(**rules), *jobs)


def rails(before: Plan | None, after: Plan, given: SpecSet | None = None, allowed: Allowed = NOBODY) -> list[Rail]:
    """The rails that a plan runs into at the start of the horizon."""
    return [breach.rail for breach in judged(before, after, given or specs(), at=START, allowed=allowed)]


def running(*names: str, gpus: int = 8, **fields: Any) -> list[Any]:
    """Jobs that run from the start, each on nodes of its own."""
    return [
        a_placement(f"vision/{name}", gpus=gpus, node=1 + 4 * number, **fields) for number, name in enumerate(names)
    ]


TEN = tuple(f"j{number}" for number in range(10))


def test_the_first_plan_moves_and_stops_nothing() -> None:
    assert rails(None, a_plan(running("a"))) == []


@pytest.mark.parametrize(("stopped", "expected"), [(1, []), (2, [Rail.MAX_STOPPED])])
def test_as_much_as_the_policy_says_may_stop(stopped: int, expected: list[Rail]) -> None:
    before = a_plan(running(*TEN))
    assert rails(before, a_plan(running(*TEN)[stopped:])) == expected


@pytest.mark.parametrize(("moved", "expected"), [(1, []), (2, [Rail.MAX_MOVED])])
def test_as_much_as_the_policy_says_may_move(moved: int, expected: list[Rail]) -> None:
    elsewhere = [a_placement(f"vision/{name}", node=100 + number) for number, name in enumerate(TEN[:moved])]
    assert rails(a_plan(running(*TEN)), a_plan([*elsewhere, *running(*TEN)[moved:]])) == expected


@pytest.mark.parametrize(("limit", "expected"), [("20%", []), ("19.9999%", [Rail.MAX_STOPPED])])
def test_the_limit_is_exact(limit: str, expected: list[Rail]) -> None:
    given = specs({"max_stopped": limit})
    assert rails(a_plan(running(*TEN)), a_plan(running(*TEN)[2:]), given) == expected


@pytest.mark.parametrize(("least", "expected"), [(16, [Rail.MAX_STOPPED]), (17, [])])
def test_fewer_devices_than_the_least_are_not_judged(least: int, expected: list[Rail]) -> None:
    assert rails(a_plan(running("a", "b")), a_plan(running("a")), specs({"min_existing": least})) == expected


@pytest.mark.parametrize(("count", "expected"), [(16, []), (15, [Rail.MAX_STOPPED])])
def test_an_override_names_the_count_that_was_seen(count: int, expected: list[Rail]) -> None:
    before, after = a_plan(running(*TEN)), a_plan(running(*TEN)[2:])
    assert rails(before, after, allowed=Allowed(stopped=count)) == expected


def test_a_breach_says_counts_limit_source_and_override() -> None:
    (breach,) = judged(a_plan(running(*TEN)), a_plan(running(*TEN)[2:]), specs(), at=START, allowed=NOBODY)
    told = breach.diagnostic
    assert told.summary.startswith(
        "safety.max_stopped: it stops 16 devices of 80 devices that run: job/vision/j0, job/vision/j1; at most 10%"
    )
    assert "set by policy/default at " in told.summary
    assert told.help == "if that is meant: --allow-stopped 16"


def test_work_that_has_ended_is_not_stopped() -> None:
    before, after = a_plan(running("a", "b")), a_plan(running("a"))
    assert effects_of(before, after, at=START).stopped == (("job/vision/b", Fraction(8)),)
    assert effects_of(before, after, at=START, finished={"job/vision/b"}).stopped == ()
    assert effects_of(before, after, at=START + 18 * HOUR).stopped == ()
    assert effects_of(before, after, at=START + 18 * HOUR - 1).stopped == (("job/vision/b", Fraction(8)),)


def test_work_that_begins_again_later_is_stopped() -> None:
    later = a_plan([a_placement("vision/a", 2, 20)])
    assert effects_of(a_plan(running("a")), later, at=START).stopped == (("job/vision/a", Fraction(8)),)


def test_an_empty_plan_is_told_whatever_runs() -> None:
    before = a_plan([a_placement("vision/a", 4, 8)])
    assert rails(before, a_plan()) == [Rail.EMPTY]
    assert rails(before, a_plan(), allowed=Allowed(empty=True)) == []
    assert rails(a_plan(), a_plan()) == []


def test_protected_work_is_neither_moved_nor_stopped() -> None:
    given, before = specs(None, None, "a"), a_plan(running("a"))
    assert rails(before, a_plan(running("b")), given) == [Rail.PROTECTED]
    assert rails(before, a_plan([a_placement("vision/a", node=9)]), given) == [Rail.PROTECTED]
    assert rails(before, a_plan(running("a")), given) == []
    assert rails(before, a_plan(running("b")), specs()) == []


DENIED = {"id": "no-prod", "what": "preempt", "where": {"priority": ["P0", "P1"]}, "message": "ask the owner"}


@pytest.mark.parametrize(("priority", "expected"), [("P1", [Rail.DENY]), ("P2", [])])
def test_what_a_rule_forbids_stops_a_plan(priority: str, expected: list[Rail]) -> None:
    victim = Preemption(victim="job/vision/a", by="job/vision/b", at=at(1), gpus=8, lost_work_seconds=0)
    after = a_plan(running("a", priority=priority), preemptions=(victim,))
    assert rails(None, after, specs(None, [DENIED])) == expected


@pytest.mark.parametrize(
    ("what", "where", "expected"),
    [
        ("place", {"team": "vision"}, [Rail.DENY]),
        ("place", {"team": "nlp"}, []),
        ("place", {"vendor": "nvidia"}, [Rail.DENY]),
        ("place", {"vendor": "amd"}, []),
        ("place", {"vendor": "nvidia", "market": "spot"}, []),
        ("place", {"checkpoint": "missing"}, [Rail.DENY]),
        ("move", {}, [Rail.DENY]),
        ("preempt", {}, []),
    ],
)
def test_a_rule_means_work_that_meets_all_of_its_condition(
    what: str, where: dict[str, str], expected: list[Rail]
) -> None:
    move = Move.model_validate(
        {
            "address": "job/vision/a",
            "at": at(1),
            "from": ["x"],
            "to": ["y"],
            "for": "job/vision/b",
            "lost_work_seconds": 0,
        }
    )
    given = specs(None, [{"id": "rule", "what": what, "where": where}])
    assert rails(None, a_plan(running("a"), moves=(move,)), given) == expected


def billed(micros: int) -> Plan:
    """A plan with that cloud bill."""
    return a_plan(
        costs=Costs(currency="USD", total=Cost(name="total", cash_micros=micros, power_micros=0, chargeback_micros=0))
    )


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        (100, 119, False),
        (100, 120, True),
        (100, 81, False),
        (100, 80, True),
        (0, 1, True),
        (0, 0, False),
        (7, 7, False),
    ],
)
def test_a_bill_that_changes_by_as_much_as_the_policy_says_is_remarked_on(old: int, new: int, is_told: bool) -> None:
    given = builders.loaded(builders.a_policy(warn=[{"id": "jump", "what": "cost_change", "over": "20%"}]))
    found = remarks(billed(old * 1_000_000), billed(new * 1_000_000), given)
    assert bool(found) is is_told
    assert remarks(None, billed(new), given) == ()
    plan = remarked(billed(new), found)
    assert [note.code for note in plan.diagnostics] == ["PLAN705"] * is_told
    assert plan == sealed(plan)
    if is_told:
        assert found[0].summary == f"jump: the cloud bill goes from USD {old} to USD {new}, by 20% or more"
