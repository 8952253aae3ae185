"""Names drawn together."""

from __future__ import annotations

import pytest

from planner.report.naming import array_name, array_names, fold_nodes, work_name


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        (("h100-001",), "h100-001"),
        (("h100-001", "h100-002"), "h100-[001-002]"),
        (("h100-001", "h100-003", "h100-002", "h100-009"), "h100-[001-003,009]"),
        (("n9", "n10"), "n10,n9"),
        (("n09", "n10"), "n[09-10]"),
        (("head", "n1"), "head,n1"),
        (("n1", "n1"), "n1"),
        (("rack1-node3", "rack1-node4", "rack2-node3"), "rack1-node[3-4],rack2-node3"),
    ],
)
def test_nodes_fold_where_only_a_number_of_the_same_width_differs(names: tuple[str, ...], text: str) -> None:
    assert fold_nodes(names) == text


@pytest.mark.parametrize(
    ("addresses", "text"),
    [
        (("job/t/a",), "t/a"),
        (("job/t/a[3]",), "t/a[3]"),
        (("job/t/a[0]", "job/t/a[1]", "job/t/a[2]"), "t/a[0-2]"),
        (tuple(f"job/t/a[{index}]" for index in range(0, 40, 2)), "t/a[0,2,4,+17]"),
        (("job/t/[red]x",), "t/[red]x"),
    ],
)
def test_elements_of_an_array_are_one_name(addresses: tuple[str, ...], text: str) -> None:
    assert array_name(addresses) == text


def test_different_arrays_stay_apart() -> None:
    assert array_names(("job/t/a[1]", "job/t/b", "job/t/a[0]")) == ("t/a[0-1]", "t/b")


def test_only_jobs_go_without_their_kind() -> None:
    assert work_name("job/t/a") == "t/a"
    assert work_name("service/t/a") == "service/t/a"
