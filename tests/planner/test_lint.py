"""Lints: each warns where it should (`bad_specs/lint-*` hold the texts) and is silent where it should not."""

from __future__ import annotations

import pytest

from planner.source import SourceFile
from planner.specset import load

FLEET = """\
apiVersion: planner/v1
kind: Cluster
name: c
backend: kubernetes
pools:
  - {name: h100, nodes: 2, gpus: {model: h100-sxm5-80gb, count: 8}, cpus: 96, memory: 4Ti}
  - {name: l40s, nodes: 2, gpus: {model: l40s, count: 8}, cpus: 96, memory: 4Ti}
  - {name: bridged, nodes: 2, gpus: {model: a10, count: 2}, links: [[0, 1]], cpus: 96, memory: 4Ti}
  - {name: v100, nodes: 2, gpus: {model: v100-sxm2-32gb, count: 8}, cpus: 96, memory: 4Ti}
  - {name: mi, nodes: 2, gpus: {model: mi300x, count: 8}, cpus: 96, memory: 4Ti}
---
apiVersion: planner/v1
kind: Team
name: t
---
"""
JOB = "apiVersion: planner/v1\nkind: Job\nname: j\nteam: t\nduration: 1h\n"


def codes(job: str, image: str = "image: r/x:1\n") -> list[str]:
    result = load([SourceFile("a.yaml", (FLEET + JOB + image + job).encode())])
    assert result.specset is not None, result.diagnostics
    return [item.code for item in result.diagnostics]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("gpus: {count: 8, model: h100}\nmemory: 2560Gi\n", []),
        ("gpus: {count: 8, model: h100}\nmemory: 2559Gi\n", ["LINT502"]),
        ("gpus: {count: 8, model: h100}\nmemory_per_gpu: 320Gi\n", []),
        ("gpus: {count: 8, model: h100}\nmemory_per_gpu: 319Gi\n", ["LINT502"]),
        ("gpus: {count: 16, nodes: 2, model: h100}\nmemory: 2560Gi\n", []),
        ("gpus: 0\nmemory: 1Gi\n", []),
        ("gpus: 8\ncheckpoint: {every: 30m}\n", []),
        ("gpus: 8\ncheckpoint: {every: 31m}\n", ["LINT503"]),
        ("gpus: 8\ncheckpoint: {every: 31m}\npreemptible: false\n", []),
        ("gpus: 8\nmarket: {spot: allowed}\ncheckpoint: {every: 20m}\n", []),
        ("gpus: 8\nmarket: {spot: only}\n", ["LINT508"]),
        ("gpus: {count: 2, model: l40s, link: required}\n", ["LINT504"]),
        ("gpus: {count: 2, model: l40s, link: preferred}\n", ["LINT504"]),
        ("gpus: {count: 1, model: l40s, link: required}\n", []),
        ("gpus: {count: 2, nodes: 2, model: l40s, link: required}\n", []),
        ("gpus: {count: 2, model: a10, link: required}\n", []),
        ("gpus: {count: 2, model: h100, link: required}\n", []),
        ("gpus: {count: 2, link: required}\n", []),
        ("gpus: {count: 2, model: v100-sxm2-32gb}\n", ["LINT505"]),
        ("gpus: {count: 2, model: h100}\n", []),
        ("gpus: 2\n", []),
    ],
)
def test_a_lint_warns_where_it_should_and_nowhere_else(job: str, expected: list[str]) -> None:
    assert codes(job) == expected


@pytest.mark.parametrize(
    ("image", "vendor", "expected"),
    [
        ("r/train:2.9-cuda12.8", "nvidia", []),
        ("r/train:2.9-cuda12.8", "amd", ["LINT506"]),
        ("r/train:2.9-rocm7.2", "amd", []),
        ("r/train:2.9-rocm7.2", "nvidia", ["LINT506"]),
        ("r/train:2.9", "amd", []),
        ("cuda.example.org/cuda/train:2.9", "amd", []),
    ],
)
def test_the_tag_of_an_image_is_held_against_the_vendor(image: str, vendor: str, expected: list[str]) -> None:
    assert codes(f"gpus: {{count: 8, vendor: {vendor}}}\n", f"image: {image}\n") == expected
