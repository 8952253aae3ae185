"""The benchmarks by name; each warms the compiled code up first, so that it measures work and not compilation."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from benchmarks import openb, philly
from benchmarks.bestfit import best_fit, typed_first
from benchmarks.cutting import most_allocated
from benchmarks.deadlines import deadlines
from benchmarks.firstcome import first_come
from benchmarks.many_jobs import write_tree
from benchmarks.outcome import Outcome, gap_ppm, timed
from benchmarks.outcome import warm as _warm
from benchmarks.overload import SLOTS, overload
from benchmarks.plain import plain_cpsat
from benchmarks.quotas import quota_1k
from benchmarks.replan import replan
from benchmarks.services_day import services_day
from benchmarks.teams import philly_teams
from benchmarks.vendor_mix import vendor_mix
from solvers.check import raise_if_wrong
from solvers.problem import Pool
from solvers.solve import Effort, solve

GPUS: Final = 350
NODES: Final = 44
CPSAT_SECONDS: Final = 120
FGD_PERCENT: Final[Mapping[str, float]] = MappingProxyType({"default": 95.2, "gpuspec33": 86.4})
"""GPUs that FGD allocates at a demand of 98 %, mean of 10 lists of pods drawn from the trace, which come one by one.

From hkust-adsl/kubernetes-scheduler-simulator at 8f3d6417 (Q. Weng and others, USENIX ATC 2023).
"""
SPECS: Final = Path(__file__).parent.parent / "specs"


def philly_week(effort: Effort, peers: bool) -> Outcome:
    """425 real jobs on 350 GPUs counted as one pool: GPU-slots waited, against FCFS + backfill and plain CP-SAT."""
    return _philly("philly-week", philly.counted(GPUS), (GPUS,), effort, peers)


def philly_nodes(effort: Effort, peers: bool) -> Outcome:
    """The same jobs node by node, on 44 nodes of 8; `waited_without_moves` is what a plan waits in which none moves."""
    return _philly("philly-nodes", philly.racked(NODES), (8,) * NODES, effort, peers=False)


def _philly(name: str, pool: Pool, capacities: tuple[int, ...], effort: Effort, peers: bool) -> Outcome:
    jobs = philly.jobs()
    queue = first_come(jobs, capacities)
    problem = philly.week(pool, queue.end)
    _warm(problem)
    solution, seconds = timed(lambda: solve(problem, effort=effort))
    waited, moves = philly.waited(problem, solution), philly.moves(solution)
    least = philly.least_waited(problem, solution.bound_micros or 0)
    baselines: dict[str, int] = {"fcfs_backfill": queue.waited}
    if peers:
        baselines["cpsat"] = plain_cpsat(jobs, capacities[0], queue.starts, CPSAT_SECONDS)
    return Outcome(
        bench=name,
        seconds=seconds,
        value=waited,
        bound=least,
        gap_ppm=gap_ppm(waited, least),
        baselines=baselines,
        more={
            "waited": waited,
            "moves": moves,
            "waited_without_moves": None if moves else waited,
            "placed": len(solution.assignments),
            "jobs": len(jobs),
            "below_fcfs_percent": round(100 - 100 * waited / queue.waited, 1),
            "cpsat_seconds": CPSAT_SECONDS if peers else None,
            "effort": effort.value,
        },
    )


def overload_2k(effort: Effort, peers: bool) -> Outcome:
    """2,000 jobs on 8 pools that are asked for three times what they have."""
    return _overload("overload-2k", 2_000, effort)


def overload_10k(effort: Effort, peers: bool) -> Outcome:
    """10,000 jobs on the same pools."""
    return _overload("overload-10k", 10_000, effort)


def _overload(name: str, tasks: int, effort: Effort) -> Outcome:
    problem = overload(tasks)
    construct = solve(problem, budget=0)
    _warm(problem)
    solution, seconds = timed(lambda: solve(problem, effort=effort))
    bound = solution.bound_micros
    return Outcome(
        bench=name,
        seconds=seconds,
        value=solution.value_micros,
        bound=bound,
        gap_ppm=solution.gap_ppm,
        baselines={"list_schedule": construct.value_micros},
        more={"jobs": tasks, "placed": len(solution.assignments), "slots": SLOTS, "seed": 1, "effort": effort.value},
    )


def openb_default(effort: Effort, peers: bool) -> Outcome:
    """8,152 pods that ask for 98 % of 6,212 GPUs: how much of them is allocated at once."""
    return _openb("openb", "default", FGD_PERCENT["default"], effort)


def openb_typed(effort: Effort, peers: bool) -> Outcome:
    """The same pods, a third of which name the models of GPU that they take."""
    return _openb("openb-gpuspec33", "gpuspec33", FGD_PERCENT["gpuspec33"], effort)


def _openb(name: str, workload: str, published: float, effort: Effort) -> Outcome:
    machines, pods = openb.hosts(), openb.pods(workload)
    problem = openb.packing(machines, pods)
    gpus = sum(host.gpus for host in machines)
    bound = most_allocated(machines, pods)
    _warm(problem)
    solution, seconds = timed(lambda: solve(problem, effort=effort))
    raise_if_wrong(problem, solution)
    value = openb.allocated(problem, solution)
    without = sum(pod.gpus == 0 for pod in pods)
    assert solution.bound_micros is not None, "a plan of the search comes with a bound"
    own = (solution.bound_micros - without * openb.CPU_ONLY_WORTH) // openb.MICROS
    return Outcome(
        bench=name,
        seconds=seconds,
        value=value,
        bound=min(bound, own),
        gap_ppm=gap_ppm(value, min(bound, own)),
        baselines={
            "fgd_published": published,
            "best_fit": openb.percent(best_fit(machines, pods), gpus),
            "typed_first": openb.percent(best_fit(machines, typed_first(pods)), gpus),
        },
        more={
            "allocated_percent": openb.percent(value, gpus),
            "bound_percent": openb.percent(bound, gpus),
            "solver_bound_percent": openb.percent(own, gpus),
            "cpu_only_unplaced": without - openb.placed_without_gpu(problem, solution),
            "gpus": gpus,
            "pods": len(pods),
            "placed": len(solution.assignments),
            "effort": effort.value,
        },
    )


def validate_5k(effort: Effort, peers: bool) -> Outcome:
    """`planner validate` on 5,000 jobs in 50 files, as a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), jobs=5_000, files=50)
        runs = [timed(lambda: _planner("validate", folder))[1] for _ in range(5)]
    return Outcome(bench="validate-5k", seconds=sorted(runs)[2], more={"documents": 5_000, "runs": len(runs)})


