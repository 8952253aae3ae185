"""UC-19: a model is found under any of its names; an unknown or ambiguous one is told with what it could be."""

from __future__ import annotations

import pytest

from planner.source import SourceFile
from planner.specset import LoadResult, load

FLEET = """\
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: slurm
pools:
  - {name: h100, nodes: 2, gpus: {model: "NVIDIA H100 80GB HBM3", count: 8}, cpus: 96, memory: 2Ti}
  - {name: a, nodes: 2, gpus: {model: mi300a, count: 4}, cpus: 96, memory: 2Ti}
  - {name: x, nodes: 2, gpus: {model: mi300x, count: 8}, cpus: 96, memory: 2Ti}
---
apiVersion: planner/v1
kind: Team
name: t
---
"""


def asking_for(model: str) -> LoadResult:
    job = "apiVersion: planner/v1\nkind: Job\nname: j\nteam: t\nimage: r/x:1\nduration: 1h\n"
    return load([SourceFile("tree.yaml", (FLEET + job + f'gpus: {{count: 4, model: "{model}"}}\n').encode())])


@pytest.mark.parametrize(
    "model",
    [
        "H100",
        "h100",
        "h100-sxm",
        "h100-sxm5-80gb",
        "nvidia_h100_80gb_hbm3",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA-H100-80GB-HBM3",
    ],
)
def test_every_name_of_a_model_means_its_slug(model: str) -> None:
    specset = asking_for(model).specset
    assert specset is not None
    gpus = specset.job("t/j").gpus
    assert gpus is not None
    assert gpus.models == ("h100-sxm5-80gb",)


def test_a_typo_is_told_with_the_names_near_it() -> None:
    (error,) = asking_for("A1000").diagnostics
    assert error.code == "SPEC304"
    assert "a100-sxm4-80gb" in error.help


def test_a_name_like_nothing_is_told_with_the_whole_list() -> None:
    (error,) = asking_for("voodoo").diagnostics
    assert error.code == "SPEC304"
    for slug in ("h100-sxm5-80gb", "mi300x", "gaudi3", "k80"):
        assert slug in error.help


def test_an_ambiguous_family_is_told_with_its_members() -> None:
    (error,) = asking_for("MI300").diagnostics
    assert error.code == "SPEC305"
    assert "mi300a: amd, 128 GiB" in error.help
    assert "mi300x: amd, 192 GiB" in error.help


def test_a_model_that_no_pool_has_is_never_an_empty_plan() -> None:
    (error,) = asking_for("b200").diagnostics
    assert error.code == "SPEC308"
    assert "h100-sxm5-80gb, mi300a, mi300x" in error.help
