"""Progress: one line that says everything, and a log that is not flooded."""

from __future__ import annotations

import pytest

from planner.report.progress import QUIET_SECONDS, Log, Step, step_text


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step(phase="prices"), "prices     3 s"),
        (Step(phase="improve", value_micros=2_000_000), "improve    value USD 2.00  3 s"),
        (
            Step(phase="improve", value_micros=2_000_000, bound_micros=4_000_000, gap_ppm=500_000),
            "improve    value USD 2.00  bound USD 4.00  gap 50 %  3 s",
        ),
    ],
)
def test_a_step_tells_what_is_known(step: Step, text: str) -> None:
    assert step_text(step, 3, "USD") == text


def test_a_log_hears_each_phase_and_then_one_step_in_thirty_seconds() -> None:
    log = Log()
    first, second = Step(phase="prices"), Step(phase="improve")
    moments = [
        (first, 0), (first, 29_999), (first, 30_000), (first, 59_999), (second, 59_999), (second, 60_000),
        (second, 89_999),
    ]  # fmt: skip
    assert [log.wants(step, now) for step, now in moments] == [True, False, True, False, True, False, True]
    assert QUIET_SECONDS == 30
