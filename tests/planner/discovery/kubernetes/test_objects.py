"""Values in objects of Kubernetes."""

from __future__ import annotations

import json

import pytest

from planner.diagnostics import UsageError
from planner.discovery.found import Text
from planner.discovery.kubernetes.objects import mebibytes, seconds, things, whole
from tests.planner.discovery.kubernetes.objects import found, node


@pytest.mark.parametrize(
    ("value", "amount"),
    [("64", 64), (64, 64), ("191500m", 191), ("1.5", 1), ("2k", 2000), ("1Ki", 1024), ("", None), ("x", None),
     (None, None), (1.5, None), ("-1", None), ("1e3", None)],
)  # fmt: skip
def test_whole_quantities_round_down(value: object, amount: int | None) -> None:
    assert whole(value) == amount


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [
        ("64Gi", 65_536, 65_536),
        ("1025Ki", 1, 2),
        ("1G", 953, 954),
        ("1048576", 1, 1),
        ("1048577", 1, 2),
        ("0.5Gi", 512, 512),
    ],
)
def test_memory_rounds_down_for_what_there_is_and_up_for_what_is_needed(value: str, down: int, up: int) -> None:
    assert (mebibytes(value), mebibytes(value, up=True)) == (down, up)


def test_times_need_an_offset() -> None:
    assert seconds("2026-11-30T21:20:00Z") == 1_796_073_600
    assert seconds("2026-11-30T21:20:00.123456Z") == 1_796_073_600
    assert [seconds(value) for value in ("2026-11-30T21:20:00", "soon", None, 5)] == [None] * 4


def test_the_same_object_in_two_files_counts_once_and_order_does_not_matter() -> None:
    one, two = (Text(name=name, data=json.dumps(node(name)).encode()) for name in ("b", "a"))
    assert [thing.name for thing in things([one, two, one])] == ["a", "b"]
    assert things([one, two]) == things([two, one])


def test_objects_of_equal_kind_and_other_group_are_kept_apart() -> None:
    queues = [{"apiVersion": f"{group}/v1", "kind": "Queue", "metadata": {"name": "q"}} for group in ("a.io", "b.io")]
    assert [thing.group for thing in found(*queues)] == ["a.io", "b.io"]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"kind": 3}', b"NAME READY\n", b"{" * 100_000])
def test_anything_else_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"'x.json' is not the output of 'kubectl get -o json'"):
        things([Text(name="x.json", data=data)])


def test_odd_objects_are_empty_and_not_errors() -> None:
    (thing,) = found({"apiVersion": 3, "kind": "Node", "metadata": {"labels": [1], "name": None}, "spec": "x"})
    assert (thing.name, thing.labels, thing.spec, thing.status) == ("", {}, {}, {})
