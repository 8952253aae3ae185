"""The generator of overloaded fleets."""

from __future__ import annotations

from benchmarks.overload import OVERLOAD, SLOTS, overload
from solvers.jsonform import to_json


def test_the_same_seed_gives_the_same_problem_and_another_another() -> None:
    assert to_json(overload(50, seed=3)) == to_json(overload(50, seed=3))
    assert to_json(overload(50, seed=3)) != to_json(overload(50, seed=4))


def test_pools_are_asked_for_three_times_what_they_have() -> None:
    """Work in reference device-slots, read from the only pools of speed 1, against what all pools do in a week."""
    problem = overload(2_000)
    speeds = {
        "a100-east": 100,
        "a100-west": 100,
        "h100": 220,
        "h200": 260,
        "l40s": 55,
        "mi100": 60,
        "mi250x": 110,
        "mi300x": 230,
    }
    supply = sum(pool.nodes[0].capacity[0] * speeds[pool.name] for pool in problem.pools) * SLOTS // 100
    asked = 0
    for task in problem.tasks:
        work = [mode.devices * mode.duration * speeds[problem.pools[mode.pool].name] for mode in task.modes]
        asked += sum(work) // len(work) // 100
    assert OVERLOAD * 9 // 10 * supply < asked < (OVERLOAD + 1) * supply


def test_jobs_are_gangs_of_1_to_128_with_one_vendor_or_both() -> None:
    problem = overload(2_000)
    gangs = {mode.devices for task in problem.tasks for mode in task.modes}
    assert (min(gangs), max(gangs)) == (1, 128)
    amd = {position for position, pool in enumerate(problem.pools) if pool.name.startswith("mi")}
    kinds = {
        (bool({mode.pool for mode in task.modes} & amd), bool({mode.pool for mode in task.modes} - amd))
        for task in problem.tasks
    }
    assert kinds == {(True, False), (False, True), (True, True)}
    assert {task.priority for task in problem.tasks} == {0, 1, 2, 3}
    assert 800 < sum(task.due is not None for task in problem.tasks) < 1_200
