"""Every machine is found with exit code 0, becomes specs that are valid, and is found the same again."""

from __future__ import annotations

import pytest

from planner.discovery.facts import from_json
from planner.source import SourceFile
from planner.spec.cluster import NodePool
from planner.specset import load
from tests.planner.discovery import machines
from tests.planner.discovery.bench import Bench
from tests.planner.discovery.machines import MACHINES, Machine

ALL = {**MACHINES, "odd cards": machines.ODD, "MI300A in TPX": machines.TPX, "4 x GB200": machines.GB200}


def pool_of(spec: str) -> NodePool:
    """The one pool of a spec, which must be valid."""
    result = load([SourceFile("cluster.yaml", spec.encode())])
    assert result.specset is not None, result.diagnostics
    return result.specset.clusters[0].pools[0]


@pytest.mark.parametrize("machine", ALL.values(), ids=list(ALL))
def test_every_machine_becomes_valid_specs(bench: Bench, machine: Machine) -> None:
    pool = pool_of(bench.spec(machine))
    assert pool.node_names() == (machine.name,)
    assert pool.cpus == machine.cpus


@pytest.mark.parametrize("machine", [machines.H100, machines.CPX, machines.ODD], ids=lambda machine: machine.name)
def test_the_same_machine_is_told_in_the_same_bytes(bench: Bench, machine: Machine) -> None:
    first, second = (bench.run(machine, "--format", "json").stdout for _ in range(2))
    assert first == second
    assert from_json(first.encode()).name == machine.name


MODELS = {
    "8 x H100 SXM": (("h100-sxm5-80gb", 8),),
    "A100 with MIG and gaps": (("a100-sxm4-40gb", 2),),
    "3090 and 4090": (("rtx-3090", 1), ("rtx-4090", 1)),
    "PCIe pairs": (("a100-pcie-80gb", 4),),
    "GB10": (("gb10", 1),),
    "MI300X in SPX": (("mi300x", 8),),
    "MI300X in CPX/NPS4": (("mi300x", 8),),
    "MI300X in two modes": (("mi300x", 8),),
    "MI100": (("mi100", 8),),
    "both vendors": (("h100-pcie-80gb", 1), ("mi210", 1)),
    "WSL": (("nvidia-10de-2684", 1),),
    "no driver": (),
    "a card fell off the bus": (("h100-sxm5-80gb", 7),),
    "odd cards": (("gb10", 1), ("h100-sxm5-80gb", 2), ("z9000-prototype", 1)),
    "MI300A in TPX": (("mi300a", 2),),
    "4 x GB200": (("gb200-186gb", 4),),
}


@pytest.mark.parametrize("name", ALL)
def test_cards_are_counted_under_the_catalogues_names(bench: Bench, name: str) -> None:
    pool = pool_of(bench.spec(ALL[name]))
    assert tuple((group.model, group.count) for group in pool.gpus) == MODELS[name]


def test_a_full_node_has_links_sockets_fabric_and_software(bench: Bench) -> None:
    pool = pool_of(bench.spec(machines.H100))
    assert pool.links == ()  # the catalogue's island of 8 is right
    assert pool.sockets == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert (pool.network.fabric, str(pool.network.rate), pool.network.rdma) == ("infiniband", "3200Gb/s", True)
    assert (pool.software.driver, pool.software.cuda, pool.software.arch) == ("570.86.15", "12.8", "amd64")
    assert pool.memory is not None and pool.memory.mib == 2015 * 1024
    first = bench.facts(machines.H100).devices[0]
    assert (first.processes, first.used_mib, first.ecc) == (2, 34_000, True)


def test_cards_joined_in_pairs_are_islands_of_two(bench: Bench) -> None:
    assert pool_of(bench.spec(machines.PAIRS)).links == ((0, 2), (1, 3))


def test_hives_that_are_not_neighbours_are_told(bench: Bench) -> None:
    assert pool_of(bench.spec(machines.MI100)).links == ((0, 2, 4, 6), (1, 3, 5, 7))