def specs(effort: Effort, peers: bool) -> Outcome:
    """The example of this repository, from files to a sealed plan."""
    from planner import pipeline

    specset = pipeline.load(SPECS).specset
    if specset is None:
        raise SystemExit("the example in specs/ is not valid: run planner validate specs")
    start = pipeline.start_of(specset, at=None, snapshot=None, commit_time=None)
    pipeline.plan(specset, start=start, budget=1)
    made, seconds = timed(lambda: pipeline.plan(specset, start=start, effort=effort.value))
    status = made.plan.status
    return Outcome(
        bench="specs",
        seconds=seconds,
        value=status.value_micros,
        bound=status.bound_micros,
        gap_ppm=status.gap_ppm,
        more={"placed": len(made.plan.placements), "unplaced": len(made.plan.unplaced), "effort": effort.value},
    )


def _planner(*words: str) -> None:
    program = shutil.which("planner", path=sysconfig.get_path("scripts")) or shutil.which("planner")
    command = [program] if program else [sys.executable, "-m", "planner.cli"]
    subprocess.run([*command, *words], check=True, stdout=subprocess.DEVNULL)


Benchmark = Callable[[Effort, bool], Outcome]
BENCHMARKS: Final[Mapping[str, tuple[Benchmark, Effort]]] = MappingProxyType({
    "philly-week": (philly_week, Effort.QUICK),
    "philly-nodes": (philly_nodes, Effort.NORMAL),
    "overload-2k": (overload_2k, Effort.QUICK),
    "overload-10k": (overload_10k, Effort.NORMAL),
    "openb": (openb_default, Effort.NORMAL),
    "openb-gpuspec33": (openb_typed, Effort.NORMAL),
    "services-day": (services_day, Effort.QUICK),
    "vendor-mix": (vendor_mix, Effort.QUICK),
    "quota-1k": (quota_1k, Effort.QUICK),
    "replan": (replan, Effort.NORMAL),
    "philly-teams": (philly_teams, Effort.QUICK),
    "deadlines": (deadlines, Effort.QUICK),
    "validate-5k": (validate_5k, Effort.QUICK),
    "specs": (specs, Effort.QUICK),
})  # fmt: skip
"""Each with the effort that its goal is stated for."""
