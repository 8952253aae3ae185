"""Work that goes on for a while before it is interrupted: all rules hold of both runs, and both count in the value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from solvers.check import check, value
from solvers.problem import Lead, Problem, Task
from solvers.rules import Rule
from solvers.search import Search
from solvers.solution import Assignment, Proof, Run, Solution
from solvers.solve import solve
from solvers.split import split
from tests.solvers.builders import (
    a_budget,
    a_mode,
    a_node,
    a_pool,
    a_previous,
    a_problem,
    a_row,
    a_run,
    a_taken,
    a_task,
)

TWO = (a_pool(a_node(8), a_node(8)),)
CHARGED = ((0, 8),)


def running(lead: Lead | None = None, **facts: Any) -> Task:
    """Work on all of node 0 for 6 more slots, or after 3 of them for 4 anywhere from slot 3 on."""
    lead = lead or Lead(slots=3, worth_micros=500, seats=((0, 0),))
    on = a_mode(8, duration=6, latest=0, nodes=(0,), cash_micros=2, power_micros=1, charges=CHARGED)
    later = a_mode(8, duration=4, cost_micros=7, charges=CHARGED, lead=lead, earliest=lead.slots)
    return replace(a_task(on, later, previous=a_previous(0, (0, 8)), move_micros=1), **facts)


def interrupted(start: int = 4, node: int = 1, lead: Run | None = None) -> tuple[Run, Run]:
    """Node 0 for 3 slots, then a node from some slot on."""
    return lead or a_run(0, 0, end=3), a_run(start, node, end=start + 4, mode=1)


def broken(problem: Problem, *runs: tuple[Run, ...]) -> set[str]:
    """The rules and claims that the checker sees broken when the first tasks have such runs."""
    given = tuple(Assignment(task=at, runs=each) for at, each in enumerate(runs) if each)
    listed = split(problem, given)
    draft = Solution(assignments=listed, value_micros=0, bound_micros=None, proof=Proof.HEURISTIC)
    found = check(problem, replace(draft, value_micros=value(problem, draft)))
    return {str(each.rule) for each in found}


def a_fleet(*others: Task, **facts: Any) -> Problem:
    """Two nodes of 8, the running work, and others."""
    facts.setdefault("rows", (a_row(limit=(16,) * 10),))
    return a_problem(running(), *others, slots=10, pools=TWO, **facts)


def test_work_may_run_in_two_runs_where_its_mode_has_a_lead() -> None:
    assert broken(a_fleet(), interrupted()) == set()
    assert broken(a_fleet(), interrupted(start=3, node=0)) == set()


@pytest.mark.parametrize(
    ("runs", "rule"),
    [
        ((interrupted()[1],), Rule.GANG),
        ((*interrupted(), interrupted(start=8)[1]), Rule.GANG),
        ((a_run(1, 0, end=4), interrupted()[1]), Rule.GANG),
        ((a_run(0, 0, end=2), interrupted()[1]), Rule.WINDOW),
        (interrupted(start=2), Rule.WINDOW),
        ((a_run(0, 1, end=3), interrupted()[1]), Rule.PIN),
    ],
    ids=["no lead", "a third run", "a lead that begins late", "a short lead", "both at once", "a lead that moved"],
)
def test_a_lead_is_the_first_mode_from_slot_0_to_its_end(runs: tuple[Run, ...], rule: Rule) -> None:
    assert str(rule) in broken(a_fleet(), runs)


def test_a_lead_takes_its_node_until_it_ends_and_no_longer() -> None:
    other = a_task(a_mode(8, duration=1))
    problem = a_fleet(other)
    assert broken(problem, interrupted(), (a_run(2, 0, end=3),)) == {"capacity"}
    assert broken(problem, interrupted(), (a_run(3, 0, end=4),)) == set()


def test_a_lead_needs_an_open_node_until_it_ends_and_not_for_all_of_its_mode() -> None:
    for closed, rules in (((2, 3), {"availability"}), ((3, 9), set())):
        pools = (a_pool(a_node(8, closed=closed), a_node(8)),)
        assert broken(replace(a_fleet(), pools=pools), interrupted()) == rules


def test_a_lead_counts_in_the_rows_of_the_first_mode() -> None:
    for level, rules in ((7, {"quota"}), (8, set())):
        rows = (a_row(limit=(16, 16, level, *(16,) * 7)),)
        assert broken(a_fleet(rows=rows), interrupted()) == rules


def test_a_lead_spends_the_cash_of_the_first_mode() -> None:
    for micros, rules in ((5, {"budget"}), (6, set())):
        problem = a_problem(running(budgets=(0,)), slots=10, pools=TWO, rows=(a_row(),), budgets=(a_budget(micros),))
        assert broken(problem, interrupted()) == rules


def test_what_a_lead_has_done_is_worth_its_part_and_the_mode_does_the_rest() -> None:
    problem = a_fleet()
    draft = Solution(
        assignments=(Assignment(task=0, runs=interrupted()),), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC
    )
    assert value(problem, draft) == (500 - 3 * 3) + (500 - 7 - 8 * 1)
    late = replace(draft, assignments=(Assignment(task=0, runs=interrupted(start=7)),))
    assert value(problem, late) == (500 - 3 * 3) + (500 * 3 // 4 - 7 - 8 * 1)


def urgent(start: int, worth: int) -> Task:
    """Work on a whole node that may start in one slot only."""
    return a_task(a_mode(8, duration=3), worth_micros=worth, earliest=start, latest=start)


def test_work_gives_way_at_the_time_that_is_worth_most() -> None:
    rows = (a_row(limit=(16,) * 10),)
    one = (a_pool(a_node(8)),)
    for worth, starts in ((5, [0]), (7, [0, 6])):
        problem = a_problem(running(), urgent(3, worth), slots=10, pools=one, rows=rows)
        found = solve(problem)
        assert [run.start for run in found.assignments[0].runs] == starts
        assert found.proof is Proof.OPTIMAL


def test_the_search_alone_finds_it_too() -> None:
    problem = a_problem(running(), urgent(3, 2_000), slots=10, pools=(a_pool(a_node(8)),), rows=(a_row(),))
    search = Search(problem)
    search.price(200, lambda *_: False)
    search.construct(200, lambda *_: False)
    search.improve(200, lambda *_: False)
    found = search.solution()
    assert [[run.start for run in one.runs] for one in found.assignments] == [[0, 6], [3]]
    adopted = Search(problem)
    adopted.adopt(found)
    assert adopted.solution().assignments == found.assignments
    assert adopted.solution().value_micros == found.value_micros


def test_work_whose_node_closes_goes_on_until_then() -> None:
    pools = (a_pool(a_node(8, closed=(4, 6))),)
    found = solve(a_problem(running(), slots=12, pools=pools, rows=(a_row(),)))
    assert [(run.start, run.end) for run in found.assignments[0].runs] == [(0, 3), (6, 10)]


def test_where_others_are_in_its_way_it_cannot_even_go_on() -> None:
    pools = (a_pool(a_node(8, taken=(a_taken(1, 2, 1),)), a_node(8, closed=(0, 3))),)
    found = solve(a_problem(running(), slots=12, pools=pools, rows=(a_row(),)))
    assert found.assignments == ()


SEATED = Lead(slots=3, worth_micros=500, seats=((0, 0),))


@pytest.mark.parametrize(
    ("lead", "facts", "says"),
    [
        (replace(SEATED, slots=0), {}, "takes 0 slots, expected 1 to"),
        (replace(SEATED, slots=7), {}, "takes 7 slots, expected 1 to 6"),
        (replace(SEATED, worth_micros=1_001), {}, "is worth 1001 micros, of 1000"),
        (replace(SEATED, worth_micros=-1), {}, "is worth -1 micros"),
        (replace(SEATED, seats=()), {}, "expected a node of its own"),
        (replace(SEATED, seats=((1, 0),)), {}, "expected a node of its own"),
        (replace(SEATED, seats=((0, 1),)), {}, "expected a node of its own"),
        (SEATED, {"earliest": 1}, "the task has a window"),
        (SEATED, {"latest": 5}, "the task has a window"),
    ],
)
def test_a_lead_that_means_nothing_is_no_problem(lead: Lead, facts: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        a_problem(running(lead, **facts), slots=10, pools=TWO, rows=(a_row(),))
