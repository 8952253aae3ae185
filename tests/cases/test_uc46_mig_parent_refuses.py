"""UC-46: with MIG on, the parent card answers "Insufficient Permissions"."""

from __future__ import annotations

import pytest

from planner.source import SourceFile
from planner.specset import load
from tests.planner.discovery import machines
from tests.planner.discovery.bench import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("uc46"))


def test_the_parent_appears_with_its_instances_across_gaps_in_their_numbers(bench: Bench) -> None:
    parent = bench.facts(machines.A100_MIG).devices[0]
    assert parent.divided is True
    assert [(one.profile, one.at, one.memory_slices, one.memory_mib) for one in parent.instances] == [
        ("1g.5gb", 0, 1, 4_864),
        ("2g.10gb", 2, 2, 9_984),
        ("3g.20gb", 4, 4, 20_096),
    ]


def test_the_refusal_is_told_and_the_memory_stays_unknown(bench: Bench) -> None:
    host = bench.facts(machines.A100_MIG)
    assert host.devices[0].memory_mib is None
    assert host.warnings == ("GPU 0: nvmlDeviceGetMemoryInfo: Insufficient Permissions",)


def test_the_other_card_is_unaffected(bench: Bench) -> None:
    other = bench.facts(machines.A100_MIG).devices[1]
    assert (other.memory_mib, other.divided, other.instances) == (40_960, False, ())


def test_the_parent_is_no_whole_card_besides(bench: Bench) -> None:
    result = load([SourceFile("cluster.yaml", bench.spec(machines.A100_MIG).encode())])
    assert result.specset is not None, result.diagnostics
    pool = result.specset.clusters[0].pools[0]
    assert pool.devices_per_node == 2
    ((node, cards),) = pool.partitions.fixed
    assert node == "a100-07"
    assert [(index, [(part.profile, part.at) for part in layout]) for index, layout in cards] == [
        (0, [("1g.5gb", 0), ("2g.10gb", 2), ("3g.20gb", 4)])
    ]
