"""UC-08: devices that are linked in pairs, which are not neighbours: linked work gets whole pairs, in any order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, compile_specs, planned

PAIRS = ((0, 2), (1, 3), (4, 5), (6, 7))


def box(**fields: Any) -> Document:
    """A node of 8 cards in pairs."""
    return a_pool("box", links=[list(pair) for pair in PAIRS], **fields)


def single(name: str, **fields: Any) -> Document:
    """A job on any card."""
    return a_job(name, gpus=1, duration="24h", **fields)


def linked(name: str, count: int = 2, **fields: Any) -> Document:
    """A job on linked cards."""
    return a_job(name, gpus={"count": count, "link": "required"}, **({"duration": "24h"} | fields))


def cards(plan: Plan) -> dict[str, tuple[int, ...]]:
    """The cards of each job."""
    return {
        each.address.rpartition("/")[2]: tuple(device.index for device in each.segments[0].nodes[0].devices)
        for each in plan.placements
    }


JOBS = [*(single(f"s{at}") for at in range(4)), linked("p0"), linked("p1")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_singles_fill_two_pairs_and_linked_work_gets_two_intact_ones(order: tuple[int, ...]) -> None:
    groups = (JOBS[:4], JOBS[4:5], JOBS[5:])
    found = cards(planned(a_cluster(box()), *(job for at in order for job in groups[at])))
    assert {found["p0"], found["p1"]} < set(PAIRS)
    rest = {index for name in found if name.startswith("s") for index in found[name]}
    assert rest == {index for pair in PAIRS if pair not in {found["p0"], found["p1"]} for index in pair}


def test_the_cpus_of_all_pairs_are_those_of_their_node() -> None:
    found = cards(planned(a_cluster(box(cpus=64, memory="512Gi")), *JOBS))
    assert {found["p0"], found["p1"]} < set(PAIRS)
    busy = planned(a_cluster(box(cpus=64)), *(linked(f"p{at}", cpus=32) for at in range(3)))
    assert (len(busy.placements), len(busy.unplaced)) == (2, 1)


def test_linked_work_is_never_put_on_cards_of_two_pairs() -> None:
    """Three singles leave one card of a pair over and two whole pairs: a third linked job has no place."""
    jobs = [*(single(f"s{at}", priority="P0") for at in range(3)), *(linked(f"p{at}") for at in range(3))]
    plan = planned(a_cluster(box()), *jobs)
    found = cards(plan)
    assert len(found) == 5
    assert all(found[name] in PAIRS for name in found if name.startswith("p"))
    assert [reason.code for reason in plan.unplaced[0].reasons] == ["capacity"]


def test_work_without_a_link_takes_what_is_left_of_any_pairs() -> None:
    whole = [*(linked(f"p{at}") for at in range(3)), a_job("loose", gpus=2, duration="24h")]
    assert len(cards(planned(a_cluster(box()), *whole))) == 4
    odd = [*(linked(f"p{at}") for at in range(2)), *(a_job(f"odd{at}", gpus=2, duration="24h") for at in range(1)),
           single("a"), single("b")]  # fmt: skip
    assert len(cards(planned(a_cluster(box()), *odd))) == 5
    threes = [linked("p"), *(a_job(f"t{at}", gpus=3, duration="24h") for at in range(2))]
    found = cards(planned(a_cluster(box()), *threes))
    assert found["p"] in PAIRS
    assert sorted(index for mine in found.values() for index in mine) == list(range(8))


def test_gangs_of_whole_nodes_need_no_link() -> None:
    plan = planned(a_cluster(box(nodes=3)), a_job("gang", gpus=16, duration="24h"), linked("p"))
    found = {each.address: [len(node.devices) for node in each.segments[0].nodes] for each in plan.placements}
    assert found == {"job/vision/gang": [8, 8], "job/vision/p": [2]}


@pytest.mark.parametrize(
    ("count", "message"), [(2, None), (3, "needs 3 linked devices, the most together in a node are 2")]
)
def test_more_than_an_island_is_never_linked(count: int, message: str | None) -> None:
    (work,) = compile_specs(a_cluster(box()), a_policy(on_invalid="skip"), linked("p", count)).works
    assert [each.message for each in work.refusals] == ([message] if message else [])


def test_larger_islands_and_sockets_hold_too() -> None:
    quads = a_pool("quads", links=[[0, 1, 2, 3], [4, 5, 6, 7]])
    found = cards(planned(a_cluster(quads), *(linked(f"j{at}", 3) for at in range(3))))
    assert [{index // 4 for index in mine} for mine in sorted(found.values())] == [{0}, {1}]
    sockets = a_pool("two", sockets=[[0, 2, 4, 6], [1, 3, 5, 7]])
    near = {"within": "socket", "required": True}
    held = cards(planned(a_cluster(sockets), *(a_job(f"j{at}", gpus=4, topology=near) for at in range(2))))
    assert sorted(held.values()) == [(0, 2, 4, 6), (1, 3, 5, 7)]


def test_a_pool_that_states_no_sockets_cannot_promise_one() -> None:
    job = a_job(gpus=2, topology={"within": "socket", "required": True})
    (work,) = compile_specs(a_cluster(a_pool("x")), a_policy(on_invalid="skip"), job).works
    assert [(each.code, each.fix) for each in work.refusals] == [("link", "state the pool's sockets")]


def test_who_would_like_one_island_takes_the_fewest() -> None:
    near = {"within": "island"}
    plan = planned(a_cluster(box()), *(a_job(f"j{at}", gpus=4, topology=near, duration="24h") for at in range(2)))
    assert len(plan.placements) == 2
    for mine in cards(plan).values():
        assert sum(set(pair) <= set(mine) for pair in PAIRS) == 2


def test_linked_cards_stay_where_the_previous_plan_had_them() -> None:
    specs = (a_cluster(box(cpus=64)), a_policy(move="USD 1", length="2d"))
    first = planned(*specs, *JOBS)
    later = linked("new", priority="P0", duration="2h", window={"not_before": "2026-12-02"})
    before, after = cards(first), cards(planned(*specs, later, *JOBS, previous=first))
    assert {name: after.get(name) for name in before} == before
    assert after["new"] in PAIRS
