"""UC-47: partitioned AMD cards report too much memory."""

from __future__ import annotations

import pytest

from tests.planner.discovery import machines
from tests.planner.discovery.bench import Bench
from tests.planner.discovery.machines import Machine


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("uc47"))


@pytest.mark.parametrize(
    ("machine", "cards", "parts", "claimed_mib", "planned_mib"),
    [(machines.CPX, 8, 8, 196_592, 24_576), (machines.TPX, 2, 3, 131_072, 43_690)],
    ids=["64 CPX partitions of 192 GB each", "6 TPX partitions with profile N/A"],
)
def test_partitions_share_the_card_that_they_are_on(
    bench: Bench, machine: Machine, cards: int, parts: int, claimed_mib: int, planned_mib: int
) -> None:
    host = bench.facts(machine)
    assert [len(device.instances) for device in host.devices] == [parts] * cards
    for device in host.devices:
        assert {one.reported_mib for one in device.instances} == {claimed_mib}
        assert {one.memory_mib for one in device.instances} == {planned_mib}
        assert sum(one.memory_mib or 0 for one in device.instances) <= (device.memory_mib or 0)


def test_a_mode_that_is_not_told_is_unknown(bench: Bench) -> None:
    host = bench.facts(machines.TPX)
    assert {(card.compute_mode, card.memory_mode, card.divided) for card in host.devices} == {(None, None, True)}
    assert any("of 3 partitions the profile or the place is unknown" in warning for warning in host.warnings)


def test_both_figures_are_shown_where_they_differ(bench: Bench) -> None:
    text = bench.run(machines.CPX).stdout
    assert text.count("8 x cpx (24576 MiB, the driver claims 196592)") == 8


def test_partitions_have_their_places_on_the_card(bench: Bench) -> None:
    first = bench.facts(machines.CPX).devices[0]
    assert [(one.profile, one.at) for one in first.instances] == [("cpx", place) for place in range(8)]
