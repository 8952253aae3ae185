"""UC-28: devices are counted per node in each site's own spelling, never the total and never `--gpus`."""

from __future__ import annotations

import pytest

from tests.renderers.slurm.site import POOL, a_cluster, a_site, whole_nodes

DETECTED = POOL.replace("    partition: gpu\n", "    partition: gpu\n    gres_type: nvidia_h100_80gb_hbm3\n")
DOTTED = POOL.replace("    partition: gpu\n", "    partition: gpu\n    gres_type: h100.80gb\n")


@pytest.mark.parametrize(
    ("backend", "pools", "gres", "per_node"),
    [
        ("slurm", POOL, "gpu:h100:8,nvme:1", None),
        ("slurm", DETECTED, "gpu:nvidia_h100_80gb_hbm3:8,nvme:1", None),
        ("slurm", DOTTED, "gpu:h100.80gb:8,nvme:1", None),
        ("{type: slurm, typed: false}", POOL, "gpu:8,nvme:1", None),
        ("{type: slurm, gpu_option: gpus_per_node}", POOL, "nvme:1", "h100:8"),
        ("{type: slurm, gpu_option: gpus_per_node, typed: false}", POOL, "nvme:1", "8"),
        ('{type: slurm, gpu_option: gpus_per_node, version: "18.08"}', POOL, "gpu:h100:8,nvme:1", None),
    ],
    ids=["short type", "detected type", "dotted type", "untyped", "per node", "per node untyped", "version without it"],
)
def test_sixty_four_devices_are_eight_on_each_of_eight_nodes(
    backend: str, pools: str, gres: str, per_node: str | None
) -> None:
    fields = ("command: [a]", "gpus: {count: 64, nodes: 8}", "gres: {nvme: 1}")
    options = a_site(*fields, nodes=whole_nodes(8), cluster=a_cluster(backend, pools)).options()
    assert options.get("nodes") == "8"
    assert options.get("gres") == gres
    assert options.get("gpus-per-node") == per_node
    assert [count for _, count in options.gpus()] == [8]
    assert not options.has("gpus")


@pytest.mark.parametrize(("features", "written"), [("[ib, hopper]", "ib"), ("[]", None)])
def test_a_constraint_is_written_only_for_a_declared_feature(features: str, written: str | None) -> None:
    pools = POOL.replace("[ib, hopper]", features)
    needs = ("needs: {features: [ib]}",) if written else ()
    options = a_site("command: [a]", "gpus: 8", *needs, cluster=a_cluster(pools=pools)).options()
    assert options.get("constraint") == written
