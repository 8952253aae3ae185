"""What teams keep for themselves stays free, and all else is lent."""

from __future__ import annotations

from typing import Any

import pytest

from planner.diagnostics import SpecError
from planner.plan import Plan
from tests.builders import Document, a_cluster, a_job, a_pool, a_quota, a_team, compile_specs, planned


def jobs(team: str, number: int, priority: str = "P2", **fields: object) -> list[Document]:
    """Jobs of one device for the whole day."""
    return [
        a_job(f"{team}{at}", team=team, gpus=1, priority=priority, **({"duration": "24h"} | fields))
        for at in range(number)
    ]


def most_used(plan: Plan, team: str) -> int:
    """The devices that jobs of a team have at once, from the first hour on."""
    return sum(int(each.gpus) for each in plan.placements if each.team == team)


def figures(plan: Plan, quota: str) -> list[tuple[int | str, ...]]:
    """Guaranteed, used, borrowed, lent and reclaimable, window by window."""
    (found,) = (each for each in plan.quota if each.quota == quota)
    return [(each.guaranteed, each.used, each.borrowed, each.lent, each.reclaimable) for each in found.windows]


@pytest.mark.parametrize(("lend", "borrowed"), [(0, 2), (1, 3), (5, 7), (6, 8), (None, 8)])
def test_others_borrow_what_is_not_guaranteed_and_what_the_owner_lends(lend: int | None, borrowed: int) -> None:
    more = {} if lend is None else {"lend": lend}
    plan = planned(a_cluster(), a_quota("qa", "a", 6, **more), a_quota("qb", "b"), *jobs("b", 9))
    assert most_used(plan, "b") == borrowed
    assert figures(plan, "qa") == [(6, 0, 0, borrowed - 2, borrowed - 2)]


def test_a_team_without_a_quota_borrows_no_more_either() -> None:
    plan = planned(a_cluster(), a_quota("qa", "a", 6, lend=1), *jobs("z", 9))
    assert most_used(plan, "z") == 3


def test_the_owner_uses_what_it_keeps_and_borrows_beside_it() -> None:
    plan = planned(a_cluster(), a_quota("qa", "a", 6, lend=0), a_quota("qb", "b", 2, lend=0), *jobs("a", 9))
    assert most_used(plan, "a") == 6
    plan = planned(a_cluster(), a_quota("qa", "a", 6, lend=0), a_quota("qb", "b", 2, lend=1), *jobs("a", 9))
    assert most_used(plan, "a") == 7


def test_a_window_changes_what_is_kept() -> None:
    quota = a_quota("qa", "a", 6, lend=0, windows=[{"when": "daily 12:00-24:00", "lend": 6}])
    plan = planned(a_cluster(), quota, *jobs("b", 16, duration="12h"))
    assert [each.used for each in plan.quota[0].windows] == [0, 0]
    assert [each.lent for each in plan.quota[0].windows] == [0, 6]


def test_why_nothing_more_is_lent_is_said() -> None:
    plan = planned(a_cluster(), a_quota("qa", "a", 6, lend=1), *jobs("z", 4))
    (left_out,) = plan.unplaced
    (reason,) = left_out.reasons
    assert reason.code == "quota"
    assert reason.message.startswith("what quota/qa leave to others has at most 0 left at a time, 1 are needed")
    assert reason.fix == "raise lend or lower unplanned in these quotas, or let other work go"


def test_unplanned_use_is_left_free_by_everybody() -> None:
    plan = planned(a_cluster(), a_quota("qa", "a", 6, unplanned=3), *jobs("a", 9), *jobs("b", 9, "P0"))
    assert len(plan.placements) == 5
    assert figures(plan, "qa")[0][0] == 6


@pytest.mark.parametrize(("unplanned", "own"), [(0, 6), (1, 5), (5, 1)])
def test_unplanned_use_counts_in_the_limit(unplanned: int, own: int) -> None:
    plan = planned(a_cluster(), a_quota("qa", "a", 6, limit=6, unplanned=unplanned), *jobs("a", 9))
    assert most_used(plan, "a") == own


def test_a_job_that_leaves_no_room_for_unplanned_use_never_fits() -> None:
    compiled = compile_specs(a_cluster(), a_quota("qa", "a", 8, limit=8, unplanned=1), a_job(team="a", gpus=7))
    assert compiled.works[0].candidates
    with pytest.raises(SpecError, match="can ever run job/a/train"):
        compile_specs(a_cluster(), a_quota("qa", "a", 8, limit=8, unplanned=1), a_job(team="a", gpus=8))


