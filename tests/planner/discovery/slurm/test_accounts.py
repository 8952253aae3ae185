"""Accounts as teams, limits as quotas."""

from __future__ import annotations

import pytest

from planner.discovery.found import Allowance
from planner.discovery.slurm.accounts import accounts
from tests.planner.discovery.slurm.site import MODELS, facts

H100 = "h100-sxm5-80gb"
HEAD = "Cluster|Account|User|ParentName|Share|GrpTRES|QOS\n"


def limits(*rows: str, devices: int = 24) -> tuple[Allowance, ...]:
    return accounts(HEAD + "\n".join(rows), MODELS, {H100: devices}).allowances


def test_real_accounts_become_a_tree_of_teams_without_root() -> None:
    found = {tenant.name: tenant for tenant in facts().tenants}
    assert sorted(found) == ["infra", "nlp", "research", "vision"]
    assert (found["vision"].parent, found["research"].parent) == ("research", "")
    assert found["vision"].members == ("daemon",)


def test_real_limits_that_can_all_be_held_are_guarantees() -> None:
    assert facts().allowances == (
        Allowance(tenant="infra", guaranteed=6, limit=6),
        Allowance(tenant="nlp", model=H100, guaranteed=8, limit=8),
        Allowance(tenant="vision", model=H100, guaranteed=16, limit=16, weight=40),
    )


@pytest.mark.parametrize(("devices", "guaranteed"), [(24, [16, 8]), (23, [None, None])])
def test_limits_beyond_what_there_is_guarantee_nothing(devices: int, guaranteed: list[int | None]) -> None:
    rows = ("hpc|a||root|1|gres/gpu:h100=16|", "hpc|b||root|1|gres/gpu:h100=8|")
    assert [each.guaranteed for each in limits(*rows, devices=devices)] == guaranteed
    assert [each.limit for each in limits(*rows, devices=devices)] == [16, 8]


@pytest.mark.parametrize(("parent", "guaranteed"), [(16, [16, 10, 6]), (15, [None, None, None])])
def test_children_share_what_their_parent_has(parent: int, guaranteed: list[int | None]) -> None:
    rows = (
        f"hpc|a||root|1|gres/gpu:h100={parent}|", "hpc|b||mid|1|gres/gpu:h100=10|", "hpc|c||a|1|gres/gpu:h100=6|",
        "hpc|mid||a|1||",
    )  # fmt: skip
    assert [each.guaranteed for each in limits(*rows)] == guaranteed


def test_a_limit_on_a_type_says_more_than_one_on_all_devices() -> None:
    assert [each.model for each in limits("hpc|a||root|1|gres/gpu=8,gres/gpu:h100=8|")] == [H100]


def test_what_specs_cannot_say_is_told_account_by_account() -> None:
    found = accounts(HEAD + "hpc|a||root|40|cpu=100,gres/gpu:zz9=1|\nhpc|a|ann||1|gres/gpu=2|\n", MODELS, {})
    assert found.untold == (
        "account a: the limit cpu=100 is not written",
        "account a: the limit gres/gpu:zz9=1 is not written",
        "account a: FairShare=40 is not written: it has no limit on devices, and so no quota",
        "account a, user ann: the limit gres/gpu=2 is not written",
    )


def test_an_account_to_borrow_in_is_of_the_same_team() -> None:
    rows = (
        "hpc|a||root|3|gres/gpu:h100=16|p0,p1", "hpc|a-borrowed||root|3|gres/gpu:h100=20|p0-borrowed",
        "hpc|b||root|1|gres/gpu:h100=8|p0", "hpc|b-borrowed||root|1||p0-borrowed",
        "hpc|c||root|1|gres/gpu:h100=0|p0", "hpc|c-borrowed|ann|root|1||p0-borrowed", "hpc|c-borrowed||root|1||",
    )  # fmt: skip
    found = accounts(HEAD + "\n".join(rows), MODELS, {H100: 8})
    assert [(each.tenant, each.guaranteed, each.limit, each.weight) for each in found.allowances] == [
        ("a", 16, 20, 3), ("b", 8, None, None), ("c", 0, None, None),
    ]  # fmt: skip
    assert [tenant.name for tenant in found.tenants] == ["a", "b", "c"]


def test_no_output_is_no_accounts() -> None:
    assert accounts("", MODELS, {}).tenants == ()
