"""Accounts of jobs that are over."""

from __future__ import annotations

from planner.discovery.found import Ended
from planner.discovery.slurm.history import COMMAND, history

SPEC = "0123456789ab"
TEXT = f"""JobIDRaw|State|Start|End|ElapsedRaw|Account|Comment|JobName
7|COMPLETED|2026-11-30T20:00:00|2026-11-30T21:00:00|3600|vision|planner:job/vision/resnet@{SPEC}|resnet
8|CANCELLED by 1000|2026-11-30T20:00:00|2026-11-30T21:00:00|3600|vision|planner:job/vision/a@{SPEC}|a
9|TIMEOUT|2026-11-30T20:00:00|2026-11-30T22:00:00|7200|vision|planner:job/vision/b@{SPEC}|b
10|RUNNING|2026-11-30T20:00:00|Unknown|600|vision||train
11|COMPLETED|2026-11-30T20:00:00|2026-11-30T20:10:00|600|nlp||a|name
12|COMPLETED|2026-11-30T20:00:00|2026-11-30T20:00:00|0|nlp||short
13|COMPLETED|2026-11-30T20:00:00
14|COMPLETED|2026-11-30T20:00:00|2026-11-30T20:20:00|1200|nlp|planner:job/x@{SPEC}|mine
"""


def test_runs_of_the_planner_that_ended_are_told_with_how() -> None:
    assert history(TEXT).ended == (
        Ended(address="job/vision/resnet", spec=f"sha256:{SPEC}", succeeded=True, at=1_796_072_400),
        Ended(address="job/vision/b", spec=f"sha256:{SPEC}", succeeded=False, at=1_796_076_000),
    )


def test_only_runs_that_did_what_they_were_to_do_say_how_long_it_takes() -> None:
    assert [(run.tenant, run.name, run.part, run.seconds) for run in history(TEXT).runs] == [
        ("vision", "resnet", "job 7", 3600),
        ("nlp", "a|name", "job 11", 600),
        ("nlp", "mine", "job 14", 1200),
    ]
    assert history("") == history(TEXT.splitlines()[0])


def test_the_name_is_the_last_column_that_is_asked_for() -> None:
    assert COMMAND[-1].endswith(",JobName")
