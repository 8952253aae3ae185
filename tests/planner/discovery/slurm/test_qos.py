"""Limits of QOS as limits of the accounts that may use them."""

from __future__ import annotations

import pytest

from planner.discovery.found import Allowance
from planner.discovery.slurm.qos import narrowed, qos_limits
from tests.planner.discovery.slurm.site import MODELS, facts

H100 = "h100-sxm5-80gb"
HEAD = "Name|GrpTRES|GrpTRESMins|MaxTRESPA|MaxTRESPU|MaxTRES|MaxWall\n"
USERS = {"vision": ("vision",), "normal": ("nlp", "vision")}


@pytest.mark.parametrize(
    ("row", "limits", "told"),
    [
        ("vision|gres/gpu:h100=12|||||", [("vision", H100, 12)], []),
        ("vision|gres/gpu=8,cpu=100|||||", [("vision", "", 8)], []),
        ("normal||||||", [], []),
        ("normal|gres/gpu=8|||||", [], ["QOS normal: the limit gres/gpu=8 is not written: 2 accounts share it"]),
        ("other|gres/gpu=8|||||", [], ["QOS other: the limit gres/gpu=8 is not written: no account has it"]),
        ("normal|||gres/gpu:h100=4|||", [("nlp", H100, 4), ("vision", H100, 4)], []),
        ("vision||||gres/gpu=2||1-00:00:00", [], [
            "QOS vision: the limit MaxTRESPU=gres/gpu=2 is not written",
            "QOS vision: the limit MaxWall=1-00:00:00 is not written",
        ]),
    ],
)  # fmt: skip
def test_a_limit_of_a_qos_is_that_of_who_alone_may_use_it_or_of_each_account(
    row: str, limits: list[tuple[str, str, int]], told: list[str]
) -> None:
    result = qos_limits(HEAD + row + "\n", USERS, MODELS)
    assert [(each.tenant, each.model, each.limit) for each in result.allowances] == limits
    assert list(result.untold) == told


def test_of_several_limits_the_least_holds_and_no_guarantee_is_more() -> None:
    own = (Allowance(tenant="a", guaranteed=16, limit=16), Allowance(tenant="b", guaranteed=4, limit=None))
    more = [Allowance(tenant="a", limit=12), Allowance(tenant="b", limit=8), Allowance(tenant="c", limit=2)]
    assert [(each.tenant, each.guaranteed, each.limit) for each in narrowed(own, more)] == [
        ("a", 12, 12), ("b", 4, 8), ("c", None, 2),
    ]  # fmt: skip


def test_the_output_is_known_by_its_header() -> None:
    limits = {each.tenant: each.limit for each in facts(qos=HEAD + "p0|gres/gpu:h100=10|||||\n").allowances}
    assert limits["vision"] == 10
