"""The rendered accounts and QOS before a real accounting: made once, found as planned the second time, and enough."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.labs import trees
from tests.e2e.labs.slurm.fleet import fleet_of
from tests.e2e.labs.slurm.site import PREEMPTION, Site, running_site
from tests.e2e.labs.timescale import scaled, seconds_of
from tests.e2e.labs.trees import Planned

DAY = 86_400


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A campus of which accounting knows nothing yet."""
    fleet = fleet_of(trees.the_specs().specs, "hpc", *PREEMPTION)
    with running_site(tmp_path_factory.mktemp("accounts"), fleet) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was rendered for the campus, from tomorrow on."""
    made = trees.the_specs()
    begin = (int(time.time()) // DAY + 1) * DAY
    plan = scaled(made.plan, begin=begin, slot_seconds=made.plan.inputs.slot_seconds)
    return trees.rendered_into(tmp_path_factory.mktemp("campus"), Planned(specs=made.specs, plan=plan)) / "hpc"


def limits(site: Site) -> dict[str, str]:
    """What each account may use at once."""
    lines = site.tell("sacctmgr", "-nP", "show", "assoc", "format=account,user,grptres").splitlines()
    return {account: tres for account, user, tres in (line.split("|") for line in lines) if not user}


def test_accounts_are_made_once_and_are_enough_for_every_job(fresh: Site, folder: Path) -> None:
    begin = seconds_of(trees.the_specs().plan.inputs.start)
    first = fresh.tell("sh", folder / "accounts.sh", begin)
    second = fresh.tell("sh", folder / "accounts.sh", begin)
    assert "now " in first
    assert second.startswith("accounts and QOS are as planned\n")
    found = limits(fresh)
    assert (found["vision"], found["speech"], found["speech-borrowed"]) == (
        "gres/gpu:a100=16",
        "gres/gpu:a100=8",
        "gres/gpu:a100=24",
    )
    fresh.tell("sacctmgr", "-i", "add", "user", "root", f"account={','.join(name for name in found if name != 'root')}")
    jobs = list(folder.glob("jobs/*.sbatch"))
    assert fresh.submit(folder).count(": submitted as ") == len(jobs)
    assert set(fresh.queue("%r").values()) <= {"BeginTime", "Dependency"}
