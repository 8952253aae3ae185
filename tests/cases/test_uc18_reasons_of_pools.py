"""UC-18: one reason for each pool, what never fits before what can be mended before what must wait, and each with the
smallest change that lets the work in.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.compile.refusal import Category, Code, Refusal
from planner.plan import Plan, Reason, to_json
from tests.builders import H100, Document, a_cluster, a_job, a_pool, a_quota, planned

TAINT = "team=research:NoSchedule"
WHOLE_DAY = {"duration": "24h", "priority": "P0"}
TOPOLOGY = {"within": "node", "required": True}
FOUR = {"count": 4, "model": H100}
RDMA = {"fabric": "infiniband", "rate": "400Gb/s", "rdma": True}


def wanted(**fields: Any) -> Document:
    """Four H100 in one node with RDMA, two hours."""
    own: dict[str, Any] = {"gpus": FOUR, "topology": TOPOLOGY, "needs": {"rdma": True}}
    return a_job("wanted", **(own | fields))


def fleet(job: Document, spent: int = 4, largest: int = 2, pools: tuple[str, ...] = ()) -> Plan:
    """The five pools of the case, or some of them: on p1 a quota of `spent` that is used up, on p5 one of `largest`."""
    every = [
        a_pool("p1", network=RDMA), a_pool("p2", taints=[TAINT], network=RDMA), a_pool("p3", nodes=2, network=RDMA),
        a_pool("p4", model="mi300x", network=RDMA), a_pool("p5", network=RDMA),
    ]  # fmt: skip
    here = [pool for pool in every if not pools or pool["name"] in pools]
    there = {pool["name"] for pool in here}
    limits = {"p1": spent, "p5": largest}
    return planned(
        a_cluster(*here), job,
        *(a_quota(pool, limit=most, gpus={"pool": f"dc1/{pool}"}) for pool, most in limits.items() if pool in there),
        *([a_job("spent", gpus=4, place={"pools": ["dc1/p1"]}, **WHOLE_DAY)] if "p1" in there else []),
        *(a_job(f"f{at}", team="nlp", gpus=6, place={"pools": ["dc1/p3"]}, **WHOLE_DAY) for at in (0, 1)
          if "p3" in there),
    )  # fmt: skip


def reasons(plan: Plan) -> tuple[Reason, ...]:
    """Why the wanted job has no place."""
    (found,) = (each for each in plan.unplaced if each.address == "job/vision/wanted")
    return found.reasons


def category(reason: Reason) -> Category:
    """How final the reason is."""
    return Refusal(code=Code(reason.code), subject=reason.subject, message=reason.message).category


def test_every_pool_has_one_reason_and_what_never_fits_comes_first() -> None:
    found = reasons(fleet(wanted()))
    assert [(category(each), each.code, each.subject) for each in found] == [
        (Category.NEVER, "vendor", "pool/dc1/p4"),
        (Category.NEVER, "quota_limit", "pool/dc1/p5"),
        (Category.FIXABLE, "taint", "pool/dc1/p2"),
        (Category.WAIT, "quota", "pool/dc1/p1"),
        (Category.WAIT, "capacity", "pool/dc1/p3"),
    ]


def test_the_plan_file_holds_the_codes_with_what_would_let_the_work_in() -> None:
    text = json.loads(to_json(fleet(wanted())))
    (found,) = (each for each in text["unplaced"] if each["address"] == "job/vision/wanted")
    assert [(each["code"], each["fix"]) for each in found["reasons"]] == [
        ("vendor", "add a variant for AMD"),
        ("quota_limit", "raise its limit to 4, or ask for fewer"),
        ("taint", f'add "{TAINT}" to needs.tolerations'),
        ("quota", "raise its limit by 4, or let other work of the team go"),
        ("capacity", "set gpus.nodes to 2, and topology.within to pool"),
    ]


FOR_AMD = [{"name": "cuda", "vendor": "nvidia"}, {"name": "rocm", "vendor": "amd", "gpus": 4, "duration": "2h"}]


@pytest.mark.parametrize(
    ("pool", "job", "spent", "largest"),
    [
        ("p4", {"gpus": 4, "variants": FOR_AMD}, 4, 2),
        ("p5", {}, 4, 4),
        ("p2", {"needs": {"rdma": True, "tolerations": [TAINT]}}, 4, 2),
        ("p1", {}, 8, 2),
        ("p3", {"gpus": FOUR | {"nodes": 2}, "topology": {"within": "pool", "required": True}}, 4, 2),
    ],
)
def test_the_change_that_a_reason_names_lets_the_work_in(
    pool: str, job: dict[str, Any], spent: int, largest: int
) -> None:
    placement = fleet(wanted(**job), spent, largest).placement("job/vision/wanted")
    assert placement is not None
    assert {each.pool for each in placement.segments} == {f"dc1/{pool}"}


@pytest.mark.parametrize(("pool", "spent", "largest"), [("p5", 4, 3), ("p1", 7, 2)])
def test_a_change_that_is_smaller_by_one_does_not(pool: str, spent: int, largest: int) -> None:
    assert f"pool/dc1/{pool}" in {each.subject for each in reasons(fleet(wanted(), spent, largest))}


def test_a_limit_that_lacks_two_is_to_be_raised_by_two() -> None:
    (found,) = reasons(fleet(wanted(), spent=6, pools=("p1",)))
    assert (found.code, found.fix) == ("quota", "raise its limit by 2, or let other work of the team go")


def test_a_gang_that_no_other_split_lets_in_is_not_told_to_split() -> None:
    (found,) = reasons(fleet(wanted(gpus={"count": 5, "model": H100}), pools=("p3",)))
    assert (found.code, found.fix) == ("capacity", None)
