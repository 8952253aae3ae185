"""UC-26: one spelling of times, `D-HH:MM:SS`, rounded up to a minute and never past the partition's limit."""

from __future__ import annotations

import pytest

from planner.units import Duration
from tests.renderers.slurm.site import POOL, a_cluster, a_site

TWO_DAYS = POOL.replace("max_duration: 7d", "max_duration: 48h")
UNLIMITED = POOL.replace("    max_duration: 7d\n", "")


@pytest.mark.parametrize(
    ("duration", "pools", "written"),
    [
        ("30s", TWO_DAYS, "0-00:01:00"),
        ("90m", TWO_DAYS, "0-01:30:00"),
        ("240m", TWO_DAYS, "0-04:00:00"),
        ("36h", TWO_DAYS, "1-12:00:00"),
        ("48h", TWO_DAYS, "2-00:00:00"),
        ("2d12h", UNLIMITED, "2-12:00:00"),
        ("100d", UNLIMITED, "100-00:00:00"),
    ],
)
def test_each_duration_of_the_threads_has_one_spelling(duration: str, pools: str, written: str) -> None:
    site = a_site(
        "command: [a]", "gpus: 8", cluster=a_cluster(pools=pools), limit_seconds=Duration.parse(duration).seconds
    )
    assert site.options().get("time") == written


@pytest.mark.parametrize("duration", ["2d12h", "100d"])
def test_more_than_the_partition_allows_is_an_error_and_not_a_script(duration: str) -> None:
    seconds = Duration.parse(duration).seconds
    site = a_site("command: [a]", "gpus: 8", cluster=a_cluster(pools=TWO_DAYS), limit_seconds=seconds)
    assert site.rendered.manifests == ()
    assert f"{seconds} s is more than the 172800 s that the pool allows" in site.messages()[0]
