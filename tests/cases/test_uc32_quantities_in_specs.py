"""UC-32: only whole devices or declared shares; memory keeps its unit in whole Mi; unclear units are refused."""

from __future__ import annotations

import pytest

from planner.source import SourceFile
from planner.specset import LoadResult, load
from planner.units import Memory


def tree(job: str, pool: str = "") -> LoadResult:
    fleet = (
        "apiVersion: planner/v1\nkind: Cluster\nname: c\nbackend: kubernetes\npools:\n"
        f"  - {{name: p, nodes: 2, gpus: {{model: h100-sxm5-80gb, count: 8}}, cpus: 96, memory: 4Ti{pool}}}\n"
        "---\napiVersion: planner/v1\nkind: Team\nname: t\n---\n"
    )
    head = "apiVersion: planner/v1\nkind: Job\nname: j\nteam: t\nimage: r/x:1\nduration: 1h\n"
    return load([SourceFile("a.yaml", (fleet + head + job).encode())])


def test_half_a_device_as_a_decimal_is_refused_with_the_fraction() -> None:
    (error,) = tree("gpus: 0.5\n").diagnostics
    assert "1/2" in error.help


def test_half_a_device_needs_a_pool_that_shares() -> None:
    (error,) = tree("gpus: 1/2\n").diagnostics
    assert error.code == "SPEC410"
    assert tree("gpus: 1/2\n", ", sharing: {by: time_slicing, units: 4}").specset is not None


@pytest.mark.parametrize(("text", "mib"), [("1.2Gi", 1_229), ("64GB", 61_036), ("64Gi", 65_536), ("320Gi", 327_680)])
def test_memory_keeps_its_unit_and_is_rounded_up_to_mi(text: str, mib: int) -> None:
    specset = tree(f"gpus: 0\nmemory: {text}\n").specset
    assert specset is not None
    assert specset.job("t/j").memory == Memory(mib)


@pytest.mark.parametrize("text", ["500m", "16g", "64G", "80", "1e3"])
def test_unclear_memory_is_refused(text: str) -> None:
    (error,) = tree(f"gpus: 0\nmemory: {text}\n").diagnostics
    assert error.code in ("SPEC206", "SPEC207")
    assert error.help


def test_host_memory_below_four_times_the_device_memory_is_a_lint() -> None:
    assert tree("gpus: 1\nmemory: 320Gi\n").diagnostics == ()
    (warning,) = tree("gpus: 1\nmemory: 319Gi\n").diagnostics
    assert warning.code == "LINT502"
    assert "at least 320Gi" in warning.help
