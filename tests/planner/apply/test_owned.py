"""Fields of a live object that are ours and hold another value; what others add is none of our business."""

from __future__ import annotations

from typing import Any

import pytest

from planner.apply.owned import differences


@pytest.mark.parametrize(
    ("ours", "live"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"memory": "80Gi"}, {"memory": "85899345920"}),
        ({"cpu": "1500m"}, {"cpu": 1.5}),
        ({"gpus": 8}, {"gpus": "8"}),
        ({"n": "1k"}, {"n": "1000"}),
        ({"empty": {}, "none": None, "list": []}, {}),
        ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "B"}, {"name": "A", "value": "1"}]}),
        ({"args": ["x", {"y": 1}]}, {"args": ["x", {"y": 1, "z": 2}]}),
    ],
)
def test_what_others_add_and_other_spellings_are_no_difference(ours: dict[str, Any], live: dict[str, Any]) -> None:
    assert list(differences(ours, live)) == []


@pytest.mark.parametrize(
    ("ours", "live", "found"),
    [
        ({"a": 1}, {"a": 2}, ("a", "1", "2")),
        ({"a": {"b": "x"}}, {"a": {}}, ("a.b", '"x"', "-")),
        ({"memory": "80Gi"}, {"memory": "80G"}, ("memory", '"80Gi"', '"80G"')),
        ({"on": True}, {"on": 1}, ("on", "true", "1")),
        ({"on": False}, {}, ("on", "false", "-")),
        ({"n": 0}, {"n": 1}, ("n", "0", "1")),
        ({"args": ["x"]}, {"args": ["x", "y"]}, ("args", '["x"]', '["x", "y"]')),
        (
            {"flavors": [{"name": "h100", "quota": 16}]},
            {"flavors": [{"name": "h100", "quota": 24}]},
            ("flavors[h100].quota", "16", "24"),
        ),
        ({"groups": [{"x": [{"name": "g"}]}]}, {"groups": [{"x": []}]}, ("groups[0].x[g]", '{"name": "g"}', "-")),
    ],
)
def test_a_field_of_ours_that_holds_another_value_is_told(
    ours: dict[str, Any], live: dict[str, Any], found: tuple[str, str, str]
) -> None:
    assert list(differences(ours, live)) == [found]


def test_a_long_value_is_shortened() -> None:
    ((_, planned, _),) = differences({"a": "x" * 500}, {"a": "y"})
    assert len(planned) == 120
    assert planned.endswith("…")
