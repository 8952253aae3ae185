"""Replicas from load: UC-22 and UC-23 as arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest

from planner.sizing import Replicas, Server, Unsizable, busy, capacity, size

QPS_20 = 20_000


def a_server(target: int | None = None, headroom: int = 200_000, **facts: int) -> Server:
    """One request at a time, 0.4 s each, a fifth of capacity spare."""
    return Server(service_milliseconds=400, target_milliseconds=target, headroom_ppm=headroom, **facts)


def test_twenty_requests_a_second_of_four_tenths_keep_eight_slots_busy() -> None:
    assert busy(QPS_20, 400) == Fraction(8)


@pytest.mark.parametrize("target", [None, 400, 1_000, 4_000])
@pytest.mark.parametrize(("headroom", "replicas"), [(0, 8), (1, 9), (100_000, 9), (200_000, 10), (500_000, 16)])
def test_a_latency_target_never_changes_how_many_replicas_the_load_needs(
    target: int | None, headroom: int, replicas: int
) -> None:
    assert size(QPS_20, a_server(target, headroom), Replicas()).needed == replicas


@pytest.mark.parametrize("target", [1, 200, 399])
def test_no_number_of_replicas_is_faster_than_one_request_alone(target: int) -> None:
    with pytest.raises(Unsizable, match="One request alone takes 400 ms"):
        size(QPS_20, a_server(target), Replicas())


@pytest.mark.parametrize("least", [1, 3])
def test_without_load_the_least_replicas_stay(least: int) -> None:
    assert size(0, a_server(), Replicas(least=least)).replicas == least


def test_without_a_service_time_nothing_is_sized() -> None:
    with pytest.raises(Unsizable, match="Neither service_time nor qps_per_replica"):
        size(QPS_20, Server(), Replicas())


def test_a_measured_capacity_takes_the_place_of_the_service_time() -> None:
    assert capacity(Server(capacity_milliqps=5_000)) == 5_000
    assert size(QPS_20, Server(capacity_milliqps=5_000, headroom_ppm=0), Replicas()).needed == 4


def test_concurrency_multiplies_what_one_replica_serves() -> None:
    assert size(QPS_20, a_server(headroom=0, concurrency=4), Replicas()).needed == 2


@pytest.mark.parametrize(("milliqps", "needed"), [(2_500, 1), (2_501, 2), (5_000, 2), (5_001, 3)])
def test_capacity_is_never_below_the_load(milliqps: int, needed: int) -> None:
    sizing = size(milliqps, a_server(headroom=0), Replicas())
    assert sizing.needed == needed
    assert sizing.capacity_milliqps >= milliqps


def test_a_burst_of_eleven_at_once_needs_eleven_and_says_what_is_missing() -> None:
    server = Server(service_milliseconds=10)
    sizing = size(110_000, server, Replicas(least=1, most=8), concurrent=11)
    assert (sizing.needed, sizing.replicas, sizing.shortfall) == (11, 8, 3)
    assert size(110_000, server, Replicas(), concurrent=0).needed == 2


@pytest.mark.parametrize(("step", "replicas"), [(1, 8), (2, 9), (4, 9), (8, 9), (7, 8)])
def test_replicas_come_in_steps_from_the_least(step: int, replicas: int) -> None:
    assert size(QPS_20, a_server(headroom=0), Replicas(least=1, step=step)).replicas == replicas


def test_without_spare_capacity_nothing_is_sized() -> None:
    with pytest.raises(Unsizable, match="no capacity left"):
        size(QPS_20, a_server(headroom=1_000_000), Replicas())
