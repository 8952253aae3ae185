"""A plan, squeezed into a minute, that a real Slurm carries out: order, nodes and devices as planned."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

import pytest

from planner.plan import Placement
from tests.e2e.labs import trees
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.slurm.site import Site
from tests.e2e.labs.timescale import scaled, seconds_of
from tests.e2e.labs.trees import Planned
from tests.e2e.slurm import scenarios
from tests.e2e.slurm.accounting import Account, last_runs

LEAD_SECONDS = 8
"""From making the scripts to the plan's start: submitting takes this long at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """A plan that was carried out: what accounting says, and the lines that the jobs wrote."""

    planned: Planned
    accounts: dict[str, Account]
    lines: tuple[tuple[str, ...], ...]


@pytest.fixture(scope="module")
def lived(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """The scenario, submitted and carried out."""
    folder = tmp_path_factory.mktemp("lived")
    made = scenarios.two_vendors(str(folder / "record"))
    begin = int(time.time()) + LEAD_SECONDS
    moved = scaled(made.plan, begin=begin, slot_seconds=scenarios.SLOT_SECONDS)
    planned = Planned(specs=made.specs, plan=moved)
    tree = trees.rendered_into(folder / "manifests", planned)
    site.submit(tree / scenarios.CLUSTER)
    wait_for(lambda: not site.queue("%A"), "the end of all jobs", seconds=180, every=1)
    wait_for(lambda: all(known(site, item).end for item in moved.placements), "the accounts")
    lines = tuple(tuple(line.split("|")) for line in (folder / "record").read_text().splitlines())
    found = {item.address: known(site, item) for item in moved.placements}
    result = Lived(planned=planned, accounts=found, lines=lines)
    print(told(result))
    return result


def known(site: Site, item: Placement) -> Account:
    """The last run of a job."""
    return last_runs(site)[item.address]


def told(lived: Lived) -> str:
    """Planned against actual, a line for each job; starts in seconds after the plan's."""
    begin = seconds_of(lived.planned.plan.inputs.start)
    return "\n".join(
        f"{item.address:28} planned {seconds_of(item.start) - begin:3} on {','.join(nodes_of(item)):16}"
        f" actual {lived.accounts[item.address].start - begin:3} on {','.join(lived.accounts[item.address].nodes)}"
        for item in lived.planned.plan.placements
    )


def nodes_of(item: Placement) -> tuple[str, ...]:
    return tuple(sorted(node.name for node in item.segments[0].nodes))


def test_every_job_runs_once_and_succeeds(lived: Lived) -> None:
    assert {item.state for item in lived.accounts.values()} == {"COMPLETED"}


def test_every_job_has_the_planned_nodes_and_devices(lived: Lived) -> None:
    for item in lived.planned.plan.placements:
        actual = lived.accounts[item.address]
        assert (actual.nodes, actual.gpus) == (nodes_of(item), item.gpus), item.address


def test_every_job_starts_within_a_slot_and_never_early(lived: Lived) -> None:
    for item in lived.planned.plan.placements:
        late = lived.accounts[item.address].start - seconds_of(item.start)
        assert 0 <= late < scenarios.SLOT_SECONDS, f"{item.address} starts {late} s late"


def test_a_job_begins_after_those_that_it_waits_for(lived: Lived) -> None:
    found = lived.accounts
    for job in lived.planned.specs.jobs:
        for parent in job.after:
            assert found[f"job/{parent}"].end <= found[f"job/{job.team}/{job.name}"].start


def test_every_process_sees_the_planned_number_of_devices_of_its_vendor_only(lived: Lived) -> None:
    seen = sorted((address, node, count(cuda), count(rocr)) for address, node, cuda, rocr, *_ in lived.lines)
    assert seen == sorted(
        (
            item.address,
            node.name,
            len(node.devices) if item.segments[0].vendor == "nvidia" else 0,
            len(node.devices) if item.segments[0].vendor == "amd" else 0,
        )
        for item in lived.planned.plan.placements
        for node in item.segments[0].nodes
    )


def count(devices: str) -> int:
    return 0 if devices == "none" else len(set(devices.split(",")))


def test_jobs_that_share_a_node_at_a_time_see_different_devices(lived: Lived) -> None:
    tuning = [line for line in lived.lines if line[0].startswith("job/vision/tune[")]
    held = Counter((line[1], device) for line in tuning for device in line[3].split(","))
    assert max(held.values()) == 1
    assert len(held) == 9


def test_the_parts_of_a_gang_know_each_other(lived: Lived) -> None:
    gang = [line for line in lived.lines if line[0] == "job/vision/train"]
    first = min(line[1] for line in gang)
    assert [line[4:] for line in gang] == [("4", "2", first)] * 2
