"""One Slurm for all tests of this folder: the campus of the specs, and the small site of the scenarios."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.labs import trees
from tests.e2e.labs.slurm.fleet import Fleet, fleet_of
from tests.e2e.labs.slurm.site import PREEMPTION, Site, add_accounts, running_site
from tests.e2e.slurm import scenarios


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Slurm with the accounts of all teams."""
    specs, small = trees.the_specs().specs, scenarios.small_site().specs
    fleet = Fleet(
        nodes=(*fleet_of(specs, "hpc").nodes, *fleet_of(small, scenarios.CLUSTER).nodes),
        extra=PREEMPTION,
    )
    with running_site(tmp_path_factory.mktemp("slurm"), fleet) as running:
        add_accounts(running, {team.account or team.name for team in (*specs.teams, *small.teams)})
        yield running


@pytest.fixture
def empty_site(site: Site) -> Iterator[Site]:
    """The same Slurm, with nothing queued before and after the test."""
    site.clear()
    yield site
    site.clear()
