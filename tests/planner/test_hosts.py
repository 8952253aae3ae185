"""Host lists: to names and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.hosts import MOST_NODES, expand, fold, is_node_name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("h100-[001-003]", ("h100-001", "h100-002", "h100-003")),
        ("n[1,3,5-6]", ("n1", "n3", "n5", "n6")),
        ("a,b,c", ("a", "b", "c")),
        ("a, b", ("a", "b")),
        ("n[9-11]", ("n9", "n10", "n11")),
        ("n[01-02]x", ("n01x", "n02x")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("gpu.example.org", ("gpu.example.org",)),
    ],
)
def test_a_host_list_stands_for_its_names(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n[3-1]", "ends before it begins"),
        ("n[08-9]", "different numbers of digits"),
        ("n[01-100]", "different numbers of digits"),
        ("n[a-b]", "not a host list"),
        ("n[]", "not a range"),
        ("n[1", "not a host list"),
        ("@all", "not a host list"),
        ("n[1-9]!n3", "not a host list"),
        ("n[1-9]&n3", "not a host list"),
        ("n*", "not a host list"),
        ("", "not a host list"),
        ("a,,b", "not a host list"),
        ("a,a", "twice"),
        ("n[1,1]", "twice"),
        ("-a", "not the name of a node"),
        ("a/../b", "not a host list"),
    ],
)
def test_what_is_not_a_host_list_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        expand(text)


def test_a_host_list_may_not_stand_for_too_many_nodes() -> None:
    assert len(expand(f"n[1-{MOST_NODES}]")) == MOST_NODES
    for text in (f"n[1-{MOST_NODES + 1}]", "n[1-999999999]", "n[1-1000]m[1-1000]"):
        with pytest.raises(ValueError, match="at most 100000"):
            expand(text)


@given(
    st.sets(
        st.from_regex(r"[a-z]{1,3}-?[0-9]{0,3}[a-z]?", fullmatch=True).filter(is_node_name), min_size=1, max_size=30
    )
)
def test_folding_and_expanding_gives_back_exactly_the_set(names: set[str]) -> None:
    assert set(expand(fold(names))) == names