def test_a_lost_card_keeps_its_trouble_and_leaves_the_others_their_numbers(bench: Bench) -> None:
    host = bench.facts(machines.LOST)
    assert [device.index for device in host.devices if not device.usable] == [3]
    assert host.devices[3].trouble == "nvmlDeviceGetHandleByIndex: GPU is lost"
    assert any("device 3 is left out: nvmlDeviceGetHandleByIndex" in warning for warning in host.warnings)
    pool = pool_of(bench.spec(machines.LOST))
    assert pool.gpus[0].devices == (0, 1, 2, 4, 5, 6, 7)
    assert pool.sockets == ((0, 1, 2), (4, 5, 6, 7))
    assert pool.links == ()


def test_an_nvlink_domain_beyond_the_host_is_named_by_cluster_and_clique(bench: Bench) -> None:
    assert bench.facts(machines.GB200).nvlink_domain == f"{'0123456789abcdef' * 2}.7"
    assert pool_of(bench.spec(machines.GB200)).nvlink_domains == (("01234567-7", ("gb200-01",)),)


def test_a_name_that_is_no_text_costs_the_name_alone(bench: Bench) -> None:
    device = bench.facts(machines.WSL).devices[0]
    assert (device.name, device.pci_id, device.memory_mib) == (None, "10de:2684", 24_564)
    text = bench.spec(machines.WSL)
    assert "kind: Accelerator" in text and "title: nvidia card with PCI number 10de:2684\n" in text


def test_without_drivers_the_bus_tells_what_is_missing(bench: Bench) -> None:
    host = bench.facts(machines.NO_DRIVER)
    assert host.devices == ()
    assert any("NVML cannot be asked about 0000:17:00.0 (10de:2330): nvmlInit" in text for text in host.warnings)
    assert any("AMD SMI cannot be asked about 0000:65:00.0 (1002:74a1): amdsmi" in text for text in host.warnings)


def test_nothing_but_the_result_reaches_stdout_where_the_amd_library_is_missing(bench: Bench) -> None:
    done = bench.run(machines.H100, "--format", "json")
    assert done.stdout.startswith("{") and "libamd_smi" not in done.stdout + done.stderr


def test_two_vendors_share_a_host_and_count_on(bench: Bench) -> None:
    host = bench.facts(machines.BOTH)
    assert [(device.index, str(device.vendor)) for device in host.devices] == [(0, "nvidia"), (1, "amd")]
    assert {str(driver.vendor): driver.toolkit for driver in host.drivers} == {"nvidia": "12.8", "amd": "6.3.1"}
    software = pool_of(bench.spec(machines.BOTH)).software
    assert (software.driver, software.cuda, software.rocm) == (None, "12.8", "6.3.1")


def test_render_devices_are_told_for_containers(bench: Bench) -> None:
    pool = pool_of(bench.spec(machines.SPX))
    assert pool.render_gid == 105
    assert pool.render_nodes == (128, 136, 144, 152, 160, 168, 176, 184)


def test_cards_have_their_uuids_where_compose_chooses_by_them(bench: Bench) -> None:
    compose, kubernetes = (pool_of(bench.spec(machines.PAIRS, each)) for each in ("compose", "kubernetes"))
    assert compose.gpus[0].uuids == (("pcie-1", tuple(f"GPU-{index:08d}" for index in range(4))),)
    assert kubernetes.gpus[0].uuids == ()
    assert pool_of(bench.spec(machines.SPX, "compose")).gpus[0].uuids == ()


@pytest.mark.parametrize(
    ("machine", "back_end"),
    [(machines.H100, "slurm"), (machines.A100_MIG, "kubernetes"), (machines.GB10, "compose")],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_back_end_is_told_by_its_traces(bench: Bench, machine: Machine, back_end: str) -> None:
    assert f"backend: {back_end}\n" in bench.spec(machine)
