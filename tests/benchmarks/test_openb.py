"""The openb cluster is read as it is, no GPU of a plan holds more than itself, and no plan is above the bound."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import openb
from benchmarks.bestfit import best_fit, typed_first
from benchmarks.cutting import most_allocated
from benchmarks.openb import Host, Pod
from solvers.check import check
from solvers.problem import Problem
from solvers.solution import Solution
from solvers.solve import solve

FLEET = (
    Host(name="h1", cpu=8_000, memory=64_000, gpus=2, model="T4"),
    Host(name="h2", cpu=8_000, memory=64_000, gpus=1, model="G2"),
    Host(name="h3", cpu=4_000, memory=16_000, gpus=0, model=""),
)


def a_pod(number: int, share: int, gpus: int = 1, *models: str, cpu: int = 1_000) -> Pod:
    """A pod that takes little memory."""
    return Pod(name=f"p{number}", cpu=cpu, memory=1_000, gpus=gpus, share=share, models=tuple(models))


PODS = (
    a_pod(1, 600), a_pod(2, 600), a_pod(3, 600), a_pod(4, 400), a_pod(5, 1_000, 1, "T4"), a_pod(6, 300),
    a_pod(7, 0, 0, cpu=4_000),
)  # fmt: skip


def held(problem: Problem, solution: Solution) -> Counter[str]:
    """Thousandths in use of each GPU."""
    found = Counter[str]()
    for one in solution.assignments:
        for run in one.runs:
            mode = problem.tasks[one.task].modes[run.mode]
            for seat in run.seats:
                found[problem.pools[mode.pool].nodes[seat.node].name] += mode.parts[seat.part].use[0]
    return found


@pytest.mark.parametrize("workload", ["default", "gpuspec33"])
def test_the_cluster_and_its_pods_are_those_of_the_trace(workload: str) -> None:
    machines, pods = openb.hosts(), openb.pods(workload)
    assert (len(machines), sum(host.gpus for host in machines), len(pods)) == (1_523, 6_212, 8_152)
    assert sum(pod.gpus == 0 for pod in pods) == 1_088
    assert all(pod.share == 1_000 for pod in pods if pod.gpus > 1)
    assert round(sum(pod.asks for pod in pods) / 6_212_000, 3) == 0.98
    assert (sum(bool(pod.models) for pod in pods) > 2_000) is (workload == "gpuspec33")


def test_no_gpu_holds_more_than_itself_and_no_share_is_split() -> None:
    problem = openb.packing(FLEET, PODS)
    found = solve(problem)
    assert check(problem, found) == ()
    assert max(held(problem, found).values()) <= openb.UNITS
    # Of 2,900 thousandths that are asked for beside the pod of 400, three halves fill no GPU.
    assert openb.allocated(problem, found) == 2_900
    assert openb.placed_without_gpu(problem, found) == 1
    assert most_allocated(FLEET, PODS) >= 2_900


def test_the_bound_counts_what_no_gpu_can_hold_beside_another() -> None:
    three = tuple(a_pod(number, 600) for number in range(4))
    assert most_allocated(FLEET[:2], three) == 1_800


def test_best_fit_takes_pods_as_they_come_and_typed_ones_first_where_told() -> None:
    wanted = (a_pod(1, 1_000), a_pod(2, 1_000), a_pod(3, 1_000, 1, "T4"))
    assert typed_first(wanted) == (wanted[2], wanted[0], wanted[1])
    assert best_fit(FLEET, typed_first(wanted)) == 3_000
    assert best_fit(FLEET, wanted) <= 3_000
