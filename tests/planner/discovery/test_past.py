"""Runs as they really were."""

from __future__ import annotations

import pytest

from planner.discovery.past import Run, busy, lengths, of_pods


def runs(*seconds: int | None) -> list[Run]:
    return [Run(tenant="a", name="n", part="a/n", seconds=each) for each in seconds]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ((3600,), "1 run took 1h"),
        ((3541,), "1 run took 1h"),
        ((3600, 7200), "2 runs took 1h to 2h, half of them at most 2h"),
        ((7200, 60, 3600), "3 runs took 1m to 2h, half of them at most 1h"),
        ((None, 60), "1 run took 1m"),
    ],
)
def test_lengths_are_told_by_their_middle_up_to_the_full_minute(seconds: tuple[int | None, ...], told: str) -> None:
    assert str(lengths(runs(*seconds))) == told


def test_without_a_run_that_was_seen_whole_there_is_no_length() -> None:
    assert lengths(runs(None, 0)) is None


@pytest.mark.parametrize(
    ("permilles", "told"),
    [
        ([], ""),
        ([99], "used 9.9 % on average: idle"),
        ([100], "used 10.0 % on average"),
        ([0, 300], "used 15.0 % on average"),
    ],
)
def test_less_than_a_tenth_is_idle(permilles: list[int], told: str) -> None:
    assert busy(permilles) == told


def test_pods_belong_to_the_workload_with_the_longest_name_in_their_namespace() -> None:
    pods = [
        Run(tenant=tenant, name=name, part=f"{tenant}/{name}")
        for tenant, name in (
            ("a", "train-x1"),
            ("a", "train-big-x2"),
            ("a", "trainer-x3"),
            ("b", "train-x4"),
            ("a", "train"),
        )
    ]
    names = ["train", "train-big"]
    assert [run.name for run in of_pods(pods, "a", "train", names)] == ["train-x1", "train"]
    assert [run.name for run in of_pods(pods, "a", "train-big", names)] == ["train-big-x2"]
