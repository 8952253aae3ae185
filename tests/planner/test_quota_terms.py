"""Quotas slot by slot."""

from __future__ import annotations

import pytest

from planner.spec.team import Quota
from planner.specset.quota_terms import Slots, Terms, terms_by_slot
from planner.units import parse_time

DAY = Slots(zone="UTC", begin=parse_time("2026-12-01T00:00:00Z", "UTC"), seconds=3_600, count=24)
BASE = Terms(guaranteed=16, limit=24, lend=None, weight=1)


def a_quota(**fields: object) -> Quota:
    """A quota of 16 devices with a limit of 24."""
    return Quota.model_validate(
        {"apiVersion": "planner/v1", "name": "q", "team": "t", "guaranteed": 16, "limit": 24, **fields}
    )


def test_without_windows_every_slot_is_alike() -> None:
    assert terms_by_slot(a_quota(), DAY) == (BASE,) * 24


@pytest.mark.parametrize(
    ("field", "value", "inside"),
    [
        ("guaranteed", 8, Terms(guaranteed=8, limit=24, lend=None, weight=1)),
        ("limit", 20, Terms(guaranteed=16, limit=20, lend=None, weight=1)),
        ("lend", 4, Terms(guaranteed=16, limit=24, lend=4, weight=1)),
        ("weight", 3, Terms(guaranteed=16, limit=24, lend=None, weight=3)),
    ],
)
def test_a_window_changes_what_it_says_and_only_while_it_holds(field: str, value: int, inside: Terms) -> None:
    found = terms_by_slot(a_quota(windows=[{"when": "daily 08:00-10:00", field: value}]), DAY)
    assert found[8] == found[9] == inside
    assert found[7] == found[10] == BASE


def test_of_two_values_in_a_slot_the_stricter_holds() -> None:
    found = terms_by_slot(a_quota(windows=[{"when": "daily 08:30-09:00", "guaranteed": 20, "lend": 4}]), DAY)
    assert found[8] == Terms(guaranteed=16, limit=24, lend=4, weight=1)
