"""Accounts and namespaces as documents."""

from __future__ import annotations

from planner.discovery.found import Allowance, ClusterFacts, Tenant
from planner.discovery.tenants import documents, team_names


def test_a_name_that_is_legal_stays_and_another_is_made_legal_without_taking_it() -> None:
    tenants = (Tenant(name="CV_Team"), Tenant(name="cv-team"), Tenant(name="cv.team"), Tenant(name="___"))
    assert team_names(tenants) == {
        "cv-team": "cv-team", "CV_Team": "cv-team-2", "cv.team": "cv-team-3", "___": "team",
    }  # fmt: skip


def test_the_back_ends_own_name_is_kept_where_it_differs() -> None:
    facts = ClusterFacts(back_end="slurm", tenants=(Tenant(name="CV", account="CV"), Tenant(name="nlp", account="nlp")))
    assert documents(facts, "dc1") == [
        {"apiVersion": "planner/v1", "kind": "Team", "name": "cv", "account": "CV"},
        {"apiVersion": "planner/v1", "kind": "Team", "name": "nlp"},
    ]


def test_a_quota_covers_its_model_or_vendor_in_this_cluster_and_states_only_what_is_known() -> None:
    facts = ClusterFacts(
        back_end="kubernetes",
        tenants=(Tenant(name="a"),),
        allowances=(Allowance(tenant="a", vendor="amd", guaranteed=0, limit=4), Allowance(tenant="a", limit=2)),
    )
    quotas = documents(facts, "dc1")[1:]
    assert [quota["gpus"] for quota in quotas] == [{"vendor": "amd", "cluster": "dc1"}, {"cluster": "dc1"}]
    assert (quotas[0]["guaranteed"], quotas[0]["limit"]) == (0, 4)
    assert "guaranteed" not in quotas[1]
    assert "lend" not in quotas[1]
