"""Hosts as values, for what happens after they were found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner import catalog
from planner.catalog import Vendor
from planner.discovery.facts import Device, Driver, HostFacts, Link, Pair
from planner.discovery.resolve import resolved

CATALOG = catalog.load()


def a_host(name: str, *, cards: int = 8, model: str = "NVIDIA H100 80GB HBM3", **facts: Any) -> HostFacts:
    """A host of linked cards of one model, named by the catalogue."""
    devices = tuple(
        Device(index=index, vendor=Vendor.NVIDIA, name=model, uuid=f"{name}-{index}", memory_mib=81_559, numa_node=0)
        for index in range(cards)
    )
    pairs = tuple(Pair(first=a, second=b, linked=True) for a in range(cards) for b in range(a + 1, cards))
    host = HostFacts(
        name=name,
        architecture="amd64",
        cpus=192,
        memory_mib=2015 * 1024,
        network=Link(fabric="infiniband", bits_per_second=400 * 10**9, rdma=True),
        drivers=(Driver(vendor=Vendor.NVIDIA, version="570.86.15", toolkit="12.8"),),
        devices=devices,
        pairs=pairs,
        back_ends=("slurm",),
    )
    return resolved(replace(host, **facts), CATALOG)
