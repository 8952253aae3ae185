"""UC-17: every script has a finite `--time`, of the plan and within the partition, so that maintenance holds none."""

from __future__ import annotations

import pytest

from renderers.slurm.words import seconds_of
from tests.renderers.slurm.site import POOL, a_cluster, a_site

DAY = 86_400
UNLIMITED = POOL.replace("    max_duration: 7d\n", "")
MONTHS = POOL.replace("max_duration: 7d", "max_duration: 60d")


@pytest.mark.parametrize("pools", [UNLIMITED, MONTHS], ids=["partition without a limit", "partition of 60 days"])
@pytest.mark.parametrize(("days", "written"), [(3, "3-18:00:00"), (12, "15-00:00:00")])
def test_the_time_is_the_planned_limit_and_never_unlimited(pools: str, days: int, written: str) -> None:
    limit_seconds = days * DAY * 5 // 4
    site = a_site("command: [a]", "gpus: 8", cluster=a_cluster(pools=pools), limit_seconds=limit_seconds)
    assert site.options().get("time") == written
    assert 0 <= seconds_of(written) - limit_seconds < 60


def test_a_job_that_ends_before_the_maintenance_says_so_to_slurm() -> None:
    """Backfill starts a job only if its begin and time end before the reservation does: day 10."""
    site = a_site("command: [a]", "gpus: 8", cluster=a_cluster(pools=UNLIMITED), limit_seconds=3 * DAY, start=6 * 24)
    begin = int((site.options().get("begin") or "").removeprefix("uts"))
    end = begin + seconds_of(site.options().get("time") or "")
    assert end <= 1_796_083_200 + 10 * DAY