def a_tree(**top: Any) -> list[Document]:
    """Vision and speech under research; research is guaranteed 6 of 8, its children 3 and 1."""
    return [
        a_team("research"),
        a_team("vision", parent="research"),
        a_team("speech", parent="research"),
        a_quota("q-research", "research", **({"guaranteed": 6} | top)),
        a_quota("q-vision", "vision", 3),
        a_quota("q-speech", "speech", 1),
    ]


def test_a_limit_of_an_ancestor_holds_for_all_below_it() -> None:
    plan = planned(a_cluster(), *a_tree(limit=6), *jobs("vision", 5), *jobs("speech", 5))
    assert most_used(plan, "vision") + most_used(plan, "speech") == 6
    assert most_used(plan, "vision") >= 3
    assert most_used(plan, "speech") >= 1


def test_inside_the_parent_a_guarantee_outranks_a_sibling_and_both_outrank_outsiders() -> None:
    everyone = (*jobs("vision", 3, "P3"), *jobs("speech", 8, "P2"), *jobs("out", 8, "P1"))
    plan = planned(a_cluster(), *a_tree(), *everyone)
    assert most_used(plan, "vision") == 3
    assert most_used(plan, "speech") == 3
    assert most_used(plan, "out") == 2


def test_what_a_child_leaves_its_siblings_borrow_before_outsiders() -> None:
    plan = planned(a_cluster(), *a_tree(), *jobs("speech", 8, "P3"), *jobs("out", 8, "P1"))
    assert most_used(plan, "speech") == 6
    assert figures(plan, "q-research") == [(6, 6, 0, 0, 0)]
    assert figures(plan, "q-speech") == [(1, 6, 5, 0, 0)]
    assert figures(plan, "q-vision") == [(3, 0, 0, 3, 3)]


def test_a_team_without_a_quota_shares_what_is_left_of_its_parents() -> None:
    tree = [*a_tree(), a_team("robots", parent="research")]
    plan = planned(a_cluster(), *tree, *jobs("robots", 8, "P3"), *jobs("vision", 3, "P2"), *jobs("out", 8, "P1"))
    assert most_used(plan, "vision") == 3
    assert most_used(plan, "robots") == 3
    placement = plan.placement("job/robots/robots0")
    assert placement is not None
    (use,) = placement.segments[0].quota
    assert (use.quota, use.guaranteed) == ("q-research", 1)


def test_what_a_parent_keeps_its_children_may_use_and_others_may_not() -> None:
    plan = planned(a_cluster(), *a_tree(lend=0), *jobs("out", 9))
    assert most_used(plan, "out") == 2
    plan = planned(a_cluster(), *a_tree(lend=0), *jobs("out", 9), *jobs("speech", 9))
    assert (most_used(plan, "out"), most_used(plan, "speech")) == (2, 6)


def test_work_that_may_not_be_interrupted_stays_inside_its_own_part() -> None:
    tree = [*a_tree(), a_team("robots", parent="research")]
    plan = planned(a_cluster(), *tree, *jobs("robots", 8, preemptible=False), *jobs("vision", 8, preemptible=False))
    assert most_used(plan, "robots") == 2
    assert most_used(plan, "vision") == 3


@pytest.mark.parametrize(("lend", "halves", "lent"), [(0, 6, 0), (1, 8, 1), (2, 9, "3/2")])
def test_halves_of_devices_count_exactly(lend: int, halves: int, lent: int | str) -> None:
    """Of five devices two are guaranteed to an owner who uses a half: the rest of them is lent by the half too."""
    pool = a_pool(count=5, sharing={"by": "hami", "units": 2})
    owner = a_job("own", team="a", gpus="1/2", duration="24h", priority="P1")
    others = [a_job(f"b{at}", team="b", gpus="1/2", duration="24h") for at in range(12)]
    plan = planned(a_cluster(pool), a_quota("qa", "a", 2, lend=lend), a_quota("qb", "b"), owner, *others)
    assert sum(each.team == "b" for each in plan.placements) == halves
    assert figures(plan, "qa") == [(2, "1/2", 0, lent, lent)]
