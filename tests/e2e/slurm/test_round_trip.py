"""Specs, rendered and carried out by a real Slurm, and discovered from it again: the same fleet, teams and work."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from planner import lockfile
from planner.plan import Plan
from planner.spec.job import Job
from planner.spec.snapshot import Snapshot
from planner.specset import SpecSet
from tests import builders
from tests.e2e.labs import trees
from tests.e2e.labs.cli import loaded, planner
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.slurm.fleet import fleet_of
from tests.e2e.labs.slurm.site import PREEMPTION, Site, running_site
from tests.e2e.labs.timescale import scaled, seconds_of
from tests.e2e.labs.trees import Planned
from tests.e2e.slurm import scenarios

A100 = scenarios.A100
QUOTAS: tuple[dict[str, Any], ...] = (
    builders.a_quota("vision-a100", "vision", 4, gpus={"model": A100}, limit=8, weight=3),
    builders.a_quota("speech-a100", "speech", 8, gpus={"model": A100}),
)
JOBS = (
    scenarios.a_payload("train", scenarios.green(4), hours=9),
    scenarios.a_payload("simulate", scenarios.red(16, nodes=2), hours=9, team="speech"),
    scenarios.a_payload("short", scenarios.green(1), team="speech", command=["true"]),
)
FOREIGN = "#!/bin/sh\n#SBATCH --job-name=legacy --gres=gpu:a100:2 --nodelist=green-3\nsleep 300\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was planned, what was discovered while it ran, and the plan that is made of that."""

    planned: Planned
    specs: SpecSet
    imported: tuple[Job, ...]
    snapshot: Snapshot
    again: Plan


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Slurm of the small site, of whose teams accounting knows nothing yet."""
    small = fleet_of(scenarios.small_site().specs, scenarios.CLUSTER, *PREEMPTION)
    with running_site(tmp_path_factory.mktemp("round"), small) as running:
        yield running


@pytest.fixture(scope="module")
def found(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The specs, carried out: two jobs run and one is over, beside a job of somebody else."""
    folder = tmp_path_factory.mktemp("found")
    made = scenarios.planned(builders.a_team("vision"), builders.a_team("speech"), *QUOTAS, *JOBS)
    plan = scaled(made.plan, begin=int(time.time()), slot_seconds=60)
    tree = trees.rendered_into(folder / "manifests", Planned(specs=made.specs, plan=plan)) / scenarios.CLUSTER
    site.tell("sh", tree / "accounts.sh", seconds_of(plan.inputs.start))
    names = ("vision", "vision-borrowed", "speech", "speech-borrowed")
    site.tell("sacctmgr", "-i", "add", "user", "root", f"account={','.join(names)}")
    site.submit(tree)
    (folder / "legacy.sh").write_text(FOREIGN)
    site.tell("sbatch", "--account=speech", "--partition=green", "--time=7", folder / "legacy.sh", cwd=site.root)
    wait_for(lambda: sorted(site.queue("%T").values()) == ["RUNNING"] * 3, "three jobs that run", seconds=90)
    specs = folder / "specs"
    specs.mkdir()
    told = ("discover", "--from", "slurm", "--name", scenarios.CLUSTER, "--model", f"a100={A100}")
    said = planner(*told, "--write", specs / "c.yaml", "--teams", specs / "t.yaml", env=site.environment, cwd=folder)
    assert "what it would tell is missing" not in said, said
    found = loaded(specs)
    planner(
        "import", "--from", "slurm", "--specs", specs, "--out", folder / "imported", env=site.environment, cwd=folder
    )
    imported = loaded(specs, folder / "imported").jobs
    for at, job in enumerate(JOBS):
        (specs / f"{at}.yaml").write_text(json.dumps(job))
    shot, lock = folder / "s.yaml", folder / "plan.lock.json"
    planner(*told, "--snapshot", shot, "--specs", specs, env=site.environment, cwd=folder)
    planner("plan", specs, "--snapshot", shot, "--budget", 0, "--out", lock, env=site.environment, cwd=folder)
    return Found(
        planned=made,
        specs=found,
        imported=imported,
        snapshot=loaded(specs, shot).snapshots[0],
        again=lockfile.read(lock),
    )


def test_the_pools_are_those_that_were_described(found: Found) -> None:
    pools = {pool.name: pool for pool in found.specs.cluster(scenarios.CLUSTER).pools}
    wanted = {pool.node_names(): pool for pool in found.planned.specs.cluster(scenarios.CLUSTER).pools}
    assert {pool.node_names() for pool in pools.values()} == set(wanted)
    for pool in pools.values():
        was = wanted[pool.node_names()]
        assert [(group.model, group.count) for group in pool.gpus] == [(group.model, group.count) for group in was.gpus]
        assert (pool.cpus, pool.memory, set(pool.features)) == (was.cpus, was.memory, set(was.features))


def test_the_teams_and_their_quotas_are_those_that_were_described(found: Found) -> None:
    def stated(specs: SpecSet) -> set[tuple[object, ...]]:
        covering = [quota for quota in specs.quotas if quota.gpus.models == (A100,)]
        return {(quota.team, quota.guaranteed, quota.limit, quota.weight) for quota in covering}

    assert {(team.name, team.parent) for team in found.specs.teams} == {("vision", None), ("speech", None)}
    assert stated(found.specs) == stated(found.planned.specs)


def test_what_runs_is_known_by_its_spec_with_its_devices(found: Found) -> None:
    placed = {item.address: item for item in found.planned.plan.placements}
    for address in ("job/vision/train", "job/speech/simulate"):
        (mine,) = [each for each in found.snapshot.running if f"job/{each.job}" == address]
        assert placed[address].spec.startswith(str(mine.spec))
        assert sum(len(node.devices) for node in mine.nodes) == placed[address].gpus
        assert {node.name for node in mine.nodes} == {node.name for node in placed[address].segments[0].nodes}
    (over,) = found.snapshot.finished
    assert (over.job, over.state) == ("speech/short", "succeeded")


def test_the_next_plan_goes_on_with_what_runs_where_it_is_and_leaves_out_what_is_over(found: Found) -> None:
    before = {item.address: item for item in found.planned.plan.placements}
    after = {item.address: item for item in found.again.placements}
    assert set(after) == {"job/vision/train", "job/speech/simulate"}
    assert (found.again.moves, found.again.preemptions) == ((), ())
    for address, item in after.items():
        assert item.segments[0].nodes == before[address].segments[0].nodes, address


def test_no_plan_is_made_over_devices_of_others(found: Found) -> None:
    (other,) = found.snapshot.foreign
    held = {device.index for device in other.nodes[0].devices}
    nodes = [node for item in found.again.placements for segment in item.segments for node in segment.nodes]
    assert not any(device.index in held for node in nodes if node.name == "green-3" for device in node.devices)


def test_work_of_others_is_foreign_and_may_be_imported(found: Found) -> None:
    (other,) = found.snapshot.foreign
    assert ([node.name for node in other.nodes], len(other.nodes[0].devices)) == (["green-3"], 2)
    (legacy,) = found.imported
    assert (legacy.name, legacy.team, legacy.template) == ("legacy", "speech", "legacy.sbatch")
    assert legacy.gpus is not None
    assert (legacy.gpus.count, legacy.gpus.models) == (2, (A100,))
