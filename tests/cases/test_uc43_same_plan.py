"""UC-43, on problems: equal jobs on equal nodes and still one plan, in any order; one job more moves none."""

from __future__ import annotations

from dataclasses import replace

from solvers.jsonform import to_json
from solvers.problem import Previous, Problem, Task
from solvers.solution import Run, Solution
from solvers.solve import solve
from tests.solvers.builders import a_mode, a_node, a_pool, a_problem, a_task
from tests.solvers.reorder import reversed_problem

FLEET = (a_pool(*[a_node(4)] * 4),)


def jobs(count: int) -> tuple[Task, ...]:
    """Equal jobs of one device for 2 slots; waiting costs a little, moving one micro."""
    return tuple(a_task(a_mode(1), delay_micros=1, move_micros=1) for _ in range(count))


TWENTY = a_problem(*jobs(20), pools=FLEET)


def by_name(problem: Problem, solution: Solution) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Start and node names of each task that runs."""
    nodes = problem.pools[0].nodes
    return {
        problem.tasks[one.task].name: (run.start, tuple(nodes[seat.node].name for seat in run.seats))
        for one in solution.assignments
        for run in one.runs
    }


def kept(run: Run) -> Previous:
    """What the next plan knows of a run."""
    return Previous(mode=run.mode, start=run.start, nodes=tuple((seat.node, 1) for seat in run.seats))


def test_ten_runs_give_the_same_bytes() -> None:
    assert len({to_json(solve(TWENTY)) for _ in range(10)}) == 1


def test_the_order_of_jobs_and_nodes_changes_nothing() -> None:
    turned = reversed_problem(TWENTY)
    assert by_name(turned, solve(turned)) == by_name(TWENTY, solve(TWENTY))


def test_one_job_more_moves_none_of_the_others() -> None:
    before = solve(TWENTY)
    runs = {one.task: one.runs[0] for one in before.assignments}
    assert len(runs) == 20
    old = tuple(replace(task, previous=kept(runs[at])) for at, task in enumerate(TWENTY.tasks))
    more = replace(TWENTY, tasks=(*old, replace(jobs(1)[0], name="t20")))
    after = by_name(more, solve(more))
    assert len(after) == 21
    assert {name: place for name, place in after.items() if name != "t20"} == by_name(TWENTY, before)
