"""Site files as the specs would have them."""

from __future__ import annotations

import pytest

from renderers.slurm.proposals import proposals
from tests.renderers.fleet import specset_of
from tests.renderers.slurm.site import POOL, TEAM, a_cluster

AMD = """
  - name: red
    nodes: mi-[1-4]
    gpus: {model: mi300x, count: 2}
    cpus: 96
    memory: 1Ti
    gres_type: mi300x
    nodes_per_rack: 2
    render_nodes: [128, 136]
"""


def texts(pools: str, backend: str = "slurm") -> dict[str, list[str]]:
    """The lines of the files by name, without the first."""
    specs = specset_of(a_cluster(backend, pools), TEAM)
    return {
        item.path.removeprefix("hpc/proposals/"): item.text.splitlines()[1:]
        for item in proposals(specs, specs.cluster("hpc"))
    }


def test_nodes_and_partitions_are_those_of_the_pools() -> None:
    lines = texts(POOL + AMD)["slurm.conf"]
    assert "AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:mi300x" in lines
    assert lines[-4:] == [
        "NodeName=gpu-[001-016] CPUs=192 RealMemory=2097152 Gres=gpu:h100:8 Feature=ib,hopper",
        "NodeName=mi-[1-4] CPUs=96 RealMemory=1048576 Gres=gpu:mi300x:2",
        "PartitionName=gpu Nodes=gpu-[001-016] State=UP",
        "PartitionName=red Nodes=mi-[1-4] State=UP",
    ]


def test_devices_have_their_files_and_the_variables_of_their_vendor_only() -> None:
    assert texts(POOL + AMD)["gres.conf"] == [
        "NodeName=gpu-[001-016] Name=gpu Type=h100 File=/dev/nvidia[0-7] Flags=nvidia_gpu_env",
        "NodeName=mi-[1-4] Name=gpu Type=mi300x File=/dev/dri/renderD[128,136] Flags=amd_gpu_env",
    ]


def test_racks_are_switches_where_every_pool_has_them() -> None:
    assert texts(AMD)["topology.conf"] == [
        "SwitchName=red-rack-0 Nodes=mi-[1-2]",
        "SwitchName=red-rack-1 Nodes=mi-[3-4]",
        "SwitchName=top Switches=red-rack-0,red-rack-1",
    ]
    assert "topology.conf" not in texts(POOL + AMD)


@pytest.mark.parametrize(
    ("version", "first"), [("24.05", "BlockName"), ("23.11", "SwitchName"), ("22.05", "SwitchName")]
)
def test_nvlink_domains_are_blocks_where_the_version_knows_their_sizes(version: str, first: str) -> None:
    pools = f"{AMD.rstrip()}\n    nodes_per_nvlink_domain: 2\n"
    lines = texts(pools, f"{{type: slurm, version: '{version}'}}")["topology.conf"]
    assert lines[0].startswith(first)
    assert ("BlockSizes=2" in lines) == (first == "BlockName")


def test_nodes_without_names_are_not_proposed() -> None:
    assert texts(AMD.replace("mi-[1-4]", "4")) == {}


def test_a_site_that_writes_no_types_gets_none() -> None:
    found = texts(AMD, "{type: slurm, typed: false}")
    assert found["gres.conf"] == ["NodeName=mi-[1-4] Name=gpu File=/dev/dri/renderD[128,136] Flags=amd_gpu_env"]
    assert "AccountingStorageTRES=gres/gpu" in found["slurm.conf"]
