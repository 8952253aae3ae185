"""Whatever a host says of itself, its specs are read back as exactly that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import yamlio
from planner.catalog import Vendor
from planner.discovery.asking import text_of
from planner.discovery.facts import Device, Driver, HostFacts, as_json, from_json
from planner.discovery.merge import merge
from planner.discovery.resolve import resolved
from planner.discovery.write import fresh
from planner.source import SourceFile
from planner.specset import load
from tests.planner.discovery.hosts import CATALOG, a_host

NASTY = (
    "x: y", "a # b", "- a", "[a]", "{a: b}", "&a", "*a", "!!python/object", "%TAG", "@a", "`a`", "a: |", "'", '"', "'a",
    "no", "NO", "~", "null", "0x10", "1e3", "12", "-5", "12.8", "1_000", "<<", "?", "a\\b", "---", "...", "é", "𝔸",
    "a\u2028b", "x" * 400, "{{ 7 * 7 }}", "$(id)", "; rm -rf /", "a: b: c", ":", "#", "a:", "2026-12-05", "10:30", "=",
)  # fmt: skip


def odd_host(text: str) -> HostFacts:
    name = text_of(text)
    device = Device(index=0, vendor=Vendor.NVIDIA, name=name, pci_id="10de:ffff", memory_mib=1000, uuid=name)
    driver = Driver(vendor=Vendor.NVIDIA, version=name, toolkit=name)
    return resolved(replace(a_host("a", cards=0), devices=(device,), drivers=(driver,)), CATALOG)


def check(text: str) -> None:
    host = odd_host(text)
    assert from_json(as_json(host).encode()) == host
    written = fresh(merge([host], CATALOG), "lab", "compose", CATALOG)
    documents, faults = yamlio.read(SourceFile("cluster.yaml", written.encode()))
    assert faults == ()
    pool = documents[0].value["pools"][0]
    expected = text_of(text)
    assert pool["software"].get("driver") == expected
    assert pool["gpus"].get("uuids") == ({"a": [expected]} if expected else None)
    assert documents[1].value["title"] == (expected or "nvidia card with PCI number 10de:ffff")
    result = load([SourceFile("cluster.yaml", written.encode())])
    assert result.specset is not None, result.diagnostics


@pytest.mark.parametrize("text", NASTY)
def test_names_that_mean_something_elsewhere_are_text_here(text: str) -> None:
    check(text)


@given(st.text(max_size=40))
def test_any_name_is_text_here(text: str) -> None:
    check(text)
