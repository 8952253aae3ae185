"""The generator of teams with guarantees and limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.overload import POOLS, SLOTS
from benchmarks.quotas import GUARANTEED_PERCENT, LIMIT, never, percent_below, quotas, relaxation
from solvers.jsonform import to_json
from solvers.problem import Problem
from solvers.solve import solve


@pytest.fixture(scope="module", name="fleet")
def _fleet() -> Problem:
    return quotas(400)


def test_the_same_seed_gives_the_same_teams_and_another_others() -> None:
    assert to_json(quotas(50, seed=3)) == to_json(quotas(50, seed=3))
    assert to_json(quotas(50, seed=3)) != to_json(quotas(50, seed=4))


def test_guarantees_add_up_to_their_part_of_each_pool_but_for_what_rounding_takes(fleet: Problem) -> None:
    for name, _, gpus, _ in POOLS:
        guarantees = [row.guarantee[0] for row in fleet.rows if row.subject.endswith(f"on {name}") and row.guarantee]
        assert len(guarantees) == 12
        assert guarantees == sorted(guarantees, reverse=True)
        assert gpus * GUARANTEED_PERCENT // 100 - 12 <= sum(guarantees) <= gpus * GUARANTEED_PERCENT // 100


def test_a_team_may_use_twice_its_guarantee_in_every_slot(fleet: Problem) -> None:
    assert all(row.guarantee is not None and row.limit == (LIMIT * row.guarantee[0],) * SLOTS for row in fleet.rows)


def test_a_job_counts_all_its_devices_in_the_quotas_of_one_team(fleet: Problem) -> None:
    for task in fleet.tasks:
        subjects = {fleet.rows[mode.charges[0].row].subject for mode in task.modes}
        assert {mode.charges[0].amount for mode in task.modes} == {task.modes[0].devices}
        assert {subject.split()[0] for subject in subjects} == {next(iter(subjects)).split()[0]}
        assert {subject.split()[-1] for subject in subjects} == {fleet.pools[mode.pool].name for mode in task.modes}


def test_a_job_never_runs_when_its_gang_is_one_above_every_limit(fleet: Problem) -> None:
    task = next(task for task in fleet.tasks if task.modes[0].devices == 2)
    devices = task.modes[0].devices
    narrow = tuple(replace(row, limit=(devices - 1,) * SLOTS) for row in fleet.rows)
    wide = tuple(replace(row, limit=(devices,) * SLOTS) for row in fleet.rows)
    assert never(replace(fleet, tasks=(task,), rows=narrow)) == 1
    assert never(replace(fleet, tasks=(task,), rows=wide)) == 0


def test_the_relaxation_is_above_a_plan() -> None:
    problem = quotas(20)
    plan = solve(problem, budget=0)
    assert relaxation(problem, plan.value_micros) >= plan.value_micros > 0


@pytest.mark.parametrize(("lp", "value", "percent"), [(200, 200, 0.0), (200, 199, 0.5), (200, 100, 50.0)])
def test_the_distance_to_the_relaxation_is_in_percent_of_it(lp: int, value: int, percent: float) -> None:
    assert percent_below(lp, value) == percent
