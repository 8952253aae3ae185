"""Facts of a host survive the way to another machine, and anything else is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.catalog import Vendor
from planner.discovery.facts import HOST_BYTES, Device, HostFacts, Instance, as_json, from_json
from tests.planner.discovery.hosts import a_host


def test_facts_are_read_back_as_they_were() -> None:
    part = Instance(profile="1g.10gb", at=3, memory_slices=1, memory_mib=9_728, reported_mib=9_728, uuid="MIG-1")
    card = Device(index=0, vendor=Vendor.NVIDIA, name="NVIDIA H100", divided=True, instances=(part,))
    host = HostFacts(name="a", devices=(card,), warnings=("GPU 0: odd",))
    assert from_json(as_json(host).encode()) == host
    assert from_json(as_json(a_host("b")).encode()) == a_host("b")


def test_the_format_has_a_version_and_unknown_values_are_left_out() -> None:
    document = json.loads(as_json(HostFacts(name="a")))
    assert document == {
        "format": "planner/host/v1", "name": "a", "drivers": [], "devices": [], "pairs": [], "back_ends": [],
        "warnings": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"format": "planner/host/v2"}, "format"),
        ({"cpus": "192"}, "cpus"),
        ({"cpus": -1}, "cpus"),
        ({"cpus": 1.5}, "cpus"),
        ({"name": "a\x1b[31m"}, "name"),
        ({"surprise": 1}, "surprise"),
        ({"devices": [{"index": 0, "vendor": "acme"}]}, "devices.0.vendor"),
        ({"warnings": ["x" * 1025]}, "warnings.0"),
        ({"name": "a[1-3]"}, "name"),
        ({"name": "../a"}, "name"),
        ({"devices": [{"index": 1, "vendor": "amd"}]}, "devices"),
        ({"devices": [{"index": 0, "vendor": "amd"}] * 2}, "devices"),
        ({"pairs": [{"first": 0, "second": 1}]}, "pairs"),
    ],
)
def test_what_is_no_such_document_is_refused_where_it_is_wrong(change: dict[str, Any], where: str) -> None:
    document = json.loads(as_json(HostFacts(name="a"))) | change
    with pytest.raises(ValueError, match=f"not the output of 'planner discover --format json': {where}: "):
        from_json(json.dumps(document).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b"null"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="not the output of"):
        from_json(text)


def test_a_file_beyond_the_limit_is_not_even_read() -> None:
    with pytest.raises(ValueError, match="larger than 4 MiB"):
        from_json(b" " * (HOST_BYTES + 1))
