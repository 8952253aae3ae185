"""Every rule has its formula, its check, its poster and its table of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvers.check import CHECKS, CLAIMS, Claim
from solvers.cpsat.posters import POSTERS
from solvers.rules import FORMULAS, Rule


@pytest.mark.parametrize("table", [CHECKS, POSTERS, FORMULAS], ids=["checks", "posters", "formulas"])
def test_a_table_covers_every_rule_in_order(table: dict[Rule, object]) -> None:
    assert list(table) == list(Rule)


def test_every_claim_is_checked() -> None:
    assert list(CLAIMS) == list(Claim)


@pytest.mark.parametrize("rule", Rule)
def test_a_rule_has_a_table_of_cases(rule: Rule) -> None:
    text = (Path(__file__).parent / "test_rules" / f"test_{rule}.py").read_text("utf-8")
    assert f"Rule.{rule.name}" in text
    assert "@table(CASES)" in text or "TABLE" in text


@pytest.mark.parametrize("rule", Rule)
def test_a_formula_is_one_line_of_ascii(rule: Rule) -> None:
    assert rule.formula.isascii()
    assert "\n" not in rule.formula
