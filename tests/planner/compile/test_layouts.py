"""Layouts: as many partitions of a profile as its work needs while it may run."""

from __future__ import annotations

import pytest

from tests.builders import a_cluster, a_job, a_pool, planned

DAY = {"deadline": "2026-12-02T00:00:00Z", "deadline_is": "hard"}
MORNING = {"deadline": "2026-12-01T08:00:00Z", "deadline_is": "hard"}


@pytest.mark.parametrize(("window", "cut"), [(DAY, 3), (MORNING, 7)])
def test_work_with_a_narrow_window_gets_a_partition_each(window: dict[str, str], cut: int) -> None:
    pool = a_pool("x", nodes="n1", count=1, partitions=["1g.10gb"])
    jobs = [a_job(f"j{at}", gpus={"count": 1, "partition": "1g.10gb"}, duration="8h", window=window) for at in range(7)]
    plan = planned(a_cluster(pool), *jobs)
    assert len(plan.placements) == 7
    (layout,) = plan.layouts
    assert len(layout.windows[0].partitions) == cut
