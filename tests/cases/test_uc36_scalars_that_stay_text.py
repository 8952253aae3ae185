"""UC-36: scalars that YAML 1.1 changes silently stay what they are, or are refused with the way to write them."""

from __future__ import annotations

import pytest

from planner.diagnostics import Diagnostic
from planner.source import SourceFile
from planner.specset import load

JOB = "apiVersion: planner/v1\nkind: Job\nname: j\nteam: t\nimage: r/x:1\ngpus: 8\nduration: 1h\n"


def told(text: str) -> list[Diagnostic]:
    return list(load([SourceFile("a.yaml", text.encode())]).diagnostics)


@pytest.mark.parametrize("clock", ["10:30", "09:30", "1:90", "100:20"])
def test_a_clock_time_is_refused_alike_whatever_its_digits(clock: str) -> None:
    (error,) = told(JOB + f"window: {{deadline: {clock}}}\n")
    assert (error.code, error.place.line if error.place else 0) == ("SPEC206", 8)
    assert clock in error.summary
    assert "2026-12-01T09:00:00" in error.help


@pytest.mark.parametrize(
    ("duration", "code"), [("2:00:00", "SPEC206"), ("7200", "SPEC207"), ("1e3", "SPEC206"), ("3-00:00", "SPEC206")]
)
def test_a_duration_needs_its_one_grammar(duration: str, code: str) -> None:
    (error,) = told(JOB.replace("1h", duration))
    assert error.code == code
    assert error.help


def test_days_with_a_clock_are_a_duration() -> None:
    assert not [item for item in told(JOB.replace("1h", "3-00:00:00")) if "duration" in item.path]


def test_a_country_that_is_no_truth_value_stays_text() -> None:
    (error,) = [item for item in told(JOB + "place: {regions: [NO]}\n") if item.code == "SPEC307"]
    assert "'NO'" in error.summary


@pytest.mark.parametrize("text", ["12", "true", "0"])
def test_a_text_field_asks_for_quotes(text: str) -> None:
    (error,) = told(JOB + f"user: {text}\n")
    assert error.code == "SPEC211"
    assert error.help == f'quote it: "{text}"'


@pytest.mark.parametrize("text", ["08", "0750", "010", "1e3", "on", "2026-12-01", "12_000"])
def test_a_text_field_takes_what_only_looked_like_something_else(text: str) -> None:
    assert not [item for item in told(JOB + f"user: {text}\n") if item.path == "user"]


def test_a_budget_in_exponents_is_refused() -> None:
    (error,) = told(JOB + "max_cost: {total: 1e3}\n")
    assert "USD 2.10" in error.help


def test_the_key_on_is_an_unknown_key_and_not_true() -> None:
    (error,) = told(JOB + "on: push\n")
    assert "unknown key 'on'" in error.summary
