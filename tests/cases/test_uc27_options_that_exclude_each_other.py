"""UC-27: one memory option, one family of GPU options, tasks always counted, nothing inherited from an outer job."""

from __future__ import annotations

from pathlib import Path

import pytest

from renderers.slurm.reading import Component
from tests.renderers.fleet import a_node
from tests.renderers.slurm.controller import Controller
from tests.renderers.slurm.site import POOL, a_chain, a_cluster, a_site

MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
GPUS = (
    "gres",
    "gpus",
    "gpus-per-node",
    "gpus-per-task",
    "gpus-per-socket",
    "ntasks-per-gpu",
    "cpus-per-gpu",
    "tres-per-task",
)


def present(options: Component, names: tuple[str, ...]) -> list[str]:
    """Those of some options that are there."""
    return [name for name in names if options.has(name)]


@pytest.mark.parametrize(
    ("fields", "memory"),
    [
        (("memory_per_gpu: 40Gi",), "81920M"),
        (("memory: 100Gi",), "102400M"),
        ((), "458752M"),
    ],
    ids=["per device", "per node", "by fair share"],
)
def test_memory_is_written_once_and_per_node(fields: tuple[str, ...], memory: str) -> None:
    options = a_site("command: [a]", "gpus: 2", *fields, nodes=(a_node("gpu-001", 0, 1),)).options()
    assert present(options, MEMORY) == ["mem"]
    assert options.get("mem") == memory


def test_all_memory_is_asked_for_only_with_the_whole_node() -> None:
    exclusive = a_site(
        "command: [a]", "gpus: 8", "memory: 1Ti", cluster=a_cluster("{type: slurm, exclusive: true}")
    ).options()
    assert exclusive.has("exclusive")
    assert exclusive.get("mem") == "0"
    shared = a_site("command: [a]", "gpus: 8", "memory: 1Ti").options()
    assert not shared.has("exclusive")
    assert shared.get("mem") == "1048576M"


def test_where_no_memory_is_known_the_sites_default_holds() -> None:
    cluster = a_cluster(pools=POOL.replace("    memory: 2Ti\n", ""))
    assert present(a_site("command: [a]", "gpus: 8", cluster=cluster).options(), MEMORY) == []


@pytest.mark.parametrize(("option", "written"), [("gres", ["gres"]), ("gpus_per_node", ["gpus-per-node"])])
def test_there_is_one_option_for_devices(option: str, written: list[str]) -> None:
    cluster = a_cluster(f"{{type: slurm, gpu_option: {option}}}")
    assert present(a_site("command: [a]", "gpus: 8", cluster=cluster).options(), GPUS) == written


@pytest.mark.parametrize(
    ("fields", "tasks", "cpus"), [(("gpus: 2",), "1", "42"), (("gpus: 8", "tasks_per_node: 8"), "8", "21")]
)
def test_tasks_are_always_counted_and_share_the_nodes_cores(fields: tuple[str, ...], tasks: str, cpus: str) -> None:
    devices = range(2) if fields[0] == "gpus: 2" else range(8)
    options = a_site("command: [a]", *fields, nodes=(a_node("gpu-001", *devices),)).options()
    assert options.get("ntasks-per-node") == tasks
    assert options.get("cpus-per-task") == cpus


def test_from_inside_an_allocation_nothing_is_inherited(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain({"a": ()}))
    controller.submit(
        SLURM_MEM_PER_GPU="40960", SLURM_MEM_PER_NODE="1024", SBATCH_GRES="gpu:1", SLURM_NTASKS_PER_GPU="1"
    )
    assert len(controller.submitted()) == 1
    assert controller.queue["leaked"] == []
